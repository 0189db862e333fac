"""The bound of a loop whose turns are independent is loaded once."""

from __future__ import annotations

import pytest
from inner_loop import with_inner_loop

from ccc.passes.bound_motion import BoundMotion

TURN = """{body}
    red.global.add.u32 [%rd2], %r3;
    add.u32 %r3, %r3, 1;
    {bound}
    setp.lt.u32 %p2, %r3, %r4;
"""
LOAD = "ld.global.u32 %r4, [%rd1+4];"


def moved(
    bound: str = LOAD, body: str = "", kind: str = "variable", before: str | None = None
) -> list[str]:
    """The instructions that are put before the loop, which what is ``before`` it compares with the
    bound, too, as nvcc has it."""
    turn = TURN.format(bound=bound, body=body)
    begin = f"mov.u32 %r3, 0;\n{bound if before is None else before}"
    kernel = with_inner_loop(turn, begin, "ld.param.u64 %rd2, [k_0];", kind)
    function = kernel.function
    old = {block.label: list(map(str, block.instructions)) for block in function.blocks}
    BoundMotion().run(kernel)
    new = [block for block in function.blocks if block.label not in old]
    found = [str(instruction) for block in new for instruction in block.instructions]
    kept = [str(i) for block in function.blocks if block.label in old for i in block.instructions]
    assert sorted(found + kept) == sorted(one for some in old.values() for one in some)
    return found


def test_a_load_of_the_bound_is_moved() -> None:
    assert moved() == [LOAD]
    assert moved("ld.u32 %r4, [%rd1+4];") == ["ld.u32 %r4, [%rd1+4];"]


def test_and_what_is_computed_of_it_and_for_it() -> None:
    address, load, one = (
        "add.s64 %rd3, %rd1, 8;", "ld.global.u32 %r5, [%rd3];", "add.s32 %r4, %r5, 1;"
    )  # fmt: skip
    assert moved(f"{address}\n{load}\n{one}") == [address, load, one]


@pytest.mark.parametrize(
    "bound",
    [
        "ld.volatile.global.u32 %r4, [%rd1+4];",
        "ld.relaxed.gpu.global.u32 %r4, [%rd1+4];",
        "ld.acquire.gpu.global.u32 %r4, [%rd1+4];",
        "ld.shared.u32 %r4, [%rd1+4];",
        "@%p3 ld.global.u32 %r4, [%rd1+4];",
        "mul.wide.u32 %rd3, %r3, 4;\nld.global.u32 %r4, [%rd3];",
        "atom.global.add.u32 %r4, [%rd1+4], 0;",
        "add.s32 %r4, %r1, 1;",
        "ld.global.u32 %r4, [%rd1+4];\nadd.u32 %r4, %r4, 1;",
    ],
)
def test_what_may_differ_from_turn_to_turn_is_not(bound: str) -> None:
    assert moved(bound) == []


@pytest.mark.parametrize(
    "body",
    [
        "membar.gl;",
        "bar.warp.sync -1;",
        "ld.volatile.global.u32 %r6, [%rd2];",
        "setp.eq.u32 %p3, %r1, %r3;\n@%p3 bra OUT;",
        "st.global.u32 [%rd2], %r4;",
        "st.global.u32 [%rd1+4], %r3;",
        "add.s64 %rd1, %rd1, 4;",
    ],
)
def test_a_loop_that_orders_or_ends_elsewhere_or_needs_the_last_one_is_left(body: str) -> None:
    assert moved(body=body) == []


@pytest.mark.parametrize("before", ["", "ld.global.u32 %r4, [%rd1+8];"])
def test_what_is_asked_behind_a_turn_only_that_turn_may_write(before: str) -> None:
    """As in `do { n[k] = k; k++; } while (k < n[i]);`, which ends after its first turn."""
    assert moved(before=before) == []


def test_only_turns_that_are_independent_promise_that() -> None:
    assert moved(kind="while") == []
