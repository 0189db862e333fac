"""A counter that is kept in 64 bits, and compared in 32."""

from __future__ import annotations

import pytest
from inner_loop import with_inner_loop

from ccc.passes.narrow_counters import NarrowCounters

STEP, NARROW = "add.s64 %rd2, %rd2, 3;", "cvt.u32.u64 %r2, %rd2;"
TEST = "setp.lt.s32 %p2, %r2, %r4;"


def rewritten(turn: str, kind: str = "variable") -> list[str]:
    """The code of a loop after the pass, from the way into it on; empty if nothing was changed."""
    turn = f"red.global.add.u64 [%rd1], %rd2;\n{turn}"
    kernel = with_inner_loop(turn, begin="cvt.s64.s32 %rd2, %r1;", kind=kind)
    before = kernel.facts
    NarrowCounters().run(kernel)
    return [] if kernel.facts is before else [str(i) for i in kernel.function.instructions][3:]


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
