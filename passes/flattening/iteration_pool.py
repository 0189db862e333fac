"""The iterations of all members of an annotated loop as one pool, from which idle lanes take.

Where any member can begin any iteration (:mod:`ccc.analysis.paths.iteration_space`), a lane that is
through takes the next iteration of its warp, whosesoever it is, so that all are busy until none is
left. Iterations are given out in rounds: the first of each member, the second of each, and so on.
What the owner's registers held before the loop comes from its lane, by ``shfl.sync``; what is
carried has been stepped as often as its owner would have.

That relies on counters which do not wrap around. Where one might, the members see it before the
loop, and each keeps its own iterations.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ccc.analysis.paths.iteration_space import IterationSpace, Step
from ccc.ir.edit import Emitter
from ccc.ir.operands import Register
from ccc.passes.context_collection.context_stack import join, split
from ccc.passes.context_collection.node import move
from ccc.ptx.types import TYPES, WARP_SIZE
from ccc.snippet import Given, Snippet

MANY = 1 << 26
"""With fewer iterations for each lane, 32 bits number those of the warp."""

COUNT_ITERATIONS = Snippet(
    """
    .reg .pred %counts, %begins, %fits, %steps, %few;
    .reg .b32 %first, %bound, %step, %last, %room, %distance, %divisor;
    .reg .b32 %iterations;
        sub.s32 %last, %bound, 1;
        mov.b32 %room, MOST;
        sub.s32 %room, %room, %step;
        sub.s32 %distance, %last, %first;
        setp.gt.s32 %steps, %step, 0;
        setp.lt.TYPE %begins, %first, %bound;
        setp.le.TYPE %fits, %last, %room;     // the counter does not wrap where it ends
        and.pred %counts, %steps, %begins;
        and.pred %counts, %counts, %fits;
        selp.b32 %divisor, %step, 1, %counts;
        div.u32 %iterations, %distance, %divisor;
        add.s32 %iterations, %iterations, 1;
        setp.lt.u32 %few, %iterations, MANY;
        and.pred %counts, %counts, %few;
    """,
    "MOST",
    "TYPE",
    MANY=MANY,
)
"""Before the loop: how many iterations the lane has, if that can be counted."""

OPEN = Snippet("""
    .reg .pred %counts, %pooled, %has, %more;
    .reg .b32 %members, %below, %highest, %shift, %slots, %one, %given, %place;
        bar.warp.sync %members;               // all may read what others have written for theirs
        vote.sync.all.pred %pooled, %counts, %members;
        mov.u32 %below, %lanemask_lt;
        bfind.u32 %highest, %members;
        bfind.u32 %shift, %highest;
        add.s32 %shift, %shift, 1;            // so many bits number the lanes that are members
        mov.u32 %one, 1;
        shl.b32 %slots, %one, %shift;
        sub.s32 %slots, %slots, 1;
        mov.u32 %given, 0;
        mov.pred %has, 0;
        mov.pred %more, %pooled;
        selp.b32 %place, GONE, BEGINS, %pooled;
""", "GONE", "BEGINS")  # fmt: skip
"""Before the loop: nothing is given out. Without a pool, each lane begins its own iteration."""

GIVE = Snippet("""
    .reg .pred %turning, %pooled, %free, %has, %is_one;
    .reg .b32 %members, %below, %lanes, %before, %count, %given, %number, %owner, %round, %bit;
    .reg .b32 %slots, %shift, %theirs, %iterations, %own;
    REFILL:
        @!%pooled bra GIVEN;
        not.pred %free, %turning;
        vote.sync.ballot.b32 %lanes, %free, %members;
        and.b32 %before, %lanes, %below;
        popc.b32 %count, %before;
        add.s32 %number, %given, %count;
        and.b32 %owner, %number, %slots;
        shr.u32 %round, %number, %shift;
        shr.u32 %bit, %members, %owner;
        and.b32 %bit, %bit, 1;
        setp.eq.b32 %is_one, %bit, 1;
        mov.u32 %own, %laneid;
        selp.b32 %owner, %owner, %own, %is_one;
        shfl.sync.idx.b32 %theirs, %iterations, %owner, 31, %members;
        setp.lt.and.u32 %has, %round, %theirs, %is_one;
        and.pred %has, %has, %free;
""")
"""Each lane that is not in the inner loop gets the next iteration of the warp, to be begun when its
own is over. A place in a round may be nobody's: then it gets none this time."""

LEFT_OVER = Snippet("""
    .reg .pred %more;
    .reg .b32 %lanes, %count, %given, %shift, %iterations, %reached;
        popc.b32 %count, %lanes;
        add.s32 %given, %given, %count;
        shr.u32 %reached, %given, %shift;
        setp.lt.u32 %more, %reached, %iterations;
    GIVEN:
""")
"""Has the lane an iteration of its own that was not given out? Then all stay."""

ENDS = Snippet("""
    .reg .pred %pooled;
    .reg .b32 %place;
        mov.u32 %place, PLACE;
        @%pooled bra NEXT;
        bra ONWARD;
""", "PLACE")  # fmt: skip
"""An iteration is over. Without a pool the lane goes where it goes;"""

NEXT = Snippet("""
    .reg .pred %has;
    .reg .b32 %place;
    NEXT:
        mov.u32 %place, GONE;
        @!%has bra ANEW;
        mov.pred %has, 0;
        mov.u32 %place, BEGINS;
        call load, ();
        bra GO_ON;
""", "GONE", "BEGINS")  # fmt: skip
"""else it begins the iteration that it was given, or waits for one."""

POOLED_ANEW = Snippet("""
    .reg .pred %live, %nobody, %more;
    .reg .b32 %place, %lives, %members;
    ANEW:
        setp.lt.or.u32 %live, %place, GONE, %more;
        vote.sync.ballot.b32 %lives, %live, %members;
        setp.eq.b32 %nobody, %lives, 0;
        @%nobody bra LEAVE;
""", "GONE")  # fmt: skip
"""Who has an iteration left, or may get one?"""

CLOSE = Snippet("""
    .reg .b32 %members;
        bar.warp.sync %members;               // all see what others have written for them
        call restore, ();
""")
"""Behind the loop."""


@dataclass
class IterationPool:
    """The pool of one loop, whose code the flattened loop has emitted at its places.

    ``own`` is what the registers of a lane's own iterations hold before the loop, ``given`` what
    those hold with which it begins the next one.
    """

    space: IterationSpace
    gone: int
    begins: int
    members: Register
    own: dict[Register, Register] = field(default_factory=dict)
    given: dict[Register, Register] = field(default_factory=dict)
    registers: dict[str, Register] = field(default_factory=dict)
    steps: dict[Register, Register | int] = field(default_factory=dict)

    def open(self, emit: Emitter, place: Register) -> None:
        """Before the loop: count the lane's iterations, and keep what they begin with."""
        space = self.space
        self.steps = {r: product_of(emit, step, r.bits) for r, step in space.steps.items()}
        signed = TYPES[space.type].kind == "s"
        most = (1 << 31) - 1 if signed else (1 << 32) - 1
        counted = COUNT_ITERATIONS.of(MOST=most, TYPE=space.type).emit(
            emit, first=space.counter, bound=number_of(emit, space.bound),
            step=number_of(emit, self.steps[space.counter]),
        )  # fmt: skip
        for register in (*space.steps, *space.context):
            self.own[register] = emit.define(move(register), register.type, register, name="own")
            self.given[register] = emit.function.registers.fresh(register.type, "given")
        opened = OPEN.of(GONE=self.gone, BEGINS=self.begins).emit(
            emit, counts=counted["counts"], members=self.members, place=place
        )
        names = ("pooled", "has", "more", "below", "shift", "slots", "given")
        self.registers = {name: opened[name] for name in names}
        self.registers |= {"members": self.members, "iterations": counted["iterations"]}

    def scope(self, *names: str) -> dict[str, Given]:
        """What names of registers stand for."""
        return {name: self.registers[name] for name in names}

    def give(self, emit: Emitter, turning: Register, label: str) -> None:
        """At a label, give out iterations to the lanes that are not in the inner loop."""
        scope = self.scope(*self.registers)
        given = emit.function.fresh_label("given")
        found = GIVE.emit(emit, scope, turning=turning, REFILL=label, GIVEN=given)
        self._receive(emit, found["owner"], found["round"])
        LEFT_OVER.emit(emit, scope, lanes=found["lanes"], GIVEN=given)

    def _receive(self, emit: Emitter, owner: Register, number: Register) -> None:
        """What an owner's registers hold at the beginning of its iteration of that number."""
        for register, target in self.given.items():
            words = [
                emit.define("shfl.sync.idx.b32", "b32", word, owner, WARP_SIZE - 1, self.members)
                for word in split(emit, self.own[register])
            ]
            join(emit, target, words)
            if register in self.steps:
                self._advance(emit, target, self.steps[register], number)

    def _advance(
        self, emit: Emitter, register: Register, step: int | Register, number: Register
    ) -> None:
        """Step a register so often."""
        bits = register.bits
        factor = emit.define("cvt.u64.u32", "b64", number) if bits == 64 else number
        emit.emit(f"mad.lo.s{bits}", register, factor, step, register)

    def load(self, emit: Emitter) -> None:
        """Begin the iteration that was given to the lane."""
        for register, source in self.given.items():
            emit.emit(move(register), register, source)

    def close(self, emit: Emitter) -> None:
        """Behind the loop, lanes may read what others have written for them."""
        CLOSE.emit(emit, members=self.members, restore=self.restore)

    def restore(self, emit: Emitter) -> None:
        """Behind the loop, lanes have their own values again; what is carried nobody reads."""
        for register in self.space.context:
            emit.emit(move(register), register, self.own[register])


def product_of(emit: Emitter, step: Step, bits: int) -> Register | int:
    """What a register of so many bits gains in an iteration."""
    first, *others = step
    for factor in others:
        first = emit.define(f"mul.lo.s{bits}", f"b{bits}", first, factor, name="step")
    return first


def number_of(emit: Emitter, value: Register | int) -> Register:
    """A number as a register."""
    if isinstance(value, Register):
        return value
    return emit.define("mov.b32", "b32", value, name="number")
