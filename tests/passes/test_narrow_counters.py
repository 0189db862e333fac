"""A counter that is kept in 64 bits, and compared in 32."""

from __future__ import annotations

import pytest

from ccc.analysis.facts import Facts
from ccc.parse import parse_function, parse_module
from ccc.passes.narrow_counters import NarrowCounters
from ccc.pipeline import Kernel

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0)
{{
    .reg .pred %p<5>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [k_0];
LOOP:
    // ccc.for 1 k.cu:1:1
    cvt.s64.s32 %rd2, %r1;
    // ccc.loop 2 k.cu:2:1
TURN:
    // ccc.{kind} 2 k.cu:2:1
    red.global.add.u64 [%rd1], %rd2;
    {turn}
    @%p2 bra TURN;
OUT:
    add.u32 %r1, %r1, 32;
    setp.lt.u32 %p1, %r1, 1000;
    @%p1 bra LOOP;
    ret;
}}
"""
STEP, NARROW = "add.s64 %rd2, %rd2, 3;", "cvt.u32.u64 %r2, %rd2;"
TEST = "setp.lt.s32 %p2, %r2, %r4;"


def rewritten(turn: str, kind: str = "variable") -> list[str]:
    """The code of a loop after the pass, from the way into it on; empty if nothing was changed."""
    text = TEXT.format(turn=turn, kind=kind)
    function = parse_function(next(iter(parse_module(text, "k.ptx").functions)))
    kernel = Kernel(function, Facts(function))
    before = kernel.facts
    NarrowCounters().run(kernel)
    return [] if kernel.facts is before else [str(i) for i in function.instructions][3:]


@pytest.mark.parametrize("step", [3, -2, 4294967299])
def test_the_low_half_is_stepped_beside_it(step: int) -> None:
    turn = f"add.s64 %rd2, %rd2, {step};"
    small = (step + 2**31) % 2**32 - 2**31
    assert rewritten(f"{turn} {NARROW} {TEST}")[:6] == [
        NARROW,
        "red.global.add.u64 [%rd1], %rd2;",
        turn,
        f"add.s32 %r2, %r2, {small};",
        TEST,
        "@%p2 bra TURN;",
    ]


@pytest.mark.parametrize(
    "turn",
    [
        f"{NARROW} {STEP} {TEST}",  # as it was before the step
        f"add.s64 %rd2, %rd2, %rd3; {NARROW} {TEST}",
        f"add.s64 %rd2, %rd3, 1; {NARROW} {TEST}",
        f"@%p3 {STEP} {NARROW} {TEST}",
        f"{STEP} @%p3 {NARROW} {TEST}",
        f"{STEP} {STEP} {NARROW} {TEST}",
        f"{STEP} {NARROW} {NARROW} {TEST}",
        f"{STEP} {NARROW} {TEST} add.s64 %rd2, %rd2, 1;",
        f"red.global.add.u32 [%rd1], %r2; {STEP} {NARROW} {TEST}",  # what it was is asked for
        f"{STEP} {NARROW} setp.lt.s32 %p2, %r3, %r4;",
        f"@%p4 bra END; {STEP} END: {NARROW} {TEST}",
        f"{STEP} {NARROW} @%p4 bra OUT; {TEST}",
    ],
)
def test_what_is_no_such_counter(turn: str) -> None:
    assert rewritten(turn) == []


def test_only_of_loops_whose_turns_are_independent() -> None:
    assert rewritten(f"{STEP} {NARROW} {TEST}", "while") == []
