"""Loops in which a lane waits until others have done something.

    WAIT:   ld.volatile.global.u32 %r1, [%rd1];         // or atom.cas, atom.exch: a lock
            setp.lt.u32 %p1, %r1, 31;
            @%p1 bra WAIT;

From sm_70 on lanes of one warp may wait for one another so, since each goes on by itself. Members
of an annotated loop wait for each other as well, and whoever waits for a lane that waits for him
stands still for ever. A loop is taken to spin if a place in memory that stays the same over its
trips is *polled* and decides where control goes, and no counter ends the loop in any case. An
atomic that itself moves on what it reads, such as a ticket's ``atomicAdd(&next, 1)``, or the retry
of a compare-and-swap with just the value that was found, polls nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccc.analysis.callees import SYSTEM_CALLS, callee
from ccc.analysis.cfg import EXIT
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Arguments, Immediate, Operand, Register, Symbol
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import STRONG

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

_ANEW = STRONG | {"cv"}
"""Of loads that are done anew each time."""
_MOVES_ON = frozenset({"add", "inc", "dec"})
"""Atomic operations that leave another value each time, unless they add nothing."""


@dataclass(frozen=True, slots=True)
class Spin:
    """``blocks`` in which lanes may wait for others; ``poll`` is what they look at.

    Whoever ``gives_up`` waits for a while only: a counter ends the loop as well.
    """

    blocks: frozenset[str]
    poll: Instruction
    gives_up: bool = False


def find_spins(facts: Facts) -> list[Spin]:
    """The loops that spin, and the blocks that call a function which does."""
    found = []
    for loop in facts.loops:
        spin = _spin_of(loop, facts)
        if spin is not None:
            found.append(spin)
    for label in facts.graph:
        for instruction in facts.blocks[label].instructions if label != EXIT else ():
            if instruction.name == "call" and _callee_spins(instruction, facts):
                found.append(Spin(frozenset({label}), instruction))
    return found


def _callee_spins(call: Instruction, facts: Facts) -> bool:
    known = facts.callees.spinning
    name = callee(call)
    if name not in known:
        known[name] = False  # for a function that calls itself
        function = facts.callees.load(name)
        known[name] = function is not None and bool(type(facts)(function, facts.callees).spins)
    return known[name]


def _spin_of(loop: Loop, facts: Facts) -> Spin | None:
    """What a loop polls, if it spins: in it, or in a loop inside it that gives up after a while."""
    body = [i for label in sorted(loop.blocks) for i in facts.blocks[label].instructions]
    slices = _Slices(loop, facts)
    carried = facts.liveness.live_in(loop.header) & {r for i in body for r in i.defined()}
    polls = {i: None for i in body if _is_poll(i, slices, carried, facts)}
    decided = set[Instruction]().union(*map(slices.of, loop.blocks))
    poll = next((poll for poll in polls if poll in decided), None)
    if poll is None or _retries(loop, slices, facts):
        return None
    inner = [other.blocks for other in facts.loops if other.blocks < loop.blocks]
    stepped = _stepped(loop.blocks.difference(*inner), slices, facts) & carried
    leaving = {source for source, _ in loop.exits(facts.graph)}
    counted = {source for source in leaving if _counts(slices.of(source, computed=True), stepped)}
    if not counted:
        return Spin(frozenset(loop.blocks), poll)
    if any(_is_strong(i) and i in polls for source in leaving - counted for i in slices.of(source)):
        return Spin(frozenset(loop.blocks), poll, gives_up=True)
    return None


def _counts(made: Iterable[Instruction], stepped: set[Register]) -> bool:
    return any(stepped.intersection(instruction.defined()) for instruction in made)


def _retries(loop: Loop, slices: _Slices, facts: Facts) -> bool:
    """Whether each trip tries to swap what it has found: then somebody gets on, whoever waits."""
    return any(
        i.name == "atom" and "cas" in i.modifiers and _was_found(i.operands[2], i, slices)
        for label in loop.blocks
        if all(facts.dominators.dominates(label, latch) for latch in loop.latches)
        for i in facts.blocks[label].instructions
    )


def _is_strong(instruction: Instruction) -> bool:
    return instruction.name == "atom" or not _ANEW.isdisjoint(instruction.modifiers)


def _stepped(labels: Iterable[str], slices: _Slices, facts: Facts) -> set[Register]:
    """The registers that some blocks step by the same each time, and that nothing else writes."""
    return {
        register
        for label in labels
        for i in facts.blocks[label].instructions
        if i.name in ("add", "sub")
        and i.operands[0] == i.operands[1]
        and (isinstance(i.operands[2], Immediate) or i.operands[2] not in slices.makers)
        for register in i.defined()
        if len(slices.makers[register]) == 1
    }


class _Slices:
    """What a loop computes the conditions of its branches from."""

    def __init__(self, loop: Loop, facts: Facts):
        self.facts = facts
        self.body = [i for label in sorted(loop.blocks) for i in facts.blocks[label].instructions]
        self.makers: dict[Register | str, list[Instruction]] = {}
        for label in sorted(loop.blocks):
            for instruction in facts.blocks[label].instructions:
                made: list[Register | str] = [*instruction.defined(), *_results(instruction)]
                for one in made:
                    self.makers.setdefault(one, []).append(instruction)

    def of(self, label: str, *, computed: bool = False) -> set[Instruction]:
        """What decides the branch at the end of a block; ``computed``: not how it was read."""
        used = (
            register
            for instruction in self.facts.blocks[label].instructions
            if instruction.is_terminator
            for register in instruction.used()
        )
        return self.behind(used, computed=computed)

    def behind(
        self, registers: Iterable[Register | str], *, computed: bool = False
    ) -> set[Instruction]:
        """What the loop makes some registers from."""
        found: set[Instruction] = set()
        worklist = list(registers)
        while worklist:
            for maker in self.makers.get(worklist.pop(), ()):
                if maker not in found:
                    found.add(maker)
                    if computed and maker.effects & Effect.READ:
                        continue
                    worklist += maker.used()
                    if maker.space == "param":
                        worklist += [symbol.name for symbol in maker.symbols()]
        return found


def _results(instruction: Instruction) -> tuple[str, ...]:
    """The variables in which a call leaves its results."""
    first = instruction.operands[0] if instruction.operands else None
    if instruction.name != "call" or not isinstance(first, Arguments):
        return ()
    return tuple(leaf.name for leaf in first.elements if isinstance(leaf, Symbol))


def _is_poll(
    instruction: Instruction, slices: _Slices, carried: frozenset[Register], facts: Facts
) -> bool:
    """Whether it may look at the same place again in the next trip, and changes nothing itself."""
    if instruction.name == "call":
        return _callee_reads(instruction, facts)
    if not _reads_what_may_change(instruction):
        return False
    words = set(instruction.modifiers)
    if instruction.name == "ld":
        return bool(words & _ANEW) or not _goes_on(_address(instruction), slices, carried)
    operand = instruction.operands[2]
    if "cas" in words:
        return not _was_found(operand, instruction, slices)
    nothing = isinstance(operand, Immediate) and operand.integer == 0
    return nothing or words.isdisjoint(_MOVES_ON) or _is_taken_back(instruction, slices, facts)


def _reads_what_may_change(instruction: Instruction) -> bool:
    if instruction.name not in ("ld", "atom") or "nc" in instruction.modifiers:
        return False
    return instruction.space not in ("param", "local", "const")


def _address(instruction: Instruction) -> list[Operand]:
    bases = (o.base for o, role in instruction.roles() if role == "addr" and isinstance(o, Address))
    return list(bases)


def _goes_on(operands: Iterable[Operand], slices: _Slices, carried: frozenset[Register]) -> bool:
    """Whether operands depend on what the loop's last trip has left."""
    used = {operand for operand in operands if isinstance(operand, Register)}
    made = slices.behind(used)
    return not carried.isdisjoint(used.union(*(i.used() for i in made)))


def _was_found(expected: Operand, swap: Instruction, slices: _Slices) -> bool:
    """Whether a compare-and-swap expects just what it, or a load in the loop, has found."""
    seen: set[Operand] = set()
    worklist = [expected]
    found = False
    while worklist:
        operand = worklist.pop()
        if not isinstance(operand, Register):
            return False
        makers = slices.makers.get(operand, ()) if operand not in seen else ()
        seen.add(operand)
        for maker in makers:
            if maker.name == "mov":
                worklist.append(maker.operands[1])
            elif maker is not swap and maker.name != "ld":
                return False
            found |= maker.name != "mov"
    return found


def _is_taken_back(atomic: Instruction, slices: _Slices, facts: Facts) -> bool:
    """Whether something else in the loop writes what an atomic has moved on."""
    mine = roots(atomic, facts)
    for instruction in slices.body:
        writes = instruction.effects & Effect.WRITE and instruction is not atomic
        if writes and instruction.name in ("st", "red", "atom"):
            others = roots(instruction, facts)
            if mine is None or others is None or not mine.isdisjoint(others):
                return True
    return False


def _callee_reads(call: Instruction, facts: Facts) -> bool:
    """Whether the result of a call may depend on memory that changes."""
    if callee(call) in SYSTEM_CALLS or not callee(call):
        return False
    return any(
        function is None or any(map(_reads_what_may_change, function.instructions))
        for function in facts.callees.reachable(callee(call))
    )


def roots(instruction: Instruction, facts: Facts) -> frozenset[str] | None:
    """The parameters and variables that an address is made from; None if it may be anything."""
    found: set[str] = set()
    seen: set[Register] = set()
    worklist: list[Operand] = [o.base for o, _ in instruction.roles() if isinstance(o, Address)]
    makers: dict[Register, list[Instruction]] = {}
    for maker in facts.function.instructions:
        for register in maker.defined():
            makers.setdefault(register, []).append(maker)
    while worklist:
        base = worklist.pop()
        if isinstance(base, Symbol):
            found.add(base.name)
        elif isinstance(base, Register) and base not in seen:
            seen.add(base)
            for maker in makers.get(base, ()):
                if maker.effects & (Effect.READ | Effect.CALL):
                    return None
                found.update(symbol.name for symbol in maker.symbols())
                worklist += maker.used()
    return frozenset(found) or None
