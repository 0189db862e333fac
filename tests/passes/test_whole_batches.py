"""Batches that ask for nothing between their iterations, at the ends of all numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from breadth import one_in
from collecting import transform

from ccc.emulator import Module

KERNEL = """
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .uBITS start, .param .uBITS step, .param .uBITS bound, .param .u64 out)
.maxntid 64, 1, 1
{
	.reg .pred %p<5>;
	.reg .b32 %r<9>;
	.reg .bBITS %c<5>;
	.reg .b64 %rd<5>;
	ld.param.uBITS %c1, [start];
	ld.param.uBITS %c2, [step];
	ld.param.uBITS %c3, [bound];
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	// ccc.loop 1 k.cu:1:1
LOOP:
	// ccc.for 1 k.cu:1:1
	red.global.add.u32 [%rd3+256], 1;
	cvt.u32.uBITS %r2, %c1;
	add.s32 %r3, %r1, %r2;
	and.b32 %r3, %r3, 3;
	setp.ne.s32 %p1, %r3, 0;
	@%p1 bra JOIN;
	// ccc.then 2 k.cu:2:1
	cvt.u32.uBITS %r4, %c1;
	mul.lo.s32 %r5, %r4, -1640531527;
	shr.u32 %r6, %r5, 27;
	mul.wide.u32 %rd2, %r6, 4;
	add.s64 %rd4, %rd1, %rd2;
	red.global.add.u32 [%rd4], %r5;
JOIN:
	STEP
	setp.RELATION.TYPE %p4, %c1, %c3;
	@%p4 bra LOOP;
	ret;
}
"""
FAR = 1 << 29
LOOPS = [
    ("u32", "lt", 0, 1, 50),
    ("u32", "lt", 3, 5, 4),
    ("u32", "le", 0, 1, 14),
    ("u32", "lt", 5, FAR, 7 * FAR - 4),
    ("u32", "lt", 10, 2 * FAR, 6 * FAR + 5),
    ("u32", "lt", 2**32 - 90, 5, 2**32 - 5),
    ("u32", "gt", 50, -3, 2),
    ("u32", "ge", 60, -1, 1),
    ("u32", "gt", 2**32 - 3, -FAR, FAR + 9),
    ("s32", "lt", -100, 7, 50),
    ("s32", "lt", -(2**31), 1, 30 - 2**31),
    ("s32", "lt", -(2**31), 1, 5 - 2**31),
    ("s32", "le", 2**31 - 40, 1, 2**31 - 2),
    ("s32", "lt", 5, -2 * FAR, 10),
    ("s32", "lt", -(2**31) + 7, FAR // 2, 2**31 - FAR),
    ("s32", "gt", 100, -7, -50),
    ("s32", "ge", 40 - 2**31, -1, 2 - 2**31),
    ("s32", "gt", 2**31 - 1, -1, 2**31 - 30),
    ("s32", "gt", -5, 2 * FAR, -10),
    ("u64", "lt", 2**40, 3, 2**40 + 70),
    ("u64", "gt", 2**64 - 2, -(2**60), 2**61),
    ("s64", "le", -(2**63), 2**59, 0),
    ("s64", "ge", 2**63 - 1, -(2**58), 2**62),
]


@pytest.mark.parametrize(
    ("loop", "strategy", "is_known"),
    one_in(5, product(LOOPS, ["batch7", "batch3", "adaptive(7)"], [False, True])),
)
def test_as_many_iterations_as_before(
    loop: tuple[str, str, int, int, int], strategy: str, is_known: bool
) -> None:
    kind, relation, start, step, bound = loop
    bits = kind[1:]
    text = KERNEL.replace("BITS", bits).replace("RELATION.TYPE", f"{relation}.{kind}")
    text = text.replace("STEP", f"add.s{bits} %c1, %c1, {step if is_known else '%c2'};")
    if is_known:
        text = text.replace("%p4, %c1, %c3", f"%p4, %c1, {bound}")
    after = transform(text, strategy=strategy).ptx
    goes_away = (step < 0) == (relation in ("lt", "le"))
    assert ("%ccc_whole_0 bra" in after) != (is_known and goes_away)
    numbers = [np.uint64(one % 2**64) for one in (start, step, bound)]
    arguments = [one.astype(f"uint{bits}") for one in numbers]
    before, found = (run(one, arguments) for one in (text, after))
    assert before[64:].any()
    assert (before == found).all()


def run(text: str, numbers: list[Any]) -> Any:
    out = np.zeros(128, np.uint32)
    Module(text).get_function("k")((1,), (64,), (*numbers, out))
    return out


def test_a_counter_that_some_iterations_leave_alone_tells_nothing() -> None:
    text = KERNEL.replace("BITS", "32").replace("RELATION.TYPE", "lt.u32")
    sometimes = "and.b32 %r7, %r1, 1;\nsetp.eq.s32 %p2, %r7, 0;\n@%p2 bra TEST;\nSTEP\nTEST:"
    text = text.replace("\tSTEP", sometimes).replace("STEP", "add.s32 %c1, %c1, 1;")
    after = transform(text, strategy="batch7").ptx
    assert "ccc_tasks" in after
    assert "%ccc_whole" not in after


@pytest.mark.parametrize("strategy", ["batch7", "batch3"])
def test_a_step_may_read_a_copy_of_the_counter(strategy: str) -> None:
    """As nvcc has it, who keeps the index of an array in 64 bits and makes the next one of that."""
    text = KERNEL.replace("BITS", "32").replace("RELATION.TYPE", "lt.s32")
    text = text.replace("LOOP:", "LOOP:\n\tcvt.s64.s32 %rd4, %c1;", 1).replace("%rd4,", "%rd0,", 1)
    text = text.replace("\tSTEP", "\tcvt.u32.u64 %r7, %rd0;\n\tadd.s32 %c1, %r7, %c2;")
    after = transform(text, strategy=strategy).ptx
    assert "%ccc_whole_0 bra" in after
    numbers = [np.uint32(one) for one in (3, 7, 400)]
    before, found = (run(one, numbers) for one in (text, after))
    assert before[64:].any()
    assert (before == found).all()
