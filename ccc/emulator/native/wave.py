"""A wave whose registers the C library sees, and which runs there as far as it can."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array, register_dtype
from ccc.emulator.lanes.groups import Group
from ccc.emulator.native.context import Context
from ccc.emulator.native.encode import PYTHON, Encoded, PythonPart, encode
from ccc.emulator.native.fallback import LazyFunctions, PartWriter
from ccc.emulator.run.simt import Wave
from ccc.emulator.translate.codegen import CompiledProgram, RunSegment, SegmentWriter, define
from ccc.emulator.translate.operands import FindSymbol, GlobalNames
from ccc.emulator.translate.program import Program
from ccc.ir.nodes import Instruction

FINISHED, STEP, PART, FRAME, LIMIT, PAUSE, DRAW, ENDING, MOVED, SPLIT = range(10)
"""What the library says of a step, or of all; see program.h."""
STRIP = 256
_BUDGET = 200_000_000
"""Lanes, with some for each step, after which Python may look for signals."""
_OTHER = 5


@dataclass(slots=True)
class NativeProgram(CompiledProgram):
    """A program's tables for the library, and Python functions for the rest, made when needed."""

    library: Any
    encoded: Encoded
    parts: dict[int, Callable[[], RunSegment]]
    layout: FrameLayout


class FrameLayout:
    """Where the registers of a frame are: one block of bytes for all lanes, register by register.

    Wide ones come first and predicates last; the pool is among them.
    """

    def __init__(self, widths: list[int]):
        self.dtypes = [register_dtype(bits) for bits in widths]
        sizes = np.array([dtype.itemsize for dtype in self.dtypes], np.int64)
        order = sorted(range(len(widths)), key=lambda place: -widths[place])
        self.offsets = np.zeros(len(widths), np.int64)
        self.offsets[order] = np.cumsum(sizes[order]) - sizes[order]
        self.bytes = int(sizes.sum())
        self.junk = self.bytes - widths.count(1)

    def block(self, lanes: int, filler: int) -> Array:
        """Memory for a frame; predicates are 0, other registers filled."""
        block = np.zeros(lanes * self.bytes + 64, np.uint8)
        if filler:
            block[: lanes * self.junk] = filler
        return block

    def views(self, block: Array, lanes: int) -> list[Array]:
        """The registers: (lanes,) each."""
        pairs = zip(self.offsets.tolist(), self.dtypes, strict=True)
        return [
            block[lanes * at : lanes * (at + dtype.itemsize)].view(dtype) for at, dtype in pairs
        ]


def compile_native(program: Program, find_symbol: FindSymbol, library: Any) -> NativeProgram:
    """Encode a program.

    Raises:
        EmulatorError: an instruction is not emulated.
    """
    slots: list[Instruction] = []
    segment_slots = []
    for segment in program.segments:
        segment_slots.append(range(len(slots), len(slots) + len(segment.instructions)))
        slots += segment.instructions
    encoded = encode(program, segment_slots, find_symbol)
    kernel = program.codes[0].function.name

    def writer(number: int, names: GlobalNames) -> SegmentWriter:
        first = segment_slots[number].start
        return SegmentWriter(program, program.segments[number], names, find_symbol, first)

    def whole(number: int) -> RunSegment:
        names = GlobalNames()
        return _made(writer(number, names).function(), kernel, names, f"s{number}")

    def waits(number: int) -> RunSegment:
        names = GlobalNames()
        return _made(writer(number, names).wait_function(), kernel, names, f"w{number}")

    def part(one: PythonPart) -> Callable[[], RunSegment]:
        names = GlobalNames()
        mine = PartWriter(program, one.segment, names, find_symbol, one.slot)
        mine.places = one.places
        source = mine.part(one.instruction)
        return lambda: _made(source, kernel, names, "part")

    kinds = encoded.tables["items"][:, 0]
    parts = {}
    for number, one in encoded.parts.items():
        if kinds[number] == PYTHON:
            parts[number] = part(one)
        else:
            parts[number] = lambda one=one: part(one)()  # type: ignore[misc]
    for number, row in enumerate(encoded.segments):
        if row[2] == _OTHER:
            writer(number, GlobalNames()).function()
    count = len(program.segments)
    widths = [register.bits for _, register in program.registers] + encoded.pool
    return NativeProgram(
        LazyFunctions(count, whole),
        LazyFunctions(count, waits),
        slots,
        segment_slots,
        library,
        encoded,
        parts,
        FrameLayout(widths),
    )


def _made(source: str, kernel: str, names: GlobalNames, function: str) -> RunSegment:
    define(source, kernel, names.namespace, function)
    found: RunSegment = names.namespace[function]
    return found


def address_of(array: Array) -> int:
    """Where an array's elements are."""
    found: int = array.__array_interface__["data"][0]
    return found


def are_same(arrays: Sequence[Array], before: Sequence[Array]) -> bool:
    """Whether these are the very arrays that there were before."""
    return len(arrays) == len(before) and all(map(operator.is_, arrays, before))


class NativeWave(Wave):
    """A wave in the library's hands; what it leaves to Python is done as by :class:`Wave`."""

    compiled: NativeProgram

    def start(self, limit: int) -> None:
        """Tell the library where everything is."""
        lanes, warps = self.geometry.lanes, len(self.alive)
        self.context = context = Context()
        self.pointer = ctypes.pointer(context)
        self.kept: list[Array] = []
        self.placed: list[Array] = []
        self.placed_stretches: list[int] = []
        self.numbers: dict[str, Array] = {}
        self.blocks: dict[int, Array] = {}
        self.functions: dict[int, RunSegment] = {}
        self.home = np.full(warps, 0, np.int32)
        encoded, program = self.compiled.encoded, self.program
        for name, table in encoded.tables.items():
            setattr(context, name, address_of(table))
        context.segment_count, context.max_depth = self.segment_count, program.max_depth
        context.frame_bytes, context.constants_depth = program.frame_bytes, -1
        self._place_constants()
        depths = program.max_depth + 2
        self.frame_table = self._new("frames", depths, np.int64)
        self.return_table = self._new("returns", depths, np.int64)
        self._new("scratch", encoded.scratch * STRIP, np.uint64)
        self._new("pointers", encoded.pointers, np.int64)
        for name, count, dtype in (
            ("lanes", lanes, np.int32), ("warps", warps, np.int32), ("active", warps, np.uint32),
            ("spans", 3 * (warps + lanes // STRIP + 1), np.int32), ("gathered", lanes, np.int32),
            ("places", lanes, np.int64), ("chosen", lanes + 1, np.int32),
        ):  # fmt: skip
            self.numbers[name] = self._new(name, count, dtype)
        for name, array in (
            ("pc", self.pc), ("waits_at", self.waits_at), ("alive", self.alive),
            ("home", self.home), ("block_of_lane", self.block_of_lane),
            ("present", self.barriers.alive),
        ):  # fmt: skip
            setattr(context, name, address_of(array))
        context.warps_in_all, context.lanes_in_all = warps, lanes
        context.mixes_atomics = self.memory.shuffle is not None
        context.limit, context.budget, context.last = limit, _BUDGET, -1
        segments, slots = len(self.compiled.run), len(self.compiled.slots)
        self.counts = {
            name: self._new(name, segments if per_segment else slots, np.int64)
            for name, per_segment in (
                ("tally_warps", 1), ("tally_lanes", 1), ("divergent", 1), ("guarded", 0),
                ("loads", 0), ("stores", 0), ("conflicts", 0),
            )
        }  # fmt: skip
        self.refresh()

    def _new(self, name: str, count: int, dtype: Any) -> Array:
        array = np.zeros(max(count, 1), dtype)
        self.kept.append(array)
        setattr(self.context, name, address_of(array))
        return array

    def _place_constants(self) -> None:
        uniforms = self.compiled.encoded.uniforms
        count = max(len(uniforms.known), 1)
        table = self._new("constants", STRIP * count, np.uint64).reshape(-1, STRIP)
        frames: list[int] = []
        for row, (kind, bits, what) in zip(table, uniforms.known, strict=False):
            if kind == "frame":
                frames += [uniforms.known[kind, bits, what], int(what)]
                continue
            value: Any = what
            if kind == "special":
                value = self.specials[str(what)]
            elif kind == "param":
                value = self.memory.parameter(np.dtype(f"u{bits // 8}"), int(what))
            row.view(np.uint8 if bits == 1 else f"u{bits // 8}")[:STRIP] = value
        self._new("frame_constants", len(frames), np.int64)[:] = frames or [0]
        self.context.frame_constant_count = len(frames) // 2
        specials = self._new("specials", len(uniforms.lanes), np.int64)
        for name, index in uniforms.lanes.items():
            specials[index] = address_of(self.specials[name])

    def refresh(self) -> None:
        """Say where memory is now: Python may have made it larger."""
        context, memory = self.context, self.memory
        arena, local = memory.arena, memory.local
        shared: Any = memory.spaces["shared"]
        stretches = [*arena.starts, *arena.ends]
        if stretches != self.placed_stretches:
            self.placed_stretches = stretches
            self.stretches = np.array(stretches, np.int64)
            context.stretches = len(arena.starts)
            context.starts = address_of(self.stretches)
            context.ends = context.starts + 8 * len(arena.starts)
        arrays = [
            arena.data, shared.data, shared.flags.data, local.data, local.flags.data, *self.returns
        ]  # fmt: skip
        if are_same(arrays, self.placed):
            return
        self.placed = arrays
        addresses = [address_of(array) for array in arrays]
        context.arena, context.shared, context.shared_written = addresses[:3]
        context.local, context.local_written = addresses[3:5]
        context.shared_size, context.shared_stride = shared.size, shared.stride
        context.local_size = local.size
        self.return_table[: len(self.returns)] = addresses[5:]

    def frame(self, depth: int) -> list[Array]:
        """As of :class:`Wave`, with the pool after the registers that live across segments."""
        while len(self.frames) <= depth:
            self.make_frame(len(self.frames))
            block = self.blocks[len(self.frames)]
            self.frames.append(self.compiled.layout.views(block, self.geometry.lanes))
        return self.frames[depth]

    def make_frame(self, depth: int) -> None:
        """Make room for a depth of calls."""
        if depth not in self.blocks:
            lanes, layout = self.geometry.lanes, self.compiled.layout
            block = self.blocks[depth] = layout.block(lanes, 0 if depth else 0xA5)
            pointers = layout.offsets * lanes + address_of(block)
            self.kept.append(pointers)
            self.frame_table[depth] = address_of(pointers) if len(pointers) else address_of(block)
        if self.context.frame_constant_count:
            self.memory.local.grow((depth + 1) * self.program.frame_bytes)
        self.refresh()

    # Steps ---------------------------------------------------------------------------------------

    def execute(self, code: int, group: Group) -> int | None:
        """As of :class:`Wave`."""
        status = self._begin(code, group)
        while status == FRAME:
            self.make_frame(group.depth)
            status = self._begin(code, group)
        if status == STEP:
            result = super().execute(code, group)
            self.refresh()
            return result
        return self.finish_step(status, group)

    def _begin(self, code: int, group: Group) -> int:
        self.context.steps, self.context.parked = self.tally.steps, self.parked
        lanes = np.ascontiguousarray(group.lanes, np.int64)
        status: int = self.compiled.library.begin(self.pointer, code, address_of(lanes), group.n)
        self.tally.steps = self.context.steps
        return status

    def finish_step(self, status: int, group: Group) -> int | None:
        """Do what the library has left to Python of a step, and go on there."""
        context = self.context
        while status == PART:
            self._part()(group, self, self.frame(group.depth))
            self.refresh()
            status = self.compiled.library.resume(self.pointer)
        if status == ENDING:
            self._exit(group)
            return None
        return context.code if status == MOVED else None

    def _part(self) -> RunSegment:
        context = self.context
        number = self.compiled.encoded.segments[context.number][0] + context.at
        found = self.functions.get(number)
        if found is None:
            found = self.functions[number] = self.compiled.parts[number]()
        return found

    @property
    def group(self) -> Group:
        """The lanes of the step that the library has chosen."""
        context = self.context
        lanes = self.numbers["lanes"][: context.n].astype(np.int64)
        return Group(lanes, self.depth_of(context.code), self.block_of_lane)

    def close(self) -> None:
        """Add what the library has counted to the tally."""
        tally = self.tally
        costs = tally.costs
        for name, total in (
            ("tally_warps", tally.warps), ("tally_lanes", tally.lanes),
            ("divergent", tally.divergent), ("guarded", tally.guarded),
            ("loads", costs.loads), ("stores", costs.stores), ("conflicts", costs.conflicts),
        ):  # fmt: skip
            total[:] = (self.counts[name] + total).tolist()
