"""``bins(N)``: a queue in which tasks with more than N turns of their loop are kept apart.

A full warp of tasks runs a loop as often as the longest of them turns. Where it is known how often
that is when a task is saved, those that run together can be about as long: what degree binning is
to graphs (Merrill, Garland and Grimshaw, "Scalable GPU Graph Traversal", PPoPP 2012).
:mod:`ccc.passes.context_collection.binned_queue` shows the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path, Refused
from ccc.analysis.paths.trip_counts import find_trip_count
from ccc.passes.context_collection.binned_queue import BinnedQueue
from ccc.passes.context_collection.layout import lay_out
from ccc.passes.context_collection.rematerialization import rematerialize
from ccc.passes.strategies.strategy import (
    Choice,
    Estimate,
    Rewritten,
    collecting_cost,
    why_not_single,
)
from ccc.pipeline import Kernel
from ccc.ptx.types import WARP_SIZE

TURNS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""The numbers of turns that may part tasks."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Serve the path of a loop from a queue with two ends: up to so many ``turns``, and more."""

    turns: int
    entries: int = 3 * WARP_SIZE
    together: bool = False
    mixes: bool = False
    iterations: int = 1
    returns: bool = False

    @property
    def name(self) -> str:
        """With the number of turns."""
        return f"bins({self.turns})"

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """The trip count of the path's loop must be known where the path begins."""
        reason = why_not_single(paths)
        if reason is not None:
            return reason
        (path,) = paths
        try:
            find_trip_count(path, facts)
        except Refused as refusal:
            return str(refusal)
        return None

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """As of a queue; what tells the trip count is not counted."""
        return collecting_cost(paths, facts)

    def rewrite(self, kernel: Kernel, choice: Choice) -> Rewritten | None:
        """Rewrite the loop."""
        (one,) = choice.decision.paths
        count = find_trip_count(one.path, kernel.facts)
        own = replace(one, path=rematerialize(one.path, kernel.facts))
        choice = replace(choice, decision=replace(choice.decision, paths=(own,)))
        layout = lay_out(kernel.function, choice)
        queue = BinnedQueue(kernel, choice.decision.loop, layout, count, self.turns)
        base = queue.run()
        return Rewritten(queue.enter, base, layout.share, tuple(queue.users))


BINS = tuple(Bins(turns) for turns in TURNS)
