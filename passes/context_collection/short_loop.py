"""The loop as it was, for launches with few iterations a thread, and for blocks without stacks.

Tasks fill a warp only after some iterations, and who has no more of these runs the path with few
lanes in the end, besides what collecting takes. So members ask before the loop whether all of them
will soon be through, where it ends by comparing a counter with a bound
(:mod:`ccc.analysis.paths.last_test`) or goes over the blocks of a grid
(:mod:`ccc.passes.grid_stride.virtual_grid`); then each runs it as it was, and they never meet.

Where nobody says how large blocks are, stacks for the largest would take shared memory that blocks
of the usual size use as a cache. So there are some for these, and larger blocks pass by, too.

              a large block, or all have few? to SHORT
    ENTER:    <the loop that collects>
    SHORT:    <the loop as it was>
"""

from __future__ import annotations

from collections.abc import Mapping

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.last_test import LastTest
from ccc.ir.edit import Copy, Emitter, substitute
from ccc.ir.operands import Immediate, Register
from ccc.passes.context_collection.unrolling import kept_whole, let_unroll
from ccc.passes.launch_shape import BLOCK_THREADS
from ccc.ptx.types import TYPES
from ccc.snippet import Snippet

PASSES = Snippet(
    """
    .reg .pred %soon, %wraps;
    .reg .NUMBER %counter, %step, %bound, %far;
        mad.lo.SIGNED %far, %step, FEW, %counter;
        setp.REACHES.TYPE %soon, %far, %bound;
        setp.BEYOND.TYPE %wraps, %far, %counter;
        or.pred %soon, %soon, %wraps;
""",
    "NUMBER",
    "SIGNED",
    "TYPE",
    "FEW",
    "REACHES",
    "BEYOND",
)
"""Whether a member will soon be through, where the counter passes the bound."""

MEETS = Snippet(
    """
    .reg .pred %soon;
    .reg .NUMBER %counter, %step, %bound, %far;
        mad.lo.SIGNED %far, %step, NUMBERED, %counter;
        setp.eq.or.TYPE %soon, %far, %bound, %soon;
""",
    "NUMBER",
    "SIGNED",
    "TYPE",
    "NUMBERED",
)
"""The same where it comes to be the bound, of one of the few iterations."""

ALL_SOON = Snippet(
    """
    .reg .pred %soon;
    .reg .b32 %mask;
        vote.sync.all.pred %soon, %soon, %mask;
        @%soon bra SHORT;
"""
)
"""Before the loop: all members will soon be through, so that nothing would be gained."""

LAST_BLOCKS = Snippet(
    """
    .reg .pred %soon;
    .reg .b32 %resident, %width, %height, %depth, %rows;
    .reg .b64 %number, %far, %total;
        mul.lo.s32 %rows, %height, %depth;
        mul.wide.u32 %total, %rows, %width;
        mad.wide.u32 %far, %resident, FEW, %number;
        setp.ge.u64 %soon, %far, %total;
""",
    "FEW",
)
"""The same of a loop over the blocks of a grid, in which all threads of a block agree."""


LARGE_BLOCK = Snippet(
    """
    .reg .pred %large;
    .reg .b32 %threads;
        setp.gt.u32 %large, %threads, LARGE;
""",
    "LARGE",
)
"""Whether a block has more warps than stacks. Its first warps might collect; the block would gain
little by that, since the others do not (:data:`ccc.passes.thresholds.USUAL_BLOCK`)."""

OR_LARGE = Snippet(
    """
    .reg .pred %soon, %large;
        or.pred %soon, %soon, %large;
"""
)
"""All lanes of a block answer alike whether it is large."""

PASS_BY = Snippet(
    """
    .reg .pred %soon;
        @%soon bra SHORT;
"""
)
"""Where those who would meet answer alike."""


class ShortLoop:
    """A copy of a loop, made while its blocks lead where they led.

    Args:
        loop: the loop.
        facts: the function's analyses.
        end: how it ends, or which blocks of a grid it goes over; None where nothing is few.
        few: how many iterations are few.
        large: of how many threads a block may be at most, if it may be larger.
    """

    def __init__(
        self,
        loop: Loop,
        facts: Facts,
        end: LastTest | Mapping[str, Register] | None,
        few: int,
        large: int | None = None,
    ):
        self.end, self.few, self.large = end, few, large
        function = facts.function
        order = [block.label for block in function.blocks if block.label in loop.blocks]
        self.labels = {label: function.fresh_label("original") for label in order}
        self.head = self.labels[loop.header]
        exits = {target: target for _, target in loop.exits(facts.graph)}
        self.blocks = Copy({**exits, **self.labels}).blocks(function, loop.blocks)
        headers = kept_whole(facts) & self.labels.keys()
        let_unroll(self.blocks, {self.labels[header] for header in headers})

    def pass_by(self, emit: Emitter, mask: Register | int) -> None:
        """Before all else: where all of ``mask`` have few iterations, or their block is large, run
        the loop as it was."""
        large = None if self.large is None else _is_large(emit, self.large)
        if self.end is None:
            assert large is not None
            PASS_BY.emit(emit, soon=large, SHORT=self.head)
            return
        soon = emit.function.registers.fresh("pred", "soon")
        if isinstance(self.end, LastTest):
            self._ask(emit, self.end, soon)
        else:
            LAST_BLOCKS.of(FEW=self.few).emit(emit, self.end, soon=soon)
        if large is not None:
            OR_LARGE.emit(emit, soon=soon, large=large)
        if isinstance(self.end, LastTest):
            ALL_SOON.emit(emit, soon=soon, mask=mask, SHORT=self.head)
        else:
            PASS_BY.emit(emit, soon=soon, SHORT=self.head)

    def _ask(self, emit: Emitter, test: LastTest, soon: Register) -> None:
        """Emit whether a lane has few iterations."""
        operands = {
            "soon": soon, "counter": test.counter, "step": step_of(test, emit),
            "bound": bound_of(test),
        }  # fmt: skip
        if test.relation == "ne":
            emit.emit("mov.pred", soon, 0)
            for number in range(1, self.few + 1):
                MEETS.of(**types_of(test), NUMBERED=number).emit(emit, operands)
            return
        reaches, beyond = ("ge", "lt") if test.goes_up else ("le", "gt")
        passes = PASSES.of(**types_of(test), FEW=self.few, REACHES=reaches, BEYOND=beyond)
        passes.emit(emit, operands)


def _is_large(emit: Emitter, most: int) -> Register:
    """Emit whether the block has not a stack for each of its warps."""
    threads = BLOCK_THREADS.emit(emit)["threads"]
    return LARGE_BLOCK.of(LARGE=most).emit(emit, threads=threads)["large"]


def types_of(test: LastTest) -> dict[str, str]:
    """The counter's, as a register, as a number with a sign, and as what it is compared."""
    bits = test.counter.bits
    return {"NUMBER": f"b{bits}", "SIGNED": f"s{bits}", "TYPE": test.type}


def step_of(test: LastTest, emit: Emitter) -> Register:
    """What an iteration adds to the counter is what it would make of 0."""
    step = emit.function.registers.fresh(f"b{test.counter.bits}", "step")
    made = substitute(test.step, {}, {})
    zero = Immediate("0")
    made.operands = (step, *(zero if i == test.counter else i for i in made.operands[1:]))
    emit.block.statements.append(made)
    return step


def bound_of(test: LastTest) -> Register | Immediate:
    """A literal without a sign where the comparison reads none."""
    if isinstance(test.bound, Immediate) and TYPES[test.type].kind == "u":
        return test.bound.unsigned(test.counter.bits)
    return test.bound
