"""Whether lanes wait in an iteration, or in a turn, for what the task of another lane will do.

A lane that has entered a critical section before the path would leave it when its task is done; and
for that, those that wait for it would have to come to the end of their iterations. Between two
turns of an inner loop a task may be set aside, too, and keep what it has taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial

from ccc.analysis.apart import RESTRICT
from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.loop_conditions import LoopConditions
from ccc.analysis.paths.events import ended_by_another
from ccc.analysis.paths.held_locks import (
    ended_by,
    free_number,
    gives_back,
    holding,
    may_end,
    read_anew,
)
from ccc.analysis.paths.model import CheckedPath, Refused, at, instructions_of
from ccc.analysis.paths.promises import find_promise
from ccc.analysis.polled import are_named_apart, changes_nothing, is_strong, roots
from ccc.analysis.spinning import Spin, goes_on, swaps_on
from ccc.ir.markers import ARMS
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register
from ccc.ptx.opcodes import MOVES_ON, Effect
from ccc.ptx.types import ANEW


def check_waiting(path: CheckedPath, facts: Facts) -> None:
    """That no lane waits in an iteration for what the task of another will do.

    A lane that has entered a critical section before the path would leave it when its task is done;
    and for that, those that wait for it would have to come to the end of their iterations.

    Raises:
        Refused: with the reason.
    """
    loop = path.loop.loop
    later = loop.behind([path.entry], facts.graph)
    for spin in facts.spins:
        _check_event(spin, path, facts)
        if spin.blocks < loop.blocks:  # who gives up would do so more often
            _check_behind(spin, path, facts)
        is_inside = spin.blocks <= path.blocks
        if is_inside and path.repeats and not (spin.gives_up and spin.seeks):
            _check_turns(spin, path, facts)
        if spin.blocks == loop.blocks and not (spin.gives_up and spin.seeks):
            # who has not got a lock tries again
            _check_beginning(_without_draws(spin, path, facts), path, loop.blocks, facts)
        if spin.blocks == loop.blocks and spin.waits and not (spin.counts or spin.draws):
            _check_own_end(spin, later, facts)
        is_before = not is_inside and path.entry in loop.behind(spin.blocks, facts.graph)
        if spin.blocks < loop.blocks and not is_before and not (spin.gives_up and spin.seeks):
            _check_beginning(spin, path, later, facts)
            _check_draws(spin, path, facts)
        if not spin.blocks < loop.blocks or not is_before:
            continue
        if path.carries_parent and _looks_at_its_own(spin, path, facts):
            continue
        polled = [roots(poll, facts) or frozenset() for poll in spin.polls]
        named = frozenset[str]().union(*polled)
        writes = list(instructions_of(later, facts))  # those to the same parameter are named first
        for instruction in sorted(writes, key=lambda i: named.isdisjoint(roots(i, facts) or named)):
            if (poll := ended_by(spin, instruction, facts)) is not None:
                raise Refused(
                    f"lanes may wait before the path{at(poll)} for what is done in it or "
                    f"after it{at(instruction)}; {_way_out(poll, instruction, spin, path, facts)}"
                    f"{_promise_hint(spin, writes, facts)}"
                )


def _check_event(spin: Spin, path: CheckedPath, facts: Facts) -> None:
    """That no lane waits in the annotated loop for what another iteration does, but to enter a
    critical section.

    Raises:
        Refused: one does.
    """
    ending = ended_by_another(spin, path, facts)
    if ending is None:
        return
    if path.entry not in path.loop.loop.behind(spin.blocks, facts.graph) - path.blocks:
        _check_draws(spin, path, facts)
    there = "" if spin.poll.effects & Effect.CALL else at(ending)  # of all that a call may look at
    wait, why = "wait", "iterations that wait for one another are not independent"
    if not spin.anew:  # as who marches on by one of several sums does not
        wait, why = "may wait", "nothing tells that the loop in which they read that ends otherwise"
    raise Refused(
        f"lanes {wait}{at(_likely(spin, ending, facts))} until another iteration has written "
        f"there{there}, whose task may be set aside; {why}: remove the annotation"
        f"{_way_out_if_apart(spin.poll, spin, path, facts)}"
    )


def _without_draws(spin: Spin, path: CheckedPath, facts: Facts) -> Spin:
    """Who waits, without what only draws numbers, as of iterations: nothing of the same name gives
    them back."""
    writes = [i for i in instructions_of(path.loop.loop.blocks, facts) if i.effects & Effect.WRITE]
    return replace(
        spin,
        polls=tuple(
            poll
            for poll in spin.polls
            if MOVES_ON.isdisjoint(poll.modifiers)
            or any(one is not poll and not are_named_apart(one, poll, facts) for one in writes)
        ),
    )


def _check_own_end(spin: Spin, later: Collection[str], facts: Facts) -> None:
    """That no lane has iterations until a path, or what follows it, has written something: its
    task may be set aside for as long as all lanes have iterations.

    Raises:
        Refused: one may.
    """
    found = [
        (poll, one)
        for poll in spin.polls
        if _only_looks(poll, facts)
        for one in instructions_of(later, facts)
        if one is not poll and (is_strong(poll) or not are_named_apart(one, poll, facts))
        if may_end(replace(spin, polls=(poll,)), one, facts)
    ]
    if found:
        poll, one = min(found, key=lambda pair: pair[0].accessed_bytes != pair[1].accessed_bytes)
        raise Refused(
            f"lanes have iterations until what they look at{at(poll)} is written by a task"
            f"{at(one)}, which may be set aside; iterations that wait for one another are "
            "not independent: remove the annotation"
        )


def _check_behind(spin: Spin, path: CheckedPath, facts: Facts) -> None:
    """That no lane waits in the annotated loop for what others do behind it: a warp leaves it
    together.

    A lock is given back in the loop by whoever has taken it there, behind where it was waited for.

    Raises:
        Refused: one may.
    """
    loop = path.loop.loop
    after = loop.behind(spin.blocks, facts.graph)
    left = {target for _, target in loop.exits(facts.graph)}
    behind = reachable(facts.graph.successors, left) - loop.blocks - {EXIT}
    for poll in spin.anew:
        mine = replace(spin, polls=(poll,))
        inside = (one for one in instructions_of(after, facts) if one is not poll)
        if poll.effects & Effect.CALL or any(may_end(mine, one, facts) for one in inside):
            continue
        for instruction in instructions_of(behind, facts):
            if ended_by(mine, instruction, facts) is not None:
                raise Refused(
                    f"lanes may wait in the loop{at(poll)} for what is done behind it"
                    f"{at(instruction)}; wait before the loop, or after it, or remove the "
                    f"annotation{_way_out_if_apart(poll, spin, path, facts)}"
                )


def _check_beginning(spin: Spin, path: CheckedPath, later: Collection[str], facts: Facts) -> None:
    """That no lane holds a lock when a path begins for which others wait, in the path or where they
    pass it by or have left it behind: its task may be set aside.

    Only where the task, or what follows it, gives the lock back, has the latter to wait for it.

    Raises:
        Refused: one may.
    """
    conditions = LoopConditions(path.loop.loop, facts)
    for poll in spin.anew:
        mine = replace(spin, polls=(poll,))
        before = _before(path, facts)
        if _is_kept(mine, path, facts):  # it may have been taken an iteration before
            before = path.loop.loop.blocks - path.blocks
        if path.entry not in holding(mine, before, conditions, facts, by_name=True):
            continue
        if spin.blocks <= path.blocks:
            moves_on = not MOVES_ON.isdisjoint(poll.modifiers)
            raise Refused(
                f"a lock may be held when the path begins in which others wait for it{at(poll)}; "
                f"{_COUNT * moves_on}{_take(poll)}"
            )
        others = (one for one in instructions_of(later, facts) if one is not poll)
        if any(may_end(mine, one, facts) for one in others):
            anew = _given_back_anew(mine, before, facts)
            raise Refused(
                "a lock may be held when the path begins, for which others wait beside it or "
                f"behind it{at(poll)}{anew}; {f'{RESTRICT}, or ' if anew else ''}{_take(poll)}"
            )


def _given_back_anew(spin: Spin, before: Iterable[str], facts: Facts) -> str:
    """That a lock seems to be given back before a path, but at an address that is read again, which
    others may have changed, where it could be said that they do not; else nothing."""
    for one in instructions_of(before, facts):
        read = read_anew(one, spin, facts)
        if read and all(map(facts.memory.apart.may_be_restricted, read)):
            return f", as where it is given back{at(one)} hangs on what is read anew"
    return ""


def _is_kept(spin: Spin, path: CheckedPath, facts: Facts) -> bool:
    """Whether a lane may go on to the next iteration with a lock that it has got in a loop that
    waits: it tries again as an iteration, or nothing behind where it has waited gives that back."""
    loop = path.loop.loop
    if spin.blocks == loop.blocks:
        return True
    if free_number(spin, facts) is None or not spin.blocks.isdisjoint(path.blocks):
        return False
    behind = instructions_of(loop.behind(spin.blocks, facts.graph) - spin.blocks, facts)
    return not any(may_end(spin, one, facts) for one in behind)


_BOUNDS = frozenset({"min", "max"})
_TAKE = "take it and give it back in the path, or before it, or remove this annotation"


def _take(poll: Instruction) -> str:
    """What to do about what may be a lock, or what is brought together where no lock is likely."""
    if _BOUNDS.isdisjoint(poll.modifiers):
        return _TAKE
    return (
        "if it is none, put all that is done with that memory into one branch, and the annotation "
        f"before that; else {_TAKE}"
    )


_COUNT = "if it is a count, put all that counts into the path; else "


def _before(path: CheckedPath, facts: Facts) -> frozenset[str]:
    """The blocks from which control may come to a path in the same iteration."""
    return path.loop.loop.before([path.entry], facts.graph) - path.blocks


def _check_draws(spin: Spin, path: CheckedPath, facts: Facts) -> None:
    """That no lane waits in a path, beside it or behind it until it is its turn by a number that
    it has drawn before: a task that is set aside may have a lower one.

    Raises:
        Refused: one may.
    """
    waits = spin.loop(facts)
    if waits is None or waits.blocks == path.loop.loop.blocks:
        return
    deciding = LoopConditions(waits, facts).of(*waits.blocks).difference(spin.polls)
    conditions = LoopConditions(path.loop.loop, facts)
    asked = {register for one in deciding for register in one.used()}
    makers = conditions.behind({s for one in asked for s in _made_of(one, waits, conditions)})
    makers |= {
        writer  # as where a number is read, and taken by a compare-and-swap
        for load in makers.difference(*(facts.blocks[one].instructions for one in waits.blocks))
        for writer in conditions.written_for(load)
        if not are_named_apart(writer, load, facts)
    }
    blocks = (facts.blocks[label] for label in _before(path, facts) - waits.blocks)
    drawn = (one for block in blocks for one in block.instructions if one in makers)
    if (draw := next((one for one in drawn if one.name == "atom"), None)) is not None:
        raise Refused(
            f"what a lane waits for{at(spin.poll)} hangs on what it has drawn before the path"
            f"{at(draw)}, and a task that is set aside may come before it; draw it where it waits"
        )


def _made_of(
    register: Register, waits: Loop, conditions: LoopConditions
) -> Iterable[Register | str]:
    """What a loop makes a register of in each turn; the register itself if it does not.

    Of what it was before the loop its first turn alone knows, as where nvcc has put the first
    insertion into a table before the loop of further ones: there a lane may end, but not wait.
    """
    facts = conditions.facts
    made = facts.written_in(waits.blocks, register)
    if len(made) == 1 and made[0][1].guard is None:
        ((label, maker),) = made
        if all(facts.dominators.dominates(label, latch) for latch in waits.latches):
            return conditions.sources(maker)
    return (register,)


def _check_turns(spin: Spin, path: CheckedPath, facts: Facts) -> None:
    """That no lane holds a lock when a turn of a path has ended, since its task may be set aside.

    It is given back by a write of the address that it was taken by, and not taken again behind
    that. Where the turns themselves are what waits, tasks that wait may keep one from its turn that
    has taken a lock in an earlier one; only who looks at another place each time, so many times,
    waits for nobody.

    Raises:
        Refused: one may.
    """
    is_inside = spin.blocks < path.blocks
    inside = path.blocks - {path.entry}
    conditions = LoopConditions(path.loop.loop, facts)
    elsewhere = path.loop.loop.blocks - (spin.blocks if is_inside else frozenset())
    others = list(instructions_of(elsewhere, facts))
    refused = []
    for poll in spin.anew:
        mine = replace(spin, polls=(poll,))
        ending = [one for one in others if one is not poll and may_end(mine, one, facts)]
        held = holding(mine, path.blocks, conditions, facts)
        if ending and not (held and held <= inside):
            refused.append((poll, min(ending, key=partial(_far_from, poll, facts=facts))))
    if not refused:
        return
    poll, other = min(refused, key=lambda pair: _unlikely(pair[0], pair[1], facts))
    looks = _only_looks(poll, facts)
    if not is_inside and not looks and MOVES_ON.intersection(poll.modifiers):
        raise Refused(
            f"its turns may wait for one another{at(poll)}; keep what they draw numbers from in an "
            "array of its own"
        )
    mine = replace(spin, polls=(poll,))
    if poll.effects & Effect.CALL or not (looks or goes_on(mine, facts)):
        raise Refused(
            f"a lock may still be held when a turn ends{at(poll)}; "
            f"{_SWAPS_ON * swaps_on(poll, facts)}{_in_turn(mine, path, facts)}"
            f"{_way_out_if_apart(poll, spin, path, facts)}"
        )
    ways_out = f"{_WAITS * looks}{_in_one_task('that memory', path)}{_BEFORE * looks}"
    if apart := _way_out_if_apart(poll, spin, path, facts):
        takes = not looks and apart.endswith(IF_APART)  # as who looks for a free place of a table
        ways_out = f"{apart.removeprefix(_OR)}; else {ways_out}" if takes else ways_out + apart
    raise Refused(
        f"its turns look at what others may write{at(poll)}, which is taken for a lock or a flag: "
        f"a task that is set aside may be the one that writes it{at(other)}; {ways_out}"
    )


def _in_one_task(what: str, path: CheckedPath) -> str:
    """How a loop becomes part of one task, with what it must not be parted from."""
    around = path.parent
    while around is not None and around.marker.kind not in ARMS:
        around = around.parent
    return _WHOLE.format(what) if around is None else _HELD.format(what)


_OR = ", or, "
IF_APART = 'if no other pointer leads to what the lanes look at, declare that "__restrict__"'
_WHOLE = (
    'put this loop, and all that is done with {}, into a branch marked "ccc if" in place of the '
    "loop"
)
_HELD = "remove this annotation, so that the branch around it holds all that is done with {}"


def _has_other_name(one: Instruction, poll: Instruction, facts: Facts) -> bool:
    """Whether what an instruction writes is what lanes look at only if two names are of one."""
    mine, others = roots(poll, facts), roots(one, facts)
    return mine is None or others is None or mine.isdisjoint(others)


def _likely(spin: Spin, ending: Instruction, facts: Facts) -> Instruction:
    """What lanes look at most likely where something written ends their waiting."""
    ended = (one for one in spin.polls if ended_by(replace(spin, polls=(one,)), ending, facts))
    return min(ended, key=lambda one: _far_from(one, ending, facts), default=spin.poll)


def _far_from(poll: Instruction, other: Instruction, facts: Facts) -> tuple[bool, bool, int]:
    """How unlikely it is that lanes wait for what is written there: most for what is set."""
    return _has_other_name(other, poll, facts), "cas" in other.modifiers, other.span.line


def _unlikely(poll: Instruction, other: Instruction, facts: Facts) -> tuple[bool, bool, bool, int]:
    """How unlikely lanes are to wait by what they look at there: most by what is a lock."""
    named = _has_other_name(other, poll, facts)
    return named, poll.name != "atom", not is_strong(poll), poll.span.line


_WAITS = "if an iteration waits there for another one, remove the annotation; else "
_SWAPS_ON = (
    "if it takes no lock, and all is done once it has succeeded, let the loop that tries it end "
    "there; else "
)
_BEFORE = ", or look at it before the loop, if once is enough"


def _only_looks(poll: Instruction, facts: Facts) -> bool:
    """Whether it takes nothing."""
    is_load = poll.name != "atom" and not poll.effects & Effect.CALL
    return is_load or changes_nothing(poll, facts)


def _in_turn(spin: Spin, path: CheckedPath, facts: Facts) -> str:
    """What serves where a turn may end with a lock: nvcc moves behind a loop what is done once, so
    that the source may give it back in the turn that takes it, and so may a function."""
    others = instructions_of(path.loop.loop.blocks - path.blocks, facts)
    whole = _in_one_task("the lock", path)
    behind = next((one for one in others if gives_back(one, spin, facts)), None)
    if behind is not None:
        return f"nvcc gives it back behind the loop{at(behind)}: {whole}"
    if spin.poll.effects & Effect.CALL and facts.callees.load(callee(spin.poll)):
        return f"declare the function __forceinline__, so that this is seen, or {whole}"
    return f"give it back in the turn that takes it, or {whole}"


def _way_out(
    poll: Instruction, other: Instruction, spin: Spin, path: CheckedPath, facts: Facts
) -> str:
    """What serves where lanes wait for a lock, or only seem to wait: they may read what nobody
    writes, or go from place to place where others seem to write."""
    leave = "give a lock back before the branch, or put the loop that waits into the branch, too"
    mine, others = roots(poll, facts), roots(other, facts)
    is_written = mine is not None and others is not None and not mine.isdisjoint(others)
    may_be_restricted = facts.memory.apart.may_be_restricted(poll)
    if not is_strong(poll) and may_be_restricted and not is_written:
        return f"{RESTRICT}, or {leave}"
    leave = f"{_SWAPS_ON * swaps_on(poll, facts)}{leave}"
    return leave + _way_out_if_apart(poll, spin, path, facts)


def _promise_hint(spin: Spin, others: Iterable[Instruction], facts: Facts) -> str:
    """A promise that serves where lanes look by plain loads at what is no parameter."""
    apart = facts.memory.apart
    if any(is_strong(poll) or apart.may_be_restricted(poll) for poll in spin.polls):
        return ""
    ending = [one for one in others if ended_by(spin, one, facts) is not None]
    promise = find_promise(ending, spin.polls, facts)
    return f", or promise {promise}" if promise else ""


def _way_out_if_apart(poll: Instruction, spin: Spin, path: CheckedPath, facts: Facts) -> str:
    """What serves where lanes wait for nobody if something else is written elsewhere, as those do
    that look for a free place of a table, or walk to another place with each swap; or if nobody
    writes what the turns go by, as those of a walk to the root of a tree do."""
    if is_strong(poll) and _waits_for_nobody(path, facts.memory.apart.supposed(poll)):
        return f"{_OR}{IF_APART}"
    writes = [one for one in facts.function.instructions if one.effects & Effect.WRITE]
    read = (one for one in {poll: None, **dict.fromkeys(spin.polls)} if not is_strong(one))
    only_read = [one for one in read if all(_has_other_name(w, one, facts) for w in writes)]
    is_told = _waits_for_nobody(path, facts.memory.apart.supposed(*only_read))
    return f", or {RESTRICT}" if is_told else ""


def _waits_for_nobody(path: CheckedPath, supposed: Facts | None) -> bool:
    """Whether nothing would be found amiss if something were so."""
    if supposed is None:
        return False
    try:
        check_waiting(path, supposed)
    except Refused:
        return False
    return True


def _looks_at_its_own(spin: Spin, path: CheckedPath, facts: Facts) -> bool:
    """Whether it is the loop around the path that seems to wait, and plain loads decide about it.

    What these see no other iteration has written meanwhile, as those are independent; and what the
    path itself will write is no longer to come for a task that goes there.
    """
    around = path.parent
    if around is None or spin.blocks != around.blocks or spin.poll.name != "ld":
        return False
    body = instructions_of(around.blocks, facts)
    return not any(i.effects & Effect.FENCE or ANEW.intersection(i.modifiers) for i in body)
