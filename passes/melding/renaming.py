"""The steps of an arm with a register of its own for each value, and copies left out.

What an arm writes gets new registers, one for each time, so that other lanes may run the step, too:
nobody else reads them. What only copies a register, or sets it to a literal, is no step any more;
readers get the register, or the literal where the instruction can have one.

Before:

        mov.f64 %fd2, 0d3FE0000000000000;
        fma.rn.f64 %fd3, %fd1, %fd1, %fd2;
        mov.f64 %fd3, %fd3;

After, where %fd3 has the value %0:

        fma.rn.f64 %0, %fd1, %fd1, 0d3FE0000000000000;
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ccc.analysis.facts import Facts
from ccc.ir.nodes import Guard, Instruction
from ccc.ir.operands import Address, Immediate, Operand, Register, map_leaves
from ccc.passes.melding.arms import Arm, Step
from ccc.ptx.types import TYPES

_ANY_OPERAND = frozenset(
    ("add", "sub", "mul", "mad", "fma", "min", "max", "div", "rem", "and", "or", "xor", "shl",
     "shr", "setp", "selp", "st")
)  # fmt: skip
"""Instructions that take a register for a literal, and the other way round, whose type is their
last one."""
COMMUTE = frozenset({"add", "mul", "fma", "mad", "and", "or", "xor"})
"""Those whose first two operands may be exchanged."""
_COUNTS = frozenset({"shl", "shr"})
"""Those whose last operand is a number of bits."""


@dataclass(frozen=True, eq=False)
class Renamed:
    """A step with new registers.

    ``made`` are those that it writes, ``kept`` those of them that have another's value before it,
    since it may leave them as they are. Of a piece with control flow, ``registers`` says what is
    what in it.
    """

    step: Step
    instruction: Instruction
    made: tuple[Register, ...]
    kept: tuple[tuple[Register, Register], ...] = ()
    registers: Mapping[Register, Register] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RenamedArm:
    """An arm; ``results`` says where the registers that it writes have their values at its end."""

    arm: Arm
    steps: tuple[Renamed, ...]
    results: Mapping[Register, Operand]


def literal_type(instruction: Instruction, place: int) -> str | None:
    """The type of a literal that may be the operand at that place; None if a register may not."""
    name, types = instruction.name, instruction.types
    if name not in _ANY_OPERAND or not types:
        return None
    if name in _COUNTS and place == 2:
        return "u32"
    if name == "mad" and "wide" in instruction.modifiers and place == 3:
        return f"{types[-1][0]}{2 * TYPES[types[-1]].bits}"
    kind = TYPES[types[-1]]
    return types[-1] if kind.kind in "busf" and kind.bits in (16, 32, 64) else None


def is_float(literal: Immediate) -> bool:
    """Whether it is written as a floating-point number."""
    return literal.integer is None


def rename(arm: Arm, number: int, facts: Facts) -> RenamedArm:
    """The steps of an arm with new registers; the ``number`` tells arms apart."""
    renaming = _Renaming(f"%%{number}_", facts)
    for step in arm.steps:
        renaming.take(step)
    return RenamedArm(arm, tuple(renaming.steps), renaming.results())


class _Renaming:
    def __init__(self, prefix: str, facts: Facts):
        self.prefix = prefix
        self.facts = facts
        self.steps: list[Renamed] = []
        self.values: dict[Register, Register] = {}
        self.literals: dict[Register, Instruction] = {}
        """Registers that would hold a literal, with what would set them to it."""
        self.count = 0

    def take(self, step: Step) -> None:
        if step.blocks:
            self._take_piece(step)
            return
        instruction = step.instructions[0]
        if self._is_copy(instruction):
            self._copy(instruction)
            return
        operands = tuple(
            operand if role == "def" else self._read(instruction, place, operand)
            for place, (operand, role) in enumerate(instruction.roles())
        )
        guard = instruction.guard
        if guard is not None:
            guard = Guard(self._value(guard.register), guard.negated)
        new = {register: self._new(register.type) for register in instruction.defined()}
        kept = tuple((new[r], self._value(r)) for r in new) if guard is not None else ()

        def change(leaf: Operand) -> Operand:
            return new.get(leaf, leaf) if isinstance(leaf, Register) else leaf

        operands = tuple(
            map_leaves(operand, change) if role == "def" else operand
            for operand, (_, role) in zip(operands, instruction.roles(), strict=True)
        )
        renamed = Instruction(
            instruction.opcode, operands, guard, instruction.span, instruction.location
        )
        self.steps.append(Renamed(step, renamed, tuple(new.values()), kept))
        self.values.update(new)

    def _is_copy(self, instruction: Instruction) -> bool:
        """Whether it sets a register to another of the same type, or to a literal."""
        if instruction.name != "mov" or instruction.guard is not None:
            return False
        target, source = instruction.operands
        if not isinstance(target, Register) or target.type == "pred":
            return False
        if isinstance(source, Register):
            return source.type == target.type
        return isinstance(source, Immediate)

    def _copy(self, instruction: Instruction) -> None:
        target, source = instruction.operands
        assert isinstance(target, Register)
        if isinstance(source, Register):
            self.values[target] = self._value(source)
        else:
            stand_in = self._new(target.type)
            self.literals[stand_in] = instruction
            self.values[target] = stand_in

    def _take_piece(self, step: Step) -> None:
        """A piece with control flow: each of its registers is another one in all of it."""
        body = [i for label in step.blocks for i in self.facts.blocks[label].instructions]
        body += step.instructions
        read = dict.fromkeys(r for i in body for r in i.used())
        written = dict.fromkeys(r for i in body for r in i.defined())
        registers = {r: self._value(r) for r in read if r not in written}
        live = self._live_before(step)
        new = {r: self._new(r.type) for r in written}
        kept = tuple((new[r], self._value(r)) for r in written if r in live)
        piece = Renamed(
            step, step.instructions[-1], tuple(new.values()), kept, {**registers, **new}
        )
        self.steps.append(piece)
        self.values.update(new)

    def _live_before(self, step: Step) -> frozenset[Register]:
        """What is read in a piece, or after it, that may have been written before it."""
        live = self.facts.liveness.live_in
        read = frozenset(r for branch in step.instructions for r in branch.used())
        return read.union(*(live(label) for label in (*step.blocks, step.exit)))

    def _new(self, type_name: str) -> Register:
        self.count += 1
        return Register(f"{self.prefix}{self.count - 1}", type_name)

    def _value(self, register: Register) -> Register:
        """The register that has its value, which is set if that is a literal yet."""
        value = self.values.get(register, register)
        move = self.literals.pop(value, None)
        if move is not None:
            literal = move.operands[1]
            made = Instruction(move.opcode, (value, literal), None, move.span, move.location)
            self.steps.append(Renamed(Step((move,)), made, (value,)))
        return value

    def results(self) -> dict[Register, Operand]:
        """Where the registers that the arm writes have their values now."""
        found: dict[Register, Operand] = {}
        for register, value in self.values.items():
            move = self.literals.get(value)
            found[register] = value if move is None else move.operands[1]
        return found

    def _read(self, instruction: Instruction, place: int, operand: Operand) -> Operand:
        type_name = None if isinstance(operand, Address) else literal_type(instruction, place)

        def change(leaf: Operand) -> Operand:
            if not isinstance(leaf, Register):
                return leaf
            value = self.values.get(leaf, leaf)
            move = self.literals.get(value)
            literal = move.operands[1] if move is not None else None
            if (
                isinstance(literal, Immediate)
                and type_name is not None
                and is_float(literal) == (TYPES[type_name].kind == "f")
                and value.bits == TYPES[type_name].bits
            ):
                return literal
            return self._value(leaf)

        return map_leaves(operand, change)
