"""``batch7``, ``batch3``: so many iterations for each exchange, of one path.

:mod:`ccc.passes.context_collection.batches` shows the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import INNER_LOOPS
from ccc.analysis.paths.model import Path, instructions_of
from ccc.ir.markers import ARMS
from ccc.passes.context_collection.batches import Batches
from ccc.passes.context_collection.layout import lay_out
from ccc.passes.strategies.strategy import (
    Choice,
    Estimate,
    Rewritten,
    collecting_cost,
    why_at_once,
)
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import WARP_SIZE

MEETS = Effect.COLLECTIVE | Effect.BARRIER


@dataclass(frozen=True, slots=True)
class Batch:
    """Serve the path of a loop after so many ``iterations``: one less than a power of two."""

    iterations: int
    together: bool = False
    mixes: bool = False
    returns: bool = False

    @property
    def name(self) -> str:
        """With the number of iterations."""
        return f"batch{self.iterations}"

    @property
    def entries(self) -> int:
        """A task of each lane and iteration is pushed onto up to 31 that were left."""
        return (self.iterations + 1) * WARP_SIZE

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """The rest of an iteration is there several times, and must not mind."""
        return "there are several paths" if len(paths) > 1 else why_no_copies(paths, facts)

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """As of a queue; votes, which are fewer, are not counted."""
        return collecting_cost(paths, facts)

    def rewrite(self, kernel: Kernel, choice: Choice) -> Rewritten | None:
        """Rewrite the loop."""
        layout = lay_out(kernel.function, choice)
        collector = Batches(kernel, choice.decision.loop, layout, self.iterations)
        return Rewritten(collector.enter, collector.run(), layout.share)


def why_no_copies(paths: Sequence[Path], facts: Facts) -> str | None:
    """Why an iteration of the loop of some paths cannot be there several times; None if it can."""
    if any(path.repeats or path.parent is not None for path in paths):
        return "the path is an inner loop, or lies in another path"
    outside = paths[0].loop.loop.blocks.difference(*(path.blocks for path in paths))
    if any(i.effects & MEETS for i in instructions_of(outside, facts)):
        return "lanes meet in an iteration"
    markers = (marker for label in outside for marker in facts.blocks[label].markers)
    if any(marker.kind in (*ARMS, *INNER_LOOPS) for marker in markers):
        return "a path that is left alone lies in the loop"
    return why_at_once(paths)


BATCHES = tuple(Batch(iterations) for iterations in (7, 3))
"""Fifteen were tried: they were slower than seven (see the policy)."""
