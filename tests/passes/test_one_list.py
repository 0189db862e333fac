"""Lanes that go through one long list together, and the warps that the kernel keeps."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from breadth import one_in
from collecting import transform
from folders import GOLDEN
from goldens import Golden

from ccc.compiler import registers, unit
from ccc.compiler import transform as compiler
from ccc.emulator import Module
from ccc.options import Options
from ccc.passes.choice.cost_model import LoopCost
from ccc.passes.thresholds import AT_ONCE, AT_ONCE_OF_ALL, SPILLED_FOR_WARPS
from ccc.toolkit.ptxas import Resources

SUMS = Golden.read(GOLDEN / "small" / "joined_sums.ptx").before
ENDS = Golden.read(GOLDEN / "small" / "joined_lists.ptx").before
ITERATIONS = 70
LENGTH = SUMS[SUMS.index("and.b32 %r7") : SUMS.index("mov.u32 %r3")]
BLOCK = ".maxntid 64, 1, 1\n"
ADD = "add.s32 %r5, %r5, %r6;"
UPDATES = {
    "by way of a copy": "add.s32 %r8, %r5, %r6; mov.u32 %r5, %r8;",
    "in two steps": "add.s32 %r8, %r5, %r6; add.s32 %r5, %r8, %r3;",
    "as one of two": """add.s32 %r8, %r5, %r6; and.b32 %r7, %r3, 64; setp.eq.u32 %p2, %r7, 0;
	selp.b32 %r5, %r8, %r5, %p2;""",
    "if at all": """mov.u32 %r8, %r5; and.b32 %r7, %r3, 64; setp.eq.u32 %p2, %r7, 0;
	@%p2 bra OVER; add.s32 %r8, %r8, %r6; OVER: mov.u32 %r5, %r8;""",
}
"""What adds up, in more than one instruction."""


def one_of(length: int, lane: int) -> str:
    """PTX by which each of 32 lists has two turns, but for one."""
    return f"""and.b32 %r8, %r2, 31;
	setp.eq.u32 %p2, %r8, {lane};
	selp.u32 %r4, {length - 1}, 1, %p2;"""


LENGTHS = (255, 256, 257, 287, 288, 289, 319, 320, 511, 512, 544, 545)


def shuffles(length: int, lane: int, update: str = ADD) -> int:
    """How many lanes tell one another something where one list has so many turns."""
    marked = SUMS.replace(LENGTH, one_of(length, lane)).replace(ADD, update)
    text = transform(marked, Options(strategy="engage"), filename="k.ptx").ptx
    found, expected = np.zeros(300, np.uint32), np.zeros(300, np.uint32)
    counted = Module(text).get_function("k")((1,), (64,), (np.int32(ITERATIONS), found))
    Module(marked).get_function("k")((1,), (64,), (np.int32(ITERATIONS), expected))
    np.testing.assert_array_equal(found, expected)
    lines = text.splitlines()
    return sum(
        counts.thread_instructions
        for (_, number), counts in counted.lines.items()
        if "shfl.sync" in lines[number - 1]
    )


@pytest.mark.parametrize(("length", "lane"), one_in(5, product(LENGTHS, [0, 13, 31])))
def test_sums_are_right_wherever_a_long_list_begins_and_ends(length: int, lane: int) -> None:
    assert shuffles(length, lane) > 0


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_turns_side_by_side_add_up_one_after_the_other(update: str) -> None:
    assert shuffles(1000, 5, update) == shuffles(1000, 5)  # they are side by side


def test_a_long_list_is_looked_for_once() -> None:
    few, many = shuffles(8 * 256, 5), shuffles(64 * 256, 5)
    assert many <= few + 32 * 32  # it may end some steps later


def limits_of(
    text: str, tried: dict[str, tuple[int, int]] | None = None, most: int | None = None
) -> str | None:
    """The blocks that ptxas is told to leave room for, if any."""
    options = Options(strategy="engage", max_registers=most)
    made = compiler.transform(text, options, tried=tried or {})
    words = made.ptx.split()
    found = made.remarks["k"][-1].details.get("least_blocks")
    told = words[words.index(".minnctapersm") + 1] if ".minnctapersm" in words else None
    assert told == (None if found is None else str(found)) or ".minnctapersm" in text
    return told


def test_a_kernel_keeps_the_warps_that_it_has() -> None:
    assert limits_of(SUMS) == "32"  # of 64 threads each: all that an H100 has room for
    assert limits_of(SUMS, {"k": (40, 32)}) == "24"
    assert limits_of(SUMS, {"k": (40, 64)}) == "24"


@pytest.mark.parametrize("spilled", [0, SPILLED_FOR_WARPS, SPILLED_FOR_WARPS + 8])
def test_warps_are_not_kept_where_ptxas_spills_much_for_them(
    monkeypatch: pytest.MonkeyPatch, spilled: int
) -> None:
    def resources(*texts: str) -> list[dict[str, Resources]]:
        bounded = Resources(32, 0, 0, spilled // 2, spilled // 2)
        return [
            {"k": bounded if ".minnctapersm" in text else Resources(32, 0, 0)} for text in texts
        ]

    monkeypatch.setattr(registers, "resources_of", resources)
    done = unit.DevicePass()
    made = unit._transform(SUMS, "k.ptx", Options(strategy="engage"), done)
    assert (".minnctapersm" in made) == (spilled <= SPILLED_FOR_WARPS)
    details = done.remarks["k"][-1].details
    assert ("least_blocks" in details) == (spilled <= SPILLED_FOR_WARPS)


def test_what_is_not_kept_for_memory_is_weighed_as_lists_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both ask for the warps of blocks whose size nobody says, once it is known what they take."""
    text = SUMS.replace(BLOCK, "")

    def resources(*texts: str) -> list[dict[str, Resources]]:
        bounded = Resources(32, 0, 0, SPILLED_FOR_WARPS, SPILLED_FOR_WARPS)
        free, plain = Resources(40, 0, 0), Resources(32, 0, 0)
        kinds = ((".maxnreg" in one, "%ccc_" in one) for one in texts)
        return [{"k": bounded if a else free if b else plain} for a, b in kinds]

    monkeypatch.setattr(LoopCost, "idles_for_memory", True)
    monkeypatch.setattr(registers, "resources_of", resources)
    done = unit.DevicePass()
    assert ".maxnreg" not in unit._transform(text, "k.ptx", Options(strategy="engage"), done)
    assert done.remarks["k"][-1].applied


def test_bounds_of_the_user_stay() -> None:
    assert limits_of(SUMS.replace(BLOCK, f"{BLOCK}.minnctapersm 4\n")) == "4"
    assert limits_of(SUMS.replace(BLOCK, f"{BLOCK}.maxnreg 40\n")) is None
    assert limits_of(SUMS.replace(BLOCK, "")) is None
    assert limits_of(SUMS, most=24) is None


def test_nothing_is_bound_where_nothing_is_added_up_or_known() -> None:
    assert limits_of(ENDS) is None
    assert limits_of(SUMS, {"k": (0, 0)}) is None
    assert limits_of(SUMS.replace("sm_90", "sm_79")) is None  # nobody knows what it holds
    assert limits_of(SUMS.replace(BLOCK, ".maxntid 512\n"), {"k": (255, 0)}) is None  # not one


@pytest.mark.parametrize("keeping", [[], ["k"]])
def test_fewer_turns_are_run_at_once_where_warps_are_kept(
    monkeypatch: pytest.MonkeyPatch, keeping: list[str]
) -> None:
    monkeypatch.setattr(LoopCost, "idles_for_memory", True)
    asked, tried = Options(strategy="engage"), {"k": (32, 48)}
    made = compiler.transform(ENDS, asked, tried=tried, keeping=keeping)
    steps = {int(step) for step in re.findall(r"add.s32 \S+first\S*, \S+, (\d+);", made.ptx)}
    assert max(steps) // 32 == (AT_ONCE_OF_ALL if keeping else AT_ONCE)
    assert (".minnctapersm" in made.ptx) == bool(keeping)
