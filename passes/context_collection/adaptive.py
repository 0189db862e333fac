"""Adaptive collection: a warp collects or runs the loop as it was, whichever has cost less so far.

What collecting brings depends on how many lanes take the path, which nobody may know before. So
members keep a score: what collection has cost more than the loop as it was would have, in issue
slots. Where it reaches a limit, each lane runs so many of its iterations by a copy of the loop as
it was; then all members meet again, and a few rounds tell whether that goes on.

              <all members have few iterations? the loop as it was, and no more>
    BACK:     score = not far from the limit   // the loop is entered here
    AGAIN:    to LOOP with an iteration, to COLLECT without

    COLLECT:  all members meet; nobody has a task? to CHECK
              score += what their exchange costs - what they would have at once
              <as ever: push; a full warp of tasks? pop and run>
    RAN:      score += what such a run costs
              bra WEIGH;
    CHECK:    nobody has a task: has anybody an iteration? score += what that costs
    WEIGH:    score above the limit? to PLAIN
              bra AGAIN;

    PLAIN:    <so many iterations of the loop as it was; done? remember the exit>
              bra BACK;                        // to AGAIN: without tasks a round would say nothing

The score is the same in all members. It has a bound below, so that what was long ago does not
count. Tasks that are saved stay where they are meanwhile. What PLAIN leads to is in
:mod:`ccc.passes.context_collection.plain_loop`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ccc.analysis.paths.model import AnnotatedLoop
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard
from ccc.ir.operands import Register
from ccc.passes.context_collection.batches import OWN, Batches
from ccc.passes.context_collection.layout import Layout
from ccc.passes.context_collection.plain_loop import PlainLoop
from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
from ccc.passes.context_collection.sequential_node import SequentialNode
from ccc.passes.context_collection.short_loop import ShortLoop
from ccc.passes.context_collection.task_counts import reduces
from ccc.passes.context_collection.weights import Weights
from ccc.pipeline import Kernel
from ccc.snippet import Snippet

SOME = Snippet(
    """
    .reg .b32 %score;
        add.s32 %score, %score, SOME;
""",
    "SOME",
)
"""At the collection point, some lanes have a task: it would have been run at once."""

ANY = Snippet("""
    .reg .pred %pending, %any;
    .reg .b32 %mask;
        vote.sync.any.pred %any, %pending, %mask;
""")
"""Of several iterations: whether some lanes have a task of the first one."""

SOME_OF_A_BATCH = Snippet(
    """
    .reg .pred %any;
    .reg .b32 %score;
        add.s32 %score, %score, SOME;
        @!%any add.s32 %score, %score, PLAIN; // nobody would have run the path
""",
    "SOME",
    "PLAIN",
)
"""The same of several iterations, where some lanes have a task of one of them at least, and the
first one stands for all."""

RAN = Snippet(
    """
    .reg .b32 %score;
        add.s32 %score, %score, RUN;
""",
    "RUN",
)
"""Behind the path, when a full warp of tasks was run."""

WEIGH = Snippet(
    """
    .reg .pred %over;
    .reg .b32 %score;
        add.s32 %score, %score, IDLE;         // nobody had a task
    WEIGH:
        max.s32 %score, %score, LOWEST;
        setp.gt.s32 %over, %score, LIMIT;
        @%over bra PLAIN;
""",
    "IDLE",
    "LOWEST",
    "LIMIT",
)
"""Behind that, and where nobody has a task: has collecting cost more than it brought?"""

DRAINING = Snippet(
    """
    .reg .pred %draining;
    .reg .b32 %score;
        @%draining mov.b32 %score, LOWEST;
""",
    "LOWEST",
)
"""Nor has anybody an iteration: what is saved is run, and not weighed before."""

UNION = Snippet("""
    .reg .pred %none;
    .reg .b32 %tasks, %every, %mask;
        redux.sync.or.b32 %every, %tasks, %mask;
        setp.eq.b32 %none, %every, 0;
        @%none bra CHECK;
""")
"""Where lanes can be asked for all their bits at once: the iterations that some lane has a task
of."""

EXACTLY = Snippet(
    """
    .reg .b32 %score, %every, %runs;
        popc.b32 %runs, %every;
        mad.lo.s32 %score, %runs, PLAIN, %score;
        add.s32 %score, %score, EXCHANGE;
""",
    "PLAIN",
    "EXCHANGE",
)
"""Then it is known how often the path would have been run at once."""


class AdaptiveDispatch(SequentialDispatch):
    """Rewrites a loop, and keeps it as it was beside that."""

    def __init__(
        self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout, weights: Weights, *more: int
    ):
        super().__init__(kernel, loop, layout, *more)
        fresh = self.function.fresh_label
        self.weights = weights
        self.score = self.function.registers.fresh("b32", "score")
        self.plain, self.back = fresh("plain"), fresh("back")
        self.is_only = len(self.nodes) == 1
        self.weigh = fresh("weigh") if self.is_only else self.again
        self.begin = self.again if self.is_only else fresh("begin")
        leaving = {target: self._leave(i, self.back) for i, target in enumerate(self.targets)}
        self.plain_loop = PlainLoop(loop.loop, self.facts, leaving, self.back, weights, self.large)

    @property
    def first_round(self) -> str:
        """Where a stretch of the loop as it was leads back to. So those rounds that collect are a
        loop of their own, and ptxas does not put the other one between them."""
        return self.back

    @property
    def short_loop(self) -> ShortLoop | None:
        """That of the copies, which stands behind them."""
        return self.plain_loop.short

    def _short(self) -> None:
        """No other one."""

    @property
    def originals_of(self) -> list[Mapping[str, str]]:
        """All copies, whether for some iterations or for few."""
        return list(self.plain_loop.all_labels)

    def found_tasks(self, emit: Emitter, node: SequentialNode) -> None:
        """What their exchange costs, and what they would have cost at once."""
        mine = self.weights.paths[node.number]
        SOME.of(SOME=mine.exchange - mine.plain).emit(emit, score=self.score)

    def ran(self, emit: Emitter, node: SequentialNode) -> None:
        """What a run costs."""
        RAN.of(RUN=self.weights.paths[node.number].run).emit(emit, score=self.score)

    def over_to(self, node: SequentialNode) -> str:
        """To where the score is looked at, behind the last path."""
        onward = self.after(node)
        return self.weigh if onward == self.again else onward

    @property
    def going(self) -> str:
        """Of several paths, whoever comes to the next round looks at the score."""
        return self.begin

    def before_again(self, emit: Emitter) -> None:
        """Look at the score also where nobody has a task, but not any more in the end."""
        weights = self.weights
        if not self.is_last_apart:
            lowest = DRAINING.of(LOWEST=-weights.limit)
            lowest.emit(emit, score=self.score, draining=self.draining)
        weigh = WEIGH.of(IDLE=weights.idle, LOWEST=-weights.limit, LIMIT=weights.limit)
        weigh.emit(emit, score=self.score, WEIGH=self.weigh, PLAIN=self.plain)

    def _emit_round(self) -> None:
        """Behind that: the loop as it was, and the ways to it and back."""
        super()._emit_round()
        emit = self.at(self.plain)
        emit.emit("bra", self.back, guard=Guard(self.live, negated=True))
        emit.start(self.function.fresh_label("stretch"))
        self.plain_loop.emit(emit)
        emit = self.at(self.back)
        emit.emit("mov.b32", self.score, self.weights.again)
        for node in self.nodes:
            self.forget(emit, node)
        self.go_back(emit)
        emit.emit("bra", self.again)

    def go_back(self, emit: Emitter) -> None:
        """Emit what is to be found out anew behind iterations of the loop as it was."""


class AdaptiveQueue(AdaptiveDispatch):
    """With an exchange for each iteration."""

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout, weights: Weights):
        super().__init__(kernel, loop, layout, weights)
        self.judges = {node: self.function.fresh_label("judge") for node in self.nodes}

    def is_queued(self, node: SequentialNode) -> bool:  # noqa: ARG002
        """Always."""
        return True

    def resume(self, node: SequentialNode) -> str:
        """There the run is added to the score."""
        return self.judges[node]

    def emit_run(self, node: SequentialNode, run: str = "", onward: str = "") -> None:
        """The path, and behind it what such a run costs."""
        super().emit_run(node, run, onward)
        if not run:
            emit = self.at(self.judges[node])
            self.ran(emit, node)
            emit.emit("bra", self.over_to(node))


class AdaptiveBatches(AdaptiveDispatch, Batches):
    """With one for several iterations."""

    def __init__(
        self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout, weights: Weights, iterations: int
    ):
        super().__init__(kernel, loop, layout, weights, iterations)
        self.reduces = reduces(kernel.arch)
        self.any = self.function.registers.fresh("pred", "any")
        self.every = self.function.registers.fresh("b32", "every")

    def go_back(self, emit: Emitter) -> None:
        """The counter has gone on."""
        if self.whole:
            self.whole.look(emit)

    def count(self, emit: Emitter) -> tuple[Register, Register]:
        """Who has a task of which iteration is seen first, where members can see it at once."""
        if self.reduces:
            UNION.emit(emit, tasks=self.tasks, every=self.every, mask=self.mask, CHECK=self.check)
            return self.exchange(emit)
        first = OWN.of(BIT=1).emit(emit, tasks=self.tasks)["own"]
        ANY.emit(emit, pending=first, mask=self.mask, any=self.any)
        return super().count(emit)

    def found_tasks(self, emit: Emitter, node: SequentialNode) -> None:  # noqa: ARG002
        """What their exchange costs, and what they would have cost in each iteration."""
        (only,) = self.weights.paths
        if self.reduces:
            exactly = EXACTLY.of(PLAIN=-only.plain, EXCHANGE=only.exchange)
            exactly.emit(emit, every=self.every, score=self.score)
            return
        at_once = only.plain * len(self.batch)
        some = SOME_OF_A_BATCH.of(SOME=only.exchange - at_once, PLAIN=at_once)
        some.emit(emit, any=self.any, score=self.score)
