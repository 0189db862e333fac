"""Where the time between two readings of a clock holds that for which a task waits."""

from __future__ import annotations

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import CheckedPath, at, instructions_of

TIMED = (
    "a clock is read before the path{} and again in what runs with its task{}, so that their "
    "difference holds the time for which the task waits; read both in the path, or take the time "
    "of the whole loop"
)


def timed(path: CheckedPath, facts: Facts) -> str | None:
    """What is to be said where the path begins with what a clock told in its iteration, and a
    clock is read again with the task; None if nothing is."""
    labels = path.blocks | path.rest if path.continuation else path.blocks
    again = next((one for one in instructions_of(labels, facts) if one.reads_time), None)
    if again is None:
        return None
    before = path.loop.loop.before([path.entry], facts.graph) - path.blocks
    kept = facts.liveness.live_in(path.entry)
    clocks = (one for one in instructions_of(before, facts) if one.reads_time)
    first = next((one for one in clocks if not kept.isdisjoint(one.defined())), None)
    return None if first is None else TIMED.format(at(first), at(again))
