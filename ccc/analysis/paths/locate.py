"""Where annotated loops and paths are, by the markers: whether they can be collected is for
:mod:`ccc.analysis.paths.find`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from ccc.analysis.cfg import EXIT
from ccc.analysis.companions import Companions
from ccc.analysis.convergence import find_reconvergence
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import FoundLoop, FoundPath, LeftPath, Path, PathKey
from ccc.analysis.paths.reductions import find_groups, find_reductions
from ccc.analysis.stray_markers import is_stray
from ccc.errors import Span
from ccc.ir.markers import ARMS, UNROLLS, WHOLE_KERNEL, Marker

NO_LOOP = "no loop is left here"
INNER_LOOPS = ("while", "variable", "recursion")
WHOLE = 'all lanes that begin that loop go round as often: mark it "ccc for"'
BETWEEN = " between it and the annotated one"
"""What serves a loop inside an annotated one that needs no tasks of its own."""
MARK_KERNEL = 'mark the kernel, if its threads are independent: "#pragma ccc grid_stride"'
MARK_LOOP = "mark the loop in which the kernel comes to it: #pragma ccc for"
ROLLED = (
    'mark each loop around it that nvcc has unrolled "ccc for", if its turns are independent, or '
    'else "ccc while"'
)
"""Their turns are a constant: all lanes go round them as often."""

_AnyPath = TypeVar("_AnyPath", bound=FoundPath)


def on_line(place: Span, here: Span) -> str:
    """How a place is spoken of somewhere: by its line, and by its file where that is another."""
    return f"line {place.line}" if place.file == here.file else f"line {place.line} of {place.file}"


def those_on(places: Iterable[Span], here: Span) -> str:
    """How annotations are spoken of somewhere: by their lines, and by their file if it is
    another."""
    lines: dict[str, set[int]] = {}
    for one in sorted(places, key=lambda one: (one.file != here.file, one.file)):
        lines.setdefault(one.file, set()).add(one.line)
    told = []
    for file, mine in lines.items():
        every = [str(line) for line in sorted(mine)]
        which = f"{'those on lines' if every[1:] else 'that on line'} {' and '.join(every)}"
        told.append(which if file == here.file else f"{which} of {file}")
    return ", and ".join(told)


def copies(marker: Marker, facts: Facts) -> list[str]:
    """Where the paths with a marker are entered, first turns that nvcc took out of a loop left
    out; in the order of their blocks."""
    found = without_first_turns(located(facts), facts)
    return [path.entry for path in found if path.marker == marker]


def without_first_turns(paths: list[_AnyPath], facts: Facts) -> list[_AnyPath]:
    """Without first turns that nvcc took out of a loop, and without the copies of recursive
    functions before the loop that nvcc made of the rest."""
    heads = {loop.header for loop in facts.loops}

    def is_loop(path: FoundPath) -> bool:
        if path.marker.kind == "recursion":
            return isinstance(path, Path)
        return path.entry in heads and not is_no_loop(path)

    loops = {path.marker.identifier for path in paths if path.repeats and is_loop(path)}
    return [
        path
        for path in paths
        if not path.repeats or is_loop(path) or path.marker.identifier not in loops
    ]


def located(facts: Facts) -> list[FoundPath]:
    """A path for each marker of one, with its entry; some are left already."""
    found: dict[PathKey, FoundPath] = {}
    for block in facts.function.blocks:
        for marker in block.markers:
            if marker.kind in INNER_LOOPS:
                path = _located_loop(FoundPath(marker, block.label, repeats=True), facts)
            elif marker.kind in ARMS:
                path = FoundPath(marker, block.label, repeats=False)
            else:
                continue
            found.setdefault(path.key, path)
    return list(found.values())


def _located_loop(path: FoundPath, facts: Facts) -> FoundPath:
    """A path that repeats is entered at the head of its loop."""
    loop = next((loop for loop in facts.loops if path.entry in loop.blocks), None)
    if loop is not None and not is_stray(facts, loop, path.marker):
        return replace(path, entry=loop.header)
    if facts.function.kind != "entry":
        return path
    return LeftPath(**vars(path), reason=NO_LOOP + what_became([path.marker]))


def is_no_loop(path: FoundPath) -> bool:
    """Whether it was left since nvcc made no loop of it, or took it out of one."""
    return isinstance(path, LeftPath) and path.reason.startswith(NO_LOOP)


def what_became(loops: Iterable[Marker]) -> str:
    """What may have become of annotated loops that are none any more, and what to do."""
    if any(UNROLLS.items() <= one.clauses.items() for one in loops):
        return (
            "; if nvcc unrolled it wholly, as its #pragma unroll says, remove that, or if its "
            "number of turns is a constant, the annotation"
        )
    return (
        "; if the loop runs once at most, remove the annotation; where all ways out of a loop in "
        "it return, leave that by break"
    )


def how_to_repeat(marker: Marker, paths: Iterable[FoundPath], facts: Facts) -> str:
    """What is to be marked around the copies of a path, of which no loop is, in words: where a
    kernel comes to all of them in none, each thread is an iteration."""
    entries = {one.entry: one.repeats for one in paths if one.marker == marker}
    around = (
        loop
        for entry, repeats in entries.items()
        for loop in facts.loops
        if entry in loop.blocks and not (repeats and loop.header == entry)
    )
    if facts.function.kind == "entry" and next(around, None) is None:
        return MARK_KERNEL
    return MARK_LOOP


def extent(path: FoundPath, facts: Facts) -> frozenset[str]:
    """The blocks that belong to the path, wherever it lies."""
    if path.repeats:
        around = [loop for loop in facts.loops if loop.header == path.entry]
        return around[0].blocks if around else frozenset()
    dominated = facts.dominators.dominated(path.entry)
    return frozenset(label for label in dominated if label in facts.graph and label != EXIT)


def outer_first(
    paths: Iterable[FoundPath], found: Iterable[FoundPath], facts: Facts
) -> list[FoundPath]:
    """Paths by what of the innermost marked loop around them belongs to them, most first: all that
    is behind a branch may, where nvcc takes that for the loop's own."""
    marked = {one.entry for one in found if one.repeats}

    def key(path: FoundPath) -> tuple[int, bool]:
        inside, heads = extent(path, facts), marked - ({path.entry} if path.repeats else set())
        around = (one for one in facts.loops if path.entry in one.blocks)
        turn = next((one for one in around if one.header in heads), None)
        return -len(inside & turn.blocks if turn else inside), not path.repeats

    return sorted(paths, key=key)


def annotated_loops(facts: Facts) -> list[FoundLoop]:
    """The natural loops that hold a ``for`` marker, inner before outer."""
    found: dict[str, FoundLoop] = {}
    for label in facts.graph:
        for marker in facts.blocks[label].markers if label != EXIT else ():
            if marker.kind == "for":
                loop = next((loop for loop in facts.loops if label in loop.blocks), None)
                if loop is not None and not is_stray(facts, loop, marker):
                    accumulators = find_reductions(marker, loop, facts)
                    found.setdefault(loop.header, FoundLoop(marker, loop, accumulators))
    return list(found.values())


def groups_of_loops(facts: Facts) -> list[tuple[FoundLoop, list[Companions]]]:
    """The annotated loops, with the reductions in which values have companions."""
    loops = ((one, find_groups(one.marker, one.loop, facts)) for one in annotated_loops(facts))
    return [(loop, groups) for loop, groups in loops if groups]


def independent_loops(facts: Facts) -> list[Loop]:
    """The loops that are marked ``for variable``."""
    found = {}
    for label in facts.graph:
        for marker in facts.blocks[label].markers if label in facts.blocks else ():
            loop = next((loop for loop in facts.loops if label in loop.blocks), None)
            if marker.kind == "variable" and loop and not is_stray(facts, loop, marker):
                found[loop.header] = loop
    return list(found.values())


def needs_no_tasks(turn: Loop, outer: Loop, facts: Facts) -> bool:
    """Whether a loop inside an annotated one can be annotated itself instead of having tasks: all
    lanes that begin it go round as often, no path beside it has them wait for one another, and no
    loop around has some come to it that others do not."""

    def paths(labels: Iterable[str]) -> set[int]:
        every = chain.from_iterable(facts.blocks[label].markers for label in labels)
        return {one.identifier for one in every if one.kind in (*INNER_LOOPS, *ARMS)}

    # Of a loop that nvcc unrolled copies stand beside it.
    is_alone = paths(outer.blocks) == paths(turn.blocks)
    return facts.turns_agree(turn) and is_alone and not _is_passed_by(turn, facts)


def _is_passed_by(loop: Loop, facts: Facts) -> bool:
    """Whether it could not be an annotated loop, since the lanes in it cannot be counted."""
    return isinstance(find_reconvergence(facts, loop), str)


def branch_to(label: str, facts: Facts) -> str:
    """The block whose branch leads to a block, over none but jumps."""
    above = facts.dominators.immediate(label)
    while above is not None and len(set(facts.graph.successors(above))) == 1:
        label, above = above, facts.dominators.immediate(above)
    return above or label


def why_none_is_left(
    path: FoundPath, found: Sequence[FoundPath], left: Collection[Marker], facts: Facts
) -> str:
    """What may have become of an annotated loop around a path that is none any more, and what to
    do.

    Args:
        path: the path.
        found: all of them.
        left: the markers of the annotated loops that are there.
        facts: the function's analyses.
    """
    markers = [m for block in facts.function.blocks for m in block.markers]
    loops = [one for one in markers if one.kind == "for"]
    gone = [one for one in loops if one not in left]
    if not gone and any(one.kind in WHOLE_KERNEL for one in markers):
        return ", since its kernel is left as it was"
    if loops:
        return what_became(gone or loops)
    return f"; {how_to_repeat(path.marker, found, facts)}"
