"""Serving the paths of a loop in a row, each from a stack of its own.

At the collection point the paths have their turns one after the other, outer paths before those
inside them. The rule of the paper, ``merge``, lets lanes with a task of their own keep it and idle
lanes pop; ``queue`` has all push, and all pop when there is a full warp of tasks. Long tasks of an
inner loop are shared out before (:mod:`ccc.passes.context_collection.engagement`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ccc.analysis.paths.model import AnnotatedLoop, Path
from ccc.ir.edit import Emitter, add_block
from ccc.ir.nodes import Block
from ccc.ir.operands import Register
from ccc.passes.context_collection.collector import Collector, bytes_of
from ccc.passes.context_collection.engagement import Engagement
from ccc.passes.context_collection.layout import Layout, Plan
from ccc.pipeline import Kernel
from ccc.ptx.types import ALL_LANES


class Row(Collector):
    """Serves one path after the other."""

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout):
        super().__init__(kernel, loop, layout)
        fresh = self.function.registers.fresh
        self.limit = fresh("b32")
        self.enough = fresh("b32")
        self.pending = [fresh("pred") for _ in self.plans]
        self.top = [fresh("b32") for _ in self.plans]
        self.collect = [add_block(self.function, "collect") for _ in self.plans]
        self.pop = [add_block(self.function, "pop") for _ in self.plans]
        self.engagements = dict(self._engagements())

    def _engagements(self) -> Iterator[tuple[int, Engagement]]:
        for number, plan in enumerate(self.plans):
            if plan.engage is not None:
                yield number, plan.engage.rewrite(self, number)

    def _way_to(self, number: int) -> str:
        """Where to go with fresh tasks of a path."""
        engagement = self.engagements.get(number)
        return engagement.block.label if engagement else self.collect[number].label

    @property
    def meeting(self) -> str:
        """The collection point of the first path."""
        return self._way_to(0)

    def prepare(self, emit: Emitter) -> None:
        """No task yet, and nothing saved."""
        emit.emit("add.s32", self.limit, self.base, self.full)
        if any(plan.path.repeats for plan in self.plans):
            emit.emit("mov.b32", self.enough, self.full)
        for pending, top in zip(self.pending, self.top, strict=True):
            emit.emit("mov.pred", pending, 0)
            emit.emit("mov.b32", top, self.base)
        for engagement in self.engagements.values():
            if engagement.sharing:
                emit.emit("mov.pred", engagement.sharing, 0)

    def note(self, emit: Emitter, number: int) -> None:
        """A flag for each path."""
        emit.emit("mov.pred", self.pending[number], ALL_LANES)

    def serve(self) -> None:
        """One collection point for each path."""
        for number in range(len(self.plans)):
            self._emit_collect(number)
        for engagement in self.engagements.values():
            engagement.emit()

    def drain(self, emit: Emitter) -> Emitter:
        """Outer paths first: their tasks may bring more for those inside them."""
        if any(plan.path.repeats for plan in self.plans):  # from now on any task is enough
            emit.emit("mov.b32", self.enough, 4)
        for number in range(len(self.plans)):
            loop = self._loop_around(number)
            target = self.pop[number].label if loop is None else self._entrance(loop)
            emit = self._if_saved(number, emit, target)
        return emit

    def _entrance(self, number: int) -> str:
        """Where to go for the saved tasks of a path."""
        engagement = self.engagements.get(number)
        return engagement.entrance if engagement else self.collect[number].label

    def _if_saved(self, number: int, emit: Emitter, target: str) -> Emitter:
        """Go to ``target`` if tasks of a path are saved; returns where to go on if not."""
        left = emit.define("setp.ne.b32", "pred", self.top[number], self.base)
        following, emit_following = self.block("done")
        emit.branch(left, target, following.label)
        return emit_following

    def _loop_around(self, number: int) -> int | None:
        """The outermost path that repeats among a path and those it lies in."""
        around = (n for n in range(number + 1) if self._holds(n, number))
        return next((n for n in around if self.plans[n].path.repeats), None)

    def _emit_collect(self, number: int) -> None:
        """Count the tasks of this round; without any, look whether there will be more."""
        plan = self.plans[number]
        emit = self._unless_sharing(number, self.emitter(self.collect[number]))
        pending = self.pending[number]
        tasks = emit.define("vote.sync.ballot.b32", "b32", pending, self.members)
        none = emit.define("setp.eq.b32", "pred", tasks, 0)
        some, emit_some = self.block("some")
        after = self._after(number)
        onward = self.check.label if after == self.again.label else after
        in_loop = self._loop_around(number) is not None
        idle, emit_idle = self.block("idle") if in_loop else (None, None)
        emit.branch(none, idle.label if idle else onward, some.label)
        if plan.path.repeats:
            emit_some = self._stay(number, emit_some, tasks)
        if emit_idle:
            self._emit_idle(number, emit_idle, emit_some.block, onward)
        if plan.discipline == "queue":
            self._emit_queue(number, emit_some, tasks)
        else:
            self._emit_merge(number, emit_some, tasks)
        self._emit_pop(number)

    def _unless_sharing(self, number: int, emit: Emitter) -> Emitter:
        """While a task is shared out, the paths inside it lead to its next turn."""
        engagement = self.engagements.get(number)
        if engagement is None or engagement.sharing is None or engagement.head is None:
            return emit
        alone, emit_alone = self.block("alone")
        emit.branch(engagement.sharing, engagement.head.label, alone.label)
        return emit_alone

    def _emit_idle(self, number: int, emit: Emitter, fetch: Block, onward: str) -> None:
        """At the end, what is saved of a path in an inner loop must not be run from outside it:
        that loop would have two entries. So all come by, and look."""
        rest, emit_rest = self.block("rest")
        emit.branch(self.draining, rest.label, onward)
        repeats = self.plans[number].path.repeats
        mine = fetch if repeats else self.pop[number]
        emit_rest = self._if_saved(number, emit_rest, mine.label)
        for inner in range(number + 1, len(self.plans)):
            if self._holds(number, inner):
                emit_rest = self._if_saved(inner, emit_rest, self._entrance(number + 1))
        emit_rest.emit("bra", onward)

    def _stay(self, number: int, emit: Emitter, tasks: Register) -> Emitter:
        """While every lane's task goes round, there is nothing to save or to fetch.

        In the end, when nothing is left to fetch, that holds for any number of lanes.
        """
        full, emit_full = self.block("full")
        gather, emit_gather = self.block("gather")
        mine = emit.define("mov.pred", "pred", self.pending[number])
        enough = emit.define("setp.ge.u32", "pred", bytes_of(emit, tasks), self.enough)
        emit.branch(enough, full.label, gather.label)
        emit_full.emit("mov.pred", self.pending[number], 0)
        emit_full.branch(mine, self.run_blocks[number].label, self.landing(number))
        return emit_gather

    def _after(self, number: int) -> str:
        """Where all members go when this path has had its turn, and those inside it too.

        The paths of a loop are served in one row, each before those inside it. Those inside an
        inner loop are served after each of its turns, since the next turn may find new tasks.
        """
        path = self.plans[number].path
        later = [n for n in range(number + 1, len(self.plans)) if not self._holds(number, n)]
        if later and self.plans[later[0]].path.parent is path.parent:
            return self._way_to(later[0])
        if path.parent is None:
            return self.again.label
        outer = next(n for n, plan in enumerate(self.plans) if plan.path is path.parent)
        return self.collect[outer].label if path.parent.repeats else self._after(outer)

    def _has_inner(self, number: int) -> bool:
        """Whether other paths lie in a path: they follow it."""
        inside = self.plans[number + 1 : number + 2]
        return bool(inside) and inside[0].path.parent is self.plans[number].path

    def _holds(self, outer: int, number: int) -> bool:
        """Whether a path lies in another one."""
        path: Path | None = self.plans[number].path
        while path is not None and path is not self.plans[outer].path:
            path = path.parent
        return path is not None

    def landing(self, number: int) -> str:
        """Where a lane goes when its task is done, or it had none."""
        if self._has_inner(number):
            return self._way_to(number + 1)
        if self.plans[number].path.repeats:
            return self.collect[number].label
        return self._after(number)

    def _emit_queue(self, number: int, emit: Emitter, tasks: Register) -> None:
        """Everyone pushes; as soon as a full warp of tasks is there, all lanes pop."""
        top = self.top[number]
        pushed, emit_pushed = self.block("pushed")
        self._push(number, emit, tasks, pushed.label)
        emit_pushed.emit("add.s32", top, top, bytes_of(emit_pushed, tasks))
        emit_pushed.emit("mov.pred", self.pending[number], 0)
        few = emit_pushed.define("setp.lt.u32", "pred", top, self.limit)
        emit_pushed.branch(few, self._after(number), self.pop[number].label)

    def _push(self, number: int, emit: Emitter, tasks: Register, after: str) -> None:
        """Lanes with a task write it above the top, in the order of their lanes."""
        plan = self.plans[number]
        push, emit_push = self.block("push")
        emit.branch(self.pending[number], push.label, after)
        place = self.place(emit_push, tasks)
        address = emit_push.define("add.s32", "b32", self.top[number], place)
        plan.stack.store(emit_push, address)
        emit_push.emit("bra", after)

    def _emit_pop(self, number: int) -> None:
        """As many lanes as there are tasks, at most all, pop one each and run it.

        The barriers keep the loads behind the stores of earlier rounds, and before later ones.
        """
        emit = self.emitter(self.pop[number])
        top, plan = self.top[number], self.plans[number]
        saved = emit.define("sub.s32", "b32", top, self.base)
        taken = emit.define("min.u32", "b32", saved, self.full)
        emit.emit("sub.s32", top, top, taken)
        has = emit.define("setp.lt.u32", "pred", self.rank, taken)
        emit.emit("bar.warp.sync", self.members)
        self._load(plan, emit, has, top, self.rank)
        self._run(number, has)

    def _load(
        self, plan: Plan, emit: Emitter, has: Register, top: Register, place: Register
    ) -> None:
        """Lanes that ``has`` holds for read the task at ``place`` above the top."""
        take, emit_take = self.block("take")
        self._taken, _ = self.block("taken")
        emit.branch(has, take.label, self._taken.label)
        address = emit_take.define("add.s32", "b32", top, place)
        plan.stack.load(emit_take, address)
        emit_take.emit("bra", self._taken.label)

    def _run(self, number: int, has: Register) -> None:
        """Go to the path with the lanes that have a task now."""
        emit = self.emitter(self._taken)
        emit.emit("bar.warp.sync", self.members)
        emit.branch(has, self.run_blocks[number].label, self.landing(number))

    def _emit_merge(self, number: int, emit: Emitter, tasks: Register) -> None:
        """Idle lanes pop if that fills the warp; otherwise the lanes with a task push."""
        top = self.top[number]
        total = emit.define("add.s32", "b32", top, bytes_of(emit, tasks))
        limit = self.limit
        if self.plans[number].path.repeats:
            limit = emit.define("add.s32", "b32", self.base, self.enough)
        few = emit.define("setp.lt.u32", "pred", total, limit)
        save, emit_save = self.block("save")
        fill, emit_fill = self.block("fill")
        emit.branch(few, save.label, fill.label)
        saved, emit_saved = self.block("saved")
        self._push(number, emit_save, tasks, saved.label)
        emit_saved.emit("mov.b32", top, total)
        emit_saved.emit("mov.pred", self.pending[number], 0)
        emit_saved.emit("bra", self._after(number))
        self._fill(number, emit_fill, tasks)

    def _fill(self, number: int, emit: Emitter, tasks: Register) -> None:
        """Lanes with a task keep it, the others pop one as long as there is one."""
        top, plan, pending = self.top[number], self.plans[number], self.pending[number]
        saved = emit.define("sub.s32", "b32", top, self.base)
        idle = emit.define("sub.s32", "b32", self.full, bytes_of(emit, tasks))
        taken = emit.define("min.u32", "b32", saved, idle)
        emit.emit("sub.s32", top, top, taken)
        others = emit.define("not.b32", "b32", tasks)
        emit.emit("and.b32", others, others, self.members)
        place = self.place(emit, others)
        pops = emit.define("setp.lt.u32", "pred", place, taken)
        keeps = emit.define("not.pred", "pred", pending)
        emit.emit("and.pred", pops, pops, keeps)
        has = emit.define("or.pred", "pred", pops, pending)
        emit.emit("mov.pred", pending, 0)
        emit.emit("bar.warp.sync", self.members)
        self._load(plan, emit, pops, top, place)
        self._run(number, has)
