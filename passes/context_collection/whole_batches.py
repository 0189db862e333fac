"""Batches of which it is known that all their iterations are there (no pass; batches use it).

Where the loop ends by comparing a counter with a bound, and takes one step in each iteration, a
lane knows before a batch whether it has as many iterations as that takes. Then nothing is asked
between them, and ptxas has the code of all to put side by side.

    near = the bound, less as many steps as there are further iterations in a batch
    BEGIN:    counter < near? to WHOLE, else to LOOP, where each iteration asks for the next one
    WHOLE:    ...                            // copies of an iteration, one after the other
              is the counter still < near? for the next batch; on to COLLECT

What a step is may be known when the kernel runs only. Where it leads away from the bound, or so far
that numbers do not suffice, no counter is near enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.last_test import LastTest, find_last_test
from ccc.ir.edit import Copy, Emitter, jump
from ccc.ir.nodes import Block, Function
from ccc.ir.operands import Immediate, Register
from ccc.passes.context_collection.short_loop import step_of
from ccc.ptx.types import number_of_type
from ccc.snippet import Snippet

NEAR = Snippet(
    """
    .reg .pred %fits;
    .reg .NUMBER %step, %bound, %ahead, %edge, %near;
        setp.le.UNSIGNED %fits, %step, MOST;  // it leads to the bound, and not too far
        mul.lo.TYPE %ahead, %step, FURTHER;
        FROM.TYPE %edge, END, %ahead;
        setp.REACHES.and.TYPE %fits, %bound, %edge, %fits;
        BACK.TYPE %near, %bound, %ahead;
        selp.NUMBER %near, %near, END, %fits; // the end of all numbers: no counter lies beyond
""",
    "NUMBER",
    "UNSIGNED",
    "TYPE",
    "FURTHER",
    "MOST",
    "FROM",
    "END",
    "REACHES",
    "BACK",
)
"""Before the loop: where a batch has to begin, so that it is whole. ``step`` has no sign."""

IS_WHOLE = Snippet(
    """
    .reg .pred %whole;
    .reg .NUMBER %counter, %near;
        setp.BEFORE.TYPE %whole, %counter, %near;
""",
    "NUMBER",
    "BEFORE",
    "TYPE",
)
"""Whether the next batch is; that of a lane without an iteration is never begun."""

BEGIN = Snippet("""
    .reg .pred %whole;
        @%whole bra WHOLE;
        bra LOOP;
""")
"""Where a lane with an iteration begins it."""


def find_steady_test(loop: Loop, facts: Facts) -> LastTest | None:
    """The comparison that ends a loop whose counter takes a step in each iteration, before that;
    None where it does not end like that."""
    test = find_last_test(loop, facts)
    if test is None:
        return None
    latch = facts.blocks[test.latch]
    ways = {i.target for i in latch.instructions if i.is_terminator}
    leaves = ways & loop.blocks == {loop.header}  # so it lies in no loop within
    steps = any(test.counter in i.defined() for i in latch.instructions)
    return test if leaves and steps else None


class WholeBatches:
    """Batches of so many ``iterations``, of a loop that has a ``header`` and ends by ``test``.

    Each batch begins at ``begin``.
    """

    def __init__(self, function: Function, test: LastTest, header: str, iterations: int):
        fresh = function.registers.fresh
        self.function, self.test = function, test
        self.further = iterations - 1
        self.near = fresh(f"b{test.counter.bits}", "whole_until")
        self.whole = fresh("pred", "whole")
        self.header = header
        self.begin = Block(function.fresh_label("begin"), [jump(header)], named=False)

    def prepare(self, emit: Emitter) -> None:
        """Before the loop: where they end, and whether there is one at all."""
        test, up, kind = self.test, self.test.goes_up, self.test.type
        bits = test.counter.bits
        lowest, highest = _range_of(kind)
        step = step_of(test, emit)
        if not up:
            emit.emit(f"neg.s{bits}", step, step)
        near = NEAR.of(
            NUMBER=f"b{bits}", UNSIGNED=f"u{bits}", TYPE=kind,
            FURTHER=self.further, MOST=highest // self.further,
            FROM="add" if up else "sub", END=lowest if up else highest,
            REACHES="ge" if up else "le", BACK="sub" if up else "add",
        )  # fmt: skip
        near.emit(emit, step=step, bound=_bound_of(test), near=self.near)
        self.look(emit)

    def look(self, emit: Emitter) -> None:
        """Emit whether the batch that begins here is whole."""
        test = self.test
        is_whole = IS_WHOLE.of(
            NUMBER=f"b{test.counter.bits}", BEFORE="lt" if test.goes_up else "gt", TYPE=test.type
        )
        is_whole.emit(emit, counter=test.counter, near=self.near, whole=self.whole)

    def copies(
        self,
        body: Sequence[Block],
        meeting: str,
        elsewhere: Iterable[str],
        contexts: Sequence[Mapping[Register, Register]],
    ) -> tuple[list[list[Block]], Block]:
        """The blocks of each iteration of a batch, and what leads on; ``begin`` leads to the first.

        Args:
            body: the blocks of an iteration, which begins at the header.
            meeting: where members meet.
            elsewhere: the labels by which a lane leaves the loop.
            contexts: for each iteration, the registers of its task.
        """
        function, leaving = self.function, frozenset(elsewhere)
        labels = [{b.label: function.fresh_label("whole") for b in body} for _ in contexts]
        over = function.fresh_label("over")
        following = [*(one[self.header] for one in labels[1:]), over]
        found = []
        for mine, registers, onward in zip(labels, contexts, following, strict=True):
            ways = {**{label: label for label in leaving}, **mine, meeting: onward}
            copied = Copy(ways, registers).blocks(function, {block.label for block in body})
            for block in copied if onward != over else ():
                self._ask_no_more(block, onward, leaving)
            found.append(copied)
        begin, end = (
            Emitter(function, block, self.test.test.span)
            for block in (self.begin, Block(over, named=False))
        )
        self.begin.statements.clear()
        head = labels[0][self.header]
        BEGIN.emit(begin, whole=self.whole, WHOLE=head, LOOP=self.header)
        self.look(end)
        end.emit("bra", meeting)
        return found, end.block

    def _ask_no_more(self, block: Block, onward: str, leaving: frozenset[str]) -> None:
        """Where the block asks for the next iteration, go on with that."""
        ways = [i for i in block.instructions if i.is_terminator]
        guard = ways[0].guard if ways else None
        targets = {i.target for i in ways}
        if guard is None or onward not in targets or not targets - {onward} <= leaving:
            return
        own = self.test.test
        tests = [i for i in block.instructions if guard.register in i.defined()]
        if [(i.opcode, i.operands) for i in tests] == [(own.opcode, own.operands)]:
            kept = [one for one in block.statements if one not in ways]
            block.statements[:] = [*kept, jump(onward)]


def _range_of(kind: str) -> tuple[int, int]:
    """The least and the largest number of a type."""
    bits = int(kind[1:])
    return (0, (1 << bits) - 1) if kind[0] == "u" else (-1 << bits - 1, (1 << bits - 1) - 1)


def _bound_of(test: LastTest) -> Register | Immediate:
    """A literal as the comparison reads it."""
    if isinstance(test.bound, Register):
        return test.bound
    assert test.bound.integer is not None
    return Immediate(str(number_of_type(test.bound.integer, test.type)))
