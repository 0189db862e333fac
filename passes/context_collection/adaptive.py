"""Adaptive collection: a warp collects or runs the loop as it was, whichever has cost less so far.

What collecting brings depends on how many lanes take the path, which nobody may know before. So
members keep a score: what collection has cost more than the loop as it was would have, in issue
slots. Where it reaches a limit, each lane runs so many of its iterations by a copy of the loop as
it was; then all members meet again, and a few rounds tell whether that goes on.

    COLLECT:  all members meet; some have a task: score += what that costs - what they would have
              <as ever: push; a full warp of tasks? pop and run>
    RAN:      score += what such a run costs
              bra WEIGH;
    CHECK:    nobody has a task: has anybody an iteration? score += what that costs
    WEIGH:    score above the limit? to PLAIN
    AGAIN:    to LOOP with an iteration, to COLLECT without

    PLAIN:    score = so many iterations       // without an iteration: to BACK
    ORIGINAL: <the loop as it was, some iterations in a row; done? remember the exit, to BACK>
              score -= 1; more? to ORIGINAL
    BACK:     score = not far from the limit
              bra AGAIN;                       // a first round without tasks would say nothing

The score is the same in all members but in ``ORIGINAL``, where each counts its own iterations. It
has a bound below, so that what was long ago does not count. Tasks that are saved stay where they
are meanwhile.
"""

from __future__ import annotations

from ccc.analysis.paths.model import AnnotatedLoop
from ccc.ir.edit import Copy, Emitter, retarget
from ccc.ir.nodes import Block
from ccc.passes.context_collection.batches import OWN, Batches
from ccc.passes.context_collection.layout import Layout
from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch, SequentialNode
from ccc.passes.context_collection.weights import Weights
from ccc.pipeline import Kernel
from ccc.snippet import Given, Snippet

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
"""Of several iterations: whether some lanes have a task of the first one, which stands for all."""

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
"""The same of several iterations, where some lanes have a task of one of them at least."""

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

PLAIN = Snippet(
    """
    .reg .pred %live;
    .reg .b32 %score;
    PLAIN:
        mov.b32 %score, ITERATIONS;
        @%live bra ORIGINAL;
        bra BACK;
""",
    "ITERATIONS",
)
"""It has: those with an iteration run some by the loop as it was."""

TICK = Snippet("""
    .reg .pred %more;
    .reg .b32 %score;
    TICK:
        sub.s32 %score, %score, 1;
        setp.ne.s32 %more, %score, 0;
        @%more bra ORIGINAL;
        bra BACK;
""")
"""There, each lane counts for itself: some may leave the loop."""


class AdaptiveDispatch(SequentialDispatch):
    """Rewrites a loop, and keeps it as it was beside that."""

    def __init__(
        self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout, weights: Weights, *more: int
    ):
        super().__init__(kernel, loop, layout, *more)
        fresh = self.function.fresh_label
        self.weights = weights
        self.score = self.function.registers.fresh("b32", "score")
        self.plain, self.tick, self.back = fresh("plain"), fresh("tick"), fresh("back")
        self.is_only = len(self.nodes) == 1
        self.weigh = fresh("weigh") if self.is_only else self.again
        self.begin = self.again if self.is_only else fresh("begin")
        self.original = ""
        self.kept: list[Block] = []

    def prepare(self, emit: Emitter) -> None:
        """A few rounds tell."""
        super().prepare(emit)
        emit.emit("mov.b32", self.score, self.weights.again)

    def dispatch(self) -> None:
        """Copy the loop as it was, while its blocks lead where they led."""
        copies = self._copy_loop()
        super().dispatch()
        for node in self.nodes:
            heads = (labels[node.path.entry] for labels in copies)
            node.heads = (*(node.heads or (node.run,)), *heads)

    def _copy_loop(self) -> list[dict[str, str]]:
        """Some iterations in a row, each leads to the next one, or out of the loop."""
        loop = self.loop.loop
        leaving = {target: self._leave(i, self.back) for i, target in enumerate(self.targets)}
        rows = range(self.weights.in_a_row)
        copies = [self.fresh_labels(loop.blocks, "original") for _ in rows]
        heads = [labels[loop.header] for labels in copies]
        for labels, head, again in zip(copies, heads, [*heads[1:], self.tick], strict=True):
            blocks = Copy({**leaving, **labels}).blocks(self.function, loop.blocks)
            for block in blocks:
                retarget(self.function, block, head, again)
            self.kept += blocks
        self.original = heads[0]
        return copies

    def found_tasks(self, emit: Emitter, node: SequentialNode) -> None:
        """What their exchange costs, and what they would have cost at once."""
        SOME.of(SOME=self.weights.paths[node.number].some).emit(emit, score=self.score)

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
        weights, score = self.weights, self.score
        scope: dict[str, Given] = {"score": score, "ORIGINAL": self.original, "BACK": self.back}
        rounds = weights.iterations // weights.in_a_row
        plain = PLAIN.of(ITERATIONS=rounds)
        plain.emit(self.here, scope, live=self.live, PLAIN=self.plain)
        self.function.blocks += self.kept
        TICK.emit(self.here, scope, TICK=self.tick)
        emit = self.at(self.back)
        self.come_back(emit)
        emit.emit("bra", self.again)

    def come_back(self, emit: Emitter) -> None:
        """Nobody has a task, and all have the same score again."""
        emit.emit("mov.b32", self.score, self.weights.again)
        for node in self.nodes:
            self.forget(emit, node)


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
        self.any = self.function.registers.fresh("pred", "any")

    def counted(self, emit: Emitter, node: SequentialNode) -> None:  # noqa: ARG002
        """Whether there were tasks in each iteration is not known, but of one of them."""
        first = OWN.of(BIT=1).emit(emit, tasks=self.tasks)["own"]
        ANY.emit(emit, pending=first, mask=self.mask, any=self.any)

    def found_tasks(self, emit: Emitter, node: SequentialNode) -> None:  # noqa: ARG002
        """So it counts for all."""
        (only,) = self.weights.paths
        some = SOME_OF_A_BATCH.of(SOME=only.some, PLAIN=only.none - only.some)
        some.emit(emit, any=self.any, score=self.score)
