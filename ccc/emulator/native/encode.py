"""A program as tables of numbers that the C library runs (program.h)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array
from ccc.emulator.memory import atomics
from ccc.emulator.native.operations import OPERATIONS
from ccc.emulator.native.steps import (
    ComputeStep,
    CountStep,
    PythonStep,
    Step,
    StepWriter,
    TouchStep,
    WarpStep,
)
from ccc.emulator.native.values import (
    ConstantValue,
    NotNativeError,
    PerLane,
    UniformValues,
    Value,
    bytes_of,
)
from ccc.emulator.run.races import is_strong, orders
from ccc.emulator.translate.operands import FindSymbol
from ccc.emulator.translate.program import (
    Exit,
    Fork,
    Jump,
    Program,
    Return,
    Segment,
    names_members,
    passed_in_registers,
)
from ccc.ir.nodes import Instruction, Variable
from ccc.ir.operands import Register
from ccc.ptx.opcodes import Effect

CONSTANT, STATE, SCRATCH, SPECIAL = range(4)
INPUT, OUTPUT = 1, 2
RUN, ACCESS, PYTHON = range(3)
_ON_WARPS = {"vote": 3, "shfl": 4, "match": 5, "redux": 6, "elect": 7, "activemask": 8}
JUMP, FORK, LEAVE, RETURN, _, OTHER = range(6)
_SPACES = {"global": 0, "shared": 1, "local": 2, "const": 3, "generic": 4}
_METHODS = {"load": 0, "store": 1, "atomic": 2, "reduce": 2}
_NUMBERS = {name: number for number, name in enumerate(OPERATIONS)}
_COUNT = len(OPERATIONS)
"""The function that counts the lanes of a guard: the last one of the table."""


@dataclass(frozen=True, slots=True)
class PythonPart:
    """An instruction that Python can do, and where the registers are that it needs."""

    segment: Segment
    instruction: Instruction
    slot: int
    places: dict[Register, int]


@dataclass(slots=True)
class Encoded:
    """The tables; all are int32 with a row for each entry.

    ``parts`` are by the number of their item. ``pool`` has the bits of the registers that the
    frames have after those of the program: they live in one segment each; ``in_pool`` has their
    places by bits. ``scratch`` and ``pointers`` say how much a run needs at most.
    """

    uniforms: UniformValues = field(default_factory=UniformValues)
    refs: list[tuple[int, ...]] = field(default_factory=list)
    ops: list[tuple[int, ...]] = field(default_factory=list)
    items: list[tuple[int, ...]] = field(default_factory=list)
    accesses: list[tuple[int, ...]] = field(default_factory=list)
    segments: list[tuple[int, ...]] = field(default_factory=list)
    parts: dict[int, PythonPart] = field(default_factory=dict)
    pool: list[int] = field(default_factory=list)
    in_pool: dict[int, list[int]] = field(default_factory=dict)
    scratch: int = 1
    pointers: int = 1
    tables: dict[str, Array] = field(default_factory=dict)


def encode(program: Program, slots: list[range], find_symbol: FindSymbol) -> Encoded:
    """Encode all segments.

    Args:
        program: what is to be run.
        slots: those of the instructions of each segment.
        find_symbol: the location of a name.

    Raises:
        EmulatorError: an access is not emulated.
    """
    encoded = Encoded()
    for segment, mine in zip(program.segments, slots, strict=True):
        _SegmentEncoder(program, segment, encoded, find_symbol).encode(mine.start)
    for name in ("refs", "ops", "items", "accesses", "segments"):
        rows: Any = getattr(encoded, name)
        encoded.tables[name] = np.array(rows or [(0,) * 15], np.int32)
    return encoded


class _SegmentEncoder:
    """Encodes one segment."""

    def __init__(
        self, program: Program, segment: Segment, encoded: Encoded, find_symbol: FindSymbol
    ):
        self.program = program
        self.segment = segment
        self.out = encoded
        self.writer = StepWriter(segment, encoded.uniforms, find_symbol)
        self.places: dict[Register, int] = {}
        self.used: dict[int, int] = {}

    def encode(self, slot: int) -> None:
        """Add its row, its items and what they consist of."""
        end = self.end()
        if end is None:
            self.out.segments.append((0, 0, OTHER, 0, 0, 0, 0, 0, 0))
            return
        for number, instruction in enumerate(self.segment.instructions, slot):
            self.writer.instruction(instruction, number)
        items = list(_items(self.writer.steps))
        self.place_registers(items)
        first = len(self.out.items)
        for steps in items:
            self.item(steps)
        decision = 0
        if isinstance(self.segment.end, Fork):
            decision = self.ref(self.segment.end.guard.register)
        self.out.segments.append((first, len(items), *end, decision, *self.meeting()))

    def end(self) -> tuple[int, int, int] | None:
        """The kind of its end, and where it goes to; None where Python must do all of it."""
        if self.segment.arrived is not None or self.program.allocates or self.passes_registers():
            return None
        match self.segment.end:
            case Jump(target):
                return JUMP, target.number, 0
            case Fork(guard, taken, other):
                pair = (other, taken) if guard.negated else (taken, other)
                return FORK, pair[0].number, pair[1].number
            case Exit():
                return LEAVE, 0, 0
            case Return():
                return RETURN, 0, 0
            case _:
                return None

    def passes_registers(self) -> bool:
        """Whether parameters that are registers come here, or such results go from here."""
        code = self.segment.code
        passed: list[Variable] = []
        if self.segment is code.segments[0]:
            passed += code.function.parameters
        if isinstance(self.segment.end, Return):
            passed += code.function.results
        return any(passed_in_registers(passed))

    def meeting(self) -> tuple[int, int, int]:
        """Whom it waits for: nobody, 0; a warp, 1, with the member mask; 2 where Python looks.

        With whether what the members did before is in order then.
        """
        if self.segment.waits is None:
            return 0, 0, 0
        instruction = self.segment.instructions[0]
        mask = instruction.operands[-1] if instruction.operands else None
        if self.segment.waits == "block" or instruction.effects & Effect.BARRIER:
            return 2, 0, 0
        if not names_members(instruction):
            return 2, 0, 0
        before = len(self.writer.steps)
        try:
            value = self.writer.read(mask, "u32") if mask else None
        except NotNativeError:
            return 2, 0, 0
        if value is None or len(self.writer.steps) > before or value.bits != 32:
            return 2, 0, 0
        if isinstance(value, Register) and value not in self.places:
            return 2, 0, 0
        return 1, self.ref(value), int(orders(instruction))

    # Registers -----------------------------------------------------------------------------------

    def place_registers(self, items: list[list[Step]]) -> None:
        """Give a place in the frame to what lives across items, or beyond the segment."""
        lasting = self.segment.live_in | self.segment.live_out
        within: dict[Register, int] = {}
        for number, steps in enumerate(items):
            alone = not isinstance(steps[0], (ComputeStep, CountStep))
            for step in steps:
                reads, writes = _registers(step)
                for register in (*reads, *writes):
                    is_here = within.setdefault(register, number) == number
                    if register in lasting or alone or not is_here:
                        self.place(register, register in lasting)
        if isinstance(self.segment.end, Fork):
            register = self.segment.end.guard.register
            self.place(register, register in lasting)
        if self.segment.waits is not None:  # no step may read the members of a barrier
            for register in self.segment.instructions[0].used():
                self.place(register, register in lasting)

    def place(self, register: Register, lasting: bool) -> None:
        if register in self.places:
            return
        key = id(self.segment.code), register
        if lasting and key in self.program.registers:
            self.places[register] = self.program.registers[key]
            return
        count = self.used.get(register.bits, 0)
        mine = self.out.in_pool.setdefault(register.bits, [])
        if count == len(mine):
            mine.append(len(self.out.pool))
            self.out.pool.append(register.bits)
        self.used[register.bits] = count + 1
        self.places[register] = len(self.program.registers) + mine[count]

    def ref(self, value: Value) -> int:
        """The number of a new operand that is needed for all lanes of a group."""
        self.out.refs.append(self.describe(value))
        return len(self.out.refs) - 1

    def describe(self, value: Value) -> tuple[int, int, int, int, int]:
        """An operand, without what becomes of it."""
        match value:
            case ConstantValue(index, _):
                return CONSTANT, index, bytes_of(value), 0, 0
            case PerLane(index, _):
                return SPECIAL, index, 4, 0, 0
            case _:
                return STATE, self.places[value], bytes_of(value), 0, 0

    # Items ---------------------------------------------------------------------------------------

    def item(self, steps: list[Step]) -> None:
        """Add an item."""
        match steps[0]:
            case TouchStep() as step:
                self.access(step)
                self.row(ACCESS, len(self.out.accesses) - 1)
            case WarpStep() as step:
                self.on_warps(step)
            case PythonStep(instruction, slot):
                self.part(instruction, slot)
                self.row(PYTHON, 0)
            case _:
                self.run(steps)

    def on_warps(self, step: WarpStep) -> None:
        """An instruction on whole warps; a mask says which of its operands are there."""
        values = (*step.targets, *step.sources)
        first = len(self.out.refs)
        for value in values:
            self.out.refs.append((0,) * 5 if value is None else self.describe(value))
        present = sum(1 << place for place, value in enumerate(values) if value is not None)
        extra = step.extra - (1 << 32) if step.extra >> 31 == 1 else step.extra
        self.out.items.append(
            (
                _ON_WARPS[step.name], step.mode, step.variant, first, len(values),
                present, extra, 0, 0, 0,
            )
        )  # fmt: skip

    def row(self, kind: int, first: int, count: int = 0, first_ref: int = 0, refs: int = 0) -> None:
        self.out.items.append((kind, first, count, first_ref, refs, 0, 0, 0, 0, 0))

    def part(self, instruction: Instruction, slot: int) -> None:
        """What Python needs to know of the item that is about to be added."""
        places = dict(self.places)
        self.out.parts[len(self.out.items)] = PythonPart(self.segment, instruction, slot, places)

    def access(self, step: TouchStep) -> None:
        access = step.access
        guard = -1 if step.guard is None else self.ref(step.guard)
        address = self.ref(step.address)
        first_value = len(self.out.refs)
        for value in step.values:
            self.ref(value)
        first_result = len(self.out.refs)
        for register in step.targets:
            self.ref(register)
        how = atomics.OPERATIONS.index(access.operation) if access.operation else 0
        self.out.accesses.append(
            (
                _METHODS[access.method], _SPACES[step.space], access.size, access.count, how,
                access.slot, guard, int(step.negated), address, int(bool(step.targets)),
                step.offset, first_value, first_result, "uif".index(access.dtype.kind),
                int(is_strong(step.instruction)),
            )
        )  # fmt: skip
        self.part(step.instruction, access.slot)

    def run(self, steps: list[Step]) -> None:
        """A run of operations."""
        refs = _RunRefs(self, steps)
        first, first_ref = len(self.out.ops), len(self.out.refs)
        for number, step in enumerate(steps):
            if isinstance(step, ComputeStep):
                sources = [refs.read(value) for value in step.sources]
                row = [_NUMBERS[step.name], refs.write(step.target), *sources]
            else:
                assert isinstance(step, CountStep)
                row = [_COUNT, refs.read(step.guard), step.slot]
            refs.release(number)
            self.out.ops.append((*row, *[0] * (8 - len(row))))
        rows = refs.rows()
        self.out.refs += rows
        self.row(RUN, first, len(steps), first_ref, len(rows))


class _RunRefs:
    """The operands of a run; registers of nobody else share places in the scratch."""

    def __init__(self, encoder: _SegmentEncoder, steps: list[Step]):
        self.encoder = encoder
        self.numbers: dict[Value, int] = {}
        self.found: list[list[int]] = []
        self.free: list[int] = []
        self.slots = 0
        self.last: dict[Register, int] = {}
        for number, step in enumerate(steps):
            for registers in _registers(step):
                self.last.update(dict.fromkeys(registers, number))
        self.ending: dict[int, list[Register]] = {}
        for register, number in self.last.items():
            if register not in encoder.places:
                self.ending.setdefault(number, []).append(register)

    def number(self, value: Value, use: int) -> int:
        known = self.numbers.get(value)
        if known is None:
            known = self.numbers[value] = len(self.found)
            if isinstance(value, Register) and value not in self.encoder.places:
                self.found.append([SCRATCH, self.slot(), bytes_of(value), 0, 0])
            else:
                self.found.append([*self.encoder.describe(value)])
                self.found[-1][3] = use & INPUT
        self.found[known][3] |= use & OUTPUT
        return known

    def read(self, value: Value) -> int:
        """The number of a source."""
        return self.number(value, INPUT)

    def write(self, register: Register) -> int:
        """The number of a target."""
        return self.number(register, OUTPUT)

    def slot(self) -> int:
        if self.free:
            return self.free.pop()
        self.slots += 1
        return self.slots - 1

    def release(self, number: int) -> None:
        """The places of registers that no later step needs are free."""
        for register in self.ending.get(number, ()):
            self.free.append(self.found[self.numbers[register]][1])

    def rows(self) -> list[tuple[int, ...]]:
        """All operands; those in the frame get places for when they are gathered."""
        for found in self.found:
            if found[0] in (STATE, SPECIAL):
                found[4] = self.slots
                self.slots += 1
        out = self.encoder.out
        out.scratch = max(out.scratch, self.slots)
        out.pointers = max(out.pointers, len(self.found))
        return [tuple(found) for found in self.found]


def _items(steps: list[Step]) -> Iterator[list[Step]]:
    """Steps in a row that are computed together, and the others one by one."""
    together: list[Step] = []
    for step in steps:
        if isinstance(step, (ComputeStep, CountStep)):
            together.append(step)
            continue
        if together:
            yield together
            together = []
        yield [step]
    if together:
        yield together


def _registers(step: Step) -> tuple[tuple[Register, ...], tuple[Register, ...]]:
    """The registers that a step reads, and those that it writes."""
    match step:
        case ComputeStep(_, target, sources):
            return _only_registers(sources), (target,)
        case CountStep(guard, _):
            return _only_registers((guard,)), ()
        case TouchStep():
            reads = (step.address, *step.values, *step.instruction.used())
            return _only_registers(reads), step.targets
        case WarpStep(_, _, targets, sources):
            return _only_registers(sources), _only_registers(targets)
        case PythonStep(instruction, _):
            return tuple(instruction.used()), tuple(instruction.defined())
    raise AssertionError(step)


def _only_registers(values: tuple[Value | None, ...]) -> tuple[Register, ...]:
    return tuple(value for value in values if isinstance(value, Register))
