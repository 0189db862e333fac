"""Segments to Python functions.

A segment becomes ``def s7(g, m, R)``: it gathers the registers it needs from the state ``R`` for
the lanes of the group ``g``, computes, and scatters what lives on. Registers that live and die
inside it never touch the state. It returns what its last branch decides on, if anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ccc.emulator.errors import EmulatorError
from ccc.emulator.forms import DTYPES, Array, Form, Operation
from ccc.emulator.memory import Access, Location
from ccc.emulator.program import BUILT_IN, Code, Fork, Program, Segment, Table
from ccc.emulator.semantics import ACCESSES, operation_of
from ccc.emulator.special import PER_LANE
from ccc.ir.nodes import (
    CARRY,
    Address,
    Arguments,
    Discard,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import TIME, TYPES

RunSegment: TypeAlias = Callable[[Any, Any, list[Array]], Any]
FindSymbol: TypeAlias = Callable[[Code, str], Location]


@dataclass(frozen=True, slots=True)
class Value:
    """A Python variable of the generated code: raw bits, one scalar for all lanes if ``uniform``."""

    name: str
    bits: int
    uniform: bool = False


@dataclass(slots=True)
class Compiled:
    """A program's code: per segment its function and, where it waits, its operands' function.

    ``slots`` lists the instructions in the order in which they are counted; ``segment_slots`` has
    the slots of each segment.
    """

    run: list[RunSegment]
    waits: list[RunSegment | None]
    slots: list[Instruction]
    segment_slots: list[range]


def compile_program(program: Program, find_symbol: FindSymbol) -> Compiled:
    """Make the Python functions of all segments.

    Raises:
        EmulatorError: an instruction is not emulated.
    """
    names = _Names()
    slots: list[Instruction] = []
    segment_slots = []
    sources = []
    for segment in program.segments:
        first = len(slots)
        slots += segment.instructions
        segment_slots.append(range(first, len(slots)))
        sources.append(_SegmentWriter(program, segment, names, find_symbol, first).function())
        if segment.waits:
            writer = _SegmentWriter(program, segment, names, find_symbol, first)
            sources.append(writer.wait_function())
    exec(compile("\n".join(sources), "<emulated segments>", "exec"), names.namespace)
    run = [names.namespace[f"s{segment.number}"] for segment in program.segments]
    waits = [names.namespace.get(f"w{segment.number}") for segment in program.segments]
    return Compiled(run, waits, slots, segment_slots)


def _full(group: Any, value: Any) -> Array:
    """One scalar for all lanes, as an array."""
    return np.full(group.n, value)


def _overlay(group: Any, old: Any, where: Array, new: Any) -> Array:
    """``old`` with ``new`` in the lanes of ``where``."""
    result = np.array(np.broadcast_to(old, group.n))
    result[where] = new
    return result


class _Names:
    """The global names of the generated code."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"np": np, "full": _full, "overlay": _overlay}
        self.known: dict[tuple[type, Any], str] = {}
        self.count = 0

    def of(self, thing: Any, prefix: str = "f") -> str:
        """A name for an object."""
        self.count += 1
        name = f"{prefix}{self.count}_"
        self.namespace[name] = thing
        return name

    def constant(self, value: int, bits: int) -> str:
        """A name for an unsigned scalar."""
        dtype = DTYPES[f"b{bits}"].type
        value &= (1 << bits) - 1
        if (dtype, value) not in self.known:
            self.known[dtype, value] = self.of(dtype(value), "k")
        return self.known[dtype, value]

    def dtype(self, type_name: str) -> str:
        """A name for the dtype of a PTX type."""
        name = f"d_{type_name}"
        self.namespace[name] = DTYPES[type_name]
        return name


def literal_bits(text: str, bits: int) -> int | None:
    """The bits of a PTX literal in a register of that width (PTX ISA section 4.5)."""
    integer = Immediate(text).integer
    if integer is not None:
        return integer & ((1 << bits) - 1)
    sign, digits = (text[0] == "-", text[1:]) if text[:1] == "-" else (False, text)
    if digits[:2] in ("0f", "0F", "0d", "0D"):
        width = 32 if digits[1] in "fF" else 64
        value = int(digits[2:], 16)
        return value ^ (1 << width - 1) if sign else value
    return None


@dataclass(slots=True)
class _SegmentWriter:
    program: Program
    segment: Segment
    names: _Names
    find_symbol: FindSymbol
    first_slot: int
    lines: list[str] = field(default_factory=list)
    current: dict[Register, Value] = field(default_factory=dict)
    views: dict[tuple[str, str], str] = field(default_factory=dict)
    written: set[Register] = field(default_factory=set)
    indent: str = "    "
    fresh_count: int = 0

    # The functions ---------------------------------------------------------------------------

    def function(self) -> str:
        self.lines = [f"def s{self.segment.number}(g, m, R):", "    i = g.index"]
        if self.segment.arrived:
            call = self.segment.arrived
            formals = [variable.name for variable in call.callee.function.results]
            self.copy_frames(formals, call.results, into_callee=False)
        for slot, instruction in enumerate(self.segment.instructions, self.first_slot):
            self.instruction(instruction, slot)
        result = self.decision()
        for register in sorted(self.written & self.segment.live_out, key=str):
            self.emit(f"R[{self.place(register)}][i] = {self.current[register].name}")
        self.emit(f"return {result}")
        return "\n".join(self.lines)

    def wait_function(self) -> str:
        """What the instruction that waits is told: a member mask, or a barrier's id and count."""
        self.lines = [f"def w{self.segment.number}(g, m, R):", "    i = g.index"]
        instruction = self.segment.instructions[0]
        if self.segment.waits == "warp":
            self.emit(f"return {self.read(instruction.operands[-1], 'u32')[0]}")
            return "\n".join(self.lines)
        operands = list(instruction.operands)
        if "red" in instruction.modifiers:
            operands = operands[1:-1]
        count = self.read(operands[1], "u32")[0] if len(operands) > 1 else "None"
        self.emit(f"return {self.read(operands[0], 'u32')[0]}, {count}")
        return "\n".join(self.lines)

    def decision(self) -> str:
        """What the end of the segment needs to know."""
        end = self.segment.end
        if isinstance(end, Fork):
            guard = end.guard
            return self.read(Negated(guard.register) if guard.negated else guard.register, "pred")[
                0
            ]
        if isinstance(end, Table):
            return self.read(end.index, "u32")[0]
        return "None"

    # Text ------------------------------------------------------------------------------------

    def emit(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def fresh(self) -> str:
        self.fresh_count += 1
        return f"v{self.fresh_count}"

    def let(self, expression: str) -> str:
        name = self.fresh()
        self.emit(f"{name} = {expression}")
        return name

    # Operands --------------------------------------------------------------------------------

    def place(self, register: Register) -> int:
        return self.program.registers[id(self.segment.code), register]

    def value(self, register: Register) -> Value:
        """The register's current value, gathered when it is first needed."""
        if register not in self.current:
            name = self.let(f"R[{self.place(register)}][i]")
            self.current[register] = Value(name, register.bits)
        return self.current[register]

    def read(self, operand: Operand, type_name: str) -> tuple[str, bool]:
        """An expression for an operand viewed as a type, and whether it is uniform."""
        match operand:
            case Register():
                value = self.value(operand)
                return self.typed(value, type_name), value.uniform
            case Negated(inner):
                name, uniform = self.read(inner, type_name)
                return f"~{name}", uniform
            case Immediate(text):
                return self.literal(text, type_name), True
            case Special():
                value = self.special(operand)
                return self.typed(value, type_name), value.uniform
            case Symbol("WARP_SZ"):
                return self.literal("32", type_name), True
            case Symbol(name, offset):
                value = self.symbol_address(name, offset)
                return self.typed(value, type_name), True
        raise self.refuse(f"the operand {operand} is not understood here")

    def refuse(self, why: str) -> EmulatorError:
        return EmulatorError(why, self.segment.instructions[-1].span)

    def literal(self, text: str, type_name: str) -> str:
        if type_name == "pred":
            return f"np.bool_({bool(Immediate(text).integer)})"
        bits = literal_bits(text, TYPES[type_name].bits)
        if bits is None:
            raise self.refuse(f"{text} is no literal of type {type_name}")
        name = self.names.constant(bits, TYPES[type_name].bits)
        return self.typed(Value(name, TYPES[type_name].bits, True), type_name)

    def special(self, operand: Special) -> Value:
        register = operand.register
        bits = TYPES[register.type].bits
        if register.varies == TIME:
            return Value(self.let(f"m.time({operand.name!r}, np.uint{bits})"), bits, True)
        if operand.name in PER_LANE:
            return Value(self.let(f"m.specials[{operand.name!r}][i]"), bits)
        return Value(self.let(f"m.specials[{operand.name!r}]"), bits, True)

    def typed(self, value: Value, type_name: str) -> str:
        """A value's variable, viewed as (or cut down to) a type."""
        key = (value.name, type_name)
        if key not in self.views:
            self.views[key] = self.view(value, type_name)
        return self.views[key]

    def view(self, value: Value, type_name: str) -> str:
        wanted = TYPES[type_name]
        if wanted.bits > 64:
            raise self.refuse(f"operands of {wanted.bits} bits are not emulated")
        name = value.name
        if wanted.bits == value.bits == 1:
            return name
        if wanted.bits > value.bits:
            raise self.refuse(f"an operand of {value.bits} bits is too narrow for {type_name}")
        if wanted.bits < value.bits:
            name = self.hoist(f"{name}.astype({self.names.dtype(f'b{wanted.bits}')})")
        if DTYPES[type_name].kind == "u":
            return name
        return self.hoist(f"{name}.view({self.names.dtype(type_name)})")

    def hoist(self, expression: str) -> str:
        """A variable that stays valid outside the indented part, since views are remembered."""
        return self.let(expression)

    def symbol_address(self, name: str, offset: int) -> Value:
        """The address of a variable in its own space, 64 bits wide."""
        location = self.find_symbol(self.segment.code, name)
        if location.in_frame:
            return Value(self.let(f"m.frame_address(g, {location.address + offset})"), 64, True)
        return Value(self.names.constant(location.address + offset, 64), 64, True)

    def address(self, operand: Operand) -> str:
        """The addresses of a memory operand, one uint64 a lane."""
        assert isinstance(operand, Address)
        offset = operand.offset
        if isinstance(operand.base, Register):
            value = self.value(operand.base)
            name = value.name
            if offset:
                name = self.let(f"{name} + {self.names.constant(offset, value.bits)}")
            if value.bits < 64:
                name = self.let(f"{name}.astype(np.uint64)")
            return self.let(f"full(g, {name})") if value.uniform else name
        if isinstance(operand.base, Symbol):
            name = self.symbol_address(operand.base.name, operand.base.offset + offset).name
        else:
            name = self.names.constant((operand.base.integer or 0) + offset, 64)
        return self.let(f"full(g, {name})")

    # Results ---------------------------------------------------------------------------------

    def write(self, operand: Operand, type_name: str, name: str, uniform: bool, guard: str) -> None:
        """Make ``name``, of that type, a register's value where the guard holds."""
        if isinstance(operand, Discard):
            return
        if not isinstance(operand, Register):
            raise self.refuse(f"the destination {operand} is not understood here")
        name = self.as_bits(name, type_name, operand)
        if guard:
            old = self.value(operand)
            name = self.let(f"np.where({guard}, {name}, {old.name})")
            uniform = False
        self.define(operand, name, uniform)

    def define(self, register: Register, name: str, uniform: bool) -> None:
        self.current[register] = Value(name, register.bits, uniform)
        self.written.add(register)

    def as_bits(self, name: str, type_name: str, register: Register) -> str:
        """The raw bits that a result of a type leaves in a register (PTX ISA section 9.4.1)."""
        result = TYPES[type_name]
        if result.bits > register.bits:
            raise self.refuse(f"{register} is too narrow for a result of type {type_name}")
        unsigned = f"np.uint{register.bits}"
        if result.bits == register.bits:
            is_raw = result.kind == "p" or DTYPES[type_name].kind == "u"
            return name if is_raw else self.let(f"{name}.view({unsigned})")
        if result.kind == "s":
            return self.let(f"{name}.astype(np.int{register.bits}).view({unsigned})")
        if result.kind == "f":
            name = self.let(f"{name}.view(np.uint{result.bits})")
        return self.let(f"{name}.astype({unsigned})")

    # Instructions ----------------------------------------------------------------------------

    def instruction(self, instruction: Instruction, slot: int) -> None:
        if instruction.is_terminator:
            return
        guard = ""
        if instruction.guard:
            register = instruction.guard.register
            negated = instruction.guard.negated
            name, uniform = self.read(Negated(register) if negated else register, "pred")
            guard = self.let(f"full(g, {name})" if uniform else name)
            self.emit(f"m.guarded[{slot}] += np.count_nonzero({guard})")
        if instruction.effects & Effect.CALL:
            self.call(instruction, guard)
        elif instruction.name == "mov" and self.moves_parts(instruction):
            self.move_parts(instruction, guard)
        elif instruction.name in ACCESSES:
            self.access(instruction, slot, guard)
        else:
            self.operation(instruction, guard)

    def operation(self, instruction: Instruction, guard: str) -> None:
        """An instruction that computes registers from registers."""
        operation = operation_of(Form(instruction))
        if operation is None:
            return
        if not operation.results:
            self.effect(operation, instruction, guard)
            return
        sources, uniform = self.sources(operation, instruction.operands[1:])
        uniform = uniform and not operation.group
        names = [self.fresh() for _ in operation.results]
        function = self.names.of(operation.compute)
        if operation.group and guard:
            self.guarded_group(operation, instruction, names, sources, guard, function)
            return
        arguments = ", ".join((["g"] if operation.group else []) + [s for s, _ in sources])
        self.emit(f"{', '.join(names)} = {function}({arguments})")
        if operation.may_alias and not uniform:
            self.emit(f"{names[0]} = {names[0]}.copy()")
        self.results(operation, instruction.operands[0], names, uniform, guard)

    def sources(
        self, operation: Operation, operands: tuple[Operand, ...]
    ) -> tuple[list[tuple[str, bool]], bool]:
        pairs = zip(operands, operation.sources, strict=False)
        found = [self.read(operand, type_name) for operand, type_name in pairs]
        if "in" in operation.carry:
            found.append(self.read(CARRY, "pred"))
        return found, all(uniform for _, uniform in found)

    def results(
        self, operation: Operation, target: Operand, names: list[str], uniform: bool, guard: str
    ) -> None:
        targets = [target.first, target.second] if isinstance(target, Pair) else [target]
        if "out" in operation.carry:
            targets.append(CARRY)
        for place, type_name, name in zip(targets, operation.results, names, strict=False):
            self.write(place, type_name, name, uniform, guard)

    def guarded_group(
        self, operation: Operation, instruction: Instruction, names: list[str],
        sources: list[tuple[str, bool]], guard: str, function: str,
    ) -> None:  # fmt: skip
        """A guarded operation on the group of lanes: only the lanes of the guard take part."""
        picked = [name if uniform else f"{name}[{guard}]" for name, uniform in sources]
        sub = self.let(f"g.only({guard})")
        zero = ", ".join(f"np.zeros(g.n, {self.names.dtype(t)})" for t in operation.results)
        self.emit(f"{', '.join(names)} = {zero}")
        self.emit(f"if {sub} is not None:")
        targets = ", ".join(f"{name}[{guard}]" for name in names)
        self.emit(f"    {targets} = {function}({', '.join([sub, *picked])})")
        self.results(operation, instruction.operands[0], names, False, guard)

    def effect(self, operation: Operation, instruction: Instruction, guard: str) -> None:
        """An operation without a result, called for the lanes that execute it."""
        function = self.names.of(operation.compute)
        group = self.let(f"g.only({guard})") if guard else "g"
        self.emit(f"if {group} is not None: {function}({group})")

    # mov -------------------------------------------------------------------------------------

    def moves_parts(self, instruction: Instruction) -> bool:
        return any(isinstance(operand, Vector) for operand in instruction.operands)

    def move_parts(self, instruction: Instruction, guard: str) -> None:
        """Pack or unpack (PTX ISA section 9.7.9, mov)."""
        target, source = instruction.operands
        bits = TYPES[Form(instruction).type].bits
        if isinstance(source, Vector):
            part = bits // len(source.elements)
            parts = [self.read(element, f"b{part}") for element in source.elements]
            dtype = self.names.dtype(f"b{bits}")
            shifted = [
                f"({name}.astype({dtype}) << {self.names.constant(index * part, bits)})"
                for index, (name, _) in enumerate(parts)
            ]
            name = self.let(" | ".join(shifted))
            uniform = all(flag for _, flag in parts)
            self.write(target, f"b{bits}", name, uniform, guard)
            return
        assert isinstance(target, Vector)
        part = bits // len(target.elements)
        whole, uniform = self.read(source, f"b{bits}")
        dtype = self.names.dtype(f"b{part}")
        for index, element in enumerate(target.elements):
            shift = self.names.constant(index * part, bits)
            name = self.let(f"({whole} >> {shift}).astype({dtype})")
            self.write(element, f"b{part}", name, uniform, guard)

    # Memory ----------------------------------------------------------------------------------

    def access(self, instruction: Instruction, slot: int, guard: str) -> None:
        """A load, store or atomic."""
        access = Access.of(instruction, slot)
        operands = list(instruction.operands)
        target = operands.pop(0) if instruction.name in ("ld", "ldu", "atom") else None
        place = operands.pop(0)
        assert isinstance(place, Address)
        if self.is_kernel_parameter(access, place):
            self.parameter(access, target, place, guard)
            return
        if access.space == "param" and isinstance(place.base, Register):
            access.space = "param" if self.segment.code.is_kernel else "local"
        elif access.space == "param":
            access.space = "local"
        address = self.address(place)
        values = self.stored(access, operands)
        group = "g"
        if guard:
            group = self.let(f"g.only({guard})")
            address = f"{address}[{guard}]"
            values = [(v if uniform else f"{v}[{guard}]", uniform) for v, uniform in values]
        arguments = [self.names.of(access, "a"), group, address, *(name for name, _ in values)]
        call = f"m.memory.{access.method}({', '.join(arguments)})"
        if target is None:
            self.emit(f"if {group} is not None: {call}" if guard else call)
        else:
            self.loaded(access, target, call, group, guard)

    def stored(self, access: Access, operands: list[Operand]) -> list[tuple[str, bool]]:
        """The values that a store or atomic takes."""
        if access.method == "load":
            return []
        found = []
        for operand in operands[: access.values]:
            elements = operand.elements if isinstance(operand, Vector) else (operand,)
            found += [self.read(element, access.type) for element in elements]
        return found

    def loaded(self, access: Access, target: Operand, call: str, group: str, guard: str) -> None:
        """Take what a load or atomic returns into its registers."""
        targets = target.elements if isinstance(target, Vector) else (target,)
        names = [self.fresh() for _ in targets]
        if not guard:
            self.emit(f"{', '.join(names)} = {call}")
        else:
            dtype = self.names.dtype(access.type)
            zeros = ", ".join(f"np.zeros(g.n, {dtype})" for _ in names)
            self.emit(f"{', '.join(names)} = {zeros}")
            filled = ", ".join(f"{name}[{guard}]" for name in names)
            self.emit(f"if {group} is not None: {filled} = {call}")
        for element, name in zip(targets, names, strict=True):
            self.write(element, access.type, name, False, guard)

    def is_kernel_parameter(self, access: Access, place: Address) -> bool:
        if access.space != "param" or not isinstance(place.base, Symbol):
            return False
        return not self.find_symbol(self.segment.code, place.base.name).in_frame

    def parameter(self, access: Access, target: Operand | None, place: Address, guard: str) -> None:
        """A kernel parameter: the same for every lane."""
        assert isinstance(place.base, Symbol)
        if target is None:
            raise self.refuse("a kernel's parameters cannot be stored to")
        offset = self.find_symbol(self.segment.code, place.base.name).address
        offset += place.base.offset + place.offset
        targets = target.elements if isinstance(target, Vector) else (target,)
        dtype = self.names.dtype(access.type)
        for index, element in enumerate(targets):
            at = offset + index * access.size
            name = self.let(f"m.memory.parameter({dtype}, {at})")
            self.write(element, access.type, name, True, guard)

    # Calls -----------------------------------------------------------------------------------

    def call(self, instruction: Instruction, guard: str) -> None:
        end = self.segment.end
        symbols = [operand for operand in instruction.operands if isinstance(operand, Symbol)]
        if symbols and symbols[0].name in BUILT_IN:
            fail = self.names.of(instruction, "n")
            self.emit(f"if {f'{guard}.any()' if guard else 'True'}: m.fail_assertion({fail}, g)")
            return
        actuals = end.arguments  # type: ignore[union-attr]
        formals = [v.name for v in end.callee.function.parameters]  # type: ignore[union-attr]
        if len(actuals) != len(formals):
            raise self.refuse(f"the callee takes {len(formals)} arguments")
        self.copy_frames(formals, actuals, into_callee=True)

    def copy_frames(self, formals: list[str], actuals: tuple[str, ...], into_callee: bool) -> None:
        """Copy the arguments of a call into the callee's frame, or its results out of it."""
        end = self.segment.end if into_callee else self.segment.arrived
        callee = end.callee  # type: ignore[union-attr]
        variables = {v.name: v for v in callee.function.parameters + callee.function.results}
        for formal, actual in zip(formals, actuals, strict=True):
            inner = callee.frame[formal] + self.program.frame_bytes
            outer = self.segment.code.frame[actual]
            source, target = (outer, inner) if into_callee else (inner, outer)
            size = variables[formal].bytes or 0
            self.emit(f"m.memory.copy_local(g, {source}, {target}, {size})")


__all__ = ["Arguments", "Compiled", "compile_program"]
