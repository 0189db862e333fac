"""What is chosen, and said, by a profile that saw no lane take a path, or few iterations."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from folders import GOLDEN
from goldens import Golden

from ccc import profile
from ccc.compiler.transform import transform
from ccc.emulator import Module
from ccc.harness.equivalence import run
from ccc.passes.choice.chosen import USUAL_RUN


def never_run(golden: Golden, ptx: str, file: Path) -> str:
    """A profile of a kernel in which lanes only ever came to the places before its paths."""
    module = Module(transform(ptx, off=True, profile="p.json").ptx)
    run(module, "k", golden.launch)
    counted = profile.of(module)
    for one in counted.modules:
        paths: list[dict[str, Any]] = [p for k in one["table"]["kernels"] for p in k["paths"]]
        kept = {path["visits"] + place for path in paths for place in (0, 1)}
        counters = enumerate(one["counters"])
        one["counters"] = [count if place in kept else 0 for place, count in counters]
    counted.write(file)
    return str(file)


@pytest.mark.parametrize(
    "name",
    [
        "flattening/flatten_in_arms",
        "flattening/refill",
        "melding/meld_pieces",
        "context-collection/if_else",
    ],
)
def test_what_never_ran_stays_as_it_was(name: str, tmp_path: Path) -> None:
    golden = Golden.read(GOLDEN / f"{name}.ptx")
    ptx = re.sub(r" strategy=\S+", "", golden.before)
    made = transform(ptx, use=never_run(golden, ptx, tmp_path / "p.json"))
    assert not any(one.applied for mine in made.remarks.values() for one in mine)


def test_nobody_is_said_to_take_what_never_ran(tmp_path: Path) -> None:
    golden = Golden.read(GOLDEN / "context-collection" / "if_else.ptx")
    made = transform(golden.before, use=never_run(golden, golden.before, tmp_path / "p.json"))
    assert "no lane takes it (a profile of" in str(made.remarks["k"][0])


@pytest.mark.parametrize("asked", ["", " strategy=engage"])
def test_lists_are_not_left_for_a_loop_in_their_turns(asked: str, tmp_path: Path) -> None:
    golden = Golden.read(GOLDEN / "context-collection" / "while_in_lists.ptx")
    ptx = re.sub(r"(// ccc\.variable \S+ \S+)", rf"\1{asked}", golden.before)
    assert asked in ptx
    module = Module(transform(ptx, off=True, profile="p.json").ptx)
    run(module, "k", golden.launch)
    profile.of(module).write(tmp_path / "p.json")
    made = transform(ptx, use=str(tmp_path / "p.json"))
    assert [one.strategy for one in made.remarks["k"] if one.applied] == ["engage"]


@pytest.mark.parametrize(("times", "is_told"), [(1, True), (4, False)])
def test_that_a_profile_may_be_of_too_small_a_run_is_told(
    times: int, is_told: bool, tmp_path: Path
) -> None:
    golden = Golden.read(GOLDEN / "context-collection" / "loop_after_both_arms.ptx")
    ptx = re.sub(r" strategy=\S+", "", golden.before)
    module = Module(transform(ptx, off=True, profile="p.json").ptx)
    numbers = golden.launch.argument_text
    larger = re.sub(r"\b[39]00\b", lambda found: str(times * int(found[0])), numbers)
    run(module, "k", replace(golden.launch, argument_text=larger))
    profile.of(module).write(tmp_path / "p.json")
    made = transform(ptx, use=str(tmp_path / "p.json"))
    told = str(made.remarks["k"][0].advice)
    assert "times as fast" in told
    assert (f"; the profile saw 2.5 iterations a thread: {USUAL_RUN}; " in told) == is_told
