"""``schedule(dynamic)``: warps take virtual blocks from a counter (no pass; for block_loop.py).

As many launched blocks work as are resident, and take the next chunk of virtual blocks, neighbours
in x, from a counter whenever they are through with one. A warp does that for itself, from a counter
for the warps of its number, or one for all in a kernel whose threads meet. So as not to wait for
the counter, it takes a chunk ahead, while it works on the one before. A worker's first chunk is
given by its own number, and where there are no more chunks than workers there is no counter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ccc.ir.edit import Emitter
from ccc.ir.nodes import Function, Guard
from ccc.ir.operands import Address, Register, Special, Symbol
from ccc.passes.grid_stride.task_counter import CounterTable
from ccc.passes.grid_stride.virtual_grid import (
    OpenBlock,
    Place,
    Schedule,
    X,
    Y,
    Z,
    find_place,
    in_digits,
    leave_unless,
)
from ccc.passes.launch_shape import block_threads, thread_number
from ccc.ptx.types import ALL_LANES, WARP_SIZE

LANE = Special("%laneid")
CHUNKS_A_WORKER = 16
"""Without a given size, chunks are so large that about so many fall to each working block."""
LARGEST_CHUNK_BIT = 16
MOST_CHUNKS_BIT = 29
SHARED_BYTES = 4
"""What the threads of a block that meet are told the next block through."""


def shared_name(function: Function) -> str:
    """The variable for that."""
    return function.names.free("ccc_next_block")


@dataclass
class Dynamic(Schedule):
    """As many launched blocks work as are resident, and take chunks from the launch's counters.

    What is taken is a chunk's number; ``ahead`` holds the one that comes next, in the lane or
    thread that takes them (``takes``: and there is something to take). ``number`` is the virtual
    block's, and ``left`` how many follow it in its chunk of ``size``.
    """

    table: CounterTable
    for_block: bool
    chunk: int | None
    width: Register = field(init=False)
    height: Register = field(init=False)
    blocks: Register = field(init=False)
    size: Register = field(init=False)
    chunks: Register = field(init=False)
    workers: Register = field(init=False)
    takes: Register = field(init=False)
    counter: Register = field(init=False)
    ahead: Register = field(init=False)
    number: Register = field(init=False)
    left: Register = field(init=False)

    def begin(self, open_block: OpenBlock, idle: str) -> None:
        """Find the counter of this warp, or block."""
        place = find_place(open_block, self.room, idle)
        emit = open_block()
        self._count_chunks(emit, place, idle)
        emit = open_block()
        leads = thread_number(emit) if self.for_block else emit.define("mov.u32", "b32", LANE)
        more = emit.define("setp.lt.u32", "pred", self.workers, self.chunks)
        self.takes = emit.define("setp.eq.and.b32", "pred", leads, 0, more)
        self.counter = emit.define("mov.b64", "b64", 0)
        claimed, found = self.table.claim(open_block)
        own = self.table.counter(found, claimed, self._counter_number(found))
        found.emit("mov.b64", self.counter, own)
        emit.emit("bra", open_block().block.label, guard=Guard(self.takes, negated=True))

    def _counter_number(self, emit: Emitter) -> Register:
        if self.for_block:
            return emit.define("mov.u32", "b32", 0)
        return emit.define("shr.u32", "b32", thread_number(emit), 5)

    def _count_chunks(self, emit: Emitter, place: Place, idle: str) -> None:
        self.width, self.height, depth = place.sizes
        rows = emit.define("mul.lo.s32", "b32", self.height, depth)
        self.blocks = emit.define("mul.wide.u32", "b64", rows, self.width)
        self.size = self._chunk(emit, place.resident)
        size = emit.define("cvt.u64.u32", "b64", self.size)
        chunks = emit.define("add.s64", "b64", self.blocks, size)
        emit.emit("sub.s64", chunks, chunks, 1)
        emit.emit("div.u64", chunks, chunks, size)
        self.chunks = emit.define("cvt.u32.u64", "b32", chunks)
        self.workers = emit.define("min.u32", "b32", place.resident, self.chunks)
        self.ahead = emit.define("cvt.u32.u64", "b32", place.number)
        self.number = emit.define("mov.b64", "b64", 0)
        self.left = emit.define("mov.b32", "b32", 0)
        leave_unless(emit, "lt.u32", self.ahead, self.workers, idle)

    def _chunk(self, emit: Emitter, workers: Register) -> Register:
        """The given size, or the largest power of two that leaves enough chunks for each worker.

        Logarithms are cut off to whole numbers: exact would be no better, and costs a division.
        In any case there must be fewer chunks than 32 bits can count.
        """
        bit = emit.define("bfind.u64", "b32", self.blocks)
        least = emit.define("sub.s32", "b32", bit, MOST_CHUNKS_BIT)
        emit.emit("max.s32", least, least, 0)
        if self.chunk is not None:
            given = emit.define("mov.u32", "b32", self.chunk)
            return emit.define("shl.b32", "b32", given, least)
        wanted = emit.define("mul.wide.u32", "b64", workers, CHUNKS_A_WORKER)
        emit.emit("sub.s32", bit, bit, emit.define("bfind.u64", "b32", wanted))
        emit.emit("min.s32", bit, bit, LARGEST_CHUNK_BIT)
        emit.emit("max.s32", bit, bit, least)
        return emit.define("shl.b32", "b32", emit.define("mov.u32", "b32", 1), bit)

    def next_block(self, open_block: OpenBlock, emit: Emitter, finished: str) -> None:
        """Go on in the chunk, or begin the one that was taken ahead, and take another."""
        taken = self._share(emit)
        fresh = Guard(emit.define("setp.eq.s32", "pred", self.left, 0))
        emit.emit("add.s64", self.number, self.number, 1)
        emit.emit("mul.wide.u32", self.number, taken, self.size, guard=fresh)
        emit.emit("mov.b32", self.left, self.size, guard=fresh)
        emit.emit("sub.s32", self.left, self.left, 1)
        leave_unless(emit, "lt.u64", self.number, self.blocks, finished)
        emit = open_block()
        takes = Guard(emit.define("and.pred", "pred", self.takes, fresh.register))
        emit.emit("mov.b32", self.ahead, self.chunks, guard=fresh)
        emit.emit("atom.global.add.u32", self.ahead, Address(self.counter), 1, guard=takes)
        emit.emit("add.s32", self.ahead, self.ahead, self.workers, guard=takes)
        self._find_coordinates(open_block, emit)

    def _share(self, emit: Emitter) -> Register:
        """What the leader has taken, for all lanes."""
        taken = self.ahead
        if self.for_block:
            first = Guard(emit.define("setp.eq.s32", "pred", thread_number(emit), 0))
            place = Address(Symbol(shared_name(emit.function)))
            emit.emit("st.shared.u32", place, taken, guard=first)
            emit.emit("barrier.sync", 0)
            taken = emit.define("ld.shared.u32", "b32", place)
        return emit.define("shfl.sync.idx.b32", "b32", taken, 0, WARP_SIZE - 1, ALL_LANES)

    def _find_coordinates(self, open_block: OpenBlock, emit: Emitter) -> None:
        """Cut the number into digits; where there is one row only, it is x."""
        x = emit.define("cvt.u32.u64", "b32", self.number)
        row = emit.define("mov.b32", "b32", 0)
        width = emit.define("cvt.u64.u32", "b64", self.width)
        in_first = emit.define("setp.lt.u64", "pred", self.number, width)
        divide, body = open_block(), open_block()
        emit.emit("bra", body.block.label, guard=Guard(in_first))
        quotient = divide.define("div.u64", "b64", self.number, width)
        divide.emit("cvt.u32.u64", row, quotient)
        rest = divide.define("mul.lo.s64", "b64", quotient, width)
        divide.emit("sub.s64", rest, self.number, rest)
        divide.emit("cvt.u32.u64", x, rest)
        self.coordinates[X] = x
        if not self.by_rows:
            y, z = in_digits(body, row, [self.height, row])
            self.coordinates |= {Y: y, Z: z}

    def advance(self, emit: Emitter) -> None:
        """The top of the loop does."""

    def finish(self, open_block: OpenBlock, idle: str) -> str:
        """Who took the last number of a counter gives it back."""
        emit, last = open_block(), open_block()
        number = emit.define("add.s32", "b32", self.chunks, self.workers)
        emit.emit("sub.s32", number, number, 1)
        is_last = emit.define("setp.eq.and.b32", "pred", self.ahead, number, self.takes)
        emit.emit("bra", idle, guard=Guard(is_last, negated=True))
        used = last.define("mov.u32", "b32", 1)
        if not self.for_block:
            used = block_threads(last)
            last.emit("add.s32", used, used, WARP_SIZE - 1)
            last.emit("shr.u32", used, used, 5)
        counter = self._counter_number(last)
        self.table.give_back(open_block, last, self.counter, counter, used, idle)
        return emit.block.label

    def describe(self) -> dict[str, Any]:
        """What the resident blocks are counted with."""
        return {"schedule": "dynamic", "chunk": self.chunk, "resident": self.room.describe()}
