"""What the choice takes, and leaves, where that takes registers, and warps with them."""

from __future__ import annotations

import re

import pytest
from test_choice import Arm, kernel, remarks, served

from ccc.compiler import registers, unit
from ccc.compiler import weighing as _weighing  # noqa: F401 - takes names of registers when loaded
from ccc.options import Options
from ccc.passes.choice.chosen import LOSES, MEMORY, SO_FAR
from ccc.passes.choice.cost_model import LoopCost
from ccc.passes.thresholds import (
    GAIN,
    LOSS_OF_MEMORY,
    LOSS_OF_WARPS,
    MUCH_GAINED,
    SPILLED_FOR_MEMORY,
)
from ccc.remark import Remark
from ccc.toolkit.ptxas import Resources

pytestmark = pytest.mark.usefixtures("few_headers")

BEFORE = "and the 80 of the marked code for 38%"
"""What is said of 80 registers a thread in blocks of 256."""


@pytest.mark.parametrize(("block", "expected"), [(256, []), (128, [0])])
def test_registers_are_weighed_against_what_is_gained(block: int, expected: list[int]) -> None:
    """With 164 registers a multiprocessor holds 8 warps in blocks of 256, 12 in those of 128."""
    ptx = kernel(Arm(80, 0.25)).replace(".maxntid 256", f".maxntid {block}")
    assert served(remarks(ptx)) == [0]
    found = remarks(ptx, tried={"k": (80, 164)})
    assert served(found) == expected
    advice = str(found[0].advice)
    told = f"since 164 registers leave room for 12% of the warps, {BEFORE}; strategy("
    assert (told in advice) == (not expected), advice
    assert ("instructions by its code, some 8 lanes (prob" in advice) == (not expected), advice


def test_two_reasons_are_told_as_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoopCost, "waits_for_memory", True)
    unknown = kernel(Arm(3, 0.25)).replace("prob=0.25", "")
    (found,) = remarks(unknown, tried={"k": (80, 164)})
    assert f"{BEFORE}, and {MEMORY} {SO_FAR}; " in str(found.advice)


@pytest.mark.parametrize(("registers", "is_done"), [(32, True), (40, True), (56, False)])
def test_what_nobody_tells_of_may_not_cost_many_warps(registers: int, is_done: bool) -> None:
    """A long path loses next to nothing by its exchange, but all that wait for fewer warps do."""
    ptx = kernel(Arm(2000, 0.25)).replace("prob=0.25", "")
    (found,) = remarks(ptx, tried={"k": (32, registers)})
    assert found.applied == is_done
    assert is_done or f", and no less than {LOSS_OF_WARPS:g} is risked" in str(found.advice)


@pytest.mark.parametrize(("registers", "is_done"), [(32, True), (40, True), (48, False)])
def test_less_of_them_if_memory_is_waited_for_where_no_lane_takes_it(
    registers: int, is_done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LoopCost, "idles_for_memory", True)
    ptx = kernel(Arm(2000, 0.25)).replace("prob=0.25", "")
    (found,) = remarks(ptx, tried={"k": (32, registers)})
    assert found.applied == is_done
    assert is_done or f", and no less than {LOSS_OF_MEMORY:g} is risked" in str(found.advice)
    (told,) = remarks(kernel(Arm(2000, 0.25)), tried={"k": (32, registers)})
    assert told.applied


def test_that_registers_make_it_slower_is_no_matter_of_length() -> None:
    (found,) = remarks(kernel(Arm(80, 0.25)), tried={"k": (80, 164)})
    assert re.search(rf"of the warps, {BEFORE}; strategy\(\w+\) {LOSES}$", str(found.advice))


def test_that_what_was_tried_takes_fewer_is_no_merit_of_others() -> None:
    ptx = kernel(Arm(80, 0.25))
    (usual,), (found,) = remarks(ptx), remarks(ptx, tried={"k": (164, 80)})
    assert found.details["considered"] == usual.details["considered"]


def test_the_assembler_is_asked_what_was_chosen_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    ptx, asked = kernel(Arm(80, 0.25)), []

    def resources(*texts: str) -> list[dict[str, Resources]]:
        asked.append(texts)
        return [{"k": Resources(80 if "%ccc_" not in text else 164, 0, 0)} for text in texts]

    def applied(options: Options) -> bool:
        asked.clear()
        done = unit.DevicePass()
        text = unit._transform(ptx, "k.ptx", options, done)
        (remark,) = done.remarks["k"]
        assert remark.applied == ("ccc_" in text or text != ptx)
        return remark.applied

    monkeypatch.setattr(registers, "resources_of", resources)
    assert not applied(Options())
    assert [len(texts) for texts in asked] == [2]  # what there was, and what was made of it
    assert applied(Options(strategy="queue"))  # who insists is not asked about registers
    assert not asked
    monkeypatch.setattr(registers, "resources_of", lambda *_: [])  # as with separate compilation
    assert applied(Options())


def test_a_small_gain_is_told_with_the_registers_that_it_would_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a gain would be told of, and nobody knew that warps are lost by it."""
    ptx = kernel(Arm(80, 0.75))
    (untried,) = remarks(ptx)
    assert not untried.applied
    assert 1 < max(untried.details["considered"].values()) < GAIN

    def resources(*texts: str) -> list[dict[str, Resources]]:
        return [{"k": Resources(32 if "%ccc_" not in text else 40, 0, 0)} for text in texts]

    monkeypatch.setattr(registers, "resources_of", resources)
    done = unit.DevicePass()
    assert unit._transform(ptx, "k.ptx", Options(), done) == ptx
    (remark,) = done.remarks["k"]
    assert max(remark.details["considered"].values()) < 1
    assert "40 registers leave room for 75% of the warps" in str(remark.advice)


@pytest.mark.parametrize(("share", "is_done"), [(0.3, True), (0.55, False)])
def test_spilling_a_little_is_for_who_gains_much(
    monkeypatch: pytest.MonkeyPatch, share: float, is_done: bool
) -> None:
    """72 registers leave no room for blocks of 1024 threads, and with 64 some are spilled."""
    ptx = kernel(Arm(80, share)).replace(".maxntid 256, 1, 1\n", "")

    def resources(*texts: str) -> list[dict[str, Resources]]:
        bounded = Resources(64, 0, 8, 8, 8)
        many = (bounded if ".maxnreg 64" in text else Resources(72, 0, 0) for text in texts)
        return [
            {"k": Resources(64, 0, 0) if "%ccc_" not in text else needs}
            for text, needs in zip(texts, many, strict=True)
        ]

    monkeypatch.setattr(registers, "resources_of", resources)
    done = unit.DevicePass()
    made = unit._transform(ptx, "k.ptx", Options(), done)
    (remark,) = done.remarks["k"]
    assert remark.applied == (".maxnreg 64" in made) == is_done
    assert is_done or "with 64 ptxas spills 16 bytes; " in str(remark.advice)


def made_of(
    ptx: str,
    monkeypatch: pytest.MonkeyPatch,
    spilled: int = 0,
    waits: bool = True,
    callee_shared: int | None = None,
    takes: int = 48,
) -> tuple[str, Remark]:
    """What comes of a kernel of 32 registers that would take more, and what is said of it, if with
    32 so many bytes are spilled."""

    def resources(*texts: str) -> list[dict[str, Resources]]:
        bounds = ".minnctapersm 8\n", ".maxnreg 32\n"
        bounded = Resources(32, 0, 0, spilled // 2, spilled // 2)
        return [
            {
                "k": Resources(32, 0, 0)
                if "%ccc_" not in text
                else bounded
                if any(bound in text for bound in bounds)
                else Resources(takes, 0, 0)
            }
            for text in texts
        ]

    monkeypatch.setattr(LoopCost, "idles_for_memory", waits)
    monkeypatch.setattr(registers, "resources_of", resources)
    done = unit.DevicePass()
    made = unit._transform(ptx, "k.ptx", Options(callee_shared=callee_shared), done)
    (remark,) = done.remarks["k"]
    assert remark.applied
    return made, remark


@pytest.mark.parametrize("spilled", [0, SPILLED_FOR_MEMORY, SPILLED_FOR_MEMORY + 8])
def test_warps_that_hide_what_memory_takes_are_kept(
    monkeypatch: pytest.MonkeyPatch, spilled: int
) -> None:
    made, remark = made_of(kernel(Arm(80, 0.4)), monkeypatch, spilled)
    is_kept = spilled <= SPILLED_FOR_MEMORY
    assert (".minnctapersm 8\n" in made) == is_kept
    assert remark.details.get("least_blocks") == (8 if is_kept else None)


@pytest.mark.parametrize(("share", "waits"), [(0.4, False), (0.05, True)])
def test_none_are_kept_that_hide_nothing_or_where_much_is_gained(
    monkeypatch: pytest.MonkeyPatch, share: float, waits: bool
) -> None:
    made, remark = made_of(kernel(Arm(80, share)), monkeypatch, waits=waits)
    assert ".minnctapersm" not in made
    assert (remark.details["expected"] >= MUCH_GAINED) == waits


@pytest.mark.parametrize("spilled", [0, 2])
def test_warps_that_cost_nothing_are_kept_where_nobody_tells_what_is_gained(
    monkeypatch: pytest.MonkeyPatch, spilled: int
) -> None:
    """The loop may be one whose path no lane takes, which then is as fast as its warps are many."""
    unknown = kernel(Arm(800, 0.05)).replace("prob=0.05", "")
    made, remark = made_of(unknown, monkeypatch, spilled, waits=False, takes=40)
    assert remark.details["expected"] >= MUCH_GAINED
    assert (".minnctapersm 8\n" in made) == (spilled == 0)


def test_of_blocks_of_unknown_size_registers_are_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    ptx = kernel(Arm(80, 0.4)).replace(".maxntid 256, 1, 1\n", "")
    made, remark = made_of(ptx, monkeypatch)
    assert ".maxnreg 32\n" in made
    assert remark.details["maxnreg"] == 32


def test_nothing_is_bound_on_an_architecture_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, _ = made_of(kernel(Arm(80, 0.4)).replace("sm_90", "sm_99"), monkeypatch)
    assert ".minnctapersm" not in made


@pytest.mark.parametrize(("name", "is_bound"), [("elsewhere", False), ("free", True)])
def test_nothing_is_bound_that_calls_what_is_linked_and_may_take_more(
    monkeypatch: pytest.MonkeyPatch, name: str, is_bound: bool
) -> None:
    declared = f".extern .func {name} (.param .b64 p);\n"
    called = f"\t{{ .param .b64 a; st.param.b64 [a], 0; call.uni {name}, (a); }}\n\tret;\n"
    ptx = kernel(Arm(80, 0.4)).replace("\tret;\n", called)
    ptx = ptx.replace(".visible .entry", f"{declared}.visible .entry", 1)
    made, _ = made_of(ptx, monkeypatch, callee_shared=0)
    assert name in made
    assert (".minnctapersm" in made) == is_bound
