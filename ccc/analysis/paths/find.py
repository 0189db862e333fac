"""Finding annotated loops and paths, through the control-flow graph from the markers.

Passes never look at markers themselves: what they may want to know of a path is in the
:class:`ccc.analysis.paths.Path` that is found here, or the reason why it cannot be collected.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.continuation import choose_continuation, find_context
from ccc.analysis.paths.legality import (
    check_independence,
    check_instructions,
    check_loop,
    check_meetings,
    check_order,
    check_waiting,
)
from ccc.analysis.paths.model import AnnotatedLoop, Path, Refused, at
from ccc.analysis.paths.own_memory import check_own_memory
from ccc.analysis.paths.reductions import find_accumulators
from ccc.analysis.paths.tail_calls import tail_calls
from ccc.ir.markers import Marker

ARMS = ("then", "else", "case")
NO_LOOP = "no loop is left here; does it run more than once?"
INNER_LOOPS = ("while", "variable", "recursion")

LEAVES = "break, goto and return come too late there: decide before the branch whether to go on"


def find_paths(
    facts: Facts, excluded: Mapping[tuple[int, str, str], str] = MappingProxyType({})
) -> list[Path]:
    """All paths of a function, in the order of their blocks.

    Args:
        facts: the function's analyses.
        excluded: keys of paths that will not be collected, whatever the rules say, and why.
    """
    loops = _annotated_loops(facts)
    found = _located(facts)
    # Outer paths first, since what an inner one has to do depends on whether they are collected.
    for path in sorted(found, key=lambda path: -len(_extent(path, facts))):
        if path.reason is None and path.key in excluded:
            path.reason = excluded[path.key]
        if path.reason is None:
            try:
                _examine(path, facts, loops, found)
            except Refused as refusal:
                path.reason = str(refusal)
    return _without_first_turns(found)


def _without_first_turns(paths: list[Path]) -> list[Path]:
    """Without the copies of recursive functions before the loop that nvcc made of the rest, and
    without first turns that nvcc took out of a loop."""
    loops = {
        path.marker.identifier
        for path in paths
        if path.marker.kind in INNER_LOOPS and path.reason is None
    }

    def is_first(path: Path) -> bool:
        unfit = path.reason is not None and path.marker.kind == "recursion"
        return (unfit or path.reason == NO_LOOP) and path.marker.identifier in loops

    return [path for path in paths if not is_first(path)]


def _located(facts: Facts) -> list[Path]:
    """A path for each marker of one, with its entry."""
    found: dict[tuple[int, str, str], Path] = {}
    for block in facts.function.blocks:
        for marker in block.markers:
            path = Path(marker, block.label)
            if marker.kind in INNER_LOOPS:
                _locate_loop(path, facts)
            elif marker.kind not in ARMS:
                continue
            found.setdefault(path.key, path)
    return list(found.values())


def _locate_loop(path: Path, facts: Facts) -> None:
    path.repeats = True
    loop = next((loop for loop in facts.loops if path.entry in loop.blocks), None)
    if facts.function.kind != "entry":
        return
    if loop is None or _is_stray(facts, loop, path.marker):
        path.reason = NO_LOOP
    else:
        path.entry = loop.header


def _extent(path: Path, facts: Facts) -> frozenset[str]:
    """The blocks that belong to the path, wherever it lies."""
    if path.repeats:
        around = [loop for loop in facts.loops if loop.header == path.entry]
        return around[0].blocks if around else frozenset()
    dominated = facts.dominators.dominated(path.entry)
    return frozenset(label for label in dominated if label in facts.graph and label != EXIT)


def _annotated_loops(facts: Facts) -> list[AnnotatedLoop]:
    """The natural loops that hold a ``for`` marker, inner before outer."""
    found: dict[str, AnnotatedLoop] = {}
    for label in facts.graph:
        for marker in facts.blocks[label].markers if label != EXIT else ():
            if marker.kind == "for":
                loop = next((loop for loop in facts.loops if label in loop.blocks), None)
                if loop is not None and not _is_stray(facts, loop, marker):
                    accumulators = find_accumulators(marker, loop, facts)
                    found.setdefault(loop.header, AnnotatedLoop(marker, loop, accumulators))
    return list(found.values())


def _is_stray(facts: Facts, loop: Loop, marker: Marker) -> bool:
    """Whether the annotated loop is gone and its marker fell into the loop around it.

    The ``loop`` marker stands before the annotated loop: inside ``loop`` only if that is another.
    """
    return any(
        other.kind == "loop" and other.identifier == marker.identifier
        for label in loop.blocks
        for other in facts.blocks[label].markers
    )


def _examine(path: Path, facts: Facts, loops: list[AnnotatedLoop], paths: list[Path]) -> None:
    """Fill the path in.

    Raises:
        Refused: with the reason.
    """
    if facts.function.kind != "entry":
        if path.marker.kind == "recursion":
            tail_calls(facts)
        raise Refused(
            "it is in a device function that was not inlined into its kernel; "
            "declare the function __forceinline__"
        )
    if path.entry not in facts.graph:
        raise Refused("nothing leads to this branch")
    if facts.unknown is not None:
        raise Refused(f"the opcode {facts.unknown.opcode} is not known to ccc{at(facts.unknown)}")
    if not facts.is_reducible:
        raise Refused("the kernel jumps into the middle of a loop")
    _find_loops(path, facts, loops, paths)
    assert path.loop is not None
    check_loop(path.loop, facts)
    path.parent = _parent_of(path, paths)
    _find_blocks(path, facts)
    check_instructions(path, facts)
    check_order(path, facts)
    others = (_extent(other, facts) for other in paths if other.entry in path.blocks | path.rest)
    inner = (blocks for blocks in others if path.entry not in blocks)
    choose_continuation(path, frozenset().union(*inner), facts)
    check_meetings(path, facts)
    if path.continuation:
        check_order(path, facts)  # of what goes with the task, too
    check_own_memory(path, paths, facts)
    check_waiting(path, facts)
    check_independence(path, facts)
    find_context(path, facts)


def _find_loops(path: Path, facts: Facts, loops: list[AnnotatedLoop], paths: list[Path]) -> None:
    """The annotated loop around it, and the one whose turns it is a part of.

    Raises:
        Refused: there is none, or one turn may run the path several times.
    """
    around = [loop for loop in facts.loops if path.entry in loop.blocks]
    if path.repeats:
        around = [loop for loop in around if loop.header != path.entry]
    annotated = {loop.loop.header: loop for loop in loops}
    if not any(loop.header in annotated for loop in around):
        branch = _branch_to(path.entry, facts)
        if any(branch in loop.loop.blocks for loop in loops):
            raise Refused(f"the path jumps out of the annotated loop; {LEAVES}")
        raise Refused("no annotated loop is left around it; does the loop run more than once?")
    collected = {o.entry: o.loop for o in paths if o.repeats and o.loop and o.reason is None}
    turn = around[0]
    loop = annotated.get(turn.header) or collected.get(turn.header)
    refused = [other.reason for other in paths if other.repeats and other.entry == turn.header]
    if loop is None and refused and refused[0] is not None:
        raise Refused(f"the loop around it is left alone: {refused[0]}")
    if loop is None:
        raise Refused(
            "it lies in a loop inside the annotated one, so one iteration may run it several "
            "times; annotate the inner loop"
        )
    path.loop, path.turn = loop, turn


def _branch_to(label: str, facts: Facts) -> str:
    """The block whose branch leads to a block, over none but jumps."""
    above = facts.dominators.immediate(label)
    while above is not None and len(set(facts.graph.successors(above))) == 1:
        label, above = above, facts.dominators.immediate(above)
    return above or label


def _parent_of(path: Path, paths: list[Path]) -> Path | None:
    """The innermost path around it that can be collected."""
    around = [
        other
        for other in paths
        if other is not path
        and other.reason is None
        and other.loop is path.loop
        and path.entry in other.blocks
    ]
    return min(around, key=lambda other: len(other.blocks), default=None)


def _find_blocks(path: Path, facts: Facts) -> None:
    assert path.turn is not None
    loop = path.turn
    path.blocks = _extent(path, facts) & loop.blocks
    whole = path.parent is not None and path.parent.entry == path.entry
    if whole or path.entry == loop.header or all(latch in path.blocks for latch in loop.latches):
        raise Refused(
            "no branch is left here: nvcc found its condition to be the same in every iteration, "
            "or all other ways leave the loop"
        )
    if not _is_divergent(path, facts):
        raise Refused("all lanes of a warp take the branch together, so there is nothing to fill")
    targets = {
        target
        for label in path.blocks
        for target in facts.graph.successors(label)
        if target not in path.blocks
    }
    outside = targets - loop.blocks
    if EXIT in outside:
        raise Refused(f"the path returns from the kernel; {LEAVES}")
    if outside:
        around = (
            "the loop around it" if path.parent and path.parent.repeats else "the annotated loop"
        )
        raise Refused(f"the path jumps out of {around}; {LEAVES}")
    if not targets:
        raise Refused("the path never comes back to the loop")
    path.join = next(iter(targets)) if len(targets) == 1 else None
    scope = path.parent.region if path.parent and not path.gives_away else loop.blocks
    path.rest = frozenset(_later_in_turn(facts, targets, loop) & scope) - path.blocks


def _is_divergent(path: Path, facts: Facts) -> bool:
    """Whether some branch of the same iteration may part the lanes on their way to the path."""
    assert path.turn is not None
    loop = path.turn
    if path.repeats and path.blocks & facts.divergence.divergent_branches:
        return True
    return any(
        label in facts.divergence.divergent_branches
        and not facts.post_dominators.dominates(path.entry, label)
        and (label == loop.header or path.entry in _later_in_turn(facts, {label}, loop))
        for label in loop.blocks - path.blocks
    )


def _later_in_turn(facts: Facts, starts: set[str], loop: Loop) -> set[str]:
    """The blocks of the loop that may follow in the same turn."""
    own = loop.blocks - {loop.header}
    return reachable(lambda label: own.intersection(facts.graph[label]), starts & own)
