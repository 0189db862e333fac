"""Where a path lies in the loop that it is a part of, and where it leads."""

from __future__ import annotations

from collections.abc import Collection

from ccc.analysis.cfg import EXIT
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.agreeing import later_in_turn, may_part
from ccc.analysis.paths.leading_out import ENDS_TURNS, LEAVES, how_to_stay
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import AnnotatedLoop, FoundPath, Path, PlacedPath, Refused

TRAPPED = (
    "the path comes to a trap, which nvcc puts in the place of what cannot be done, as an atomic "
    "operation on a variable of the thread's own; write s += x in the place of atomicAdd(&s, x), "
    "and if the loop only adds it up, say so on the loop: reduction(+: s)"
)


def check_trap(labels: Collection[str], facts: Facts) -> None:
    """Nothing of a path comes to a block behind which there is no code, as nvcc leaves it.

    Raises:
        Refused: something does.
    """
    behind = {after for label in labels for after in facts.graph.successors(label)}
    for label in sorted({*labels, *behind} & facts.blocks.keys()):
        last = list(facts.blocks[label].instructions)[-2:]
        if [one.name for one in last] == ["trap", "ret"] and last[
            1
        ] is facts.function.implied_return:
            raise Refused(TRAPPED)


def place(
    path: FoundPath, annotated: AnnotatedLoop, loop: Loop, parent: Path | None, facts: Facts
) -> PlacedPath:
    """Find the blocks of a path in the turn that it is a part of.

    Raises:
        Refused: there is no path left in it, or one that leads elsewhere.
    """
    blocks = extent(path, facts) & loop.blocks
    whole = parent is not None and parent.entry == path.entry
    if whole or path.entry == loop.header or all(latch in blocks for latch in loop.latches):
        raise Refused(
            "no branch is left here: nvcc found its condition to be the same in every iteration, "
            "or all other ways leave the loop"
        )
    if not may_part(path, blocks, loop, annotated, facts):
        raise Refused("all lanes of a warp take the branch together, so there is nothing to fill")
    targets = {t for label in blocks for t in facts.graph.successors(label) if t not in blocks}
    outside = targets - loop.blocks
    check_trap(outside, facts)
    way_out = how_to_stay(path, parent if parent and parent.repeats else None)
    if EXIT in outside:
        raise Refused(f"the path returns from the kernel; {way_out}")
    if outside:
        if parent and parent.repeats:
            raise Refused(f"the path jumps out of the loop around it; {ENDS_TURNS}{LEAVES}")
        raise Refused(f"the path jumps out of the annotated loop; {way_out}")
    if not targets:
        raise Refused("the path never comes back to the loop")
    scope = loop.blocks if parent is None or parent.repeats else parent.region
    return PlacedPath(
        **vars(path),
        loop=annotated,
        turn=loop,
        parent=parent,
        blocks=blocks,
        rest=frozenset(later_in_turn(facts, targets, loop) & scope) - blocks,
        join=next(iter(targets)) if len(targets) == 1 else None,
    )
