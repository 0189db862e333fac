"""Loops in which a lane waits until others have done something.

    WAIT:   ld.volatile.global.u32 %r1, [%rd1];         // or atom.cas, atom.exch: a lock
            setp.lt.u32 %p1, %r1, 31;
            @%p1 bra WAIT;

From sm_70 on lanes of one warp may wait for one another so, since each goes on by itself. Members
of an annotated loop wait for each other as well, and whoever waits for a lane that waits for him
stands still for ever. A loop is taken to spin if a place in memory that stays the same over its
trips is *polled* and decides where control goes, and no counter ends the loop in any case. An
atomic that itself moves on what it reads, such as a ticket's ``atomicAdd(&next, 1)`` or the retry
of a compare-and-swap with the value that was found, polls nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Arguments, Immediate, Operand, Register, Symbol
from ccc.ptx.opcodes import Effect

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

_STRONG = frozenset({"volatile", "relaxed", "acquire", "mmio"})
_LEAVES_AS_IT_IS = {"add": 0, "or": 0, "xor": 0, "and": -1}
"""The operand with which an atomic operation only reads."""


@dataclass(frozen=True, slots=True)
class Spin:
    """``blocks`` in which lanes may wait for others; ``poll`` is what they look at."""

    blocks: frozenset[str]
    poll: Instruction


def find_spins(facts: Facts) -> list[Spin]:
    """The loops that spin, and the blocks that call a function which does."""
    found = []
    for loop in facts.loops:
        poll = _spins_on(loop, facts)
        if poll is not None:
            found.append(Spin(frozenset(loop.blocks), poll))
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


def _spins_on(loop: Loop, facts: Facts) -> Instruction | None:
    """What a loop polls, if it spins; loops inside it are asked themselves."""
    inner = [other.blocks for other in facts.loops if other.blocks < loop.blocks]
    own = sorted(loop.blocks.difference(*inner))
    body = [i for label in own for i in facts.blocks[label].instructions]
    polls = _polls(body, loop, facts)
    if not polls:
        return None
    slices = _Slices(loop, facts)
    leaving = {source for source, _ in loop.exits(facts.graph)}
    for source in leaving:
        made = slices.of(source)
        if _counts(made) and made.isdisjoint(polls):
            return None
    decided = set[Instruction]().union(*(slices.of(label) for label in own))
    return next((poll for poll in polls if poll in decided), None)


class _Slices:
    """What a loop computes the conditions of its branches from."""

    def __init__(self, loop: Loop, facts: Facts):
        self.facts = facts
        self.makers: dict[Register | str, list[Instruction]] = {}
        for label in sorted(loop.blocks):
            for instruction in facts.blocks[label].instructions:
                made: list[Register | str] = [*instruction.defined(), *_results(instruction)]
                for one in made:
                    self.makers.setdefault(one, []).append(instruction)

    def of(self, label: str) -> set[Instruction]:
        """What decides the branch at the end of a block."""
        found: set[Instruction] = set()
        worklist: list[Register | str] = [
            register
            for instruction in self.facts.blocks[label].instructions
            if instruction.is_terminator
            for register in instruction.used()
        ]
        while worklist:
            for maker in self.makers.get(worklist.pop(), ()):
                if maker not in found:
                    found.add(maker)
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


def _counts(made: Iterable[Instruction]) -> bool:
    """Whether a register among these is stepped by a constant."""
    return any(
        i.name in ("add", "sub")
        and i.operands[0] == i.operands[1]
        and isinstance(i.operands[2], Immediate)
        for i in made
    )


def _polls(body: Iterable[Instruction], loop: Loop, facts: Facts) -> list[Instruction]:
    """What looks at the same place in each trip, and changes nothing by itself."""
    whole = [i for label in loop.blocks for i in facts.blocks[label].instructions]
    written = {r for i in whole if not _is_constant(i) for r in i.defined()}
    rereads = any(i.effects & (Effect.FENCE | Effect.OPAQUE) for i in whole)
    return [
        i
        for i in body
        if (_polls_if(i, written, rereads) if i.name != "call" else _callee_polls(i, facts))
    ]


def _is_constant(instruction: Instruction) -> bool:
    """Whether it sets a register to a literal, so that it may as well stand before the loop."""
    return instruction.name == "mov" and isinstance(instruction.operands[1], Immediate)


def _callee_polls(call: Instruction, facts: Facts) -> bool:
    functions = facts.callees.reachable(callee(call)) if callee(call) else ()
    return any(
        _polls_if(instruction, set(), rereads=False)
        for function in functions
        for instruction in (function.instructions if function else ())
    )


def _polls_if(instruction: Instruction, written: set[Register], rereads: bool) -> bool:
    """Whether it polls, in a loop that writes these registers, and reads memory anew each time."""
    if instruction.name not in ("ld", "atom") or instruction.space in ("param", "local", "const"):
        return False
    address = next(operand for operand, role in instruction.roles() if role == "addr")
    if not isinstance(address, Address) or address.base in written:
        return False
    words = set(instruction.modifiers)
    if instruction.name == "ld":
        return bool(words & _STRONG) or (rereads and "nc" not in words)
    if "cas" in words:
        return instruction.operands[2] not in written
    harmless = [value for word, value in _LEAVES_AS_IT_IS.items() if word in words]
    operand = instruction.operands[2]
    number = operand.integer if isinstance(operand, Immediate) else None
    return "exch" in words or (bool(harmless) and number in harmless)


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
