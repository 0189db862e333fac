"""``cases``: paths that exclude one another are served together, with one set of registers.

Each has a stack of a full warp of tasks; what is pushed beyond goes to a further stack that all
share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.passes.context_collection.layout import lay_out
from ccc.passes.context_collection.multi_path import MultiPath
from ccc.passes.strategies.strategy import (
    Choice,
    Estimate,
    Rewritten,
    context_words,
    run_slots,
    why_not_exclusive,
)
from ccc.pipeline import Kernel
from ccc.ptx.types import WARP_SIZE

ONE_PATH = "there is one path only"


@dataclass(frozen=True, slots=True)
class Cases:
    """Serve all paths at one collection point."""

    name: str = "cases"
    together: bool = True
    mixes: bool = False
    entries: int = WARP_SIZE
    iterations: int = 1
    returns: bool = False

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """An iteration must come to at most one of the paths, each over when it was run."""
        if len(paths) < 2:
            return ONE_PATH
        return why_not_exclusive(paths, facts)

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """A lane has a task of one path, of the largest context at most."""
        words = max(map(context_words, paths))
        again = sum(len(path.recomputed) for path in paths)
        return Estimate(run_slots(paths, facts, as_tasks=True) + again, 3 * words)

    def rewrite(self, kernel: Kernel, choice: Choice) -> Rewritten | None:
        """Rewrite the loop."""
        layout = lay_out(kernel.function, choice)
        together = MultiPath(kernel, choice.decision.loop, layout)
        return Rewritten(together.enter, together.run(), layout.share)


CASES = Cases()
