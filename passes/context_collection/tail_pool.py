"""A pool for the last tasks of all warps of a block (no pass; the strategy ``pool`` uses it).

In the end each warp has less than a full warp of tasks on its stack. Run where they are, they take
a round for each warp of the block, partly filled. So each warp hands its last tasks to the block
instead: it is told how many tasks and how many threads have come before its own, and puts its
tasks into a row of slots at those places. When all warps have done that, thread number p of those
that are there runs the task in slot p, and as many warps as that takes are full.

The slots lie in the shares of the warps, 32 in each, behind their stacks. Behind ``LEFT``, the
warp's tasks go to the pool; behind ``POOL`` stands one more copy of the path.
"""

from __future__ import annotations

from functools import partial

from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.paths.model import AnnotatedLoop, instructions_of
from ccc.ir.edit import Emitter
from ccc.ir.operands import Address, Register
from ccc.passes.context_collection.context_stack import Stack, stack_name
from ccc.passes.context_collection.layout import Layout
from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
from ccc.passes.context_collection.sequential_node import SequentialNode
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import Effect
from ccc.snippet import Given, Snippet

AFTER_OTHERS = Snippet("""
        barrier.sync 0;                       // no warp is in another loop, in the same memory
""")
"""Before the loop, where the kernel has others."""

OPEN = Snippet("""
    .reg .pred %first;
    .reg .b32 %rank_bytes, %counts;
        setp.eq.b32 %first, %rank_bytes, 0;
        @%first st.volatile.shared.u32 [%counts], 0;
        barrier.sync 0;                       // it is 0 before any warp counts
""")
"""Before the loop: no task is in the pool, and no thread has come to it."""

LEFT = Snippet("""
    .reg .pred %others, %none;
    .reg .b32 %top, %base, %saved, %warp_bytes, %rank_bytes, %members, %mask, %counts, %mine;
    .reg .b32 %before, %reverse, %leader, %place, %slot, %address, %target;
        sub.s32 %saved, %top, %base;
        shl.b32 %mine, %warp_bytes, 16;       // threads in the upper half, tasks in the lower one,
        add.s32 %mine, %mine, %saved;         // in bytes of a word for each
        mov.u32 %before, 0;
        setp.ne.b32 %others, %rank_bytes, 0;
        @%others bra COUNTED;
        atom.shared.add.u32 %before, [%counts], %mine;
    COUNTED:
        brev.b32 %reverse, %members;
        clz.b32 %leader, %reverse;
        shfl.sync.idx.b32 %before, %before, %leader, 31, %mask;
        shr.u32 %place, %before, 16;
        add.s32 %place, %place, %rank_bytes;
        and.b32 %slot, %before, 65535;
        add.s32 %slot, %slot, %rank_bytes;
        setp.ge.u32 %none, %rank_bytes, %saved;
        bar.warp.sync %mask;                  // behind the stores of earlier rounds
        @%none bra GIVEN;
        add.s32 %address, %base, %rank_bytes;
        call pop, (%address);
        call find, (%target, %slot);
        call give, (%target);
    GIVEN:
""")
"""When no member has an iteration left: the warp's tasks go to the pool, and each member learns the
number of its thread among those of the block."""

FIND = Snippet("""
    .reg .b32 %address, %slot, %row, %share, %column, %pool;
        mov.u32 %pool, STACK;
        shr.u32 %row, %slot, 7;
        and.b32 %column, %slot, 127;
        mad.lo.s32 %address, %row, %share, %pool;
""")
"""Where a slot is: the share of a warp holds 32 of them."""

SHARE = Snippet("""
    .reg .b32 %target, %number, %share, %stack;
        mov.u32 %stack, STACK;
        mad.lo.s32 %target, %number, %share, %stack;
""")
"""Where that of another warp begins."""

TAKE = Snippet("""
    .reg .pred %idle;
    .reg .b32 %place, %counts, %tasks, %source;
        barrier.sync 0;                       // all tasks are in the pool
        ld.shared.u32 %tasks, [%counts];
        and.b32 %tasks, %tasks, 65535;
        setp.ge.u32 %idle, %place, %tasks;
        @%idle bra OVER;
        call find, (%source, %place);
        call take, (%source);
        bra POOL;
""")
"""There are fewer tasks than threads: each of the first ones takes one."""

CLOSE = Snippet("""
        barrier.sync 0;                       // what they have written is there for all
""")
"""Behind the tasks, where anything follows: other warps may not be through yet."""


def has_company(collector: SequentialDispatch) -> bool:
    """Whether the kernel has other annotated loops, whose stacks lie where those of a loop do."""
    loops = (record.path.loop for record in collector.kernel.records)
    headers = {loop.loop.header for loop in loops if loop is not None}
    return headers != {collector.loop.loop.header}


def find_share(
    collector: SequentialDispatch, emit: Emitter, target: Register, number: Register
) -> None:
    """Where the share of a warp of the block begins."""
    stack, share = stack_name(collector.function), collector.layout.share
    SHARE.emit(emit, number=number, share=share, target=target, STACK=stack)
    collector.users.append(next(reversed(list(emit.block.instructions))))


class TailPool(SequentialDispatch):
    """Rewrites a loop with one path, whose last tasks all warps of the block share."""

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout):
        super().__init__(kernel, loop, layout)
        assert layout.overflow is not None
        self.pool: Stack = layout.overflow

    @property
    def is_last_apart(self) -> bool:
        """Always: the last tasks are other warps' tasks."""
        return True

    @property
    def block_meets(self) -> bool:
        """Always, to hand them on."""
        return True

    def prepare(self, emit: Emitter) -> None:
        """An empty pool."""
        super().prepare(emit)
        if has_company(self):
            AFTER_OTHERS.emit(emit)
        OPEN.emit(emit, rank_bytes=self.rank_bytes, counts=self._counts(emit))

    def _counts(self, emit: Emitter) -> Address:
        """Where the block counts its last tasks, and its threads: in the first warp's share."""
        counts = emit.function.registers.fresh("b32", "counts")
        find_share(self, emit, counts, emit.define("mov.u32", "b32", 0, name="first"))
        return Address(counts, self.layout.tops)

    def _emit_last(self, emit: Emitter) -> Emitter:
        """Hand the last tasks to the block, and run some of them."""
        (node,) = self.nodes
        counts = self._counts(emit)
        holes: dict[str, Given] = {"find": self._find, "counts": counts}
        scope = {**self._scope(node), **holes, "give": self._pool(node).store}
        place = LEFT.emit(emit, scope)["place"]
        scope |= {"take": partial(self._take, node), "OVER": self.over, "POOL": node.heads[1]}
        TAKE.emit(emit, scope, place=place)
        self.function.blocks += self.last
        over = self.at(self.over)
        if self._is_followed():
            CLOSE.emit(over)
        return over

    def _find(self, emit: Emitter, target: Register, slot: Register) -> None:
        """The address of a slot."""
        stack = stack_name(self.function)
        fresh = FIND.emit(emit, slot=slot, share=self.layout.share, STACK=stack)
        self.users.append(next(reversed(list(emit.block.instructions))))
        emit.emit("add.s32", target, fresh["address"], fresh["column"])

    def _pool(self, node: SequentialNode) -> Stack:
        """The slots, for tasks in the registers that they are popped to."""
        return self.pool.of(node.plan.popped)

    def _take(self, node: SequentialNode, emit: Emitter, address: Register) -> None:
        self._pool(node).load(emit, address)

    def _is_followed(self) -> bool:
        """Whether the kernel does anything behind the loop but end."""
        behind = reachable(self.facts.graph.successors, self.targets) - {EXIT}
        ends = Effect.RETURN | Effect.EXIT | Effect.BRANCH
        return any(i.effects & ~ends for i in instructions_of(behind, self.facts))
