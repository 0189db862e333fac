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
from ccc.ir.nodes import Function
from ccc.ir.operands import Register, Special
from ccc.passes.grid_stride.task_counter import CounterTable
from ccc.passes.grid_stride.virtual_grid import ROWS, Schedule, X, Y, Z, in_digits
from ccc.passes.launch_shape import block_warps, thread_number
from ccc.snippet import Snippet

LANE = Special("%laneid")
CHUNKS_A_WORKER = 16
"""Without a given size, chunks are so large that about so many fall to each working block."""
LARGEST_CHUNK_BIT = 16
MOST_CHUNKS_BIT = 29
SHARED_BYTES = 4
"""What the threads of a block that meet are told the next block through."""

LEAST_BIT = Snippet(
    """
    .reg .b32 %rows, %width, %bit, %least;
    .reg .b64 %blocks;
        mul.wide.u32 %blocks, %rows, %width;
        bfind.u64 %bit, %blocks;
        sub.s32 %least, %bit, MOST_CHUNKS_BIT;
        max.s32 %least, %least, 0;
    """,
    MOST_CHUNKS_BIT=MOST_CHUNKS_BIT,
)
"""Chunks must be so large that there are fewer than 32 bits can count."""

GIVEN_SIZE = Snippet("""
    .reg .b32 %chunk, %least, %given, %size;
        mov.u32 %given, %chunk;
        shl.b32 %size, %given, %least;
""")

FITTING_SIZE = Snippet(
    """
    .reg .b32 %resident, %bit, %least, %wanted_bit, %one, %size;
    .reg .b64 %wanted;
        mul.wide.u32 %wanted, %resident, CHUNKS_A_WORKER;
        bfind.u64 %wanted_bit, %wanted;
        sub.s32 %bit, %bit, %wanted_bit;
        min.s32 %bit, %bit, LARGEST_CHUNK_BIT;
        max.s32 %bit, %bit, %least;
        mov.u32 %one, 1;
        shl.b32 %size, %one, %bit;
    """,
    CHUNKS_A_WORKER=CHUNKS_A_WORKER,
    LARGEST_CHUNK_BIT=LARGEST_CHUNK_BIT,
)
"""The largest power of two that leaves enough chunks for each worker.

Logarithms are cut off to whole numbers: exact would be no better, and costs a division.
"""

COUNT_CHUNKS = Snippet("""
    .reg .pred %works;
    .reg .b32 %size, %chunks, %resident, %workers, %ahead, %left;
    .reg .b64 %blocks, %wide_size, %wide_chunks, %place, %number;
        cvt.u64.u32 %wide_size, %size;
        add.s64 %wide_chunks, %blocks, %wide_size;
        sub.s64 %wide_chunks, %wide_chunks, 1;
        div.u64 %wide_chunks, %wide_chunks, %wide_size;
        cvt.u32.u64 %chunks, %wide_chunks;
        min.u32 %workers, %resident, %chunks;
        cvt.u32.u64 %ahead, %place;           // the first chunk has the worker's own number
        mov.b64 %number, 0;
        mov.b32 %left, 0;
        setp.lt.u32 %works, %ahead, %workers;
        @!%works bra IDLE;
""")

TAKES = Snippet("""
    .reg .pred %more, %takes;
    .reg .b32 %rank, %workers, %chunks;
    .reg .b64 %counter;
        setp.lt.u32 %more, %workers, %chunks;
        setp.eq.and.b32 %takes, %rank, 0, %more;
        mov.b64 %counter, 0;
        @!%takes bra READY;
""")
"""The first lane takes chunks, or the first thread where all meet, if there are any to take."""

FOUND = Snippet("""
    .reg .b64 %counter, %found;
        mov.b64 %counter, %found;
    READY:
""")
"""Who takes chunks has found the counter."""

TELL_BLOCK = Snippet("""
    .reg .pred %first;
    .reg .b32 %thread, %ahead, %taken;
        setp.eq.s32 %first, %thread, 0;
        @%first st.shared.u32 [NEXT_BLOCK], %ahead;
        barrier.sync 0;
        ld.shared.u32 %taken, [NEXT_BLOCK];
""")

TELL_WARP = Snippet("""
    .reg .b32 %ahead, %taken;
        shfl.sync.idx.b32 %taken, %ahead, 0, 31, -1;
""")
"""What the first lane has taken, for all lanes."""

NEXT = Snippet("""
    .reg .pred %anew, %works, %takes, %takes_now;
    .reg .b32 %left, %taken, %size, %ahead, %chunks, %workers;
    .reg .b64 %number, %blocks, %counter;
        setp.eq.s32 %anew, %left, 0;
        add.s64 %number, %number, 1;
        @%anew mul.wide.u32 %number, %taken, %size;
        @%anew mov.b32 %left, %size;
        sub.s32 %left, %left, 1;
        setp.lt.u64 %works, %number, %blocks;
        @!%works bra FINISHED;
        and.pred %takes_now, %takes, %anew;
        @%anew mov.b32 %ahead, %chunks;
        @%takes_now atom.global.add.u32 %ahead, [%counter], 1;
        @%takes_now add.s32 %ahead, %ahead, %workers;
""")
"""Go on in the chunk, or begin the one that was taken ahead, and take another."""

COORDINATES = Snippet("""
    .reg .pred %in_first;
    .reg .b32 %x, %row, %width;
    .reg .b64 %number, %wide, %quotient, %rest;
        cvt.u32.u64 %x, %number;
        mov.b32 %row, 0;
        cvt.u64.u32 %wide, %width;
        setp.lt.u64 %in_first, %number, %wide;
        @%in_first bra BODY;
        div.u64 %quotient, %number, %wide;
        cvt.u32.u64 %row, %quotient;
        mul.lo.s64 %rest, %quotient, %wide;
        sub.s64 %rest, %number, %rest;
        cvt.u32.u64 %x, %rest;
    BODY:
""")
"""Cut the number into digits; where there is one row only, it is x."""

IS_LAST = Snippet("""
    .reg .pred %last, %takes;
    .reg .b32 %numbers, %chunks, %workers, %ahead;
    FINISHED:
        add.s32 %numbers, %chunks, %workers;
        sub.s32 %numbers, %numbers, 1;
        setp.eq.and.b32 %last, %ahead, %numbers, %takes;
        @!%last bra IDLE;
""")
"""Behind the loop: who took the last number of a counter gives it back."""

NUMBER = Snippet("""
    .reg .b32 %thread, %warp;
        shr.u32 %warp, %thread, 5;
""")
"""Where warps take chunks, each of a block's has a counter, the one of its number."""


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
    scope: dict[str, Register] = field(init=False)
    finished: str = field(init=False)

    def begin(self, emit: Emitter, idle: str) -> None:
        """Find the counter of this warp, or block."""
        place = self.find_place(emit, idle)
        rows = ROWS.emit(emit, height=place["height"], depth=place["depth"])["rows"]
        least = LEAST_BIT.emit(emit, rows=rows, width=place["width"])
        blocks, size = least["blocks"], self._size(emit, least, place["resident"])
        counts = COUNT_CHUNKS.emit(
            emit, size=size, blocks=blocks, resident=place["resident"], place=place["number"],
            IDLE=idle,
        )  # fmt: skip
        kept = {name: counts[name] for name in ("chunks", "workers", "ahead", "number", "left")}
        self.scope = {
            **kept, "size": size, "blocks": blocks,
            "width": place["width"], "height": place["height"],
        }  # fmt: skip
        ready = emit.function.fresh_label("ready")
        takes = TAKES.emit(emit, self.scope, rank=self._rank(emit), READY=ready)
        self.scope |= {name: takes[name] for name in ("takes", "counter")}
        found = self.table.claim(emit, self._counter_number(emit))
        FOUND.emit(emit, counter=takes["counter"], found=found, READY=ready)

    def _rank(self, emit: Emitter) -> Register:
        """The lane in its warp, or the thread in its block: 0 takes chunks for the others."""
        if self.for_block:
            return thread_number(emit)
        return emit.define("mov.u32", "b32", LANE, name="lane")

    def _counter_number(self, emit: Emitter) -> Register:
        if self.for_block:
            return emit.define("mov.u32", "b32", 0, name="warp")
        return NUMBER.emit(emit, thread=thread_number(emit))["warp"]

    def _size(self, emit: Emitter, least: dict[str, Register], resident: Register) -> Register:
        """Blocks of a chunk: as given, or so many that each worker gets several chunks."""
        bit = {name: least[name] for name in ("bit", "least")}
        if self.chunk is not None:
            return GIVEN_SIZE.emit(emit, bit, chunk=self.chunk)["size"]
        return FITTING_SIZE.emit(emit, bit, resident=resident)["size"]

    def next_block(self, emit: Emitter) -> None:
        """Take the next virtual block of the chunk, or of another."""
        self.finished = emit.function.fresh_label("finish")
        ahead = self.scope["ahead"]
        if self.for_block:
            thread, name = thread_number(emit), shared_name(emit.function)
            ahead = TELL_BLOCK.emit(emit, thread=thread, ahead=ahead, NEXT_BLOCK=name)["taken"]
        taken = TELL_WARP.emit(emit, ahead=ahead)["taken"]
        NEXT.emit(emit, self.scope, taken=taken, FINISHED=self.finished)
        found = COORDINATES.emit(emit, self.scope)
        self.coordinates[X] = found["x"]
        if not self.by_rows:
            y, z = in_digits(emit, found["row"], [self.scope["height"], found["row"]])
            self.coordinates |= {Y: y, Z: z}

    def advance(self, emit: Emitter, again: str) -> None:
        """The top of the loop looks whether there is more."""
        emit.emit("bra", again)

    def finish(self, emit: Emitter, idle: str) -> None:
        """Who took the last number of a counter gives it back."""
        IS_LAST.emit(emit, self.scope, FINISHED=self.finished, IDLE=idle)
        used = (
            emit.define("mov.u32", "b32", 1, name="used") if self.for_block else block_warps(emit)
        )
        number = self._counter_number(emit)
        self.table.give_back(emit, self.scope["counter"], number, used, idle)

    def describe(self) -> dict[str, Any]:
        """What the resident blocks are counted with."""
        return {"schedule": "dynamic", "chunk": self.chunk, "resident": self.room.describe()}
