"""Sequential dispatch: the paths of a loop one after the other, each from a stack of its own.

At the collection point the paths have their turns one after the other, outer paths before those
inside them. The rule of the paper, ``merge``, lets lanes with a task of their own keep it and idle
lanes pop; ``queue`` has all push, and all pop when there is a full warp of tasks. Long tasks of an
inner loop are shared out before (:mod:`ccc.passes.context_collection.engagement`).
"""

from __future__ import annotations

from functools import partial
from typing import cast

from ccc.analysis.paths.model import AnnotatedLoop
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Block, Guard
from ccc.ir.operands import Register
from ccc.passes.context_collection.collector import Collector
from ccc.passes.context_collection.engagement import Engagement
from ccc.passes.context_collection.layout import Layout, Plan
from ccc.passes.context_collection.loop_chain import draining_of, enough_of, link_chains
from ccc.passes.context_collection.sequential_node import SequentialNode
from ccc.passes.context_collection.shared_tasks import SharedTasks
from ccc.pipeline import Kernel
from ccc.ptx.types import ALL_LANES
from ccc.snippet import Given, Snippet

QUEUES = ("queue", "pool")
"""The strategies in which all lanes push their tasks."""

COUNT_TASKS = Snippet("""
    .reg .pred %pending, %none;
    .reg .b32 %tasks, %mask;
    COLLECT:
        vote.sync.ballot.b32 %tasks, %pending, %mask;
        setp.eq.b32 %none, %tasks, 0;
        @%none bra NOBODY;                    // look whether there will be more
""")
"""The collection point: all members meet, and see who has a task."""

COUNT_TURNS = Snippet("""
    .reg .pred %pending, %fewer, %none;
    .reg .b32 %tasks, %members, %mask;
    COLLECT:
        vote.sync.ballot.b32 %tasks, %pending, %mask;
        setp.ne.b32 %fewer, %tasks, %members;
        @%fewer bra FEWER;
        mov.pred %pending, 0;
        bra RUN;                              // every member's task goes round
    FEWER:
        setp.eq.b32 %none, %tasks, 0;
        @%none bra NOBODY;
""")
"""The same for tasks that do some turns of a loop, and meet again: mostly all of them go on."""

TO_END = Snippet("""
    .reg .pred %pending, %mine, %draining, %some;
    .reg .b32 %top, %base;
        @!%draining bra GATHER;
        setp.ne.b32 %some, %top, %base;
        @%some bra GATHER;
        mov.pred %mine, %pending;
        mov.pred %pending, 0;
        @%mine bra TO_END;
        bra RESUME;
    GATHER:
""")
"""No member has an iteration left, and nothing is saved: each lane runs its own task to its end."""

STAY = Snippet("""
    .reg .pred %pending, %mine, %enough_tasks;
    .reg .b32 %tasks, %count, %bytes, %enough;
        mov.pred %mine, %pending;
        popc.b32 %count, %tasks;
        shl.b32 %bytes, %count, 2;
        setp.ge.u32 %enough_tasks, %bytes, %enough;
        @!%enough_tasks bra GATHER;
        mov.pred %pending, 0;
        @%mine bra RUN;
        bra RESUME;
    GATHER:
""")
"""Of a loop with paths inside, whose tasks meet after each turn: while every lane's task goes
round, there is nothing to save or to fetch. In the end any number of lanes is enough for that."""

TOGETHER = Snippet("""
    .reg .pred %pending, %mine, %some;
    .reg .b32 %mask;
    COLLECT:
        vote.sync.any.pred %some, %pending, %mask;
        @!%some bra NOBODY;
        mov.pred %mine, %pending;
        mov.pred %pending, 0;
        @%mine bra RUN;
        bra RESUME;                           // its own turns are over
""")
"""Of a loop whose tasks stay with their lanes: all go round as long as one of them has a turn."""

WHILE_SHARING = Snippet("""
    .reg .pred %sharing;
    COLLECT:
        @%sharing bra HEAD;
""")
"""While a task is shared out, the paths inside it lead to its next turn."""

PUSH = Snippet("""
    .reg .pred %pending;
    .reg .b32 %tasks, %below, %before, %count, %offset, %top, %address;
        @!%pending bra PUSHED;
        and.b32 %before, %tasks, %below;      // the tasks of the lanes before this one
        popc.b32 %count, %before;
        shl.b32 %offset, %count, 2;
        add.s32 %address, %top, %offset;
        call push, (%address);
    PUSHED:
""")
"""Lanes with a task write it above the top, in the order of their lanes."""

QUEUE = Snippet("""
    .reg .pred %pending, %few;
    .reg .b32 %tasks, %count, %bytes, %top, %limit;
        popc.b32 %count, %tasks;
        shl.b32 %bytes, %count, 2;
        add.s32 %top, %top, %bytes;
        mov.pred %pending, 0;
        setp.lt.u32 %few, %top, %limit;       // not yet a full warp of tasks
        @%few bra AFTER;
""")
"""Everyone has pushed; as soon as a full warp of tasks is there, all lanes pop."""

POP = Snippet("""
    .reg .pred %has;
    .reg .b32 %top, %base, %saved, %taken, %warp_bytes, %rank_bytes, %mask, %address;
    POP:
        sub.s32 %saved, %top, %base;
        min.u32 %taken, %saved, %warp_bytes;
        sub.s32 %top, %top, %taken;
        setp.lt.u32 %has, %rank_bytes, %taken;
        bar.warp.sync %mask;                  // behind the stores of earlier rounds
        @!%has bra TAKEN;
        add.s32 %address, %top, %rank_bytes;
        call pop, (%address);
    TAKEN:
        bar.warp.sync %mask;                  // before those of later ones
        @!%has bra RESUME;
""")
"""As many lanes as there are tasks, at most all, pop one each, and run it."""

POP_FULL = Snippet("""
    .reg .b32 %top, %warp_bytes, %rank_bytes, %mask, %address;
        sub.s32 %top, %top, %warp_bytes;
        bar.warp.sync %mask;                  // behind the stores of earlier rounds
        add.s32 %address, %top, %rank_bytes;
        call pop, (%address);
        bar.warp.sync %mask;                  // before those of later ones
""")
"""The same where there is a full warp of tasks each time."""

LAST = Snippet("""
    .reg .pred %has;
    .reg .b32 %top, %base, %saved, %rank_bytes, %mask, %address;
        sub.s32 %saved, %top, %base;
        setp.lt.u32 %has, %rank_bytes, %saved;
        bar.warp.sync %mask;                  // behind the stores of earlier rounds
        @!%has bra OVER;
        add.s32 %address, %base, %rank_bytes;
        call pop, (%address);
""")
"""In the end, where a copy of the path stands behind the loop: what is left is less than a full
warp of tasks."""

MERGE = Snippet("""
    .reg .pred %few;
    .reg .b32 %tasks, %count, %bytes, %top, %total, %limit;
        popc.b32 %count, %tasks;
        shl.b32 %bytes, %count, 2;
        add.s32 %total, %top, %bytes;
        setp.lt.u32 %few, %total, %limit;
        @!%few bra FILL;
""")
"""The rule of the paper: are there enough tasks, saved and fresh, to fill the warp?"""

SAVED = Snippet("""
    .reg .pred %pending;
    .reg .b32 %top, %total;
        mov.b32 %top, %total;
        mov.pred %pending, 0;
        bra AFTER;
""")
"""There are not: the fresh ones were pushed, too."""

FILL = Snippet("""
    .reg .pred %pending, %pops, %keeps, %has;
    .reg .b32 %tasks, %top, %base, %saved, %warp_bytes, %count, %bytes, %idle, %taken;
    .reg .b32 %others, %members, %mask, %below, %before, %offset, %address;
    FILL:
        sub.s32 %saved, %top, %base;
        popc.b32 %count, %tasks;
        shl.b32 %bytes, %count, 2;
        sub.s32 %idle, %warp_bytes, %bytes;
        min.u32 %taken, %saved, %idle;
        sub.s32 %top, %top, %taken;
        not.b32 %others, %tasks;
        and.b32 %others, %others, %members;
        and.b32 %before, %others, %below;     // the idle lanes before this one
        popc.b32 %count, %before;
        shl.b32 %offset, %count, 2;
        setp.lt.u32 %pops, %offset, %taken;
        not.pred %keeps, %pending;
        and.pred %pops, %pops, %keeps;
        or.pred %has, %pops, %pending;
        mov.pred %pending, 0;
        bar.warp.sync %mask;                  // behind the stores of earlier rounds
        @!%pops bra TAKEN;
        add.s32 %address, %top, %offset;
        call pop, (%address);
    TAKEN:
        bar.warp.sync %mask;                  // before those of later ones
        @%has bra RUN;
        bra RESUME;
""")
"""There are: lanes with a task keep it, the others pop one as long as there is one."""


class SequentialDispatch(Collector[SequentialNode]):
    """Dispatches the tasks of one path after the other's."""

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout):
        super().__init__(kernel, loop, layout)
        fresh = self.function.registers.fresh
        self.over = ""
        self.last: list[Block] = []
        self.limit = fresh("b32", "limit")  # of a stack, in bytes: a full warp's tasks
        repeats = any(node.path.repeats and not node.plan.saves_nothing for node in self.nodes)
        self.enough = fresh("b32", "enough") if repeats else self.warp_bytes
        self.chains = link_chains(self)
        for node in self.nodes:
            if node.plan.engage is not None:
                node.engagement = node.plan.engage.rewrite(self, node)

    def node(
        self, plan: Plan, number: int, parent: SequentialNode | None, run: str
    ) -> SequentialNode:
        """With a stack of its own."""
        fresh, label = self.function.registers.fresh, self.function.fresh_label
        pending, top = fresh("pred", "pending"), fresh("b32", "top")
        return SequentialNode(
            plan, number, parent, run,
            pending=pending, top=top, collect=label("collect"), pop=label("pop"),
        )  # fmt: skip

    def _snapshot_of(self, node: SequentialNode) -> str:
        """Lanes with a list that is too short to be shared out run it, and have no task."""
        snapshot = super()._snapshot_of(node)
        return (
            node.engagement.short(snapshot)
            if isinstance(node.engagement, SharedTasks)
            else snapshot
        )

    @property
    def meeting(self) -> str:
        """The collection point of the first path."""
        return self.nodes[0].fresh

    def prepare(self, emit: Emitter) -> None:
        """No task yet, and nothing saved."""
        if not all(node.plan.saves_nothing for node in self.nodes):
            emit.emit("add.s32", self.limit, self.base, self.warp_bytes)
        if self.enough is not self.warp_bytes:
            emit.emit("mov.b32", self.enough, self.warp_bytes)
        for node in self.nodes:
            self.forget(emit, node)
            if not node.plan.saves_nothing:
                emit.emit("mov.b32", node.top, self.base)
        for chain in self.chains:
            chain.prepare(emit)
        for node in self.nodes:
            if node.sharing:
                emit.emit("mov.pred", node.sharing, 0)
            if isinstance(node.engagement, SharedTasks):
                node.engagement.prepare(emit)

    def note(self, emit: Emitter, node: SequentialNode) -> None:
        """A flag for each path."""
        emit.emit("mov.pred", node.pending, ALL_LANES)

    def forget(self, emit: Emitter, node: SequentialNode) -> None:
        """The lane has no task of a path."""
        emit.emit("mov.pred", node.pending, 0)

    def dispatch(self) -> None:
        """One collection point for each path."""
        for node in self.nodes:
            if isinstance(node.engagement, SharedTasks):
                self.emit_run(node)
                node.engagement.emit()
                continue
            if node.engagement:
                node.engagement.emit()
            self._emit_collect(node)
            self.emit_run(node)
        if self.is_last_apart:
            self._copy_last()

    def drain(self, emit: Emitter) -> Emitter:
        """Outer paths first: their tasks may bring more for those inside them."""
        if self.is_last_apart:
            return self._emit_last(emit)
        if self.enough is not self.warp_bytes:  # from now on any task is enough
            emit.emit("mov.b32", self.enough, 4)
        for node in self.nodes:
            loop = node.outermost_loop
            self.if_saved(emit, node, node.pop if loop is None else loop.entrance)
        return emit

    @property
    def block_meets(self) -> bool:
        """Where it shares out lists."""
        return self.check_snippet is not super().check_snippet

    @property
    def check_snippet(self) -> Snippet:
        """Where the whole block shares tasks, all of it asks."""
        (first, *_) = self.nodes
        shared = isinstance(first.engagement, SharedTasks) and first.engagement.check
        return shared or super().check_snippet

    @property
    def is_last_apart(self) -> bool:
        """Where there is one path, its last round is the only one that is partly filled."""
        (first, *others) = self.nodes
        return not others and not first.path.repeats and first.plan.last_apart

    def _copy_last(self) -> None:
        """Copy the path, while its blocks lead where they led, for the last tasks."""
        (node,) = self.nodes
        self.over = self.function.fresh_label("over")
        known = len(self.function.blocks)
        node.heads = (node.run, self.function.fresh_label("run"))
        self.emit_run(node, node.heads[1], self.over)
        self.last = self.function.blocks[known:]
        del self.function.blocks[known:]

    def _emit_last(self, emit: Emitter) -> Emitter:
        """Less than a full warp of tasks is saved: as many lanes pop one, and run it."""
        (node,) = self.nodes
        LAST.emit(emit, self._scope(node), OVER=self.over)
        emit.emit("bra", node.heads[1])
        self.function.blocks += self.last
        return self.at(self.over)

    def if_saved(self, emit: Emitter, node: SequentialNode, target: str) -> None:
        """Go to ``target`` if tasks of a path are saved."""
        if node.plan.saves_nothing:
            return
        left = emit.define("setp.ne.b32", "pred", node.top, self.base, name="left")
        emit.emit("bra", target, guard=Guard(left))

    def _scope(self, node: SequentialNode) -> dict[str, Given]:
        """What the names in the snippets stand for."""
        return {
            "members": self.members, "mask": self.mask, "below": self.below, "base": self.base,
            "rank_bytes": self.rank_bytes, "warp_bytes": self.warp_bytes,
            "limit": self.limit, "enough": enough_of(self, node),
            "draining": draining_of(self, node),
            "pending": node.pending, "top": node.top,
            "push": node.plan.stack.store, "pop": partial(self._fetch, node),
            "COLLECT": node.collect, "POP": node.pop, "RUN": node.run,
            "RESUME": self.resume(node), "AFTER": self.after(node),
        }  # fmt: skip

    def _fetch(self, node: SequentialNode, emit: Emitter, address: Register) -> None:
        """Read a task, and what its context is computed from, where that is done once."""
        node.plan.stack.of(node.plan.popped).load(emit, address)
        if node.path.repeats:
            self.recompute(emit, node, dict(node.plan.snapshot))

    def _emit_collect(self, node: SequentialNode) -> None:
        """Count the tasks of this round, and save or run them."""
        emit, scope = self.here, self._scope(node)
        if isinstance(node.engagement, Engagement) and node.sharing:
            head = node.engagement.head
            WHILE_SHARING.emit(emit, sharing=node.sharing, HEAD=head, COLLECT=node.collect)
            del scope["COLLECT"]
        after = self.after(node)
        nobody = self.check if after == self.again else after
        idle = self.function.fresh_label("idle") if node.outermost_loop else None
        if node.plan.saves_nothing:
            assert idle is not None
            TOGETHER.emit(emit, scope, NOBODY=idle)
            self._emit_idle(self.at(idle), node, node.collect, nobody)
            return
        count = COUNT_TURNS if node.is_leaf_loop else COUNT_TASKS
        tasks = count.emit(emit, scope, NOBODY=idle or nobody)["tasks"]
        self.found_tasks(emit, node)
        fetch = ""
        if node.path.repeats:
            fetch = self.function.fresh_label("some")
            emit.start(fetch)
        if node.is_leaf_loop:
            TO_END.emit(emit, scope, TO_END=node.to_end)
        elif node.path.repeats:
            STAY.emit(emit, scope, tasks=tasks)
        if self.is_queued(node):
            PUSH.emit(emit, scope, tasks=tasks)
            QUEUE.emit(emit, scope, tasks=tasks)
        else:
            self._emit_merge(emit, node, scope, tasks)
            if self.is_last_apart:
                return
        self._emit_pop(emit, scope)
        emit.emit("bra", node.run)
        if idle:
            self._emit_idle(self.at(idle), node, fetch or node.pop, nobody)

    def is_queued(self, node: SequentialNode) -> bool:
        """Whether all lanes with a task push it."""
        return node.plan.strategy in QUEUES

    def found_tasks(self, emit: Emitter, node: SequentialNode) -> None:
        """Emit what members do at the collection point where some have a task."""

    def _emit_pop(self, emit: Emitter, scope: dict[str, Given]) -> None:
        """As many lanes as there are tasks pop one."""
        (POP_FULL if self.is_last_apart else POP).emit(emit, scope)

    def _emit_merge(
        self, emit: Emitter, node: SequentialNode, scope: dict[str, Given], tasks: Register
    ) -> None:
        if node.path.repeats or node.path.carries_parent:
            enough = enough_of(self, node)
            limit = emit.define("add.s32", "b32", self.base, enough, name="limit")
            scope = {**scope, "limit": limit}
        fill = self.function.fresh_label("fill")
        total = MERGE.emit(emit, scope, tasks=tasks, FILL=fill)["total"]
        PUSH.emit(emit, scope, tasks=tasks)
        SAVED.emit(emit, scope, total=total)
        FILL.emit(emit, scope, tasks=tasks, FILL=self.freed(emit, node, fill))

    def freed(self, emit: Emitter, node: SequentialNode, fill: str) -> str:  # noqa: ARG002
        """Emit at ``fill`` what members do before idle lanes pop, and where they go on then."""
        return fill

    def _emit_idle(self, emit: Emitter, node: SequentialNode, fetch: str, onward: str) -> None:
        """At the end, what is saved of a path in an inner loop must not be run from outside it:
        that loop would have two entries. So all come by, and look."""
        emit.emit("bra", onward, guard=Guard(draining_of(self, node), negated=True))
        self.if_saved(emit, node, fetch)
        for inner in node.inside:
            assert isinstance(inner, SequentialNode)
            self.if_saved(emit, inner, self._first_inside(node).entrance)
        if node.chain:
            node.chain.emit_end(emit, node)
        emit.emit("bra", onward)

    def _first_inside(self, node: SequentialNode) -> SequentialNode:
        return cast("SequentialNode", node.children[0])

    def after(self, node: SequentialNode) -> str:
        """Where all members go when this path has had its turn, and those inside it too.

        The paths of a loop are dispatched in one sequence, each before those inside it. Those
        inside an inner loop follow after each of its turns, since the next turn may find new tasks.
        """
        parent = cast("SequentialNode | None", node.parent)
        siblings = cast("list[SequentialNode]", parent.children) if parent else self.roots
        later = siblings[siblings.index(node) + 1 :]
        if later:
            return later[0].fresh
        if parent is None:
            return self.again
        return parent.collect if parent.path.repeats else self.after(parent)

    def resume(self, node: SequentialNode) -> str:
        """Where a lane goes when its task is done, or it had none."""
        if isinstance(node.engagement, SharedTasks):
            return node.engagement.join
        if node.chain and node.followers:
            return node.chain.next_of(node)
        if node.children:
            return self._first_inside(node).fresh
        return node.collect if node.path.repeats else self.after(node)
