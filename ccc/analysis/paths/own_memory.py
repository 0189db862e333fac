"""Whether a path gets along with the local memory of the lanes that its tasks come to.

A task runs where there is a lane for it, and after each trip of a loop that is a path it may be
another lane. The lanes have waited where an iteration, or a trip, ends. So of local memory

- a task must not read what somebody else wrote: the code before it, or its own last trip;
- nobody may read what it wrote: the rest of the iteration, or its own next trip;
- no lane may miss what a task overwrites there.

Or a task takes along what it reads there, word by word, as its context.

Between iterations of the annotated loop, and trips of a ``for variable``, nothing is passed on by
the user's promise, so that scratch memory that only the path uses does no harm; but between the
turns and what follows them in the iteration there may be. Nor does an array of constants do harm,
which is the same on all lanes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NoReturn

from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.local_memory import Edge, Word
from ccc.analysis.paths.array_hints import (
    ALL_INTO_BRANCH,
    MOST_WORDS,
    handed_on,
    hint_at_rest,
    hint_at_sharing,
    hint_at_turns,
    hint_in_branch,
    print_hint,
)
from ccc.analysis.paths.model import CheckedPath, FoundPath, PlacedPath, Refused, at
from ccc.ir.nodes import Instruction


def check_own_memory(
    path: CheckedPath, paths: Collection[FoundPath], facts: Facts
) -> tuple[Word, ...]:
    """That a task can do with the local memory of any lane.

    Args:
        path: the path.
        paths: all paths of the function: what lies in them, or behind them in an iteration, is not
            certain to be run by a lane itself.
        facts: the function's analyses.

    Returns:
        The words that its tasks take along.

    Raises:
        Refused: it cannot.
    """
    local = facts.local
    if not (local.reads(path.region) | local.writes(path.region)):
        return ()
    tables = local.constants & local.filled_before_meeting(
        path.loop.loop, _behind_paths(path.loop.loop, paths, facts)
    )
    within, across = _flows_in(path, facts)
    mixed = within | flows_out(path, facts) | _missed(path, facts)
    mixed |= local.points_to.allocated  # its address means nothing to another lane
    onward = _left_by_turns(path, facts)
    if _is_dependent(path, _loops_around(path, facts), facts):
        onward |= across
    passed_on = local.first(path.region, onward & ~tables)
    found_again = local.first(path.region, across & ~tables)
    culprit = local.first(path.region, mixed & ~tables)
    if not (passed_on or found_again or culprit):
        return ()
    along = _to_take_along(path, tables, facts)
    words, others = local.words(along) or (), _paths_beside(path, paths)
    if words and len(words) <= MOST_WORDS and not others:
        return words
    if passed_on is not None:
        raise Refused(
            "its turns pass local memory (an array of the thread's own) on, but a task may go on "
            f"in another lane after each{at(passed_on)}"
            f"{print_hint(passed_on, facts) or hint_at_turns(path, along, words, others)}"
        )
    if found_again is not None and handed_on(path, across & ~tables, facts)[0]:
        _refuse_sharing(path, found_again, (mixed | across) & ~tables, words, others, facts)
    if found_again is not None:
        raise Refused(
            "when the annotated loop is run again, the path may read what it has left in local "
            f"memory (an array of the thread's own){at(found_again)}; write the array first"
        )
    if culprit is not None:
        _refuse_sharing(path, culprit, mixed & ~tables, words, others, facts)
    return ()


def _refuse_sharing(
    path: CheckedPath,
    culprit: Instruction,
    mixed: int,
    words: Collection[Word],
    others: Collection[FoundPath],
    facts: Facts,
) -> NoReturn:
    """The path, or the rest of the iteration that goes with it, uses local memory that other code
    does.

    Raises:
        Refused: always.
    """
    local = facts.local
    handed, hint = handed_on(path, mixed, facts)
    culprit = local.first(path.region, handed) or culprit
    use = local.use(culprit)
    is_of_rest = path.continuation and mixed & (local.reads(path.rest) | local.writes(path.rest))
    if not handed:
        shared = mixed & (use.reads | use.writes)
        hint = hint_at_sharing(path, shared, words, others, facts)
        hint = hint_at_rest(path, words, others, facts) if is_of_rest else hint
        used = local.reads(path.region) | local.writes(path.region)
        if ALL_INTO_BRANCH in hint:
            hint = hint_in_branch(path, mixed & used, facts) or hint
    hint = print_hint(culprit, facts) or hint
    if is_of_rest:
        raise Refused(
            "the rest of the iteration would have to run with the path, but uses local memory (an "
            f"array of the thread's own) together with code outside it{at(culprit)}{hint}"
        )
    raise Refused(
        "the path shares local memory (an array of the thread's own) with code outside it"
        f"{at(culprit)}{hint}"
    )


def _to_take_along(path: CheckedPath, tables: int, facts: Facts) -> int:
    """The bytes that tasks may read before they write them, if they could be taken along, were they
    few whole words, and the path the only one.

    A lane saves them from its own memory when it saves the task, at the end of the iteration, and
    whoever gets the task writes them to its own. So nothing may write them before that, and nobody
    may miss what they overwrite. The array must be known by its name alone.
    """
    local, loop = facts.local, path.loop.loop
    along = local.exposed(path.region, path.entry) & ~tables
    is_alone = path.parent is None and path.stays is None
    if not is_alone or local.escaping is not None:
        return 0
    around = [one for one in _loops_around(path, facts) if one.header != path.entry]
    taken = local.writes(path.region) | along
    lost = local.points_to.allocated
    lost |= flows_out(path, facts, taken_along=True)
    lost |= _missed_in(around, path, facts, taken_along=True)
    if _is_dependent(path, facts.loops, facts, taken_along=True):
        lost |= local.exposed(loop.blocks, loop.header)
    late = local.writes(path.rest - path.region)
    return 0 if (lost & taken | late & along) & ~tables else along


def _paths_beside(path: CheckedPath, paths: Iterable[FoundPath]) -> list[FoundPath]:
    """The other paths of the annotated loop."""
    return [one for one in paths if one.entry in path.loop.loop.blocks and one.key != path.key]


def _flows_in(path: PlacedPath, facts: Facts) -> tuple[int, int]:
    """The bytes that a task may read and other code wrote; that an earlier run of it wrote."""
    local = facts.local
    exposed = local.exposed(path.region, path.entry)
    cut = _promised(path, facts)

    def back(label: str) -> Iterable[str]:
        return (b for b in facts.graph.predecessors(label) if (b, label) not in cut)

    before = reachable(back, [path.entry]) - path.region
    own = local.writes(path.region) if _is_dependent(path, facts.loops, facts) else 0
    return exposed & local.writes(before), exposed & own


def _left_by_turns(path: CheckedPath, facts: Facts) -> int:
    """The bytes that turns may write, and the rest of the iteration reads in the same task.

    That the turns are independent of one another says nothing of it. What the last turn has written
    is there for the rest: a task does not change lanes in between.
    """
    if not path.repeats or not path.continuation:
        return 0
    local = facts.local
    return (
        local.exposed(path.region, path.entry) & local.reads(path.rest) & local.writes(path.blocks)
    )


def flows_out(path: PlacedPath, facts: Facts, *, taken_along: bool = False) -> int:
    """The bytes that a task may write and other code reads, on the lane that gave it away."""
    local, cut = facts.local, _promised(path, facts, taken_along)
    own = _own_reads(path, facts, taken_along)
    ends = {
        after
        for label in path.region
        for after in facts.graph.successors(label)
        if (after not in path.region or after == path.entry) and (label, after) not in cut
    }
    live = 0
    for label in ends:
        live |= local.live(label, cut, own)
    return live & local.writes(path.region)


def _missed(path: PlacedPath, facts: Facts) -> int:
    """The bytes that a task may overwrite on a lane that will read them."""
    found = _missed_in(_loops_around(path, facts), path, facts)
    return found & facts.local.writes(path.region)


def _missed_in(
    loops: Iterable[Loop], path: PlacedPath, facts: Facts, *, taken_along: bool = False
) -> int:
    """The bytes that a lane will read where it waits in one of some loops, or behind it."""
    local, cut = facts.local, _promised(path, facts, taken_along)
    # What tasks take along is read where the lane saves them, in whatever iteration.
    own = frozenset[str]() if taken_along else _own_reads(path, facts, taken_along)
    missed = 0
    for loop in loops:
        held = local.live(loop.header, cut, own)
        if all((latch, loop.header) in cut for latch in loop.latches):
            outside = {label for label in facts.graph if label not in loop.blocks and label != EXIT}
            held &= local.writes(outside)
        for _, target in loop.exits(facts.graph):
            held |= local.live(target, cut, own)
        missed |= held
    return missed


def _own_reads(path: PlacedPath, facts: Facts, taken_along: bool) -> frozenset[str]:
    """The blocks whose reads do not count, since by the promise nothing is there to be read."""
    is_dependent = _is_dependent(path, facts.loops, facts, taken_along=taken_along)
    return frozenset() if is_dependent else path.region


def _loops_around(path: PlacedPath, facts: Facts) -> list[Loop]:
    """The annotated loop, and the loops in it that hold the path, or are it."""
    inside = path.loop.loop.blocks
    return [loop for loop in facts.loops if path.entry in loop.blocks and loop.blocks <= inside]


def _promised(path: PlacedPath, facts: Facts, taken_along: bool = False) -> frozenset[Edge]:
    """The edges from one iteration to the next of the loops whose iterations are independent.

    These are the annotated loop, inner loops of independent turns, and annotated loops around; and
    the path itself, if its tasks take along what its turns hand on.
    """
    headers = {path.loop.loop.header}
    if taken_along and path.repeats:
        headers.add(path.entry)
    around: PlacedPath | None = path
    while around is not None:
        if around.repeats and around.marker.kind == "variable":
            headers.add(around.entry)
        around = around.parent
    headers |= {loop.header for loop in facts.loops if _is_annotated(loop, path, facts)}
    return frozenset(
        (latch, loop.header)
        for loop in facts.loops
        if loop.header in headers and path.entry in loop.blocks
        for latch in loop.latches
    )


def _is_annotated(loop: Loop, path: PlacedPath, facts: Facts) -> bool:
    """Whether it is an annotated loop around that of the path: no ``loop`` marker lies in it."""
    if not path.loop.loop.blocks < loop.blocks:
        return False
    inner = [other.blocks for other in facts.loops if other.blocks < loop.blocks]
    own = [m for label in loop.blocks.difference(*inner) for m in facts.blocks[label].markers]
    begun = {m.identifier for m in own if m.kind == "loop"}
    return any(m.kind == "for" and m.identifier not in begun for m in own)


def _is_dependent(
    path: PlacedPath, loops: Iterable[Loop], facts: Facts, *, taken_along: bool = False
) -> bool:
    """Whether a lane may run the path several times, and each time after the other."""
    cut = _promised(path, facts, taken_along)
    return any(
        (latch, loop.header) not in cut
        for loop in loops
        if path.entry in loop.blocks
        for latch in loop.latches
    )


def _behind_paths(loop: Loop, paths: Iterable[FoundPath], facts: Facts) -> frozenset[str]:
    """The blocks of a loop that belong to a path, or may follow one in an iteration."""
    starts = {path.entry for path in paths if path.entry in loop.blocks}

    def step(label: str) -> Iterable[str]:
        return (after for after in facts.graph.successors(label) if after != loop.header)

    return frozenset(reachable(step, starts)) & loop.blocks
