"""Loops in a row: what follows an inner loop in the iteration holds a loop itself.

    LOOP:     ...
    FIRST:    <turn of a loop>
              @%more bra FIRST;
              ...                               // goes with the tasks of the first loop,
    SECOND:   <turn of another>                 // up to here
              @%again bra SECOND;
              ...                               // goes with those of the second one

The lanes whose tasks of the first loop are over come to the second one a few at a time. So that is
no part of their tasks: where they come to it, they have a task of the second loop, like a lane that
passed the first one by. So do the tasks of a branch before a loop, where that goes with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ccc.analysis.facts import Facts
from ccc.analysis.likeness import has_nothing_to_fill
from ccc.analysis.paths.fetches import find_fetches
from ccc.analysis.paths.locate import INNER_LOOPS, ROLLED, those_on
from ccc.analysis.paths.model import (
    CheckedPath,
    Path,
    PlacedPath,
    Refused,
    WayOut,
    at,
    instructions_of,
)
from ccc.errors import Span
from ccc.ir.markers import Marker
from ccc.ir.operands import Register

PATHS = ("then", "else", "case", "while", "variable", "recursion")
"""The markers of paths."""

TOLD_FIRST = "do first what is said of"
BEHIND = "what follows the loop in the iteration would have to run"
"""How a reason begins that is one of a loop behind another."""
SPLIT = "split the annotated loop in two"
REMOVE = "remove the annotation"
TO_ANNOTATE = "annotate that loop, too", "annotate each loop that follows, too"
_READS = "it reads an array that this one fills, and has to stay with it: remove this annotation"
_CALLS = (
    "; or where its function is called several times, put all of these calls into one branch "
    'marked "ccc if", in place of this annotation'
)
_OF_CALL = "a copy of this one, of another call, that is not collected"


class LoopBehind(Refused):
    """The refusal of a loop before another: what is said, what is to be done in any case, and if
    that is nothing, what may be."""

    def __init__(self, what: str, hint: str, ways: Sequence[WayOut]):
        super().__init__(what + (hint or f"; {SPLIT}, or {REMOVE}"), () if hint else ways)
        self.what = what

    def with_way_out(self, way: WayOut | None) -> Refused:
        """The same, where one of them does, or none."""
        return Refused(f"{self.what}; {way.text}, or {SPLIT}", [way]) if way else Refused(str(self))


def loops_in_rest(path: PlacedPath, facts: Facts) -> list[frozenset[str]]:
    """The blocks of the loops in the rest of a path's iteration."""
    return [loop.blocks for loop in facts.loops if loop.blocks <= path.rest]


def check_loops_in_rest(path: CheckedPath, collected: Collection[Path], facts: Facts) -> None:
    """A loop in the rest of an inner loop's iteration must have tasks of its own.

    Args:
        path: the inner loop, or a branch.
        collected: those that can be collected, with all in the rest of its iteration.
        facts: the function's analyses.

    Raises:
        Refused: it has none; the reason says why.
    """
    loops = loops_in_rest(path, facts)
    if not path.repeats or path.followers or not loops:
        return
    beside = _paths_beside(path, collected, loops)
    without = [one for one in loops if not any(one <= other.blocks for other in beside)]
    outermost = [one for one in without if not any(one < other for other in without)]
    first = (without or loops)[0]
    loop = max((one for one in without or loops if first <= one), key=len)
    markers, ways = _inner_loops(loop, facts), list[WayOut]()
    headers = [one.header for one in facts.loops if one.blocks in outermost]
    if path.marker in markers:
        is_call = path.marker.kind == "recursion"
        why, hint = (_OF_CALL, f"; {TOLD_FIRST} that") if is_call else ("", f"; {ROLLED}{_CALLS}")
        behind = [one.header for one in facts.loops if one.blocks in without]
        if not is_call and not any(one.entry in behind for one in collected):
            hint = f"; {TOLD_FIRST} the copy that follows{_CALLS}"
    elif any(one.marker in markers for one in collected):
        why, hint = "to which tasks cannot go on from within a branch", "; remove this annotation"
    elif markers:
        why = "that is annotated, and cannot be collected"
        hint = _as_told(markers, loop, path, facts)
    else:
        why, hint, ways = "that is not collected", "", [_to_mark(headers)]
    if _fetches_behind(path, facts):
        why = "before the next iteration is fetched"
        hint = f"; let a counter of the loop number its iterations, or {SPLIT}"
    inside = _markers_inside(path, facts)
    if inside and path.marker not in markers:
        why = "to which tasks cannot go on from one that holds annotations"
        inner = next(one for one in facts.loops if one.header == path.entry)
        in_vain = has_nothing_to_fill(inner, path.loop.loop, facts)
        hint, ways = "", [] if in_vain else _to_remove(inside, headers, path.marker.span)
    if why not in ("", _OF_CALL) and _reads_what_is_filled(loop, path, facts):
        hint = f"; {_READS}"
    # what its turns end with stands in its line of the source
    last = [one for one in instructions_of(loop, facts) if one.is_branch][-1]
    if not why:
        raise Refused(
            "a copy of this loop follows it in the iteration, of another turn of a loop around it "
            "or of another call, and would have to run with its tasks, a few lanes at a time"
            f"{at(last)}{hint}"
        )
    raise LoopBehind(
        f"{BEHIND} with its tasks, a few lanes at a time, and holds a loop itself, {why}{at(last)}",
        hint,
        ways,
    )


def _as_told(
    markers: Iterable[Marker], loop: frozenset[str], path: PlacedPath, facts: Facts
) -> str:
    """To do what is said of an annotated loop, unless that is to remove its annotation."""
    own, here = next(one for one in facts.loops if one.blocks == loop), path.marker.span
    if has_nothing_to_fill(own, path.loop.loop, facts):
        return ""
    return f"; {TOLD_FIRST} {those_on([one.span for one in markers], here)}, or {SPLIT}"


def _to_mark(headers: Collection[str]) -> WayOut:
    return WayOut(TO_ANNOTATE[len(headers) > 1], headers)


def _to_remove(inside: Collection[Marker], headers: Collection[str], here: Span) -> list[WayOut]:
    """What may be done where others lie in the loop."""
    text = f"remove {those_on([one.span for one in inside], here)}"
    marked = _to_mark(headers)
    both = WayOut(f"{text}, and {marked.text.removesuffix(', too')}", headers, inside)
    return [WayOut(text, (), inside), *([both] if headers else [])]


def _reads_what_is_filled(loop: frozenset[str], path: PlacedPath, facts: Facts) -> bool:
    """Whether a loop reads bytes of an array that it has from a path."""
    header = next(one.header for one in facts.loops if one.blocks == loop)
    return bool(facts.local.exposed(loop, header) & facts.local.writes(path.blocks))


def _fetches_behind(path: PlacedPath, facts: Facts) -> bool:
    """Whether the next iteration is fetched from a counter in the rest of this one."""
    webs = frozenset[Register]().union(*(a.registers for a in path.loop.accumulators))
    return bool(find_fetches(path, facts, webs))


def _inner_loops(loop: frozenset[str], facts: Facts) -> list[Marker]:
    """What marks a loop to be a path, and stands in no loop within."""
    inner = {label for one in facts.loops if one.blocks < loop for label in one.blocks}
    markers = (marker for label in loop - inner for marker in facts.blocks[label].markers)
    return [one for one in markers if one.kind in INNER_LOOPS]


def _markers_inside(path: PlacedPath, facts: Facts) -> list[Marker]:
    """The other annotations that lie in a path."""
    markers = (marker for label in path.blocks for marker in facts.blocks[label].markers)
    others = (one for one in markers if one.identifier != path.marker.identifier)
    return [one for one in others if one.kind in PATHS]


def find_followers(path: PlacedPath, collected: Iterable[Path], facts: Facts) -> tuple[Path, ...]:
    """The paths that hold the loops which follow a path; none if one of them is in none.

    Behind a branch these are inner loops: what another branch holds goes with the tasks.

    Paths in the inner loop have their tasks served after each of its turns, before the loop's own
    meet again; what follows it would have to be served before that, too. That is not done.

    Args:
        path: the inner loop, or a branch.
        collected: those that can be collected, with all in the rest of its iteration.
        facts: the function's analyses.
    """
    loops = loops_in_rest(path, facts)
    # An iteration that is fetched behind the loops would be fetched with their tasks.
    if _markers_inside(path, facts) or _fetches_behind(path, facts):
        return ()
    beside = _paths_beside(path, collected, loops)
    covered = all(any(loop <= other.blocks for other in beside) for loop in loops)
    return tuple(beside) if covered else ()


def _paths_beside(
    path: PlacedPath, collected: Iterable[Path], loops: Iterable[frozenset[str]]
) -> list[Path]:
    """The paths behind one in its iteration that hold some of the loops there."""
    return [
        other
        for other in collected
        if other.turn is path.turn
        and other.parent is path.parent
        and other.blocks <= path.rest
        and other.stays is None
        and (path.repeats or other.repeats)
        and any(loop <= other.blocks for loop in loops)
    ]


def chains(paths: Iterable[Path]) -> list[Sequence[Path]]:
    """Paths that lie beside one another, those together that tasks come to from one another.

    Of these, each stands behind those that its tasks come to, which have less of the iteration
    behind them.
    """
    every = list(paths)
    if not any(path.followers for path in every):
        return [[path] for path in every]
    found: list[list[Path]] = []
    for path in every:
        related = [
            chain
            for chain in found
            if any(one.leads_to(path) or path.leads_to(one) for one in chain)
        ]
        together = [*(one for chain in related for one in chain), path]
        others = [chain for chain in found if chain not in related]
        found = [*others, sorted(together, key=lambda one: len(one.rest))]
    return list(found)
