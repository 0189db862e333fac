"""``pool``: a queue whose last tasks all warps of a block share.

Where a thread has few iterations, most tasks are among those that are left on the stacks in the
end: up to 31 of each warp, run by partly filled warps. Put together, they fill whole ones.
:mod:`ccc.passes.context_collection.tail_pool` shows the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.block_meetings import BlockFacts, check_any_warp_may_run, check_block_meets
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path, Refused
from ccc.passes.context_collection.layout import lay_out
from ccc.passes.context_collection.tail_pool import TailPool
from ccc.passes.strategies.strategy import (
    Choice,
    Estimate,
    Rewritten,
    collecting_cost,
    why_at_once,
    why_not_single,
)
from ccc.pipeline import Kernel
from ccc.ptx.types import WARP_SIZE


@dataclass(frozen=True, slots=True)
class Pool:
    """Serve the path of a loop from a queue, and what is left by the whole block."""

    name: str = "pool"
    entries: int = 2 * WARP_SIZE
    together: bool = False
    mixes: bool = False
    iterations: int = 1
    returns: bool = False

    def applies(self, paths: Sequence[Path], facts: Facts) -> str | None:
        """All threads of the block must come to the loop, and tasks may belong to no warp."""
        reason = why_not_single(paths)
        if reason is not None:
            return reason
        (path,) = paths
        of_block = BlockFacts.of(facts)
        try:
            check_any_warp_may_run(path, facts, of_block)
            check_block_meets(path.loop.loop, of_block)
        except Refused as refusal:
            return str(refusal)
        return why_at_once(paths)

    def cost(self, paths: Sequence[Path], facts: Facts) -> Estimate:
        """As of a queue."""
        return collecting_cost(paths, facts)

    def rewrite(self, kernel: Kernel, choice: Choice) -> Rewritten | None:
        """Rewrite the loop."""
        layout = lay_out(kernel.function, choice)
        pool = TailPool(kernel, choice.decision.loop, layout)
        base = pool.run()
        return Rewritten(pool.enter, base, layout.share, tuple(pool.users))


POOL = Pool()
