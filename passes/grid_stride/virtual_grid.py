"""Handing the blocks of a grid to the blocks that loop over them (no pass; block_loop.py uses it).

A *virtual* block is one of the launch's blocks, a *launched* block what the hardware started. They
are as many; but only some launched blocks work, and each of those runs several virtual ones.

``static``: as many launched blocks work as the device holds at once, the first ones, and virtual
blocks are dealt out to them in turn. The number of a block is kept as digits, x first, and the
number of working blocks is added to it digit by digit: no division is needed in the loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard
from ccc.ir.operands import Register, Special
from ccc.passes.launch_shape import block_threads, extents
from ccc.ptx.occupancy import KB, Limits
from ccc.ptx.types import WARP_SIZE

OpenBlock = Callable[[], Emitter]
"""Makes a block behind the ones that were made before."""
X, Y, Z = Special("%ctaid.x"), Special("%ctaid.y"), Special("%ctaid.z")


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

    ``by_rows``: y and z need not be told apart. ``coordinates`` are the registers that hold the
    virtual block's numbers.
    """

    room: Room
    by_rows: bool
    coordinates: dict[Special, Register] = field(default_factory=dict, kw_only=True)

    @abstractmethod
    def begin(self, open_block: OpenBlock, idle: str) -> None:
        """Go to the label ``idle`` if this launched block has nothing to do, else fall through.

        ``open_block`` makes one block after the other.
        """

    @abstractmethod
    def next_block(self, open_block: OpenBlock, emit: Emitter, finished: str) -> None:
        """At the top of the loop: go to the label ``finished`` if there are no more blocks."""

    @abstractmethod
    def advance(self, emit: Emitter) -> Register | None:
        """At the end of the loop: whether it goes on, as a predicate; None where the top says."""

    @abstractmethod
    def finish(self, open_block: OpenBlock, idle: str) -> str:
        """What is done behind the loop, before control falls to ``idle``; where that begins."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """For the report."""


@dataclass(frozen=True, slots=True)
class Place:
    """A launched block's place in the grid; its number, and how many blocks are resident."""

    x: Register
    y: Register
    z: Register
    row: Register
    number: Register
    sizes: tuple[Register, ...]
    resident: Register


def find_place(open_block: OpenBlock, room: Room, idle: str) -> Place:
    """Leave unless this is one of the first blocks, as many as are resident."""
    # Nearly all launched blocks leave here, and where z and y are 0, at the first test.
    emit = open_block()
    x = emit.define("mov.u32", "b32", X)
    given = room.multiprocessors
    multiprocessors = emit.define("mov.u32", "b32", Special("%nsmid") if given is None else given)
    most = emit.define("mul.lo.s32", "b32", multiprocessors, room.limits.blocks)
    leave_unless(emit, "lt.u32", x, most, idle)
    emit = open_block()
    y, z = (emit.define("mov.u32", "b32", special) for special in (Y, Z))
    sizes = extents(emit, "%nctaid")
    row = emit.define("mad.lo.s32", "b32", z, sizes[1], y)
    number = emit.define("cvt.u64.u32", "b64", x)
    emit.emit("mad.wide.u32", number, row, sizes[0], number)
    leave_unless(emit, "lt.u64", number, emit.define("cvt.u64.u32", "b64", most), idle)
    emit = open_block()
    working = resident(emit, room, multiprocessors)
    leave_unless(emit, "lt.u64", number, emit.define("cvt.u64.u32", "b64", working), idle)
    return Place(x, y, z, row, number, tuple(sizes), working)


@dataclass
class Static(Schedule):
    """As many launched blocks work as are resident, each on every so-many-th virtual block."""

    digits: list[Register] = field(init=False)
    steps: list[Register] = field(init=False)
    extents: list[Register] = field(init=False)

    def begin(self, open_block: OpenBlock, idle: str) -> None:
        """Work if this is one of the first blocks, as many as are resident."""
        place = find_place(open_block, self.room, idle)
        emit = open_block()
        width, height, depth = place.sizes
        if self.by_rows:
            rows = emit.define("mul.lo.s32", "b32", height, depth)
            self.digits, self.extents = [place.x, place.row], [width, rows]
        else:
            self.digits, self.extents = [place.x, place.y, place.z], [width, height, depth]
            self.coordinates |= {Y: place.y, Z: place.z}
        self.coordinates[X] = place.x
        self.steps = in_digits(emit, place.resident, self.extents)

    def next_block(self, open_block: OpenBlock, emit: Emitter, finished: str) -> None:
        """The end of the loop has gone on to the next one."""

    def finish(self, open_block: OpenBlock, idle: str) -> str:
        """There is nothing left to do."""
        del open_block
        return idle

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
    threads = block_threads(emit)
    emit.emit("add.s32", threads, threads, WARP_SIZE - 1)
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


def leave_unless(
    emit: Emitter, comparison: str, number: Register, bound: Register | int, idle: str
) -> None:
    """End the block: go to the label ``idle`` unless the unsigned comparison holds."""
    holds = emit.define(f"setp.{comparison}", "pred", number, bound)
    emit.emit("bra", idle, guard=Guard(holds, negated=True))


def in_digits(emit: Emitter, number: Register, extents: list[Register]) -> list[Register]:
    """A number as digits; the last one takes all that is left."""
    digits = []
    for extent in extents[:-1]:
        rest = emit.define("div.u32", "b32", number, extent)
        taken = emit.define("mul.lo.s32", "b32", rest, extent)
        digits.append(emit.define("sub.s32", "b32", number, taken))
        number = rest
    return [*digits, number]
