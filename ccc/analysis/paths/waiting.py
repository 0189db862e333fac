"""Whether lanes wait in an iteration, or in a turn, for what the task of another lane will do.

A lane that has entered a critical section before the path would leave it when its task is done; and
for that, those that wait for it would have to come to the end of their iterations. Between two
turns of an inner loop a task may be set aside, too, and keep what it has taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ccc.analysis.apart import RESTRICT
from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.loop_conditions import LoopConditions
from ccc.analysis.paths.model import CheckedPath, Refused, at, instructions_of
from ccc.analysis.paths.promises import find_promise
from ccc.analysis.polled import are_apart, is_strong, roots
from ccc.analysis.spinning import Spin, swapping
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Immediate, Register
from ccc.ptx.opcodes import MOVES_ON, Effect
from ccc.ptx.system_calls import SYSTEM_CALLS
from ccc.ptx.types import ANEW, OWN_SPACES, TYPES


def check_waiting(path: CheckedPath, facts: Facts) -> None:
    """That no lane waits in an iteration for what the task of another will do.

    A lane that has entered a critical section before the path would leave it when its task is done;
    and for that, those that wait for it would have to come to the end of their iterations.

    Raises:
        Refused: with the reason.
    """
    loop = path.loop.loop

    def step(label: str) -> Iterable[str]:
        return (s for s in facts.graph.successors(label) if s != loop.header)

    later = loop.blocks & reachable(step, [path.entry])
    for spin in facts.spins:
        if spin.blocks < loop.blocks and not spin.gives_up:
            _check_behind(spin, loop, facts)
        if path.repeats and spin.blocks <= path.blocks:
            _check_turns(spin, path, facts)
        if not spin.blocks < loop.blocks or spin.blocks <= path.blocks:
            continue
        if path.carries_parent and _looks_at_its_own(spin, path, facts):
            continue
        if path.entry not in reachable(step, spin.blocks):
            continue
        polled = [roots(poll, facts) or frozenset() for poll in spin.polls]
        named = frozenset[str]().union(*polled)
        writes = list(instructions_of(later, facts))  # those to the same parameter are named first
        for instruction in sorted(writes, key=lambda i: named.isdisjoint(roots(i, facts) or named)):
            if (poll := ended_by(spin, instruction, facts)) is not None:
                raise Refused(
                    f"lanes may wait before the path{at(poll)} for what is done in it or "
                    f"after it{at(instruction)}; {_way_out(poll, instruction, facts)}"
                    f"{_promise_hint(spin, writes, facts)}"
                )


def _check_behind(spin: Spin, loop: Loop, facts: Facts) -> None:
    """That no lane waits in the annotated loop for what others do behind it: a warp leaves it
    together.

    A lock is given back in the loop by whoever has taken it there.

    Raises:
        Refused: one may.
    """
    left = {target for _, target in loop.exits(facts.graph)}
    behind = reachable(facts.graph.successors, left) - loop.blocks - {EXIT}
    for poll in filter(is_strong, spin.polls):
        mine = replace(spin, polls=(poll,))
        inside = (one for one in instructions_of(loop.blocks, facts) if one is not poll)
        if poll.effects & Effect.CALL or any(_may_end(mine, one, facts) for one in inside):
            continue
        for instruction in instructions_of(behind, facts):
            if ended_by(mine, instruction, facts) is not None:
                raise Refused(
                    f"lanes may wait in the loop{at(poll)} for what is done behind it"
                    f"{at(instruction)}; wait before the loop, or after it"
                )


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
    if not is_inside and spin.gives_up and spin.seeks:
        return
    elsewhere = path.loop.loop.blocks - (spin.blocks if is_inside else frozenset())
    others = list(instructions_of(elsewhere, facts))
    for poll in filter(is_strong, spin.polls):
        mine = replace(spin, polls=(poll,))
        ending = [one for one in others if one is not poll and _may_end(mine, one, facts)]
        if not ending or _lets_go(mine, path, facts):
            continue
        if not is_inside and MOVES_ON.intersection(poll.modifiers):
            raise Refused(
                f"its turns may wait for one another{at(poll)}; keep what they draw numbers from "
                "in an array of its own"
            )
        table = _way_out_of_a_table(poll, ending[0], facts)
        raise Refused(
            f"a lock may still be held when a turn ends{at(poll)}; give it back in the turn that "
            f"takes it{table}"
        )


def _may_end(spin: Spin, instruction: Instruction, facts: Facts) -> bool:
    """Whether an instruction, or a function that it calls, may write what is waited for."""
    calls = instruction.effects & Effect.CALL and callee(instruction) not in SYSTEM_CALLS
    return bool(calls) or ended_by(spin, instruction, facts) is not None


def _lets_go(spin: Spin, path: CheckedPath, facts: Facts) -> bool:
    """Whether a turn gives a lock back that it has taken, on each way to its end."""
    loop = next((one for one in facts.loops if one.blocks == spin.blocks), None)
    free = _free_number(spin, LoopConditions(loop, facts), facts) if loop else None
    if free is None:
        return False
    inside = path.blocks - {path.entry}
    waits = spin.blocks if spin.blocks < path.blocks else frozenset[str]()
    own = {label: list(facts.blocks[label].instructions) for label in path.blocks - waits}
    slices = LoopConditions(path.loop.loop, facts)

    def step(label: str) -> Iterable[str]:
        return facts.graph.successors(label) if label in path.blocks else ()

    def gives(one: Instruction) -> bool:
        return _gives_back(one, spin.poll, free, facts)

    def takes(one: Instruction) -> bool:
        is_swap = one.name == "atom" and {"cas", "exch"} & set(one.modifiers)
        is_other = one is not spin.poll and ended_by(spin, one, facts) is None
        return bool(is_swap) and not gives(one) and not is_other

    swaps = [(label, one) for label, code in own.items() for one in code if takes(one)]
    ways = [slices.ways(label, swapping(label, one, facts)) or step(label) for label, one in swaps]
    after = {to for found in ways for to in found}
    after |= {to for label in waits for to in facts.graph.successors(label)} - waits
    giving = [label for label, code in own.items() if label in inside and any(map(gives, code))]
    return bool(after) and reachable(step, after, stops=giving) <= inside


def _gives_back(instruction: Instruction, poll: Instruction, free: int, facts: Facts) -> bool:
    """Whether an instruction makes a lock free that a swap has taken: it writes what those look for
    who wait, at that place and as wide."""
    if instruction.guard is not None:
        return False
    places = [
        {operand for operand in one.operands if isinstance(operand, Address)}
        for one in (instruction, poll)
    ]
    bases = {place.base for place in places[1] if isinstance(place.base, Register)}
    if places[0] != places[1] or any(len(facts.makers.get(one, ())) > 1 for one in bases):
        return False
    if instruction.name != "st" and not _exchanges(instruction):
        return False
    written, bits = facts.literal(instruction.operands[-1]), TYPES[poll.types[-1]].bits
    if written is None or TYPES[instruction.types[-1]].bits != bits:
        return False
    return written.unsigned(bits) == Immediate(str(free)).unsigned(bits)


def _exchanges(instruction: Instruction) -> bool:
    return instruction.name == "atom" and "exch" in instruction.modifiers


def _free_number(spin: Spin, slices: LoopConditions, facts: Facts) -> int | None:
    """What a lock holds that is free: what a compare-and-swap expects, or what an exchange must
    have found for the wait to end. None if that is not one number."""
    poll = spin.poll
    if poll.name == "atom" and "cas" in poll.modifiers:
        literal = facts.literal(poll.operands[2])
        return literal.integer if literal else None
    found = {
        literal.integer
        for test in slices.body
        if _exchanges(poll) and test.name == "setp" and test.operands[1] == poll.operands[0]
        for value in (False, True)
        if any(slices.leaves_if(source, test, value) for source in slices.leaving)
        and (test.modifiers[0] == "eq") == value
        and test.modifiers[0] in ("eq", "ne")
        and (literal := facts.literal(test.operands[2])) is not None
    }
    taken = facts.literal(poll.operands[2]) if _exchanges(poll) else None
    is_one = len(found) == 1 and taken is not None and taken.integer not in found
    return next(iter(found)) if is_one else None


def _way_out(poll: Instruction, other: Instruction, facts: Facts) -> str:
    """What serves where lanes only seem to wait: they may read what nobody writes, or look for a
    free place where others seem to write."""
    leave = "leave the critical section before the branch"
    if not is_strong(poll) and facts.memory.apart.may_be_restricted(poll):
        return f"{RESTRICT}, or {leave}"
    return leave + _way_out_of_a_table(poll, other, facts)


def _promise_hint(spin: Spin, others: Iterable[Instruction], facts: Facts) -> str:
    """A promise that serves where lanes look by plain loads at what is no parameter."""
    apart = facts.memory.apart
    if any(is_strong(poll) or apart.may_be_restricted(poll) for poll in spin.polls):
        return ""
    ending = [one for one in others if ended_by(spin, one, facts) is not None]
    promise = find_promise(ending, spin.polls, facts)
    return f", or promise {promise}" if promise else ""


def _way_out_of_a_table(poll: Instruction, other: Instruction, facts: Facts) -> str:
    """What serves where lanes only look for a free place of a table; nothing of others."""
    apart = facts.memory.apart
    could_be = apart.could_be(poll, other) and not apart.are(poll, other)
    if "cas" not in poll.modifiers or not could_be:
        return ""
    return ', or, where it takes free places of a table, declare its pointer "__restrict__"'


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


def ended_by(spin: Spin, instruction: Instruction, facts: Facts) -> Instruction | None:
    """What lanes look at that wait, and an instruction may write; None if it writes none of it."""
    if not instruction.effects & Effect.WRITE or instruction.space in OWN_SPACES:
        return None
    written = roots(instruction, facts) or frozenset()
    polls = sorted(spin.polls, key=lambda poll: written.isdisjoint(roots(poll, facts) or ()))
    return next((poll for poll in polls if not are_apart(poll, instruction, facts)), None)
