"""Lists so short that their own lanes run them at once, in turns that a lane may not have."""

from __future__ import annotations

import numpy as np
import pytest
from collecting import transform
from folders import GOLDEN
from goldens import Golden

from ccc.emulator import Module
from ccc.errors import Span
from ccc.ir.edit import Emitter, make_explicit
from ccc.ir.nodes import Block, FunctionText
from ccc.options import Options
from ccc.parse import parse_function
from ccc.passes.context_collection.guarded_turns import GuardedTurns
from ccc.passes.thresholds import SHORT_LISTS

BEFORE = Golden.read(GOLDEN / "small" / "short_lists.ptx").before
LENGTH = "mul.lo.u32 %r4, %r4, %r4;\n\tshr.u32 %r4, %r4, 2;"
ITERATIONS = 130
FUNCTION = """.func f()
{{
.reg .pred %p<4>;
.reg .b32 %r<9>;
.reg .b64 %rd<2>;
{body}
}}"""
SPAN = Span("f.ptx", 1)


def tasks(length: int, marked: str = BEFORE) -> int:
    """How many tasks lanes have, in a launch that leaves what it should, with lists of a length."""
    assert LENGTH in marked
    return tasks_of(marked.replace(LENGTH, f"mov.u32 %r4, {length};"), length)


def tasks_of(before: str, seed: int = 0) -> int:
    """How many tasks lanes have, in a launch that leaves what it should."""
    text = transform(before, Options(strategy="engage"), filename="k.ptx").ptx
    values = np.random.default_rng(seed).integers(0, 10, 400, np.uint32)
    found, expected = np.zeros((2, ITERATIONS), np.uint32)
    counted = Module(text).get_function("k")((1,), (64,), (np.int32(ITERATIONS), values, found))
    Module(before).get_function("k")((1,), (64,), (np.int32(ITERATIONS), values, expected))
    np.testing.assert_array_equal(found, expected)
    lines = text.splitlines()
    return sum(
        counts.thread_instructions
        for (_, number), counts in counted.lines.items()
        if lines[number - 1].startswith("\tmov.pred %ccc_pending_0, -1")
    )


@pytest.mark.parametrize("length", range(1, SHORT_LISTS[-1] + 1))
def test_a_short_list_is_no_task(length: int) -> None:
    assert tasks(length) == 0


@pytest.mark.parametrize("length", [SHORT_LISTS[-1] + 1, 40])
def test_a_longer_list_is_a_task(length: int) -> None:
    assert tasks(length) == ITERATIONS


def test_short_lists_are_tasks_while_lists_are_even_and_some_are_long() -> None:
    """Lanes with one would run it before the others, and all lanes together run it beside them."""
    even = f"and.b32 %r4, %r2, 1;\n\tmad.lo.u32 %r4, %r4, {SHORT_LISTS[-1]}, 4;"
    before = BEFORE.replace(LENGTH, even)
    assert tasks_of(before) == 64 // 2 + ITERATIONS - 64  # those of the first iterations, then all


def test_a_turn_that_stores_is_not_run_without_a_task() -> None:
    stores = BEFORE.replace("ON:\n", "ON:\n\tst.global.u32 [%rd2+512], %r2;\n")
    text = transform(stores, Options(strategy="engage"), filename="k.ptx").ptx
    assert "$ccc_share_0:" in text
    assert "$ccc_short_0:" not in text


def test_what_is_loaded_may_take_the_place_of_its_address() -> None:
    load = "ld.global.nc.u32 %r6, [%rd4];"
    own = "add.s64 %rd5, %rd4, 4;\n\tld.global.nc.u32 %rd5, [%rd5+-4];\n\tcvt.u32.u64 %r6, %rd5;"
    assert load in BEFORE
    assert tasks(3, BEFORE.replace(load, own)) == 0


def turn(body: str) -> list[Block]:
    text = FUNCTION.format(body=f"{body}\n@%p0 bra TURN;\nret;")
    function = parse_function(FunctionText("f", "func", text, SPAN))
    make_explicit(function)
    return function.blocks[:-1]


@pytest.mark.parametrize(
    ("body", "possible"),
    [
        ("TURN: add.u32 %r1, %r1, 1;", True),
        ("TURN: @%p1 bra A; add.u32 %r1, %r1, 1;\nA: mov.u32 %r2, 0;", True),
        ("TURN: @%p1 bra B; @!%p2 bra A; ld.global.u32 %r1, [%r3];\nA: mov.u32 %r2, 0;\nB:", True),
        ("TURN: @%p1 bra A; @%p2 bra B; mov.u32 %r2, 0;\nA: mov.u32 %r2, 1;\nB:", False),
        ("TURN: @%p1 bra A; mov.u32 %r2, 0; bra B;\nA: mov.u32 %r2, 1;\nB:", False),
        ("TURN: mov.u32 %r2, 0;\nA: add.u32 %r2, %r2, 1;\n@%p1 bra A;", False),
        ("TURN: @%p1 add.u32 %r1, %r1, 1;", False),
        ("TURN: st.global.u32 [%r3], %r1;", False),
        ("TURN: ld.volatile.global.u32 %r1, [%r3];", False),
        ("TURN: @%p1 ret;", False),
    ],
)
def test_what_can_be_run_under_a_flag(body: str, possible: bool) -> None:
    assert GuardedTurns(turn(body), ()).possible is possible


@pytest.mark.parametrize(
    ("line", "emitted"),
    [
        ("add.u32 %r1, %r2, 1;", ["add.u32 %r1, %r2, 1;"]),
        ("add.u32 %r8, %r8, %r1;", ["@%p3 add.u32 %r8, %r8, %r1;"]),
        ("ld.global.u32 %r1, [%rd1];", ["mov.b32 %r1, 0;", "@%p3 ld.global.u32 %r1, [%rd1];"]),
        (
            "ld.global.nc.u32 %r1, [%rd1];",
            ["mov.b32 %r1, 0;", "@%p3 ld.global.nc.u32 %r1, [%rd1];"],
        ),
        ("ld.const.u32 %r1, [%rd1];", ["mov.b32 %r1, 0;", "@%p3 ld.const.u32 %r1, [%rd1];"]),
        ("ld.global.u32 %r8, [%rd1];", ["@%p3 ld.global.u32 %r8, [%rd1];"]),
        ("ld.shared.u32 %r1, [%r1];", ["@%p3 ld.shared.u32 %r1, [%r1];"]),
        ("prefetch.global.L2 [%rd1];", ["@%p3 prefetch.global.L2 [%rd1];"]),
    ],
)
def test_what_is_under_a_flag(line: str, emitted: list[str]) -> None:
    blocks = turn(f"TURN: {line}")
    function = parse_function(FunctionText("g", "func", FUNCTION.format(body="ret;"), SPAN))
    emit = Emitter(function, Block("", [], False), SPAN)
    flag, stays = (function.registers.find(name) for name in ("%p3", "%r8"))
    assert flag is not None
    assert stays is not None
    GuardedTurns(blocks, [stays]).emit(emit, flag)
    assert [str(one) for one in emit.block.instructions] == emitted
