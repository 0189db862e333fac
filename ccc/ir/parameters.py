"""Parameters in registers, for a call that becomes a jump or whose function is inlined.

A caller writes its arguments with ``st.param`` into variables, the function reads them with
``ld.param``; results go the other way (PTX ISA section 7.1). Each variable, which may be a
structure in bytes, is cut into registers as its writers see it: one :class:`Slot` a scalar. A
reader may take a part of one, as where a ``short`` is passed in 32 bits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ccc.ir.edit import Emitter
from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Address, Arguments, Operand, Register, Symbol, Vector
from ccc.ir.registers import RegisterFile
from ccc.ptx.types import TYPES

_LEAST_BITS = 16
"""Of a register: narrower values lie in its low bits."""


class DoesNotFit(Exception):
    """A parameter is used in a way that registers cannot stand for."""


@dataclass(frozen=True, slots=True)
class Part:
    """One scalar that an ``ld.param`` or ``st.param`` moves; ``offset`` in bytes."""

    offset: int
    type: str
    operand: Operand

    @property
    def bits(self) -> int:
        """Its width."""
        return TYPES[self.type].bits

    def overlaps(self, other: Part | Slot) -> bool:
        """Whether they have a byte in common."""
        first = 8 * (self.offset - other.offset)
        return -self.bits < first < other.bits


@dataclass(frozen=True, slots=True)
class Slot:
    """The register that stands for ``bits`` of a parameter from ``offset`` on."""

    offset: int
    bits: int
    register: Register

    def holds(self, part: Part) -> bool:
        """Whether all of the scalar lies in it."""
        first = 8 * (part.offset - self.offset)
        return first >= 0 and first + part.bits <= self.bits


def accessed(instruction: Instruction) -> str | None:
    """The variable that an ``ld.param`` or ``st.param`` names; None for everything else."""
    if instruction.name not in ("ld", "st") or instruction.space != "param":
        return None
    address = instruction.operands[instruction.name == "ld"]
    if isinstance(address, Address) and isinstance(address.base, Symbol):
        return address.base.name
    return None


def parts(instruction: Instruction) -> list[Part]:
    """The scalars that an ``ld.param`` or ``st.param`` moves, in the order of their addresses.

    Raises:
        DoesNotFit: they have no type, one wider than a register, or no plain address.
    """
    loads = instruction.name == "ld"
    value, address = instruction.operands[not loads], instruction.operands[loads]
    kind = instruction.types[-1] if instruction.types else ""
    if not isinstance(address, Address) or kind not in TYPES:
        raise DoesNotFit
    if TYPES[kind].bits not in (8, 16, 32, 64):
        raise DoesNotFit
    values = value.elements if isinstance(value, Vector) else (value,)
    size = TYPES[kind].bytes
    return [Part(address.offset + size * number, kind, v) for number, v in enumerate(values)]


def accesses(instructions: Iterable[Instruction], name: str, opcode: str) -> list[Part]:
    """What the ``ld.param`` or ``st.param`` (``opcode`` says which) of a variable move.

    Raises:
        DoesNotFit: an instruction does something else with it, such as taking its address.
    """
    found = []
    for instruction in instructions:
        if accessed(instruction) == name:
            if instruction.guard is not None:
                raise DoesNotFit
            found += parts(instruction) if instruction.name == opcode else []
        elif instruction.name != "call" and any(s.name == name for s in instruction.symbols()):
            raise DoesNotFit
    return found


class ParameterRegisters:
    """The registers that stand for one parameter.

    Args:
        registers: those of the function that gets the slots.
        stores: what is written, by all who do.
        loads: what is read; bytes that nobody writes get slots, too.

    Raises:
        DoesNotFit: two writes overlap, or a read takes more than was written at once.
    """

    def __init__(self, registers: RegisterFile, stores: Iterable[Part], loads: Iterable[Part]):
        self.slots: list[Slot] = []
        for part in (*stores, *sorted(loads, key=lambda part: -part.bits)):
            found = self.find(part)
            if found is None:
                if any(part.overlaps(slot) for slot in self.slots):
                    raise DoesNotFit
                width = max(part.bits, _LEAST_BITS)
                slot = Slot(part.offset, part.bits, registers.fresh(f"b{width}"))
                self.slots.append(slot)
        for part in stores:
            if (found := self.find(part)) and found.bits != part.bits:
                raise DoesNotFit

    def find(self, part: Part) -> Slot | None:
        """The slot in which a scalar lies, if it has one."""
        return next((slot for slot in self.slots if slot.holds(part)), None)

    def slot(self, part: Part) -> Slot:
        """The slot in which a scalar lies that was among the stores or the loads."""
        return next(slot for slot in self.slots if slot.holds(part))

    def store(self, emit: Emitter, part: Part) -> None:
        """Write a scalar into its slot."""
        slot = self.slot(part)
        width, value = slot.register.bits, part.operand
        if isinstance(value, Register) and value.bits != width:
            emit.emit(f"cvt.u{width}.u{value.bits}", slot.register, value)
        elif isinstance(value, Register) or not part.type.startswith("f"):
            emit.emit(f"mov.b{width}", slot.register, value)
        else:
            emit.emit(f"mov.{part.type}", slot.register, value)

    def load(self, emit: Emitter, part: Part) -> None:
        """Read a scalar from its slot, extended to the width of its register as ``ld`` does."""
        slot, target = self.slot(part), part.operand
        if not isinstance(target, Register):  # nobody wants it
            return
        source, first = slot.register, 8 * (part.offset - slot.offset)
        if first:
            source = emit.define(f"shr.u{source.bits}", source.type, source, first)
        if part.bits == source.bits == target.bits:
            emit.emit(f"mov.b{part.bits}", target, source)
            return
        sign = "s" if part.type.startswith("s") else "u"
        kind = f"{sign}{part.bits}" if part.bits < target.bits else f"u{source.bits}"
        opcode = f"cvt.{sign}{target.bits}.{kind}"
        if TYPES[target.type].kind == "f":
            narrow = emit.define(opcode, f"b{target.bits}", source)
            emit.emit(f"mov.b{target.bits}", target, narrow)
        else:
            emit.emit(opcode, target, source)


def move_into_registers(function: Function, of: Mapping[str, ParameterRegisters]) -> None:
    """Replace every access to the variables named in ``of`` by moves."""
    for block in function.blocks:
        statements, block.statements = block.statements, []
        for statement in statements:
            if isinstance(statement, Instruction) and (kept := of.get(accessed(statement) or "")):
                move = kept.load if statement.name == "ld" else kept.store
                for part in parts(statement):
                    move(Emitter(function, block, statement.span), part)
            else:
                block.statements.append(statement)


def forget(function: Function, names: Collection[str]) -> None:
    """Remove the declarations of variables that nothing names any more."""
    function.variables = [v for v in function.variables if v.name not in names]


@dataclass(frozen=True, slots=True)
class CallList:
    """The ``.param`` variables that a ``call`` names."""

    results: tuple[str, ...]
    arguments: tuple[str, ...]

    @staticmethod
    def of(call: Instruction, function: Function) -> CallList:
        """Read them from a call of ``function``.

        Raises:
            DoesNotFit: they are not as the function declares them, or no variables.
        """
        lists = [operand for operand in call.operands if isinstance(operand, Arguments)]
        results = lists.pop(0) if isinstance(call.operands[0], Arguments) else None
        arguments = lists.pop(0) if lists else None
        found = CallList(_names(results), _names(arguments))
        if len(found.results) != len(function.results):
            raise DoesNotFit
        if len(found.arguments) != len(function.parameters):
            raise DoesNotFit
        return found


def _names(operands: Arguments | None) -> tuple[str, ...]:
    named = (
        [operand for operand in operands.elements if isinstance(operand, Symbol)]
        if operands
        else []
    )
    if operands and len(named) != len(operands.elements):
        raise DoesNotFit
    return tuple(symbol.name for symbol in named)
