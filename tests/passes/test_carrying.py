"""Paths whose tasks carry those of the loop around them: what serves them, and what is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from collecting import transform
from folders import GOLDEN
from goldens import Golden

from ccc.passes.context_collection import collection
from ccc.passes.strategies.strategy import Collectable
from ccc.pipeline import Kernel
from ccc.remark import Remark

CARRIED = GOLDEN / "small" / "carried.ptx"


def remarks(ptx: str, strategy: str) -> list[Remark]:
    """What becomes of the annotations of a kernel ``k``."""
    return transform(ptx, strategy=strategy).remarks["k"]


@pytest.mark.parametrize("strategy", ["queue", "merge", "batch7", "cases", "adaptive", "uniform"])
def test_they_are_merged_whatever_is_asked_for(strategy: str) -> None:
    before = Golden.read(CARRIED).before
    asked = re.sub(r"(ccc\.(?:then|while) \d+ \S+)", rf"\1 strategy={strategy}", before)
    walk, branch = remarks(asked, "collect")
    assert (walk.strategy, branch.strategy) == ("merge", "merge")
    entries = [one.details["shared_bytes_per_thread"] for one in (walk, branch)]
    words = [len(one.details["context"]) for one in (walk, branch)]
    assert entries == [4 * words[0], 2 * 4 * words[1]]


@pytest.mark.parametrize("shared", ["engage", "sub_warp(8)"])
def test_their_turns_are_not_shared_out(shared: str) -> None:
    text = Golden.read(GOLDEN / "context-collection" / "poles_of_nuclides.ptx").before
    (*_, poles) = remarks(_as_variable(text, shared), "collect")
    assert poles.strategy == "merge"
    assert str(poles.declined).startswith("its tasks take those of the loop around it along")


def _as_variable(text: str, strategy: str) -> str:
    """The text with the innermost loop marked as one of independent turns."""
    lines = text.splitlines()
    markers = [n for n, line in enumerate(lines) if "// ccc.while" in line]
    last = lines[markers[-1]]
    lines[markers[-1]] = last.replace("ccc.while", "ccc.variable") + f" strategy={strategy}"
    return "\n".join(lines)


def test_what_lies_in_a_loop_that_is_left_by_choice_is_no_warning_unless_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leave_the_walk(paths: Sequence[Collectable], _kernel: Kernel) -> None:
        paths[0].record.leave_alone("too short")

    monkeypatch.setattr(collection, "choose", leave_the_walk)
    before = Golden.read(CARRIED).before
    walk, branch = remarks(before, "auto")
    assert walk.advice == "too short"
    assert branch.reason is None
    assert branch.advice is not None
    assert branch.advice.startswith("the loop around it, or one that its tasks come to, is left")
    walk, branch = remarks(re.sub(r"(ccc.then \d+ \S+)", r"\1 strategy=merge", before), "auto")
    assert walk.reason is None
    assert str(branch.declined).endswith("collected with it; ask for a strategy there, too")


def test_what_leads_to_a_loop_that_is_left_by_choice_is_no_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leave_the_last(paths: Sequence[Collectable], _kernel: Kernel) -> None:
        paths[-1].record.leave_alone("too short")

    monkeypatch.setattr(collection, "choose", leave_the_last)
    first, last = remarks(Golden.read(GOLDEN / "small" / "loops_in_a_row.ptx").before, "auto")
    assert (first.reason, last.reason) == (None, None)
    assert last.advice == "too short"
    assert first.advice is not None
