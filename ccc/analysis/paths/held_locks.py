"""Where a lane may still hold a lock that others wait for.

It has taken it where an atomic operation has written what those look at, or a function has that is
called there: of a compare-and-swap, on the way only that is gone if it succeeded. It has given it
back where it has written what they look for, at that place and as wide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ccc.analysis.cfg import reachable
from ccc.analysis.facts import Facts
from ccc.analysis.loop_conditions import LoopConditions
from ccc.analysis.polled import are_apart, are_named_apart, changes_nothing, roots
from ccc.analysis.spinning import Spin, swapping
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Immediate, Register, registers
from ccc.ptx.opcodes import ATOMICS, LOADS, Effect
from ccc.ptx.types import OWN_SPACES, TYPES


def holding(
    spin: Spin,
    blocks: Collection[str],
    conditions: LoopConditions,
    facts: Facts,
    *,
    by_name: bool = False,
) -> set[str]:
    """The blocks to which control may come with a lock that was taken in some blocks.

    Ways end where they leave the blocks, or where the lock is given back; such a block is in the
    result. What waits, if it is a part of the blocks, has the lock where it has ended.

    Args:
        spin: who waits for the lock.
        blocks: where to look.
        conditions: those of a loop around all of it.
        facts: the function's analyses.
        by_name: only what begins with the same parameter, as far as that is known, takes it; so
            that counters that are in no way told apart from it do not.
    """
    free = free_number(spin, facts)
    waits = spin.blocks if spin.blocks < set(blocks) else frozenset[str]()
    own = {label: list(facts.blocks[label].instructions) for label in set(blocks) - waits}

    def step(label: str) -> Iterable[str]:
        return facts.graph.successors(label) if label in blocks else ()

    def gives(one: Instruction) -> bool:
        return free is not None and _gives_back(one, spin.poll, free, facts)

    after = {to for label in waits for to in facts.graph.successors(label)} - waits
    for label, code in own.items():
        for place, one in enumerate(code):
            takes = _takes(one, spin, facts) and not (
                by_name and are_named_apart(one, spin.poll, facts)
            )
            if takes and not any(map(gives, code[place:])):
                after.update(conditions.ways(label, swapping(label, one, facts)) or step(label))
    giving = [label for label, code in own.items() if any(map(gives, code))]
    return reachable(step, after, stops=giving)


def _takes(instruction: Instruction, spin: Spin, facts: Facts) -> bool:
    """Whether a lock may be taken there: by an atomic operation, or in a function."""
    is_atomic = instruction.name in ATOMICS and not changes_nothing(instruction, facts)
    return (is_atomic or bool(instruction.effects & Effect.CALL)) and (
        instruction is spin.poll or may_end(spin, instruction, facts)
    )


def _gives_back(instruction: Instruction, poll: Instruction, free: int, facts: Facts) -> bool:
    """Whether an instruction makes a lock free that a swap has taken: it writes what those look for
    who wait, at that place and as wide."""
    if not _frees(instruction, poll, free, facts):
        return False
    places = [
        {operand for operand in one.operands if isinstance(operand, Address)}
        for one in (instruction, poll)
    ]
    bases = {place.base for place in places[1] if isinstance(place.base, Register)}
    return places[0] == places[1] and all(len(facts.makers.get(one, ())) < 2 for one in bases)


def _frees(instruction: Instruction, poll: Instruction, free: int, facts: Facts) -> bool:
    """Whether it writes somewhere what those look for who wait, and as wide."""
    if instruction.guard is not None:
        return False
    if instruction.name != "st" and not _exchanges(instruction):
        return False
    written = facts.literal_in(instruction, instruction.operands[-1])
    bits = TYPES[poll.types[-1]].bits
    if written is None or TYPES[instruction.types[-1]].bits != bits:
        return False
    return written.unsigned(bits) == Immediate(str(free)).unsigned(bits)


def _exchanges(instruction: Instruction) -> bool:
    return instruction.name == "atom" and "exch" in instruction.modifiers


def gives_back(instruction: Instruction, spin: Spin, facts: Facts) -> bool:
    """Whether an instruction gives back the lock that lanes wait for."""
    free = free_number(spin, facts)
    return free is not None and _gives_back(instruction, spin.poll, free, facts)


def read_anew(instruction: Instruction, spin: Spin, facts: Facts) -> list[Instruction]:
    """What is read for the address at which an instruction gives back a lock, if that may be the
    one that lanes wait for, whose address was read, too; else nothing."""
    free = free_number(spin, facts)
    if free is None or not _frees(instruction, spin.poll, free, facts):
        return []
    if are_named_apart(instruction, spin.poll, facts):
        return []
    mine, others = _reads_behind(instruction, facts), _reads_behind(spin.poll, facts)
    return [] if mine == others or len(mine) != len(others) else mine


def _reads_behind(instruction: Instruction, facts: Facts) -> list[Instruction]:
    """The loads of which an address is made."""
    found: list[Instruction] = []
    pending = [r for o, role in instruction.roles() if role == "addr" for r in registers(o)]
    seen = set(pending)
    while pending:
        for maker in facts.makers.get(pending.pop(), ()):
            if maker.name in LOADS and maker.space != "param":
                found.append(maker)
                continue
            more = set(maker.used()) - seen
            seen |= more
            pending += more
    return found


def free_number(spin: Spin, facts: Facts) -> int | None:
    """What a lock holds that is free: what a compare-and-swap expects, or what an exchange must
    have found for the wait to end. None if that is not one number."""
    loop = spin.loop(facts)
    if loop is None:
        return None
    slices = LoopConditions(loop, facts)
    poll = spin.poll
    if poll.name == "atom" and "cas" in poll.modifiers:
        literal = facts.literal_in(poll, poll.operands[2])
        return literal.integer if literal else None
    found = {
        literal.integer
        for test in slices.body
        if _exchanges(poll) and test.name == "setp" and test.operands[1] == poll.operands[0]
        if test.modifiers[0] in ("eq", "ne")
        and TYPES[test.types[-1]].kind in "bsu"
        and not any(
            slices.leaves_if(source, test, test.modifiers[0] == "ne") for source in slices.leaving
        )
        and (literal := facts.literal_in(test, test.operands[2])) is not None
    }
    taken = facts.literal_in(poll, poll.operands[2]) if _exchanges(poll) else None
    is_one = len(found) == 1 and taken is not None and taken.integer not in found
    return next(iter(found)) if is_one else None


def may_end(spin: Spin, instruction: Instruction, facts: Facts) -> bool:
    """Whether an instruction, or a function that it calls, may write what is waited for."""
    if instruction.effects & Effect.CALL:
        return bool(facts.memory.touch(instruction).writes)
    return ended_by(spin, instruction, facts) is not None


def ended_by(spin: Spin, instruction: Instruction, facts: Facts) -> Instruction | None:
    """What lanes look at that wait, and an instruction may write; None if it writes none of it."""
    if not instruction.effects & Effect.WRITE or instruction.space in OWN_SPACES:
        return None
    if changes_nothing(instruction, facts):
        return None
    written = roots(instruction, facts) or frozenset()
    polls = sorted(spin.polls, key=lambda poll: written.isdisjoint(roots(poll, facts) or ()))
    for poll in polls:
        if not are_apart(poll, instruction, facts, is_anew=poll in spin.anew):
            return poll
    return None
