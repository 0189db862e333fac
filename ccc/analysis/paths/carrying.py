"""Paths whose tasks carry those of the loop around them.

    WALK:     ...                               // a turn of a loop that is a path
    POLES:    <turn of a loop inside, or a branch>
              @%more bra POLES;
              add.f32 %total, %total, %sum;     // what the next turn of the walk begins with
              @%further bra WALK;

Where the next turn needs what a path inside has made, or may use the same memory, the lane cannot
go on with it while that path waits for others. So the whole task goes there: in the walk, the lane
has a task of the walk; where it comes to the poles, it has one of these instead, with all that the
walk needs as well; and where they are over, it finishes its turn, and has a task of the walk again.
All that one task does keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ccc.analysis.facts import Facts
from ccc.analysis.paths.fetches import has_side_effect
from ccc.analysis.paths.followers import loops_in_rest
from ccc.analysis.paths.model import CheckedPath, Path, PlacedPath, instructions_of
from ccc.analysis.paths.reductions import kept_at, register_at
from ccc.analysis.slicing import Region, slice_region
from ccc.ir.operands import Register

KINDS = ("while", "recursion")
"""The markers of loops around. The turns of a ``for variable`` are independent."""


def carrying(path: PlacedPath, collected: Iterable[Path], facts: Facts) -> CheckedPath | None:
    """The path with tasks that carry those of the loop around it; None if they cannot.

    Args:
        path: the path.
        collected: those that can be collected, as far as that is known.
        facts: the function's analyses.

    Raises:
        Refused: something in the way has a reason of its own.
    """
    around = path.parent
    if around is None or around.parent is not None or around.marker.kind not in KINDS:
        return None
    every = list(collected)
    beside = [one for one in every if one.parent is around]
    in_a_row = around.followers or any(one.leads_to(around) for one in every)
    if (
        in_a_row
        or around.keeps_first
        or around.frame
        or not all(one.carries_parent for one in beside)
    ):
        return None
    if path.repeats and loops_in_rest(path, facts):
        return None
    rest = path.rest | (around.rest if around.continuation else frozenset())
    checked = CheckedPath(
        **{**vars(path), "rest": rest}, continuation=True, accumulators=around.accumulators,
        carries_parent=True,
    )  # fmt: skip
    region = Region(checked.region, facts.graph)
    for accumulator in checked.accumulators:
        register_at(accumulator, path.entry, facts)
    ends = region.sinks - {around.entry}
    places = {tuple(register_at(a, s, facts) for a in checked.accumulators) for s in ends}
    if len(places) == 1:  # else it matters how the iteration would have ended
        region = replace(region, alike=ends)
    # What of the iteration the tasks of the loop around leave to their owners, they do as well.
    taken = around.task.instructions if around.task else None
    effects = filter(has_side_effect, instructions_of(checked.region, facts))
    task = slice_region(
        region, facts.blocks, facts.reaching_within(checked.region),
        [i for i in effects if taken is None or i in taken],
        lambda sink: kept_at(checked.accumulators, sink, facts) | handed_back(checked, sink),
        decide_sinks=True,
    )  # fmt: skip
    return replace(checked, task=task)


def which_to_remove(path: PlacedPath, other: Path, could_be: bool, facts: Facts) -> str:
    """What to do where tasks of another path cannot leave this one behind.

    Args:
        path: this one.
        other: the other one.
        could_be: whether this one could be collected if the other one were not annotated.
        facts: the function's analyses.
    """
    if not could_be:
        return "remove this annotation: it could not be collected without that one, either"
    mine, its = (_worth(one, facts) for one in (path, other))
    kind = "loop" if path.repeats else "branch"
    if mine > its and not path.blocks <= other.blocks:  # whose tasks do all that this one's do
        return (
            f"remove that annotation: this {kind} can be collected then, and is likely worth more"
        )
    return f"remove this annotation; or that one, and this {kind} can be collected by itself"


def _worth(path: PlacedPath, facts: Facts) -> tuple[bool, int]:
    """What tells which of two paths is likely worth more, where nobody knows their lanes: a loop
    takes longer than a branch, and more instructions longer than fewer."""
    return path.repeats, len(list(instructions_of(path.blocks, facts)))


def handed_back(path: CheckedPath, label: str) -> frozenset[Register]:
    """What the loop around needs where tasks that carry its own come back to its next turn."""
    around = path.parent
    if not path.carries_parent or around is None or label != around.entry:
        return frozenset()
    return frozenset(around.context)
