"""What stacks take of the first level cache, and that the choice counts it."""

from __future__ import annotations

import pytest
from arms import Arm, kernel, remarks

from ccc.passes.choice.cost_model import Assignment, LoopCost
from ccc.passes.thresholds import AS_FAST
from ccc.ptx.carve_out import PARTED, first_level_cache
from ccc.ptx.occupancy import LIMITS, limits

pytestmark = pytest.mark.usefixtures("few_headers")

BY_CHANCE = "xor.b32 %r4, %r1, 21;"
"""How lanes of those kernels come to their addresses."""


@pytest.mark.parametrize(
    ("block", "left"),
    [
        (64, {256: 192, 2048: 156, 4096: 92, 8192: 28}),
        (128, {256: 192, 2048: 156, 4096: 124, 8192: 92}),
        (256, {256: 224, 2048: 192, 4096: 156, 6144: 124, 16384: 92}),
        (512, {256: 240, 2048: 224, 4096: 192, 6144: 192, 16384: 124}),
        (640, {6000: 192}),
        (896, {6000: 240}),
        (1024, {256: 248, 4096: 240, 6144: 240, 16384: 192, 49152: 156}),
    ],
)
def test_it_is_what_an_h200_had_beside_so_much_shared_memory(
    block: int, left: dict[int, int]
) -> None:
    assert {size: first_level_cache("sm_90", 24, size, block) for size in left} == left


@pytest.mark.parametrize("number", LIMITS)
def test_no_more_is_set_apart_than_there_is(number: int) -> None:
    both, sizes = PARTED[number]
    assert limits(f"sm_{number}").shared_kb == sizes[-1] < both


def chosen(ptx: str) -> str | None:
    (found,) = remarks(ptx)
    return found.strategy


def test_half_the_stack_is_taken_where_lanes_read_apart() -> None:
    """With five words a block of 256 has 10 KB, or 5: that leaves 124 KB, or 156."""
    ptx = kernel(Arm(300, 0.1, words=4))
    assert chosen(ptx) == "merge"
    assert chosen(ptx.replace(BY_CHANCE, "mov.b32 %r4, %r1;")) == "queue"


def test_not_where_as_much_is_left() -> None:
    """Of smaller blocks there are more, for all of which the driver makes room either way."""
    ptx = kernel(Arm(300, 0.1, words=4)).replace(".maxntid 256", ".maxntid 128")
    assert chosen(ptx) == "queue"


def test_not_where_it_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = LoopCost.slots

    def dear(cost: LoopCost, served: Assignment) -> float:
        return usual(cost, served) / (AS_FAST - 0.01 if "merge" in served.values() else 1)

    monkeypatch.setattr(LoopCost, "slots", dear)
    assert chosen(kernel(Arm(300, 0.1, words=4))) == "queue"


@pytest.mark.parametrize("arch", ["sm_90", "sm_75", "sm_120", "sm_130"])
def test_nor_where_nobody_knows_what_is_left(arch: str) -> None:
    ptx = kernel(Arm(300, 0.1, words=4)).replace("sm_90", arch)
    assert chosen(ptx) == ("merge" if arch == "sm_90" else "queue")


def test_a_table_of_the_module_is_in_the_cache_anyhow() -> None:
    table = "mov.u64 %rd3, table;\n\tadd.s64 %rd3, %rd3, %rd2;"
    ptx = kernel(Arm(300, 0.1, words=4)).replace("add.s64 %rd3, %rd1, %rd2;", table)
    assert table in ptx
    assert chosen(ptx) == "queue"


def test_what_is_asked_for_is_done() -> None:
    ptx = kernel(Arm(300, 0.1, words=4, clauses="strategy=queue"))
    assert chosen(ptx) == "queue"
