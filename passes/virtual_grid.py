"""Handing the blocks of a grid to the blocks that loop over them (no pass; grid_stride.py uses it).

A *virtual* block is one of the launch's blocks, a *launched* block what the hardware started. They
are as many; but only some launched blocks work, and each of those runs several virtual ones.

``static``: as many launched blocks work as the device holds at once, the first ones, and virtual
blocks are dealt out to them in turn. The number of a block is kept as digits, x first, and the
number of working blocks is added to it digit by digit: no division is needed in the loop.

``dynamic``: virtual blocks are cut into chunks, neighbours in x. The first launched block of each
chunk works. The hardware starts launched blocks as it has room, so it is the hardware that hands
out the chunks: it keeps that counter anyway, for each launch its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ccc.cost import KB, WARP, Limits
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard, Register, Special

X, Y, Z = Special("%ctaid.x"), Special("%ctaid.y"), Special("%ctaid.z")
CHUNKS_A_PLACE = 8
"""Without a given size, chunks are so large that about so many fall to each resident block."""
LARGEST_CHUNK_BIT = 16


@dataclass(frozen=True, slots=True)
class Room:
    """What a multiprocessor has room for.

    Args:
        multiprocessors: how many there are; None: the device is asked, ``%nsmid`` (PTX ISA 10).
        warps: of this kernel, as threads and registers allow.
        limits: what else there is.
    """

    multiprocessors: int | None
    warps: int
    limits: Limits

    def describe(self) -> dict[str, Any]:
        """For the report: what :func:`resident` computes with."""
        return {
            "multiprocessors": self.multiprocessors,
            "blocks": self.limits.blocks,
            "warps": self.warps,
            "shared_bytes": self.limits.shared_kb * KB,
            "shared_bytes_reserved": self.limits.shared_kb_reserved * KB,
            "shared_bytes_step": self.limits.shared_step,
        }


@dataclass
class Schedule(ABC):
    """Which virtual blocks a launched block runs.

    ``coordinates`` are the registers that hold the virtual block's numbers.
    """

    room: Room
    coordinates: dict[Special, Register] = field(default_factory=dict)

    @abstractmethod
    def begin(self, open_block: Callable[[], Emitter], idle: str) -> None:
        """Go to the label ``idle`` if this launched block has nothing to do, else fall through.

        ``open_block`` makes one block after the other.
        """

    @abstractmethod
    def advance(self, emit: Emitter) -> Register:
        """Go on to the next virtual block; a predicate that says whether there is one."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """For the report; ``resident`` is there if it matters how many blocks are."""

    def _multiprocessors(self, emit: Emitter) -> Register:
        given = self.room.multiprocessors
        return emit.define("mov.u32", "b32", Special("%nsmid") if given is None else given)


def make_schedule(text: str, room: Room, read: Collection[Special]) -> Schedule:
    """The schedule that a marker names, for a kernel that reads these special registers."""
    kind, _, chunk = text.partition(":")
    if kind == "dynamic":
        return Dynamic(room, chunk=int(chunk) if chunk else None)
    return Static(room, by_rows=not {Y, Z} & set(read))


@dataclass
class Static(Schedule):
    """As many launched blocks work as are resident, each on every so-many-th virtual block.

    ``by_rows``: y and z need not be told apart.
    """

    by_rows: bool = True
    digits: list[Register] = field(default_factory=list)
    steps: list[Register] = field(default_factory=list)
    extents: list[Register] = field(default_factory=list)

    def begin(self, open_block: Callable[[], Emitter], idle: str) -> None:
        """Work if this is one of the first blocks, as many as are resident."""
        # Nearly all launched blocks leave here, and where z and y are 0, at the first test.
        emit = open_block()
        x = emit.define("mov.u32", "b32", X)
        multiprocessors = self._multiprocessors(emit)
        most = emit.define("mul.lo.s32", "b32", multiprocessors, self.room.limits.blocks)
        _leave_unless(emit, "lt.u32", x, most, idle)
        emit = open_block()
        y, z = (emit.define("mov.u32", "b32", special) for special in (Y, Z))
        width, height, depth = _sizes(emit, "%nctaid")
        row = emit.define("mad.lo.s32", "b32", z, height, y)
        number = emit.define("cvt.u64.u32", "b64", x)
        emit.emit("mad.wide.u32", number, row, width, number)
        _leave_unless(emit, "lt.u64", number, emit.define("cvt.u64.u32", "b64", most), idle)
        emit = open_block()
        working = resident(emit, self.room, multiprocessors)
        _leave_unless(emit, "lt.u64", number, emit.define("cvt.u64.u32", "b64", working), idle)
        emit = open_block()
        if self.by_rows:
            rows = emit.define("mul.lo.s32", "b32", height, depth)
            self.digits, self.extents = [x, row], [width, rows]
        else:
            self.digits, self.extents = [x, y, z], [width, height, depth]
            self.coordinates |= {Y: y, Z: z}
        self.coordinates[X] = x
        self.steps = _in_digits(emit, working, self.extents)

    def advance(self, emit: Emitter) -> Register:
        """Add the number of working blocks, with carries."""
        for digit, step in zip(self.digits, self.steps, strict=True):
            emit.emit("add.s32", digit, digit, step)
        pairs = list(zip(self.digits, self.extents, strict=True))
        for (digit, extent), (higher, _) in pairwise(pairs):
            carry = emit.define("setp.ge.u32", "pred", digit, extent)
            emit.emit("sub.s32", digit, digit, extent, guard=Guard(carry))
            emit.emit("add.s32", higher, higher, 1, guard=Guard(carry))
        return emit.define("setp.lt.u32", "pred", *pairs[-1])

    def describe(self) -> dict[str, Any]:
        """What the resident blocks are counted with."""
        return {"schedule": "static", "chunk": None, "resident": self.room.describe()}


def resident(emit: Emitter, room: Room, multiprocessors: Register) -> Register:
    """How many blocks of this launch the device holds at once.

    multiprocessors x min(blocks, warps / warps of a block, shared memory / that of a block)
    """
    limits = room.limits
    threads = _threads(emit)
    emit.emit("add.s32", threads, threads, WARP - 1)
    fits = emit.define("mov.u32", "b32", room.warps)
    emit.emit("div.u32", fits, fits, emit.define("shr.u32", "b32", threads, 5))
    taken = emit.define("mov.u32", "b32", Special("%total_smem_size"))
    emit.emit("add.s32", taken, taken, limits.shared_kb_reserved * KB + limits.shared_step - 1)
    emit.emit("and.b32", taken, taken, -limits.shared_step)
    emit.emit("max.u32", taken, taken, limits.shared_step)
    shared = emit.define("mov.u32", "b32", limits.shared_kb * KB)
    emit.emit("div.u32", shared, shared, taken)
    emit.emit("min.u32", fits, fits, shared)
    emit.emit("min.u32", fits, fits, limits.blocks)
    emit.emit("max.u32", fits, fits, 1)
    return emit.define("mul.lo.s32", "b32", fits, multiprocessors)


@dataclass
class Dynamic(Schedule):
    """The first launched block of each chunk runs all virtual blocks of it.

    ``chunk`` is None where the size of the grid is to decide: a power of two then.
    """

    chunk: int | None = None
    end: Register | None = None

    def begin(self, open_block: Callable[[], Emitter], idle: str) -> None:
        """Work if this is the first block of a chunk, which ends with its row at the latest."""
        emit = open_block()
        x = emit.define("mov.u32", "b32", X)
        size: Register | int = self._chunk(emit) if self.chunk is None else self.chunk
        if isinstance(size, int):
            place = emit.define("rem.u32", "b32", x, size)
        else:
            place = emit.define("and.b32", "b32", emit.define("sub.s32", "b32", size, 1), x)
        _leave_unless(emit, "eq.s32", place, 0, idle)
        emit = open_block()
        width = emit.define("mov.u32", "b32", Special("%nctaid.x"))
        self.end = emit.define("add.s32", "b32", x, size)
        emit.emit("min.u32", self.end, self.end, width)
        self.coordinates[X] = x

    def _chunk(self, emit: Emitter) -> Register:
        """The largest power of two that leaves enough chunks for each resident block.

        Logarithms are cut off to whole numbers: exact would be no better, and costs a division.
        All blocks must come to the same result, also where a grid is so large that it overflows.
        """
        width, height, depth = _sizes(emit, "%nctaid")
        rows = emit.define("mul.lo.s32", "b32", height, depth)
        total = emit.define("mul.wide.u32", "b64", width, rows)
        threads = emit.define("cvt.u64.u32", "b64", _threads(emit))
        emit.emit("mul.lo.s64", total, total, threads)
        places = self.room.warps * WARP * CHUNKS_A_PLACE
        wanted = emit.define("mul.wide.u32", "b64", self._multiprocessors(emit), places)
        bit = emit.define("bfind.u64", "b32", total)
        emit.emit("sub.s32", bit, bit, emit.define("bfind.u64", "b32", wanted))
        emit.emit("max.s32", bit, bit, 0)
        emit.emit("min.s32", bit, bit, LARGEST_CHUNK_BIT)
        return emit.define("shl.b32", "b32", emit.define("mov.u32", "b32", 1), bit)

    def advance(self, emit: Emitter) -> Register:
        """Go on to the neighbour."""
        assert self.end is not None
        x = self.coordinates[X]
        emit.emit("add.s32", x, x, 1)
        return emit.define("setp.lt.u32", "pred", x, self.end)

    def describe(self) -> dict[str, Any]:
        """The chunk, or what it is computed with."""
        resident = {"resident": self.room.describe()} if self.chunk is None else {}
        return {"schedule": "dynamic", "chunk": self.chunk, **resident}


def _sizes(emit: Emitter, name: str) -> list[Register]:
    return [emit.define("mov.u32", "b32", Special(f"{name}.{axis}")) for axis in "xyz"]


def _threads(emit: Emitter) -> Register:
    """The threads of a block."""
    width, height, depth = _sizes(emit, "%ntid")
    area = emit.define("mul.lo.s32", "b32", width, height)
    return emit.define("mul.lo.s32", "b32", area, depth)


def _leave_unless(
    emit: Emitter, comparison: str, number: Register, bound: Register | int, idle: str
) -> None:
    holds = emit.define(f"setp.{comparison}", "pred", number, bound)
    emit.emit("bra", idle, guard=Guard(holds, negated=True))


def _in_digits(emit: Emitter, number: Register, extents: list[Register]) -> list[Register]:
    """A number as digits; the last one takes all that is left."""
    digits = []
    for extent in extents[:-1]:
        rest = emit.define("div.u32", "b32", number, extent)
        taken = emit.define("mul.lo.s32", "b32", rest, extent)
        digits.append(emit.define("sub.s32", "b32", number, taken))
        number = rest
    return [*digits, number]
