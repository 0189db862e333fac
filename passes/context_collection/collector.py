"""Rewriting one annotated loop for :mod:`ccc.passes.context_collection`, which shows the result.

It is the same however tasks are served: members, the ways into the loop and round it, and the way
out. The code of tasks is in ``task_code.py``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from ccc.analysis.paths.last_test import LastTest, find_last_test
from ccc.analysis.paths.legality import holds_the_kernel
from ccc.analysis.paths.model import AnnotatedLoop
from ccc.analysis.paths.reductions import register_at
from ccc.ir.edit import (
    Copy,
    Emitter,
    jump,
    keep_blocks,
    make_explicit,
    put_behind,
    remove_jumps_to_next,
    retarget,
)
from ccc.ir.nodes import Block, Guard, Instruction
from ccc.ir.operands import Register
from ccc.passes.context_collection.context_stack import stack_name
from ccc.passes.context_collection.group_slots import groups_of
from ccc.passes.context_collection.layout import Layout, Plan
from ccc.passes.context_collection.members import COUNT_MEMBERS, CountedBranch, count_members
from ccc.passes.context_collection.node import N
from ccc.passes.context_collection.rejoining import rejoin
from ccc.passes.context_collection.short_loop import ShortLoop
from ccc.passes.context_collection.task_code import TaskCode
from ccc.passes.launch_shape import stack_warps, thread_number
from ccc.pipeline import Kernel
from ccc.ptx.types import ALL_LANES, WARP_SIZE
from ccc.snippet import Given, Snippet

FIND_BASE = Snippet("""
    .reg .b32 %thread, %warp, %share, %stack, %base;
        shr.u32 %warp, %thread, 5;
        mov.u32 %stack, STACK;
        mad.lo.s32 %base, %warp, %share, %stack;
""")
"""Before the loop: where the warp's share of shared memory begins."""

BEGIN = Snippet("""
    .reg .pred %live;
        mov.pred %live, -1;
""")
"""Before the loop: the lane has an iteration, as it came here."""

CHECK = Snippet("""
    .reg .pred %live, %draining, %some;
    .reg .b32 %mask;
        vote.sync.any.pred %some, %live, %mask;
        not.pred %draining, %some;            // nor an iteration: run what is saved, and leave
""")

AGAIN = Snippet("""
    .reg .pred %live, %draining;
        @%live bra ITERATION;
        @!%draining bra COLLECT;              // wait there for those with an iteration
""")
"""Where nobody has a task; the loop is entered here too, so that every way through it leads over
this block: however the tasks are served, the result has no loop with two entries."""

NO_OTHER = Snippet("""
    .reg .pred %draining;
        mov.pred %draining, -1;
""")
"""Where the iteration that all began with is the only one,"""

AGAIN_WITH_TASKS = Snippet("""
    .reg .pred %draining;
        @!%draining bra COLLECT;
""")
"""none is begun, but what other paths have to run."""

CHECK_ONCE = Snippet("""
    .reg .pred %live, %some;
    .reg .b32 %mask;
    CHECK:                                    // nobody has a task
        vote.sync.any.pred %some, %live, %mask;
        @!%some bra LAST;                     // nor an iteration
""")
"""The same where the code for the last tasks stands behind the loop,"""

AGAIN_ONCE = Snippet("""
    .reg .pred %live;
    AGAIN:
        @%live bra ITERATION;
        bra COLLECT;                          // wait there for those with an iteration
""")
"""and where it is entered."""


class Collector(TaskCode[N]):
    """Rewrites one annotated loop; who inherits says how tasks are served.

    ``entering`` are the blocks of what is done before the loop. ``members`` are those who meet,
    and ``mask`` is what they are told by where they do: all lanes,
    as a constant, where all that have not ended are members, since that takes no register.
    ``base`` is the warp's share of shared memory, and ``users`` are the further instructions that
    compute with its size. ``rank_bytes`` and ``warp_bytes`` are the size of
    one context word for the members before a lane, and for all of them.
    """

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout):
        super().__init__(kernel, loop, layout)
        fresh = self.function.registers.fresh
        self.members = fresh("b32", "members")
        self.mask: Register | int = ALL_LANES if loop.reconvergence.of_all else self.members
        self.below = fresh("b32", "below")
        self.rank_bytes = fresh("b32", "rank_bytes")
        self.warp_bytes = fresh("b32", "warp_bytes")
        self.base = fresh("b32", "base")
        self.live = fresh("pred", "live")
        self.draining = fresh("pred", "draining")
        make_explicit(self.function)
        self.originals = list(self.function.blocks)
        self.exits = loop.loop.exits(self.facts.graph)
        self.targets = sorted({target for _, target in self.exits})
        self.base_instruction: Instruction | None = None
        self.exit_number = fresh("b32", "exit") if len(self.targets) > 1 else None
        self.enter = self.function.fresh_label("enter")
        self.again = self.function.fresh_label("again")
        self.check = self.function.fresh_label("check")
        self.nodes: list[N] = []
        self.users: list[Instruction] = []
        self.counted: list[CountedBranch] = []
        self.leaving: frozenset[str] = frozenset()
        self.entering: frozenset[str] = frozenset()
        self.last_test = self._last_test()
        self.short: ShortLoop | None = None
        for plan in layout.plans:
            parent = next((n for n in self.nodes if n.path is plan.path.parent), None)
            run = self.function.fresh_label("run")
            node = self.node(plan, len(self.nodes), parent, run)
            if plan.turns > 1:
                node.to_end = self.function.fresh_label("to_end")
            self.nodes.append(node)
            if parent is not None:
                parent.children.append(node)
        for node in self.nodes:
            node.followers = [one for one in self.nodes if node.path.leads_to(one.path)]

    @abstractmethod
    def node(self, plan: Plan, number: int, parent: N | None, run: str) -> N:
        """The node of a path."""

    @property
    def roots(self) -> list[N]:
        """The paths that lie in no other one."""
        return [node for node in self.nodes if node.parent is None]

    def run(self) -> Instruction | None:
        """Do it; returns the instruction that computes the base of the warp's stack, if it has
        one."""
        # Copies first, while the blocks still lead where they led.
        entered = {node: self._snapshot_of(node) for node in self.roots}
        self.short = self._short()
        leaving = {target: self._leave(number) for number, target in enumerate(self.targets)}
        self.leaving = frozenset(leaving.values())
        self.dispatch()
        self.note_originals()
        earlier = self._labels
        self._enter()
        self.entering = self._labels - earlier
        for node, snapshot in entered.items():
            self._redirect_path(node, snapshot)
        self._redirect_iterations(leaving)
        self._emit_round()
        if self.short is not None:
            self.function.blocks += self.short.blocks
        self.unroll()
        self._finish()
        return self.base_instruction

    @property
    def _labels(self) -> frozenset[str]:
        return frozenset(block.label for block in self.function.blocks)

    def note_originals(self) -> None:
        """The paths of the loop as it was are copies of theirs."""
        for node in self.nodes if self.originals_of else ():
            originals = (labels[node.path.entry] for labels in self.originals_of)
            node.heads = (*(node.heads or (node.run,)), *originals)

    @property
    @abstractmethod
    def meeting(self) -> str:
        """The label of the collection point, where every iteration ends."""

    @property
    def iteration(self) -> str:
        """The label where an iteration begins."""
        return self.loop.loop.header

    @abstractmethod
    def prepare(self, emit: Emitter) -> None:
        """Emit what is to be done before the loop."""

    @abstractmethod
    def dispatch(self) -> None:
        """Emit the collection point, where all members meet, and the tasks that they run there."""

    @abstractmethod
    def drain(self, emit: Emitter) -> Emitter:
        """Emit where to go when no member has an iteration left, and nobody has a task.

        Behind it, at the emitter that it returns, nothing is saved either.
        """

    @property
    def is_last_apart(self) -> bool:
        """Whether the last tasks, less than fill a warp, have code of their own."""
        return False

    @property
    def check_snippet(self) -> Snippet:
        """How members ask one another whether one of them has an iteration."""
        return CHECK

    @property
    def first_round(self) -> str:
        """Where the loop is entered."""
        return self.iteration if self.last_test or self.is_only_iteration else self.again

    @property
    def is_only_iteration(self) -> bool:
        """Whether lanes have no iteration but the one that they begin with, and need not ask."""
        alone = self.kernel.blocks_stay and holds_the_kernel(self.loop, self.facts)
        return alone and not self.block_meets and not self.is_last_apart

    def _last_test(self) -> LastTest | None:
        """What members ask to know whether they have an iteration, where no flag says so.

        A flag takes a register, which is one too many where lanes add up in lists that they share
        out, and ptxas is told to keep the original's warps (:mod:`.launch_shape`).
        """
        if not any(plan.sums and not plan.stack.entries for plan in self.layout.plans):
            return None
        test = find_last_test(self.loop.loop, self.facts)
        return test if test and {source for source, _ in self.exits} == {test.latch} else None

    def _ask(self, emit: Emitter) -> None:
        """Emit whether the lane has an iteration, if no flag says so."""
        if self.last_test is not None:
            test = self.last_test
            name = f"setp.{test.relation}.{test.type}"
            emit.emit(name, self.live, test.counter, test.bound)

    @property
    def going(self) -> str:
        """Where members with an iteration begin it."""
        return self.again

    def before_again(self, emit: Emitter) -> None:
        """Emit what members do that have no task, before the next round."""

    def before(self, emit: Emitter) -> None:
        """Emit what members do first of all: too few iterations are not worth the trouble, and
        large blocks have not a stack for each warp."""
        assert self.short_loop is not None or self.large is None
        if self.short_loop is not None:
            self.short_loop.pass_by(emit, self.mask)

    @property
    def short_loop(self) -> ShortLoop | None:
        """The loop as it was, if some pass by."""
        return self.short

    def _short(self) -> ShortLoop | None:
        """The loop as it was, if the policy wants that for few iterations, or some warps have no
        stack."""
        loop = self.loop.loop
        few, grid = self.kernel.few.get(loop.header), self._grid
        end = grid or find_last_test(loop, self.facts, ordered=False, counts=True)
        if few is None or self.block_meets:
            end = None
        large = self.large
        if end is None and large is None:
            return None
        return ShortLoop(loop, self.facts, end, few or 0, large)

    @property
    def _grid(self) -> Mapping[str, Register] | None:
        """The blocks that the loop goes over, if it does."""
        return self.kernel.grids.get(self.loop.marker.identifier)

    @property
    def large(self) -> int | None:
        """The threads of a block for which there are stacks, where it may have more."""
        is_limited = bool(self.layout.share) and self.kernel.stack_warps is not None
        return stack_warps(self.kernel) * WARP_SIZE if is_limited else None

    @property
    def block_meets(self) -> bool:
        """Whether all warps of the block meet in the loop, so that none may pass by."""
        return False

    @property
    def originals_of(self) -> list[Mapping[str, str]]:
        """The labels of each copy of the loop as it was."""
        return [] if self.short is None else [self.short.labels]

    def unroll(self) -> None:
        """Put several iterations in a row, where that is done."""

    # -- before the loop ------------------------------------------------------------------------
    def _enter(self) -> None:
        """Find the member lanes, each one's rank among them, and the warp's share of the stack."""
        loop, emit = self.loop.loop, self.at(self.enter)
        sources = self.facts.graph.predecessors(loop.header)
        edges_in = [self.facts.blocks[s] for s in sources if s not in loop.blocks]
        # Branches that lead straight to the loop are told by that, so they must still do.
        loops = [record.path.loop.loop for record in self.kernel.records if record.path.loop]
        self.counted = count_members(
            self.function, self.facts, self.loop.reconvergence, emit, self.members,
            loop, {other.header for other in loops},
        )  # fmt: skip
        for source in edges_in:
            retarget(self.function, source, loop.header, self.enter)
        if loop.header == self.facts.entry:
            start = Block(self.function.fresh_label("start"), [jump(self.enter)], False)
            self.function.blocks.insert(0, start)
        self.before(emit)
        COUNT_MEMBERS.emit(
            emit, members=self.members, below=self.below,
            rank_bytes=self.rank_bytes, warp_bytes=self.warp_bytes,
        )  # fmt: skip
        if self.layout.share:
            self._find_base(emit)
        if self.last_test is None:
            BEGIN.emit(emit, live=self.live)
        if not self.is_last_apart:
            emit.emit("mov.pred", self.draining, 0)
        self.prepare(emit)
        for plan in self.layout.plans:
            plan.stack.clear_frame(emit)
        # Whoever gets a task of another lane has met all members since then.
        for slots in self.slots:
            slots.clear(emit, self.base)
        emit.emit("bra", self.first_round)

    def _find_base(self, emit: Emitter) -> None:
        FIND_BASE.emit(
            emit, thread=thread_number(emit), STACK=stack_name(self.function),
            share=self.layout.share, base=self.base,
        )  # fmt: skip
        self.base_instruction = next(reversed(list(emit.block.instructions)))

    # -- the loop's body ------------------------------------------------------------------------

    def _snapshot_of(self, node: N) -> str:
        """Where a lane that comes to a path takes a snapshot, and goes on with its iteration."""
        region = node.path.region
        onward = self._owner(node, Copy({s: s for s in self.targets_of(region)}))
        return self._snapshot(node, {}, {}, onward)

    def _redirect_path(self, node: N, snapshot: str) -> None:
        """Lanes that come to a path take a snapshot and go on."""
        path = node.path
        for source in list(self.facts.graph.predecessors(path.entry)):
            if source not in path.blocks:
                retarget(self.function, self.facts.blocks[source], path.entry, snapshot)

    def _redirect_iterations(self, leaving: Mapping[str, str]) -> None:
        """What ended an iteration, or the loop, now leads to the collection point."""
        loop = self.loop.loop
        originals = {block.label for block in self.originals}
        own = {*self.entering, self.again, self.check}
        for block in self.function.blocks:
            is_new = block.label not in originals and block.label not in own
            if block.label in loop.blocks or is_new:
                retarget(self.function, block, loop.header, self.meeting)
                for target, leave in leaving.items():
                    retarget(self.function, block, target, leave)

    def _leave(self, number: int, meeting: str = "") -> str:
        """A lane without a next iteration stays, and remembers where it wanted to go."""
        block, emit = self.block("leave")
        if self.last_test is None:
            emit.emit("mov.pred", self.live, 0)
        if self.exit_number:
            emit.emit("mov.b32", self.exit_number, number)
        emit.emit("bra", meeting or self.meeting)
        return block.label

    # -- the tasks ------------------------------------------------------------------------------

    def _emit_round(self) -> None:
        """Lanes with an iteration run it; in the end, what is saved is run, and all leave."""
        emit = self.here
        scope: dict[str, Given] = {
            "live": self.live, "draining": self.draining, "mask": self.mask,
            "CHECK": self.check, "AGAIN": self.going,
            "ITERATION": self.iteration, "COLLECT": self.meeting,
        }  # fmt: skip
        if self.is_last_apart:
            last = self.function.fresh_label("last")
            CHECK_ONCE.emit(emit, scope, LAST=last)
            self.before_again(emit)
            AGAIN_ONCE.emit(emit, scope)
            emit.start(last)
        else:
            only = self.is_only_iteration
            emit.start(self.check)
            self._ask(emit)
            (NO_OTHER if only else self.check_snippet).emit(emit, scope)
            self.before_again(emit)
            emit.start(self.going)
            self._ask(emit)
            (AGAIN_WITH_TASKS if only else AGAIN).emit(emit, scope)
        self._emit_exits(self.drain(emit))

    def _emit_exits(self, emit: Emitter) -> None:
        """Every lane leaves by the exit that it had chosen, and sees what others wrote for it.

        The barrier stays where nothing behind the loop looks: without it ptxas has lanes meet once
        more in each round (samples/synthetic on an H200, 2026-11-22: 0.453 ms instead of 0.430).
        """
        emit.emit("bar.warp.sync", self.mask)
        *others, last = self.targets
        for number, target in enumerate(others):
            assert self.exit_number is not None
            chosen = emit.define("setp.eq.b32", "pred", self.exit_number, number, name="chosen")
            emit.emit("bra", self._finished(target), guard=Guard(chosen))
        emit.emit("bra", self._finished(last))

    def _finished(self, target: str) -> str:
        """The way to an exit on which a lane takes what others added to its accumulators."""
        places = ((s, register_at(s.accumulator, target, self.facts)) for s in self.slots)
        held = {slots: register for slots, register in places if register is not None}
        if not held:
            return target
        block, emit = self.block("finish")
        for slots, register in held.items():
            if slots.accumulator.group is None:
                slots.finish(emit, self.base, register)
        for group in groups_of(held):
            group.take(emit, self.base)
        emit.emit("bra", target)
        return block.label

    def _finish(self) -> None:
        """Drop the paths' old blocks, and write down what was done."""
        old = {block.label for block in self.originals}
        rejoin(self.function, self.facts, self.loop.loop, self.counted, old, self.span)
        put_behind(self.function, self.loop.loop.header, self.loop.loop.blocks, self.enter, old)
        remove_jumps_to_next(self.function)
        self.kernel.changed()
        keep_blocks(self.function, set(self.kernel.facts.graph))
        self.kernel.changed()
        for node in self.nodes:
            node.settle()
