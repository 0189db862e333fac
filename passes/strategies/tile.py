"""``tile(N)``: the heads of N iterations, then the tasks, whose results go back, then the rests.

What a task makes goes back to the lane that it came from, which runs the rest of the iteration. So
a task takes along only what the path reads, what is stored behind it lies together as it did, and
what is handed from rest to rest stays in its lane.
:mod:`ccc.passes.context_collection.tiles` shows the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import INNER_LOOPS
from ccc.analysis.paths.model import Path, Refused, instructions_of
from ccc.analysis.paths.split_iteration import (
    returning,
    split_iteration,
    without_what_rests_recompute,
)
from ccc.ir.markers import ARMS
from ccc.passes.context_collection.context_stack import words
from ccc.passes.context_collection.layout import lay_out
from ccc.passes.context_collection.tiles import Tiles
from ccc.passes.strategies.strategy import (
    Choice,
    Estimate,
    Rewritten,
    context_words,
    run_slots,
    why_at_once,
    why_not_exclusive,
)
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import WARP_SIZE

MEETS = Effect.COLLECTIVE | Effect.BARRIER
ITERATIONS = (3, 5, 7, 15)
"""How many iterations of a lane are a tile. Of odd numbers, lanes' places lie in different banks;
of one less than a power of two, the bits of a number of tasks are as few as they can be."""


@dataclass(frozen=True, slots=True)
class Tile:
    """Serve the paths of a loop after so many ``iterations``, and give their results back."""

    iterations: int
    together: bool = False
    mixes: bool = False
    returns: bool = True

    @property
    def name(self) -> str:
        """With the number of iterations."""
        return f"tile({self.iterations})"

    @property
    def entries(self) -> int:
        """A place for each iteration of the tile."""
        return self.iterations * WARP_SIZE

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """Whether an iteration can be cut there, so that only paths change lanes."""
        reason = why_not_exclusive(paths, facts) or why_at_once(paths)
        if reason is not None:
            return reason
        try:
            _check(paths, facts)
            split_iteration(paths, facts)
            _ = [returning(path, facts) for path in paths]
        except Refused as refusal:
            return str(refusal)
        return None

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """A word is stored and loaded, once on its way to a task and once on the way back."""
        found = [returning(path, facts) for path in paths]
        again = sum(len(one.path.recomputed) for one in found)
        slots = run_slots([one.path for one in found], facts, as_tasks=False) + again
        moved = sum(context_words(one.path) + sum(map(words, one.results)) for one in found)
        return Estimate(slots, 2 * moved)

    def rewrite(self, kernel: Kernel, choice: Choice) -> Rewritten | None:
        """Rewrite the loop."""
        layout = lay_out(kernel.function, choice)
        paths = [one.path for one in choice.decision.paths]
        split = split_iteration(paths, kernel.facts)
        for refine in kernel.refinements:
            split = without_what_rests_recompute(split, paths, kernel.facts, refine)
        tiles = Tiles(kernel, choice.decision.loop, layout, self.iterations, split)
        return Rewritten(tiles.enter, tiles.run(), layout.share)


def _check(paths: Sequence[Path], facts: Facts) -> None:
    """What must hold for the loop, whatever its registers hold.

    Raises:
        Refused: with the reason.
    """
    loop = paths[0].loop.loop
    if not any(path.continuation or path.stays for path in paths):
        raise Refused("nothing of the iteration waits for what the path computes")
    if any(path.join is None for path in paths):
        raise Refused("the path goes on at several places")
    if any(i.effects & MEETS for i in instructions_of(loop.blocks, facts)):
        raise Refused("lanes meet in an iteration")
    outside = loop.blocks.difference(*(path.blocks for path in paths))
    markers = (marker for label in outside for marker in facts.blocks[label].markers)
    if any(marker.kind in (*ARMS, *INNER_LOOPS) for marker in markers):
        raise Refused("a path that is left alone lies in the loop")
    if _shares_local_memory(paths, facts):
        raise Refused("the iteration passes local memory (an array of the thread's own) on")


def _shares_local_memory(paths: Sequence[Path], facts: Facts) -> bool:
    """Whether local memory that an iteration writes is read in another part of it, or in another
    iteration: heads come before earlier rests, and paths run on other lanes."""
    local, loop = facts.local, paths[0].loop.loop
    inside = frozenset[str]().union(*(path.blocks for path in paths))
    around = loop.blocks - inside
    outside = local.reads(around) | local.writes(around)
    held = local.reads(around) & local.writes(around)
    in_paths = local.reads(inside) & local.writes(around)
    return bool(held | in_paths | (local.writes(inside) & outside))


TILES = tuple(Tile(iterations) for iterations in ITERATIONS)
