"""``engage``: the whole warp is engaged on one long task of a ``for variable``.

It stands beside what serves the loop: tasks of few turns, and what is left, are served by that.
:mod:`ccc.passes.context_collection.engagement` shows the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import Induction, find_induction
from ccc.analysis.paths.model import Path
from ccc.passes.context_collection.engagement import Engagement
from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch, SequentialNode
from ccc.passes.strategies.strategy import Estimate, context_words, run_slots


@dataclass(frozen=True, slots=True)
class Engage:
    """Share out long tasks among all lanes."""

    name: str = "engage"

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """The turns of each path must be independent, and countable before the first of them."""
        if any(path.marker.kind != "variable" for path in paths):
            return 'its turns are not said to be independent; that is "ccc for variable"'
        if any(self.of(path, facts) is None for path in paths):
            return "its turns cannot be counted before the first one"
        return None

    def of(self, path: Path, facts: Facts) -> Engaged | None:
        """How it is done with one path; None if it cannot be done."""
        induction = find_induction(path, facts) if path.marker.kind == "variable" else None
        return None if induction is None else Engaged(induction)

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """All lanes get the context, word by word; it takes no shared memory."""
        return Estimate(run_slots(paths, facts, as_tasks=True), sum(map(context_words, paths)), 0)


@dataclass(frozen=True, slots=True)
class Engaged:
    """The engagement on one path, of which it is known how it steps."""

    induction: Induction

    def rewrite(self, collector: SequentialDispatch, node: SequentialNode) -> Engagement:
        """Put it before the path's collection point."""
        return Engagement(collector, node, self.induction)


ENGAGE = Engage()
