"""Loops that fill an array: what they have surely written when they are over.

    FILL:   st.local.u32 [%rd1], %r1;        // %rd1: the array, 4 bytes on in each trip
            add.s64 %rd1, %rd1, 4;
            add.s32 %r2, %r2, 1;
            setp.ne.s32 %p1, %r2, 6;
            @%p1 bra FILL;

A loop of one block whose trips are counted by constants is tried out: what is not known from them,
such as the values that are stored, does not matter, as long as the branch and the addresses are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from ccc.analysis.points_to import Pointee, PointsTo
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Immediate, Operand, Register
from ccc.ptx.opcodes import RENAMES
from ccc.ptx.operations import OF_INTEGERS, RELATIONS
from ccc.ptx.types import TYPES, number_of_type

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts

Value: TypeAlias = "int | Pointee | bool | None"
"""A number, an address, a predicate, or something that is not known."""

MOST_TRIPS = 1024
"""Trips up to which a loop is tried out."""


def stores_of_loop(
    label: str, facts: Facts, points_to: PointsTo
) -> list[tuple[Instruction, Pointee]]:
    """The stores that a loop of one block certainly makes, with where they go; none if unknown."""
    return _Trial(label, facts, points_to).run()


class _Trial:
    def __init__(self, label: str, facts: Facts, points_to: PointsTo):
        self.label = label
        self.facts = facts
        self.points_to = points_to
        self.body = list(facts.blocks[label].instructions)
        self.known: dict[Register, Value] = {}

    def run(self) -> list[tuple[Instruction, Pointee]]:
        branch = self.body[-1]
        if branch.guard is None or self.label not in map(str, branch.operands):
            return []
        used = {register for instruction in self.body for register in instruction.used()}
        self.known = {register: self._before(register) for register in used}
        made: dict[tuple[Instruction, Pointee], None] = {}
        for _ in range(MOST_TRIPS):
            made.update(dict.fromkeys(self._trip()))
            again = self.known.get(branch.guard.register)
            if again is None:
                return []
            if again == branch.guard.negated:
                return list(made)
        return []

    def _trip(self) -> Iterator[tuple[Instruction, Pointee]]:
        for instruction in self.body[:-1]:
            if instruction.name == "st" and instruction.guard is None:
                pointee = self._pointee(instruction.operands[0])
                if pointee is not None:
                    yield instruction, pointee
            value = self._value(instruction) if instruction.guard is None else None
            for register in instruction.defined():
                self.known[register] = value

    def _before(self, register: Register) -> Value:
        """Its value where the loop begins."""
        loop = next((one for one in self.facts.loops if one.header == self.label), None)
        begins = self.facts.begins(loop, register) if loop else None
        found = [one.instruction for one in begins or ()]
        if len(found) != 1 or found[0].guard is not None:
            return None
        pointees = self.points_to.result(found[0])
        if pointees:
            return next(iter(pointees)) if len(pointees) == 1 else None
        literal = self.facts.literal(found[0].operands[1]) if found[0].name == "mov" else None
        return literal.integer if literal is not None else None

    def _pointee(self, operand: Operand) -> Pointee | None:
        if not isinstance(operand, Address) or not isinstance(operand.base, Register):
            return None
        base = self._read(operand.base)
        return _add(base, operand.offset) if isinstance(base, Pointee) else None

    def _read(self, operand: Operand) -> Value:
        if isinstance(operand, Immediate):
            return operand.integer
        if not isinstance(operand, Register):
            return None
        if operand not in self.known:
            self.known[operand] = None
        return self.known[operand]

    def _value(self, instruction: Instruction) -> Value:
        """What an instruction makes of what is known."""
        target = instruction.operands[0] if instruction.operands else None
        if not isinstance(target, Register):
            return None
        sources = [self._read(operand) for operand in instruction.operands[1:]]
        if any(source is None for source in sources):
            return None
        name = instruction.name
        if name in RENAMES and len(sources) == 1:
            return sources[0]
        if name == "add" and len(sources) == 2:
            for one, other in (sources, sources[::-1]):
                if isinstance(one, Pointee) and isinstance(other, int):
                    return _add(one, other)
        numbers = [source for source in sources if isinstance(source, int)]
        if len(numbers) != len(sources) or not instruction.types:
            return None
        return _computed(instruction, numbers)


def _computed(instruction: Instruction, numbers: list[int]) -> Value:
    kind = TYPES[instruction.types[-1]]
    if kind.kind not in "usb":
        return None
    numbers = [number_of_type(number, instruction.types[-1]) for number in numbers]
    if instruction.name == "setp":
        relation = RELATIONS.get(instruction.modifiers[0])
        plain = len(instruction.modifiers) == 2 and len(numbers) == 2
        return relation(*numbers) if relation and plain else None
    if instruction.name == "cvt" and len(instruction.modifiers) == 2:
        to = instruction.types[0]
        return number_of_type(numbers[0], to) if TYPES[to].kind in "usb" else None
    if instruction.name == "mul" and instruction.modifiers == ("wide", instruction.types[0]):
        return number_of_type(numbers[0] * numbers[1], f"{kind.kind}{2 * kind.bits}")
    if (instruction.name, *instruction.modifiers[:-1]) not in _OPERATIONS or len(numbers) != 2:
        return None
    if instruction.name == "shl" and not 0 <= numbers[1] < kind.bits:
        return None
    return number_of_type(OF_INTEGERS[instruction.name](*numbers), instruction.types[-1])


_OPERATIONS = {("add",), ("sub",), ("mul", "lo"), ("shl",), ("and",), ("or",)}
"""Those that are tried out, with their modifiers but for the type."""


def _add(pointee: Pointee, step: int) -> Pointee | None:
    """A pointee some bytes on; the step may be written unsigned."""
    if pointee.offset is None:
        return None
    return Pointee(pointee.object, pointee.offset + number_of_type(step, "s64"))
