"""Segments to Python functions.

A segment becomes ``def s7(g, m, R)``: it gathers the registers it needs from the state ``R`` for
the lanes of the group ``g``, computes, and scatters what lives on. Registers that live and die
inside it never touch the state. It returns what its last branch decides on, if anything.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.base.forms import ADDRESS, Array, Form, Operation, pair, register_dtype
from ccc.emulator.lanes.barriers import CLUSTER_BARRIER
from ccc.emulator.memory.memory import Access
from ccc.emulator.semantics.table import ACCESSES, operation_of
from ccc.emulator.translate.calls import CallWriter
from ccc.emulator.translate.operands import FindSymbol, GlobalNames
from ccc.emulator.translate.program import (
    Fork,
    Program,
    Return,
    Table,
    Through,
    is_set_apart,
    names_members,
)
from ccc.ir.nodes import Guard, Instruction
from ccc.ir.operands import (
    CARRY,
    Address,
    Discard,
    Minus,
    Negated,
    Operand,
    Pair,
    Register,
    Selected,
    Symbol,
    TupleAddress,
    Vector,
)
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import VECTORS

_EVERYONE = "np.uint32(0xFFFFFFFF)"
RunSegment: TypeAlias = Callable[[Any, Any, list[Array]], Any]

_COUNT = itertools.count()


class Functions(Protocol):
    """Functions by the number of their segment."""

    def __getitem__(self, number: int, /) -> RunSegment: ...
    def __len__(self) -> int: ...


@dataclass(slots=True)
class CompiledProgram:
    """A program's code: per segment its function and, by number, its operands' where it waits.

    ``slots`` lists the instructions in the order in which they are counted; ``segment_slots`` has
    the slots of each segment. ``lines`` are the source lines of the segments that were counted, as
    :mod:`ccc.emulator.run.tally` wants them.
    """

    run: Functions
    waits: Functions
    slots: list[Instruction]
    segment_slots: list[range]
    lines: dict[int, Any] = field(default_factory=dict, init=False)


def compile_program(program: Program, find_symbol: FindSymbol) -> CompiledProgram:
    """Make the Python functions of all segments.

    Raises:
        EmulatorError: an instruction is not emulated.
    """
    names = GlobalNames()
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
    define("\n".join(sources), program.codes[0].function.name, names.namespace, "s0")
    run = [names.namespace[f"s{segment.number}"] for segment in program.segments]
    waiting = [segment.number for segment in program.segments if segment.waits]
    waits = {number: names.namespace[f"w{number}"] for number in waiting}
    return CompiledProgram(run, waits, slots, segment_slots)


def define(source: str, kernel: str, namespace: dict[str, Any], first: str) -> None:
    """Run generated code. Tracebacks show its lines for as long as its first function is there."""
    file = f"<emulated {kernel} {next(_COUNT)}>"  # of no other program
    exec(compile(source, file, "exec"), namespace)
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    weakref.finalize(namespace[first], linecache.cache.pop, file, None).atexit = False


def _parts(target: Operand) -> list[Operand]:
    """The destinations in an operand; where two are one register, a GPU writes the first."""
    if isinstance(target, Pair) and target.first == target.second:
        return [target.first, Discard()]
    if isinstance(target, Pair):
        return [target.first, target.second]
    if isinstance(target, Selected):
        return [target.register]
    return list(target.elements) if isinstance(target, Vector) else [target]


def _elements(operands: Sequence[Operand]) -> Iterator[Operand]:
    """The sources in operands: those in braces, and in brackets of several parts, one by one."""
    for operand in operands:
        if isinstance(operand, Vector):
            yield from operand.elements
        elif isinstance(operand, TupleAddress):
            yield from _elements(operand.parts)
        elif isinstance(operand, Minus):
            yield from _elements([operand.operand])
        elif isinstance(operand, Selected):
            yield operand.register
        else:
            yield operand


def part_bits(parts: Vector) -> int:
    """The bits of each of the parts of 128."""
    return 128 // len(parts.elements)


class _SegmentWriter(CallWriter):
    """Writes the functions of one segment."""

    # The functions ---------------------------------------------------------------------------

    def function(self) -> str:
        self.lines = [f"def s{self.segment.number}(g, m, R):", "    i = g.index"]
        if self.segment.arrived:
            call = self.segment.arrived
            self.take_results(call)
        if self.segment is self.segment.code.segments[0]:
            self.take_parameters()
        for slot, instruction in enumerate(self.segment.instructions, self.first_slot):
            self.instruction(instruction, slot)
        if isinstance(self.segment.end, Return):
            self.leave_results()
        result = self.decision()
        for register in sorted(self.written & self.segment.live_out, key=str):
            self.emit(f"R[{self.place(register)}][i] = {self.current[register].name}")
        self.emit(f"return {result}")
        return "\n".join(self.lines)

    def wait_function(self) -> str:
        """What an instruction that waits is told: a member mask, or a barrier's id and count."""
        self.lines = [f"def w{self.segment.number}(g, m, R):", "    i = g.index"]
        instruction = self.segment.instructions[0]
        operands = list(instruction.operands)
        if instruction.name not in ("bar", "barrier") or "warp" in instruction.modifiers:
            mask = self.read(operands[-1], "u32")[0] if names_members(instruction) else _EVERYONE
            self.emit(f"return {mask}")
            return "\n".join(self.lines)
        if "cluster" in instruction.modifiers:
            self.emit(f"return np.uint32({CLUSTER_BARRIER}), None")
            return "\n".join(self.lines)
        if "red" in instruction.modifiers:
            operands = operands[1:-1]
        number = self.read(operands[0], "u32")[0]
        count = self.read(operands[1], "u32")[0] if len(operands) > 1 else "None"
        self.emit(f"return {number}, {count}")
        return "\n".join(self.lines)

    def decision(self) -> str:
        """What the end of the segment needs to know."""
        end = self.segment.end
        if isinstance(end, Fork):
            return self.condition(end.guard)[0]
        if isinstance(end, Table):
            return self.read(end.index, "u32")[0]
        if isinstance(end, Through):
            return self.read(end.pointer, "u64")[0]
        return "None"

    def condition(self, guard: Guard) -> tuple[str, bool]:
        """A guard as an expression, and whether it is uniform."""
        operand = Negated(guard.register) if guard.negated else guard.register
        return self.read(operand, "pred")

    # Instructions ----------------------------------------------------------------------------

    def instruction(self, instruction: Instruction, slot: int) -> None:
        if instruction.is_terminator and not is_set_apart(instruction):
            return
        guard = ""
        if instruction.guard:
            name, uniform = self.condition(instruction.guard)
            guard = self.let(f"full(g, {name})" if uniform else name)
            self.emit(f"m.guarded[{slot}] += np.count_nonzero({guard})")
        if not is_set_apart(instruction) and not self.goes_through(instruction):
            self.attempt(instruction, slot, guard)

    def attempt(self, instruction: Instruction, slot: int, guard: str) -> None:
        """What an instruction does under a guard, or that it is not emulated."""
        try:
            self.perform(instruction, slot, guard)
        except EmulatorError as error:
            self.fail(error.message, instruction, guard)
            for register in instruction.defined():
                dtype = self.names.of(register_dtype(register.bits), "d")
                self.define(register, self.let(f"np.zeros(g.n, {dtype})"), False)

    def perform(self, instruction: Instruction, slot: int, guard: str) -> None:
        """What an instruction does under a guard that has been evaluated.

        Raises:
            EmulatorError: it is not emulated.
        """
        if instruction.effects & Effect.CALL:
            self.call(instruction, slot)
        elif instruction.name in ("trap", "brkpt"):
            self.fail(f"{instruction.name} was reached", instruction, guard)
        elif instruction.name in ("alloca", "stacksave", "stackrestore"):
            self.stack(instruction)
        elif instruction.name == "mov" and self.moves_parts(instruction):
            self.move_parts(instruction, guard)
        elif instruction.row and instruction.row.name in ACCESSES:
            self.access(instruction, slot, guard)
        else:
            self.operation(instruction, slot, guard)

    def operation(self, instruction: Instruction, slot: int, guard: str) -> None:
        """An instruction that computes registers from registers, or what ``semantics`` does."""
        operation = operation_of(Form(instruction, slot))
        if operation is None:
            return
        operands = instruction.operands[bool(operation.results) :]
        sources, uniform = self.sources(operation, operands, instruction.space == "generic")
        if not operation.results:
            self.effect(operation, sources, guard)
            return
        uniform = uniform and not operation.group
        function = self.names.of(operation.compute)
        if operation.group and guard:
            names = self.guarded_group(operation, function, sources, guard)
        else:
            arguments = ", ".join(self.first(operation, "g") + [s for s, _ in sources])
            names = [self.fresh() for _ in operation.results]
            self.emit(f"{', '.join(names)} = {function}({arguments})")
        if operation.may_alias and not uniform:
            self.emit(f"{names[0]} = {names[0]}.copy()")
        targets = _parts(instruction.operands[0])
        if "out" in operation.carry:
            targets.append(CARRY)
        for target, type_name, name in zip(targets, operation.results, names, strict=False):
            self.write(target, type_name, name, uniform, guard)

    def sources(
        self, operation: Operation, operands: tuple[Operand, ...], is_generic: bool
    ) -> tuple[list[tuple[str, bool]], bool]:
        """The operands' expressions, each with its being uniform; and whether all of them are."""
        pairs = zip(_elements(operands), operation.sources, strict=False)
        found = [self.source(operand, type_name, is_generic) for operand, type_name in pairs]
        if "in" in operation.carry:
            found.append(self.read(CARRY, "pred"))
        return found, all(uniform for _, uniform in found)

    def source(self, operand: Operand, type_name: str, is_generic: bool) -> tuple[str, bool]:
        """An operand's expression, and whether it is uniform."""
        if type_name != ADDRESS:
            return self.read(operand, type_name)
        if not isinstance(operand, Address):
            raise self.refuse(f"{operand} is no address")
        return self.address(operand, is_generic), False

    @staticmethod
    def first(operation: Operation, group: str) -> list[str]:
        """What an operation gets before its sources."""
        return ["m"] * operation.machine + [group] * operation.group

    def guarded_group(
        self, operation: Operation, function: str, sources: list[tuple[str, bool]], guard: str
    ) -> list[str]:
        """A guarded operation on the group of lanes: only the lanes of the guard take part."""
        picked = [name if uniform else f"{name}[{guard}]" for name, uniform in sources]
        sub = self.let(f"g.only({guard})")
        names = [self.let(f"np.zeros(g.n, {self.names.dtype(t)})") for t in operation.results]
        targets = ", ".join(f"{name}[{guard}]" for name in names)
        call = f"{function}({', '.join([*self.first(operation, sub), *picked])})"
        self.emit(f"if {sub} is not None: {targets} = {call}")
        return names

    def effect(self, operation: Operation, sources: list[tuple[str, bool]], guard: str) -> None:
        """An operation without a result, called for the lanes that execute it."""
        function = self.names.of(operation.compute)
        group = self.let(f"g.only({guard})") if guard else "g"
        picked = [name if uniform or not guard else f"{name}[{guard}]" for name, uniform in sources]
        call = f"{function}({', '.join([*self.first(operation, group), *picked])})"
        self.emit(f"if {group} is not None: {call}" if guard else call)

    def fail(self, message: str, instruction: Instruction, guard: str) -> None:
        """Raise, if a lane executes it."""
        group = self.let(f"g.only({guard})") if guard else "g"
        what = self.names.of(instruction, "n")
        self.emit(f"if {group} is not None: m.fault({message!r}, {what}, {group})")

    def stack(self, instruction: Instruction) -> None:
        """An instruction of the stack beyond the frames (PTX ISA section 9.7.17)."""
        if instruction.guard:
            raise self.refuse(f"a guarded {instruction.name} is not emulated")
        target, type_ = instruction.operands[0], Form(instruction).type
        if instruction.name == "stackrestore":
            self.emit(f"m.tops[i] = {self.read(target, type_)[0]}")
            return
        call = "m.tops[i].copy()"
        if instruction.name == "alloca":
            call = f"m.allocate(g, {self.read(instruction.operands[1], type_)[0]})"
        value = self.let(f"{call}.astype({self.names.dtype(type_)})")
        self.write(target, type_, value, False, "")

    # mov -------------------------------------------------------------------------------------

    def moves_parts(self, instruction: Instruction) -> bool:
        return any(isinstance(operand, Vector) for operand in instruction.operands)

    def move_parts(self, instruction: Instruction, guard: str) -> None:
        """Pack or unpack (PTX ISA section 9.7.9, mov)."""
        target, source = instruction.operands
        form = Form(instruction)
        bits = form.bits
        if isinstance(target, Vector) and isinstance(source, Vector):
            self.move_each(target, source, form, guard)
        elif bits > 64:
            self.move_halves(target, source, guard)
        elif isinstance(source, Vector):
            self.pack(target, source, bits, guard)
        elif isinstance(target, Vector):
            self.unpack(target, source, bits, guard)

    def move_each(self, target: Vector, source: Vector, form: Form, guard: str) -> None:
        """Part by part, as if at once."""
        is_whole = VECTORS.keys().isdisjoint(form.instruction.modifiers)
        bits = form.bits // len(target.elements) if is_whole else form.bits
        found = [self.read(element, f"b{bits}") for element in source.elements]
        for element, (name, uniform) in zip(target.elements, found, strict=True):
            copied = name if uniform else self.let(f"{name}.copy()")
            self.write(element, f"b{bits}", copied, uniform, guard)

    def move_halves(self, target: Operand, source: Operand, guard: str) -> None:
        """128 bits, from two halves or four quarters, or to them."""
        if isinstance(source, Vector):
            parts = [self.read(element, f"b{part_bits(source)}")[0] for element in source.elements]
            if len(parts) == 4:
                wide = [self.let(f"{name}.astype(np.uint64)") for name in parts]
                pairs = zip(wide[::2], wide[1::2], strict=True)
                parts = [self.let(f"{a} | {b} << np.uint64(32)") for a, b in pairs]
            whole = self.let(f"{self.names.of(pair)}({parts[0]}, {parts[1]}, g.n)")
            self.write(target, "b128", whole, False, guard)
        elif isinstance(target, Vector):
            name, bits = self.read(source, "b128")[0], part_bits(target)
            for number, element in enumerate(target.elements):
                half = ("low", "high")[number * bits // 64]
                part = self.let(f"{name}[{half!r}] >> np.uint64({number * bits % 64})")
                self.write(
                    element, f"b{bits}", self.let(f"{part}.astype(np.uint{bits})"), False, guard
                )

    def pack(self, target: Operand, source: Vector, bits: int, guard: str) -> None:
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

    def unpack(self, target: Vector, source: Operand, bits: int, guard: str) -> None:
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
        if not isinstance(place, Address):
            Form(instruction).refuse("has an address of several parts")
        offset = self.parameter_offset(access, place)
        if offset is not None:
            self.parameter(access, target, offset, guard)
            return
        if access.space == "param" and isinstance(place.base, Register):
            access.space = "param" if self.segment.code.is_kernel else "local"
        elif access.space == "param":
            access.space = "local"
        address = self.address(place, access.space == "generic")
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
        targets = _parts(target)
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

    def parameter_offset(self, access: Access, place: Address) -> int | None:
        """Where among the kernel's parameters an access goes to, if it goes there."""
        base = place.base
        if access.space != "param" or not isinstance(base, Symbol):
            return None
        found = self.find_symbol(self.segment.code, base.name)
        return None if found.in_frame else found.address + base.offset + place.offset

    def parameter(self, access: Access, target: Operand | None, offset: int, guard: str) -> None:
        """A kernel parameter: the same for every lane."""
        if target is None:
            raise self.refuse("a kernel's parameters cannot be stored to")
        targets = _parts(target)
        dtype = self.names.dtype(access.type)
        for index, element in enumerate(targets):
            at = offset + index * access.size
            name = self.let(f"m.memory.parameter({dtype}, {at})")
            self.write(element, access.type, name, True, guard)


SegmentWriter = _SegmentWriter
"""For who writes functions of single instructions."""
