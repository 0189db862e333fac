"""``adaptive``: a warp collects, or runs the loop as it was, whichever has cost less so far.

:mod:`ccc.passes.context_collection.adaptive` shows the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.passes.context_collection.adaptive import AdaptiveBatches, AdaptiveQueue
from ccc.passes.context_collection.layout import lay_out
from ccc.passes.context_collection.weights import weights
from ccc.passes.strategies.batch import BATCHES, Batch, why_no_copies
from ccc.passes.strategies.strategy import Choice, Rewritten
from ccc.pipeline import Kernel


@dataclass(frozen=True, slots=True)
class Adaptive(Batch):
    """Serve the path of a loop after so many ``iterations``, as ``batch`` would, or not at all.

    A batch of a single iteration is a queue.
    """

    @property
    def name(self) -> str:
        """With the number of iterations."""
        return f"adaptive({self.iterations})"

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """The loop as it was is there as well, and must not mind."""
        if self.iterations > 1:
            return Batch.applies(self, paths, facts)
        return why_no_copies(paths, facts)

    def rewrite(self, kernel: Kernel, choice: Choice) -> Rewritten | None:
        """Rewrite the loop."""
        layout, loop = lay_out(kernel.function, choice), choice.decision.loop
        scale = weights([plan.path for plan in layout.plans], kernel, self.iterations)
        collector = (
            AdaptiveQueue(kernel, loop, layout, scale)
            if self.iterations == 1
            else AdaptiveBatches(kernel, loop, layout, scale, self.iterations)
        )
        return Rewritten(collector.enter, collector.run(), layout.share)


ADAPTIVE = tuple(Adaptive(iterations) for iterations in (*(b.iterations for b in BATCHES), 1))
"""As batches, and as a queue."""
