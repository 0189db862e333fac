"""``long_tasks``: the whole warp is engaged on one long task of a ``for variable``.

It stands beside what serves the loop: tasks of few turns, and what is left, are served by that.
:mod:`ccc.passes.context_collection.engagement` shows the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import Induction, find_induction
from ccc.analysis.paths.model import Accumulator, Path
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.engagement import Engagement
from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
from ccc.passes.context_collection.sequential_node import SequentialNode
from ccc.passes.strategies.engage import why_not
from ccc.passes.strategies.strategy import Estimate, context_words, run_slots

HANDS_ON = "what follows the loop in the iteration needs what its turns make"


@dataclass(frozen=True, slots=True)
class LongTasks:
    """Share out long tasks among all lanes."""

    name: str = "long_tasks"
    entries: int = 0
    alone: bool = False

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """The turns of the path must be independent, and countable before the first of them."""
        path = paths[0]
        if (reason := why_not(path, facts)) is not None:
            return reason
        return HANDS_ON if path.continuation else None

    def of(self, path: Path, facts: Facts) -> Engaged | None:
        """How it is done with one path; None if it cannot be done."""
        if self.applies([path], facts) is not None:
            return None
        induction = find_induction(path, facts)
        return None if isinstance(induction, str) else Engaged(induction)

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """All lanes get the context, word by word."""
        return Estimate(run_slots(paths, facts, as_tasks=True), sum(map(context_words, paths)))


@dataclass(frozen=True, slots=True)
class Engaged:
    """The engagement on one path, of which it is known how it steps."""

    induction: Induction
    shares_all: bool = False
    counts: int = 0
    entries: int = 0
    sent: tuple[Register | Special, ...] = ()
    sums: tuple[Accumulator, ...] = ()

    def rewrite(self, collector: SequentialDispatch, node: SequentialNode) -> Engagement:
        """Put it before the path's collection point."""
        return Engagement(collector, node, self.induction)


LONG_TASKS = LongTasks()
