"""The loop as it was, beside the one that collects: some iterations of it, then all meet again.

Where it ends by comparing a counter with a bound (:mod:`ccc.analysis.paths.last_test`), it stands
there as nvcc made it, but for a nearer bound: nothing more is asked in an iteration. Behind it
stands the test as it was.

    PLAIN:    end = the bound, or the counter so many iterations from here, whichever is nearer
    ORIGINAL: <the loop as it was, as long as i < end>
    TEST:     i < n? to BACK; else remember the exit, to BACK

Any other loop stands there some times in a row, and iterations are counted in between.

    PLAIN:    left = so many
    ORIGINAL: <the loop as it was, some iterations in a row; done? remember the exit, to BACK>
    TICK:     left -= 1; more? to ORIGINAL

A loop that ends by comparing a counter has another copy, for launches with few iterations a thread
(:mod:`ccc.passes.context_collection.short_loop`).
"""

from __future__ import annotations

from collections.abc import Mapping

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.last_test import LastTest, find_last_test
from ccc.ir.edit import Copy, Emitter, retarget, substitute
from ccc.ir.nodes import Block
from ccc.ir.operands import Register
from ccc.passes.context_collection.short_loop import ShortLoop, bound_of, step_of, types_of
from ccc.passes.context_collection.weights import Weights
from ccc.snippet import Snippet

END = Snippet(
    """
    .reg .pred %beyond;
    .reg .NUMBER %counter, %step, %bound, %far, %near, %end;
        mad.lo.SIGNED %far, %step, ITERATIONS, %counter;
        NEARER.TYPE %near, %bound, %far;
        setp.BEYOND.TYPE %beyond, %far, %counter;     // on from the other end of all numbers
        selp.NUMBER %end, %bound, %near, %beyond;
""",
    "NUMBER",
    "SIGNED",
    "TYPE",
    "ITERATIONS",
    "NEARER",
    "BEYOND",
)
"""Where a stretch ends: not behind where the loop does, whatever the step is."""

COUNTED = Snippet(
    """
    .reg .b32 %left;
        mov.b32 %left, ITERATIONS;
""",
    "ITERATIONS",
)
"""Or after how many rounds of copies."""

TICK = Snippet("""
    .reg .pred %more;
    .reg .b32 %left;
    TICK:
        sub.s32 %left, %left, 1;
        setp.ne.s32 %more, %left, 0;
        @%more bra ORIGINAL;
        bra BACK;
""")
"""Each lane counts for itself: some may leave the loop."""


class PlainLoop:
    """Copies of a loop, made while its blocks lead where they led.

    Args:
        loop: the loop.
        facts: the function's analyses.
        leaving: where to go instead of each block that the loop is left to.
        back: where to go after some iterations.
        weights: how many of them, and how many copies there are.
        large: the threads of a block for which there are stacks, where it may have more.
    """

    def __init__(
        self,
        loop: Loop,
        facts: Facts,
        leaving: Mapping[str, str],
        back: str,
        weights: Weights,
        large: int | None = None,
    ):
        self.function = facts.function
        self.loop, self.leaving, self.back, self.weights = loop, leaving, back, weights
        self.last_test = find_last_test(loop, facts)
        fresh = self.function.fresh_label
        self.tick, self.own_test = fresh("tick"), fresh("test")
        self.labels = [self._fresh_labels() for _ in range(weights.in_a_row)]
        test, few = self.last_test, weights.few
        is_there = test is not None or large is not None
        short = ShortLoop(loop, facts, test, few, large) if is_there else None
        self.short = short
        self.end = self._end_register()
        self.blocks = self._copies()

    @property
    def head(self) -> str:
        """Where it begins."""
        return self.labels[0][self.loop.header]

    @property
    def all_labels(self) -> list[dict[str, str]]:
        """The labels of each copy of the loop."""
        return [*self.labels, self.short.labels] if self.short else self.labels

    def _end_register(self) -> Register:
        if self.last_test is None:
            return self.function.registers.fresh("b32", "left")
        return self.function.registers.fresh(f"b{self.last_test.counter.bits}", "end")

    def _fresh_labels(self) -> dict[str, str]:
        order = [b.label for b in self.function.blocks if b.label in self.loop.blocks]
        return {label: self.function.fresh_label("original") for label in order}

    def _copies(self) -> list[Block]:
        """Each leads to the next one, or out of the loop."""
        heads = [labels[self.loop.header] for labels in self.labels]
        following = [*heads[1:], heads[0] if self.last_test else self.tick]
        copies: list[Block] = []
        for labels, head, following_head in zip(self.labels, heads, following, strict=True):
            blocks = Copy({**self.leaving, **labels}).blocks(self.function, self.loop.blocks)
            for block in blocks:
                retarget(self.function, block, head, following_head)
                if self.last_test and block.label == labels[self.last_test.latch]:
                    self._end_sooner(block, self.last_test)
            copies += blocks
        copies += self.short.blocks if self.short else []
        return [*copies, self._ask_again(self.last_test)] if self.last_test else copies

    def _end_sooner(self, latch: Block, test: LastTest) -> None:
        """The test of a copy has another bound, and whom it sends out of the loop asks again."""
        original = next(b for b in self.function.blocks if b.label == test.latch)
        number = list(original.instructions).index(test.test)
        own = list(latch.instructions)[number]
        operands = enumerate(own.operands)
        own.operands = tuple(self.end if n == test.place else one for n, one in operands)
        for label in self.leaving.values():
            retarget(self.function, latch, label, self.own_test)

    def _ask_again(self, test: LastTest) -> Block:
        """The test as it was: is there another iteration?"""
        latch = next(block for block in self.function.blocks if block.label == test.latch)
        copy = Copy({**self.leaving, self.loop.header: self.back})
        branches = [copy.branch(self.function, i) for i in latch.instructions if i.is_terminator]
        return Block(self.own_test, [substitute(test.test, {}, {}), *branches], named=False)

    def emit(self, emit: Emitter) -> None:
        """Emit what is to be done before, the copies, and what counts them."""
        test, weights = self.last_test, self.weights
        if test is None:
            rounds = weights.iterations // weights.in_a_row
            COUNTED.of(ITERATIONS=rounds).emit(emit, left=self.end)
        else:
            self._emit_end(emit, test)
        emit.emit("bra", self.head)
        self.function.blocks += self.blocks
        if test is None:
            emit = Emitter(self.function, Block(self.tick, named=False), emit.span)
            self.function.blocks.append(emit.block)
            TICK.emit(emit, left=self.end, ORIGINAL=self.head, BACK=self.back)

    def _emit_end(self, emit: Emitter, test: LastTest) -> None:
        up = test.goes_up
        end = END.of(
            **types_of(test), ITERATIONS=self.weights.iterations,
            NEARER="min" if up else "max", BEYOND="lt" if up else "gt",
        )  # fmt: skip
        end.emit(
            emit, counter=test.counter, step=step_of(test, emit), bound=bound_of(test), end=self.end
        )
