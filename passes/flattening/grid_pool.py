"""The iterations of a whole launch as one pool, from which the idle lanes of all warps take.

Where any thread of the launch can begin any iteration (:mod:`ccc.passes.flattening.grid_space`),
warps take them from a counter in global memory, 32 at a time, and hand them out to their lanes that
are through, so that no warp has more to do than another, however uneven iterations are. Chunks are
taken ahead: while lanes run the iterations of one, the number of the next is on its way. Where a
launch has fewer blocks resident than it has blocks, the first ones take all, and the others find
nothing left.

That relies on a grid of one dimension whose number of threads is the loop's step. Where it is not,
which all threads of a launch see alike, each lane keeps its own iterations.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ccc.analysis.paths.iteration_space import IterationSpace, Step
from ccc.ir.edit import Emitter
from ccc.ir.operands import Register
from ccc.passes.flattening.iteration_pool import number_of, product_of
from ccc.passes.grid_stride.task_counter import CounterTable
from ccc.snippet import Given, Snippet

CHUNK_BITS = 5
CHUNK = 1 << CHUNK_BITS
"""Iterations that are taken at a time: as many as a warp has lanes, so that a chunk taken ahead is
enough whenever lanes wait. On an H200 (2026-11-23) path_tracing was 2.36 times as fast as the
original with chunks of 32, 2.33 with 64, and 2.34 where each meeting takes just what it needs."""

ONE_ROW = Snippet(
    """
    .reg .pred %pooled, %row, %fits, %same, %some;
    .reg .b32 %width, %blocks, %height, %depth, %rows, %layers, %others, %threads, %step, %bound;
    .reg .b64 %wide;
        mov.u32 %width, %ntid.x;
        mov.u32 %blocks, %nctaid.x;
        mov.u32 %height, %ntid.y;
        mov.u32 %depth, %ntid.z;
        mov.u32 %rows, %nctaid.y;
        mov.u32 %layers, %nctaid.z;
        or.b32 %others, %height, %depth;
        or.b32 %others, %others, %rows;
        or.b32 %others, %others, %layers;
        setp.eq.s32 %row, %others, 1;         // blocks and grid have one dimension
        mul.wide.u32 %wide, %width, %blocks;
        setp.lt.and.u64 %fits, %wide, MOST, %row;
        cvt.u32.u64 %threads, %wide;
        setp.eq.and.b32 %same, %threads, %step, %fits;
        sub.s32 %others, LAST, %threads;      // so that no counter wraps around
        setp.le.and.u32 %some, %bound, %others, %same;
        setp.gt.and.s32 %pooled, %bound, 0, %some;
    """,
    MOST=1 << 31,
    LAST=(1 << 31) - 1,
)
"""Before the loop: whether the iterations are the numbers below the bound."""

ENOUGH = Snippet(
    """
    .reg .pred %pooled;
    .reg .b32 %bound, %rounds, %threads;
        div.u32 %rounds, %bound, LEAST;
        setp.ge.and.u32 %pooled, %rounds, %threads, %pooled;
    """,
    "LEAST",
)
"""And whether there are so many for each thread that it pays to take them from a counter."""

OPEN = Snippet("""
    .reg .pred %pooled, %takes, %has, %more;
    .reg .b32 %thread, %lane, %ahead, %next, %place;
    .reg .b64 %counter;
        mov.u32 %thread, %tid.x;
        and.b32 %lane, %thread, 31;
        setp.eq.and.b32 %takes, %lane, 0, %pooled;
        mov.b32 %ahead, 0;
        mov.b32 %next, 0;
        mov.pred %has, 0;
        mov.pred %more, %pooled;
        selp.b32 %place, GONE, BEGINS, %pooled;
        mov.b64 %counter, 0;
        @!%takes bra READY;
""", "GONE", "BEGINS")  # fmt: skip
"""Nothing is taken yet. The first lane takes chunks for its warp;"""

TAKE = Snippet("""
    .reg .b32 %ahead;
    .reg .b64 %counter, %found;
        mov.b64 %counter, %found;
        atom.relaxed.gpu.global.add.u32 %ahead, [%counter], 1;
    READY:
""")
"""it has found the counter, and takes the first one."""

CHUNKS = Snippet(
    """
    .reg .b32 %bound, %chunks;
        add.s32 %chunks, %bound, ALMOST;
        shr.u32 %chunks, %chunks, CHUNK_BITS;
    """,
    ALMOST=CHUNK - 1,
    CHUNK_BITS=CHUNK_BITS,
)
"""How many chunks there are. That is found anew where it is needed: registers are scarce."""

GIVE = Snippet(
    """
    .reg .pred %turning, %free, %has, %more, %enough, %old, %first_lane, %takes;
    .reg .b32 %members, %below, %lanes, %before, %rank, %wanted, %number, %next, %left, %ahead;
    .reg .b32 %taken, %chunks, %beyond, %bound, %thread, %lane;
    .reg .b64 %counter;
    REFILL:
        @!%more bra GIVEN;
        not.pred %free, %turning;
        vote.sync.ballot.b32 %lanes, %free, %members;
        mov.u32 %below, %lanemask_lt;
        and.b32 %before, %lanes, %below;
        popc.b32 %rank, %before;
        popc.b32 %wanted, %lanes;
        neg.s32 %left, %next;
        and.b32 %left, %left, LAST_OF_CHUNK;  // a chunk begins at a multiple of its size
        add.s32 %number, %next, %rank;
        add.s32 %next, %next, %wanted;
        setp.le.u32 %enough, %wanted, %left;
        @%enough bra HAVE;
        shfl.sync.idx.b32 %taken, %ahead, 0, 31, %members;
        call count, (%chunks);
        setp.lt.u32 %more, %taken, %chunks;   // else numbers from here on are beyond the bound
        min.u32 %taken, %taken, %chunks;      // and do not wrap around, however many are taken
        shl.b32 %taken, %taken, CHUNK_BITS;
        sub.s32 %beyond, %taken, %left;
        add.s32 %next, %beyond, %wanted;
        add.s32 %beyond, %beyond, %rank;
        setp.lt.u32 %old, %rank, %left;
        selp.b32 %number, %number, %beyond, %old;
        mov.u32 %thread, %tid.x;
        and.b32 %lane, %thread, 31;
        setp.eq.and.b32 %takes, %lane, 0, %more;
        @%takes atom.relaxed.gpu.global.add.u32 %ahead, [%counter], 1;
    HAVE:
        setp.lt.and.u32 %has, %number, %bound, %free;
    GIVEN:
    """,
    LAST_OF_CHUNK=CHUNK - 1,
    CHUNK_BITS=CHUNK_BITS,
)
"""Each lane that is not in the inner loop gets the next iteration, to be begun when its own is
over: of the warp's chunk, or, where that has no more, of the one that was taken ahead."""

IS_LAST = Snippet("""
    .reg .pred %last, %takes, %pooled;
    .reg .b32 %width, %threads, %bound, %come, %full, %rest, %of_a_block, %takers, %chunks;
    .reg .b32 %blocks, %numbers, %ahead, %thread, %lane;
        mov.u32 %thread, %tid.x;
        and.b32 %lane, %thread, 31;
        setp.eq.and.b32 %takes, %lane, 0, %pooled;
        @!%takes bra CLOSED;
        mov.u32 %width, %ntid.x;
        mov.u32 %blocks, %nctaid.x;
        mul.lo.s32 %threads, %width, %blocks;
        min.u32 %come, %threads, %bound;      // so many threads have come to the loop
        div.u32 %full, %come, %width;
        mul.lo.s32 %rest, %full, %width;
        sub.s32 %rest, %come, %rest;
        add.s32 %of_a_block, %width, 31;
        shr.u32 %of_a_block, %of_a_block, 5;
        add.s32 %takers, %rest, 31;           // of a block of which not all have come
        shr.u32 %takers, %takers, 5;
        mad.lo.s32 %takers, %full, %of_a_block, %takers;
        call count, (%chunks);
        add.s32 %numbers, %chunks, %takers;
        sub.s32 %numbers, %numbers, 1;
        setp.eq.s32 %last, %ahead, %numbers;
        @!%last bra CLOSED;
""")
"""Behind the loop: who took the last number, when each warp has taken one too many, gives the
counter back."""


@dataclass
class GridPool:
    """The pool of one loop, whose code the flattened loop has emitted at its places.

    It is used from ``least`` iterations for each thread on. ``given`` holds the number of the
    iteration that a lane begins next.
    """

    space: IterationSpace
    gone: int
    begins: int
    members: Register
    table: CounterTable
    least: int = 0
    given: Register | None = None
    registers: dict[str, Register] = field(default_factory=dict)

    def open(self, emit: Emitter, place: Register) -> None:
        """Before the loop: see how many iterations there are, and find the launch's counter."""
        space = self.space
        step: Step = space.steps[space.counter]
        bound = number_of(emit, space.bound)
        row = ONE_ROW.emit(emit, step=number_of(emit, product_of(emit, step, 32)), bound=bound)
        if self.least:
            enough = {name: row[name] for name in ("pooled", "threads")}
            ENOUGH.of(LEAST=self.least).emit(emit, enough, bound=bound)
        ready = emit.function.fresh_label("ready")
        opened = OPEN.of(GONE=self.gone, BEGINS=self.begins).emit(
            emit, pooled=row["pooled"], place=place, READY=ready
        )
        none = emit.define("mov.u32", "b32", 0, name="number")
        found = self.table.claim(emit, none)
        kept = {name: opened[name] for name in ("ahead", "counter")}
        TAKE.emit(emit, kept, found=found, READY=ready)
        self.registers = {name: opened[name] for name in ("has", "more", "next")} | kept
        self.registers |= {"pooled": row["pooled"], "bound": bound, "members": self.members}

    def scope(self, *names: str) -> dict[str, Given]:
        """What names of registers stand for."""
        return {name: self.registers[name] for name in names}

    def give(self, emit: Emitter, turning: Register, label: str) -> None:
        """At a label, give out iterations to the lanes that are not in the inner loop."""
        names = ("members", "next", "ahead", "bound", "counter", "has", "more")
        scope = self.scope(*names)
        found = GIVE.emit(emit, scope, turning=turning, count=self.count, REFILL=label)
        self.given = found["number"]

    def count(self, emit: Emitter, chunks: Register) -> None:
        """How many chunks there are."""
        CHUNKS.emit(emit, self.scope("bound"), chunks=chunks)

    def load(self, emit: Emitter) -> None:
        """Begin the iteration that was given to the lane."""
        assert self.given is not None
        emit.emit("mov.b32", self.space.counter, self.given)

    def close(self, emit: Emitter) -> None:
        """Behind the loop: the last warp gives the counter back."""
        closed = emit.function.fresh_label("closed")
        scope = self.scope("pooled", "bound", "ahead")
        IS_LAST.emit(emit, scope, count=self.count, CLOSED=closed)
        number = emit.define("mov.u32", "b32", 0, name="number")
        used = emit.define("mov.u32", "b32", 1, name="used")
        self.table.give_back(emit, self.registers["counter"], number, used, closed)
        emit.start(closed)
