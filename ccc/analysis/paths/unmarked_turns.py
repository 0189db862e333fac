"""How to mark a loop inside the annotated one that a path lies in, where it is not marked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from ccc.analysis.companion_search import find_companions
from ccc.analysis.constant_trip_count import goes_once
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.carried_values import AS_WHILE
from ccc.analysis.paths.followers import BEHIND
from ccc.analysis.paths.locate import BETWEEN, WHOLE, extent, needs_no_tasks, on_line
from ccc.analysis.paths.model import FoundPath, Path, WayOut, at, instructions_of
from ccc.analysis.paths.reductions import declared_operations
from ccc.ir.operands import Register

IN_TURNS = "it lies in a loop inside the annotated one"
"""How a reason begins that is one of a path that one iteration may run several times."""
_THIS = "this annotation"
_REMOVE = f"remove {_THIS}"
_KINDS = {"variable": '"ccc for variable", if its turns are independent', "while": '"ccc while"'}
"""How to mark loops, by kind."""
_INSTEAD = f", in place of {_THIS}"


@dataclass(frozen=True)
class IfMarked:
    """Why a ``loop`` that nobody marked, and a ``path`` in it or before it, could not be collected
    if it were; None of what could be. For that a ``number`` of loops have to be marked."""

    loop: str | None = None
    path: str | None = None
    number: int = 1


def how_to_mark(
    path: FoundPath,
    around: Sequence[Loop],
    outer: Loop,
    collected: Collection[Path],
    found: Collection[FoundPath],
    facts: Facts,
    if_marked: Callable[[str], IfMarked],
) -> tuple[str, Sequence[WayOut]]:
    """How to mark the loop, and those that are left, or have been unrolled, between and inside; and
    what annotations there would be then, as far as that is certain.

    Args:
        path: the path.
        around: the loops that it lies in, the innermost first: that which is to be marked.
        outer: the annotated one among them.
        collected: the paths that can be collected, as far as that is known.
        found: all paths.
        facts: the function's analyses.
        if_marked: what would become of them if the loop had a marker of some kind.
    """
    if goes_once(around[0], facts):
        return (
            f"write what is in that loop without it, since it goes round once; else {_REMOVE}",
            (),
        )
    turn, holding = around[0], [one for one in collected if path.entry in one.blocks]
    if carrier := next((one for one in holding if one.repeats and one.carries_parent), None):
        return (
            f"{_REMOVE}: the tasks of {where(carrier, path)} take those of the loop around it "
            "along, and can leave nothing behind"
        ), ()
    between = around.index(outer) - 1
    if not needs_no_tasks(turn, outer, facts):
        if _keeps_first(path, turn, outer, facts):
            if between or holding:
                return _REMOVE, ()
            return f'mark it "ccc while" in place of {_THIS}', ()
        return _by_turns(path, around, bool(between or holding), facts, if_marked)
    same = [one for one in found if one.marker == path.marker]
    others = "".join([
        f", and so {_loops(between)}{BETWEEN}" if between else "",
        ", and so each loop in it that nvcc has unrolled"
        if sum(one.entry in turn.blocks for one in same) > 1 else "",
    ])  # fmt: skip
    their, them = ("their", "them") if others else ("its", "it")
    by_turns = not between and not is_final(if_marked("while").loop)
    instead = f'mark {them} "ccc while", or {_REMOVE}' if by_turns else _REMOVE
    entered = {one.header: one.entered_from(facts.graph) for one in around[: between + 1]}
    kinds = ("for", *["while"] * by_turns)
    ways = [WayOut(kind, [*entered], (), kind, entered) for kind in kinds]
    return f"{WHOLE}{others}, if {their} turns are independent; else {instead}", ways


def _set_there(path: FoundPath, turn: Loop, facts: Facts) -> set[Register]:
    """The registers that a path sets in turns of a loop."""
    inside = instructions_of(extent(path, facts) & turn.blocks, facts)
    return {register for one in inside for register in one.defined()}


def _keeps_first(path: FoundPath, turn: Loop, outer: Loop, facts: Facts) -> bool:
    """Whether a path sets what goes with the least or the most of all iterations of the annotated
    loop: of equals the first in the order of turns counts, which tasks of some of them lose."""
    set_there = _set_there(path, turn, facts)
    carried = facts.liveness.live_in(outer.header) & facts.liveness.live_in(turn.header)
    groups = (find_companions(one, outer, facts) for one in sorted(carried, key=lambda r: r.name))
    return any(not set_there.isdisjoint(one) for group in groups if group for one in group.classes)


def _by_turns(
    path: FoundPath,
    around: Sequence[Loop],
    is_deep: bool,
    facts: Facts,
    if_marked: Callable[[str], IfMarked],
) -> tuple[str, Sequence[WayOut]]:
    """The same of a loop that some lanes leave before others.

    Tasks take those of the loop around along where its turns need what the path makes; not of two,
    as where that loop ``is_deep`` in another path, or in a loop that has to be one, too.
    """
    is_summed = bool(declared_operations(path.marker))  # which no reduction around would serve
    if is_deep and is_summed:
        return _REMOVE, ()
    kinds = ["while"] if is_summed else ["variable", "while"]
    told = {kind: if_marked(kind) for kind in kinds}
    serving = [kind for kind, one in told.items() if not is_final(one.loop)]
    if not serving:
        return f'{_REMOVE}: marked "ccc while", that loop could not be collected, either', ()
    how = _or_else(serving)
    is_instead = _is_in_the_way([told[kind] for kind in serving])
    removed = [path.marker] if is_instead else []
    loops = {kind: around[: told[kind].number] for kind in serving}
    ends = {kind: {one.header: end_of(one, facts) for one in loops[kind]} for kind in serving}
    ways = [WayOut(how, [*ends[kind]], removed, kind, ends=ends[kind]) for kind in serving]
    instead = _INSTEAD if is_instead else ""
    otherwise = f"; else {_REMOVE}" if is_deep or "while" not in serving else ""
    more = max(told[kind].number for kind in serving) - 1
    it = f"it, and {_loops(more)} around it," if more else "it"
    return f"mark {it} {how}{instead}{otherwise}", ways


def _is_in_the_way(told: Sequence[IfMarked]) -> bool:
    """Whether a path could be collected in none of the ways; one may lead to the last one."""
    *others, last = told
    leads = (AS_WHILE in (one.path or "") for one in others)
    return is_final(last.path) and all(
        is_final(one.path) or is_so for one, is_so in zip(others, leads, strict=True)
    )


def is_final(reason: str | None) -> bool:
    """Whether a reason leaves nothing to do but to remove an annotation, or what is not tried."""
    _, _, way_out = (reason or "").partition("; ")
    is_to_go = not way_out or way_out.removeprefix("or ").startswith("remove ")
    return reason is not None and (is_to_go or reason.startswith(BEHIND))


def mark_instead(kinds: Iterable[str]) -> str:
    """What to do where the loop serves if it is marked, by one of some kinds, and the path does
    not."""
    return f"mark it {_or_else(kinds)}{_INSTEAD}; else {_REMOVE}"


def _or_else(kinds: Iterable[str]) -> str:
    return ", or else ".join(_KINDS[kind] for kind in kinds)


def _loops(number: int) -> str:
    return "the loop" if number == 1 else f"the {number} loops"


def end_of(loop: Loop, facts: Facts) -> str:
    """Where a turn of a loop ends: of that, the line in the source is the head of the loop."""
    ends = (i for label in loop.latches for i in facts.blocks[label].instructions)
    return next((at(one) for one in ends if one.is_terminator), "")


def where(other: Path, path: FoundPath) -> str:
    """Where another path than this one stands."""
    return f"the path on {on_line(other.marker.span, path.marker.span)}"
