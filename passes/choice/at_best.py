"""What may be gained, at best, by a path that cannot be collected as it is: nothing is advised for
one that would gain nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ccc.analysis.convergence import ReconvergencePoint
from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import AnnotatedLoop, LeftPath, Path
from ccc.ir.markers import ARMS as BRANCHES
from ccc.passes.choice.exchange import ARMS
from ccc.passes.choice.inner_loops import SHARED_OUT
from ccc.passes.choice.loop_costs import LoopCosts
from ccc.passes.policy import REPEATING
from ccc.passes.strategies.registry import COLLECTING
from ccc.pipeline import Kernel


def at_best(left: Sequence[LeftPath | Path], kernel: Kernel) -> float | None:
    """How many times as fast as the original a loop may be expected, if tasks took nothing along.

    Args:
        left: the paths of an annotation, of which some may be collected as they are.
        kernel: the kernel as it was when they were found.

    Returns:
        None where that is not known: of paths that lie in a loop inside the annotated one, or in
        no loop.
    """
    paths = [_as_if(one, kernel.facts) for one in left]
    known = [one for one in paths if one is not None]
    if not known or len(known) < len(paths):
        return None
    loops = {one.loop.loop.header: one.loop for one in known}
    known = [replace(one, loop=loops[one.loop.loop.header]) for one in known]
    return max(
        _most(loop, [one for one in known if one.loop is loop], kernel) for loop in loops.values()
    )


def _most(loop: AnnotatedLoop, paths: Sequence[Path], kernel: Kernel) -> float:
    """The same of the paths of one loop, served all, or one alone."""
    costs = LoopCosts.of(loop, paths, kernel)
    ways: list[Mapping[Path, str]] = []
    for name in _names(paths, loop, kernel.facts):
        ways += [dict.fromkeys(paths, name), *({one: name} for one in paths)]
    return max(cost.slots({}) / cost.slots(way) for cost in costs.every for way in ways)


def _names(paths: Sequence[Path], loop: AnnotatedLoop, facts: Facts) -> list[str]:
    """What may serve some paths; batches none that has others beside it."""
    kinds = {one.marker.kind for one in paths}
    if any(one.repeats for one in paths):
        return [REPEATING, *(SHARED_OUT if "variable" in kinds else ())]
    marked = [one for at in loop.loop.blocks for one in facts.blocks[at].markers]
    is_alone = sum(one.kind in BRANCHES for one in marked) == 1
    able = (one for one in COLLECTING if one.iterations == 1 or is_alone)
    return [one.name for one in able if one.name in ARMS]


def _as_if(left: LeftPath | Path, facts: Facts) -> Path | None:
    """A path as if nothing was in its way, and its tasks took nothing along and left all that
    follows to their lanes."""
    found, loops = left.loop, {one.header: one for one in facts.loops}
    if found is None or left.entry not in facts.blocks or found.loop.header not in loops:
        return None  # it, or its loop, is what a pass has made
    around = loops[found.loop.header]
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
