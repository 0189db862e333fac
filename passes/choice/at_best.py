"""What may be gained, at best, by a path that cannot be collected as it is: nothing is advised for
one that would gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ccc.analysis.convergence import ReconvergencePoint
from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import AnnotatedLoop, FoundLoop, LeftPath, Path
from ccc.passes.choice.cost_model import LoopCost
from ccc.passes.choice.exchange import ARMS
from ccc.passes.choice.inner_loops import SHARED_OUT
from ccc.passes.choice.loop_costs import LoopCosts
from ccc.passes.policy import REPEATING
from ccc.pipeline import Kernel


def at_best(left: LeftPath, kernel: Kernel) -> float | None:
    """How many times as fast as the original its loop may be expected, if tasks took nothing along.

    Args:
        left: the path.
        kernel: the kernel as it was when the path was found.

    Returns:
        None where that is not known: of a path that lies in a loop inside the annotated one, or in
        no loop.
    """
    path = None if left.loop is None else _as_if(left, left.loop, kernel.facts)
    if path is None:
        return None
    costs = LoopCosts.of(path.loop, [path], kernel)
    return max(ratio for cost in costs.every for ratio in _ratios(path, cost))


def _ratios(path: Path, cost: LoopCost) -> Iterator[float]:
    """What is expected of each strategy."""
    shared = SHARED_OUT if path.marker.kind == "variable" else ()
    names = [REPEATING, *shared] if path.repeats else [*ARMS]
    plain = cost.slots({})
    return (plain / cost.slots({path: name}) for name in names)


def _as_if(left: LeftPath, found: FoundLoop, facts: Facts) -> Path | None:
    """The path as if nothing was in its way, and its tasks took nothing along and left all that
    follows to their lanes."""
    around = found.loop
    inside = [one for one in facts.loops if one.header in around.blocks - {around.header}]
    own = next((one for one in inside if one.header == left.entry), None)
    if any(left.entry in one.blocks for one in inside if one is not own or not left.repeats):
        return None
    if left.repeats and own is None:
        return None
    blocks = own.blocks if left.repeats and own else extent(left, facts) & around.blocks
    return Path(
        left.marker,
        left.entry,
        left.repeats,
        loop=AnnotatedLoop(found.marker, around, found.accumulators, ReconvergencePoint()),
        turn=around,
        parent=None,
        blocks=frozenset(blocks),
        rest=frozenset(),
        join=None,
        continuation=False,
        accumulators=(),
        live=frozenset(),
        context=(),
        specials=(),
    )
