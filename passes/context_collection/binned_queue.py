"""A queue with two ends, for tasks with few and with many turns (the strategy ``bins`` uses it).

Lanes with a task count the turns that its loop will have, by the instructions that the path itself
begins with, and push it: onto the tasks that grow from the lower end of the stack, or under those
that grow from its upper end. As soon as either are a full warp, all lanes pop there; where both are
at once, the others are popped the next time. So at most 62 of both together are left: neither end
has a full warp, or one was taken of these and of the 32 that were pushed. There is room for 96.

In the end the rests of both are run together: as many lanes as there are tasks, those at the lower
end first. The turns only tell where a task waits, so nothing depends on them but how long it takes.

The path's code is there once: on an NVIDIA H200 (2026-11-24) samples/integral_equation with two
paths, each with a queue of its own, took 47 registers and was 1.65 times as fast as the original,
where one queue has 1.80.
"""

from __future__ import annotations

from collections.abc import Mapping

from ccc.analysis.paths.model import AnnotatedLoop
from ccc.analysis.paths.trip_counts import TripCount
from ccc.ir.edit import Emitter, substitute
from ccc.ir.nodes import Guard
from ccc.ir.operands import Register
from ccc.passes.context_collection.layout import Layout
from ccc.passes.context_collection.node import move
from ccc.passes.context_collection.sequential_dispatch import COUNT_TASKS, SequentialDispatch
from ccc.passes.context_collection.sequential_node import SequentialNode
from ccc.passes.launch_shape import keep_warps
from ccc.passes.thresholds import BINNED_WARPS
from ccc.pipeline import Kernel
from ccc.ptx.types import number_of_type
from ccc.snippet import Given, Snippet

PUSH_APART = Snippet("""
    .reg .pred %pending, %many, %counts;
    .reg .b32 %tasks, %mask, %below, %fewer, %more, %mine, %before, %count, %offset;
    .reg .b32 %up, %down, %top, %floor, %address, %bytes;
        and.pred %counts, %many, %pending;
        vote.sync.ballot.b32 %more, %counts, %mask;
        xor.b32 %fewer, %tasks, %more;
        @!%pending bra PUSHED;
        selp.b32 %mine, %more, %fewer, %many;
        and.b32 %before, %mine, %below;       // the tasks of the lanes before this one
        popc.b32 %count, %before;
        shl.b32 %offset, %count, 2;
        add.s32 %up, %top, %offset;
        sub.s32 %down, %floor, %offset;
        add.s32 %down, %down, -4;
        selp.b32 %address, %down, %up, %many;
        call push, (%address);
    PUSHED:
        popc.b32 %count, %fewer;
        shl.b32 %bytes, %count, 2;
        add.s32 %top, %top, %bytes;
        popc.b32 %count, %more;
        shl.b32 %bytes, %count, 2;
        sub.s32 %floor, %floor, %bytes;
        mov.pred %pending, 0;
""")
"""Lanes with a task write it above the lower tasks, or below the upper ones."""

POP_EITHER = Snippet(
    """
    .reg .pred %lower, %upper, %full;
    .reg .b32 %top, %floor, %ceiling, %base, %saved, %less, %edge, %warp_bytes, %rank_bytes;
    .reg .b32 %mask, %from, %address;
        sub.s32 %saved, %top, %base;
        add.s32 %edge, %floor, %warp_bytes;
        add.s32 %ceiling, %base, ROOM;
        setp.ge.u32 %lower, %saved, %warp_bytes;
        setp.le.u32 %upper, %edge, %ceiling;
        or.pred %full, %lower, %upper;
        @!%full bra AFTER;                    // not yet a full warp of either kind
        sub.s32 %less, %top, %warp_bytes;
        selp.b32 %from, %less, %floor, %lower;
        selp.b32 %floor, %floor, %edge, %lower;
        selp.b32 %top, %less, %top, %lower;
        bar.warp.sync %mask;                  // behind the stores of earlier rounds
        add.s32 %address, %from, %rank_bytes;
        call pop, (%address);
        bar.warp.sync %mask;                  // before those of later ones
        bra RUN;
""",
    "ROOM",
)
"""As soon as a full warp of tasks is there at either end, all lanes pop."""

POP_REST = Snippet(
    """
    .reg .pred %has, %lower;
    .reg .b32 %top, %floor, %ceiling, %base, %saved, %taken, %rest, %above, %all;
    .reg .b32 %warp_bytes, %rank_bytes, %mask, %down, %up, %address, %offset;
    POP:
        sub.s32 %saved, %top, %base;
        min.u32 %taken, %saved, %warp_bytes;
        sub.s32 %top, %top, %taken;
        sub.s32 %rest, %warp_bytes, %taken;
        add.s32 %ceiling, %base, ROOM;
        sub.s32 %saved, %ceiling, %floor;
        min.u32 %above, %saved, %rest;
        add.s32 %all, %taken, %above;
        setp.lt.u32 %has, %rank_bytes, %all;
        setp.lt.u32 %lower, %rank_bytes, %taken;
        add.s32 %down, %top, %rank_bytes;
        sub.s32 %offset, %rank_bytes, %taken;
        add.s32 %up, %floor, %offset;
        add.s32 %floor, %floor, %above;
        bar.warp.sync %mask;                  // behind the stores of earlier rounds
        @!%has bra RESUME;
        selp.b32 %address, %down, %up, %lower;
        call pop, (%address);
        bra RUN;                              // nobody stores any more
""",
    "ROOM",
)
"""In the end as many lanes as there are tasks, at most all, pop one each, from both ends."""


class BinnedQueue(SequentialDispatch):
    """Rewrites a loop with one path, whose tasks are apart by the turns of a loop in it.

    Args:
        kernel: whose loop it is.
        loop: the annotated loop.
        layout: its registers and memory.
        count: how often the path's loop turns.
        turns: a task that has more waits at the upper end.
    """

    def __init__(
        self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout, count: TripCount, turns: int
    ):
        super().__init__(kernel, loop, layout)
        fresh = self.function.registers.fresh
        self.count, self.turns = count, turns
        self.many = fresh("pred", "many")
        self.floor = fresh("b32", "floor")
        self.room = 4 * layout.plans[0].stack.entries
        self.done = self.function.fresh_label("done")
        keep_warps(kernel, BINNED_WARPS, layout.share)

    def prepare(self, emit: Emitter) -> None:
        """Both ends are empty."""
        (node,) = self.nodes
        self.forget(emit, node)
        emit.emit("mov.b32", node.top, self.base)
        emit.emit("add.s32", self.floor, self.base, self.room)
        emit.emit("mov.pred", self.many, 0)

    def dispatch(self) -> None:
        """Behind a round the registers of contexts hold nothing, so that none of them looks needed
        while tasks run: a lane may not come to the path in each iteration."""
        super().dispatch()
        (node,) = self.nodes
        emit = self.at(self.done)
        for register in node.plan.stack.context:
            emit.emit(move(register), register, 0)
        emit.emit("bra", self.again)

    def resume(self, node: SequentialNode) -> str:  # noqa: ARG002
        """To the end of a round."""
        return self.done

    def note(self, emit: Emitter, node: SequentialNode) -> None:
        """How many turns it has, too."""
        super().note(emit, node)
        has_more(emit, self.count, self.turns, self.many)

    def if_saved(self, emit: Emitter, node: SequentialNode, target: str) -> None:
        """At either end."""
        super().if_saved(emit, node, target)
        ceiling = emit.define("add.s32", "b32", self.base, self.room, name="ceiling")
        left = emit.define("setp.ne.b32", "pred", self.floor, ceiling, name="left")
        emit.emit("bra", target, guard=Guard(left))

    def _emit_last(self, emit: Emitter) -> Emitter:
        """At most two rounds, in a loop of their own around the copy of the path."""
        (node,) = self.nodes
        emit.emit("bra", self.over)
        self._emit_rest(self.here, {**self._scope(node), "RESUME": self.over, "RUN": node.heads[1]})
        self.function.blocks += self.last
        over = self.at(self.over)
        self.if_saved(over, node, node.pop)
        return over

    def _emit_collect(self, node: SequentialNode) -> None:
        """Count the tasks of this round, save them, and run a full warp of either kind."""
        emit = self.here
        scope = self._scope(node)
        tasks = COUNT_TASKS.emit(emit, scope, NOBODY=self.check)["tasks"]
        PUSH_APART.emit(emit, scope, tasks=tasks)
        POP_EITHER.of(ROOM=self.room).emit(emit, scope)
        if not self.is_last_apart:
            self._emit_rest(emit, scope)

    def _emit_rest(self, emit: Emitter, scope: Mapping[str, Given]) -> None:
        POP_REST.of(ROOM=self.room).emit(emit, scope)

    def _scope(self, node: SequentialNode) -> dict[str, Given]:
        """With both ends."""
        return {**super()._scope(node), "many": self.many, "floor": self.floor}


def has_more(emit: Emitter, count: TripCount, turns: int, target: Register) -> None:
    """Write whether a loop has more than so many turns, as far as its counter and bound tell."""
    registers: dict[Register, Register] = {}
    for one in count.made:
        registers |= {r: emit.function.registers.fresh(r.type, "trips") for r in one.defined()}
        emit.block.statements.append(substitute(one, registers, {}))
    bits = count.bits

    def value(one: Register | int) -> Register | int:
        if isinstance(one, Register):
            return registers.get(one, one)
        return number_of_type(one, f"s{bits}")

    ends = (count.bound, count.begin) if count.step > 0 else (count.begin, count.bound)
    first, second = map(value, ends)
    if not isinstance(first, Register):
        first = emit.define(f"mov.b{bits}", f"b{bits}", first)
    distance = emit.define(f"sub.s{bits}", f"b{bits}", first, second, name="distance")
    least = min((turns - count.includes_bound) * abs(count.step), (1 << 31) - 1)
    emit.emit(f"setp.gt.s{bits}", target, distance, least)
