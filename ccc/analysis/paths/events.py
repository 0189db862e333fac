"""Whether lanes wait in an iteration for what another iteration does.

    WAIT:   ld.volatile.global.u32 %r1, [%rd1];         // ready[dep[i]]
            setp.eq.s32 %p1, %r1, 0;
            @%p1 bra WAIT;

A loop that changes nothing of what its ways out hang on is ended by another thread, or never. Who
enters a critical section waits so, too, but has drawn a number by an atomic operation, or tries to
take the lock by one, and lets the next one in behind it: such tasks run to their ends. Who waits
for anything else that the annotated loop does may wait for a task that is set aside.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

from ccc.analysis.callees import callee
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.loop_conditions import LoopConditions
from ccc.analysis.paths.held_locks import may_end
from ccc.analysis.paths.model import CheckedPath, instructions_of
from ccc.analysis.polled import are_named_apart, changes_nothing
from ccc.analysis.spinning import Spin, is_moved
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register
from ccc.ptx.opcodes import ATOMICS, IDEMPOTENT, LOADS, Effect
from ccc.ptx.types import ANEW, OWN_SPACES


def ended_by_another(spin: Spin, path: CheckedPath, facts: Facts) -> Instruction | None:
    """What another iteration does that a lane waits for in the annotated loop of a path; None if it
    waits for no such thing, or enters a critical section."""
    around = path.loop.loop
    if not spin.blocks < around.blocks or not _is_left_to_others(spin, facts):
        return None
    others = [*instructions_of(around.blocks - spin.blocks, facts), *chain(*_beside(spin, facts))]
    ending = [one for one in others if may_end(spin, one, facts)]
    own = path.blocks if spin.blocks <= path.blocks else around.blocks
    if not ending or _enters(spin, own, around, facts):
        return None
    return min(ending, key=lambda one: _unlikely(one, spin, facts))


def _unlikely(ending: Instruction, spin: Spin, facts: Facts) -> tuple[bool, bool, bool]:
    """How unlikely it is that lanes wait for what an instruction writes: not if that begins with
    the same parameter, which is not known where an index was read; or is written as what others
    look at is, and not by a plain store; or is of the same type."""
    is_plain = ending.name == "st" and ANEW.isdisjoint(ending.modifiers)
    is_other = ending.types[-1:] != spin.poll.types[-1:]
    return are_named_apart(ending, spin.poll, facts), is_plain, is_other


def _is_left_to_others(spin: Spin, facts: Facts) -> bool:
    """Whether nothing that decides whether a loop ends changes in it, unless others change it."""
    loop = spin.loop(facts)
    if loop is None:
        return _only_awaits(spin.poll, facts)
    if spin.counts or not spin.waits:
        return False
    slices = LoopConditions(loop, facts)
    deciding = slices.leading_to(slices.leaving)
    used = {register for one in deciding for register in one.used()}
    handed = used & slices.carried  # what is only changed where something is found stays, too
    moved = {one for one in handed if is_moved(one, slices)}
    return (not moved or moved <= _settled(slices, facts)) and all(
        _finds_the_same(one, slices, facts) for one in deciding
    )


def _settled(slices: LoopConditions, facts: Facts) -> set[Register]:
    """What is the same from some trip on, as long as no other thread writes: what each trip makes
    of nothing else, as a copy of what the last one has read."""
    found: set[Register] = set()
    made = {
        register: maker
        for register, maker in slices.each_trip.items()
        if maker.name != "mov" or maker.used()
        if _finds_the_same(maker, slices, facts)
    }
    while more := {
        register
        for register, maker in made.items()
        if register not in found and found.issuperset(slices.makers.keys() & set(maker.used()))
    }:
        found |= more
    return found


def _only_awaits(call: Instruction, facts: Facts) -> bool:
    """Whether a function waits for others, or one that it calls, and neither takes anything."""
    known = _called(call, facts)
    return not any(map(_takes, known)) and any(
        spin.loop(inside) is not None and _is_left_to_others(spin, inside)
        for inside in known
        for spin in inside.spins
    )


def _only_looks(call: Instruction, facts: Facts) -> bool:
    """Whether a function, and those that it calls, ask for no time, and write nothing but what is
    their own."""
    known = _called(call, facts)
    return bool(known) and not any(
        _takes(inside) or any(_changes(one, inside) for one in inside.function.instructions)
        for inside in known
    )


def _changes(one: Instruction, inside: Facts) -> bool:
    """Whether an instruction of a function makes a difference from time to time: an atomic
    operation is judged by itself, and so is a function that is called and known."""
    if one.effects & Effect.CALL:
        return inside.callees.load(callee(one)) is None
    is_write = one.effects & Effect.WRITE and one.name not in ATOMICS
    return one.reads_time or bool(is_write and one.space not in OWN_SPACES)


def _called(call: Instruction, facts: Facts) -> list[Facts]:
    """The functions that a call may come to; none if one of them is not known."""
    functions = list(facts.callees.reachable(callee(call)))
    known = [Facts(one, facts.callees) for one in functions if one is not None]
    return known if len(known) == len(functions) else []


def _takes(inside: Facts) -> bool:
    """Whether a function changes something by an atomic operation."""
    return any(
        one.name in ATOMICS and not changes_nothing(one, inside)
        for one in inside.function.instructions
    )


def _finds_the_same(one: Instruction, slices: LoopConditions, facts: Facts) -> bool:
    """Whether an instruction computes the same in each trip as long as no other thread writes."""
    if changes_nothing(one, facts) or _finds_its_own(one, slices, facts):
        writers = (i for i in slices.body if i.effects & (Effect.WRITE | Effect.CALL))
        return not facts.memory.conflict((i for i in writers if i is not one), [one])
    if one.effects & Effect.CALL:
        return _only_looks(one, facts)
    if one.reads_time or one.name in ATOMICS or one.effects & ~(Effect.READ | Effect.FENCE):
        return False
    return not one.effects & Effect.READ or (one.name in LOADS and not slices.written_for(one))


def _finds_its_own(one: Instruction, slices: LoopConditions, facts: Facts) -> bool:
    """Whether an atomic operation finds from the second trip on what it has left, and the loop asks
    for more than one number of that: an order, as of data; a lock is free in one state."""
    operand = one.operands[2] if one.name == "atom" and len(one.operands) == 3 else None
    if operand is None or IDEMPOTENT.isdisjoint(one.modifiers) or not slices.is_same(operand):
        return False
    tests = [i for i in slices.leading_to(slices.leaving) if i.name == "setp"]
    return not all(facts.literal_in(i, i.operands[2]) for i in tests)


def _enters(spin: Spin, own: Collection[str], around: Loop, facts: Facts) -> bool:
    """Whether who waits enters a critical section: an atomic operation among some blocks, or a
    function, takes it on every way there, or gives a number, and what stands behind lets others in.
    """
    first, last = _beside(spin, facts)
    before = around.before(spin.blocks, facts.graph).intersection(own) - spin.blocks
    behind = around.behind(spin.blocks, facts.graph) - spin.blocks
    if not any(may_end(spin, one, facts) for one in [*last, *instructions_of(behind, facts)]):
        return False
    asked = LoopConditions(around, facts).leading_to(spin.blocks)
    always = {
        label
        for label in before
        if all(facts.dominators.dominates(label, inside) for inside in spin.blocks)
    }
    certain = {*first, *instructions_of(always, facts)}
    return any(
        one in asked
        or (
            one in certain
            and may_end(spin, one, facts)
            and not are_named_apart(one, spin.poll, facts)
        )
        for one in [*first, *instructions_of(before, facts)]
        if one.effects & Effect.CALL or (one.name in ATOMICS and not changes_nothing(one, facts))
    )


def _beside(spin: Spin, facts: Facts) -> tuple[list[Instruction], list[Instruction]]:
    """What stands in its block before and behind a call that waits."""
    if spin.loop(facts) is not None:
        return [], []
    code = list(instructions_of(spin.blocks, facts))
    place = code.index(spin.poll)
    return code[:place], code[place + 1 :]
