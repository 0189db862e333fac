"""``uniform``: all members go round an inner loop together, each with its own task.

It is the paper's uniform trip count (dissertation section 4.1.3, "Loops with Variable
Trip-Count"): every lane turns as often as the one with the most turns, and what a turn does is
guarded. So the paths inside are collected with tasks of all lanes, and no task of the loop itself
is exchanged. The paper has lanes exchange the number of their turns before; here they are asked
after each turn whether one of them has another, which takes one vote and suits any loop, also one
that is left by a ``break``: ``TOGETHER`` in
:mod:`ccc.passes.context_collection.sequential_dispatch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.passes.strategies.strategy import Estimate, context_words, run_slots

NOTHING_INSIDE = (
    "no path that can be collected lies in it, for whose sake lanes would go round together"
)
TAKEN_ALONG = "the tasks of a path in it take its own along"


@dataclass(frozen=True, slots=True)
class UniformTurns:
    """Leave the tasks of an inner loop with their lanes, which meet after each turn."""

    name: str = "uniform"
    entries: int = 0
    alone: bool = False

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:  # noqa: ARG002
        """Something must be collected in it, and leave its tasks where they are."""
        if any(path.carries_parent for path in paths[1:]):
            return TAKEN_ALONG
        return None if len(paths) > 1 else NOTHING_INSIDE

    def of(self, path: Path, facts: Facts) -> None:
        """Nothing is shared out."""

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """Each word of a context is copied once, where the lane comes to the loop."""
        words = sum(map(context_words, paths))
        return Estimate(run_slots(paths, facts, as_tasks=True), words)


UNIFORM = UniformTurns()
