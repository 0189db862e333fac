"""Batches: several iterations for each exchange (no paper's; one path, its tasks queued).

What an exchange costs does not depend on how many tasks a lane has. So each lane runs some
iterations in a row, copies of the loop's body, and keeps the context of each that comes to the
path. Then members tell one another how many tasks they have, bit by bit: three ballots serve seven
iterations. All are pushed, and as long as there is a full warp of tasks, all lanes pop.

    LOOP:     ...                                // block A
              @!%p bra JOIN;
              <a snapshot, and the first bit>
    JOIN:     ...
              @%more bra LOOP_1;                 // else: leave, as ever
    LOOP_1:   ...
              <another snapshot, and the second bit>
    ...
    COLLECT:  all members meet, and count their tasks
    POP:      a full warp of tasks? all pop and run
    MORE:     another one? back to POP

The copies also give back what a loop loses that is not unrolled: ptxas can begin the loads of the
next iteration before it knows of this one. Where it can be told that a batch is whole, there are
other copies which do not ask (:mod:`ccc.passes.context_collection.whole_batches`).

A snapshot copies registers before it is known whether there is a task. So the copy and the register
can be one, which is no instruction; behind the branch it were one with a guard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, takewhile

from ccc.analysis.cfg import reachable
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import AnnotatedLoop
from ccc.ir.edit import Copy, Emitter, retarget
from ccc.ir.nodes import Block, Guard, Instruction, Statement
from ccc.ir.operands import Immediate, Register
from ccc.passes.context_collection.layout import Layout
from ccc.passes.context_collection.sequential_dispatch import (
    SequentialDispatch,
)
from ccc.passes.context_collection.sequential_node import SequentialNode
from ccc.passes.context_collection.tail_merging import merge_tails
from ccc.passes.context_collection.task_counts import count_tasks
from ccc.passes.context_collection.whole_batches import WholeBatches, find_steady_test
from ccc.pipeline import Kernel
from ccc.snippet import Snippet

NOTE = Snippet(
    """
    .reg .b32 %tasks;
        or.b32 %tasks, %tasks, BIT;
""",
    "BIT",
)
"""Beside a snapshot: the bit of the iteration. All bits are counted at once, and of predicates, of
which a flag each would take one, a thread has seven."""

OWN = Snippet(
    """
    .reg .pred %own;
    .reg .b32 %tasks, %bit;
        and.b32 %bit, %tasks, BIT;
        setp.ne.b32 %own, %bit, 0;
""",
    "BIT",
)
"""For each iteration of the batch: has the lane a task of it?"""

QUEUE_ALL = Snippet("""
    .reg .pred %few;
    .reg .b32 %top, %total, %limit;
        add.s32 %top, %top, %total;
        setp.lt.u32 %few, %top, %limit;       // not yet a full warp of tasks
        @%few bra AFTER;
    POP:
""")
"""Everyone has pushed; if there is a full warp of tasks, all lanes pop."""

MORE = Snippet("""
    .reg .pred %many;
    .reg .b32 %top, %limit;
        setp.ge.u32 %many, %top, %limit;
        @%many bra POP;
        bra AFTER;
""")
"""Behind the path: as long as there is a full warp of tasks, all lanes pop again."""


class Batches(SequentialDispatch):
    """Rewrites a loop with one path, so that members meet after so many ``iterations``."""

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout, iterations: int):
        super().__init__(kernel, loop, layout)
        fresh = self.function.registers.fresh
        (self.only,) = self.nodes
        plan = self.only.plan
        self.more = self.function.fresh_label("more")
        held = [*plan.snapshot.values(), *plan.specials.values()]
        self.tasks = fresh("b32", "tasks")
        self.others: list[dict[Register, Register]] = [
            {register: fresh(register.type, "context") for register in held}
            for _ in range(iterations - 1)
        ]
        test = find_steady_test(loop.loop, self.facts)
        header = loop.loop.header
        self.whole = WholeBatches(self.function, test, header, iterations) if test else None

    @property
    def iteration(self) -> str:
        """Where it is told whether a batch is whole, if that can be."""
        return self.whole.begin.label if self.whole else super().iteration

    def prepare(self, emit: Emitter) -> None:
        """Whether the first batch is whole."""
        super().prepare(emit)
        if self.whole:
            self.whole.prepare(emit)

    @property
    def batch(self) -> list[Mapping[Register, Register]]:
        """For each iteration, where the registers of the first one's task are."""
        return [{}, *self.others]

    def note(self, emit: Emitter, node: SequentialNode) -> None:  # noqa: ARG002
        """The bit of the first iteration."""
        NOTE.of(BIT=1).emit(emit, tasks=self.tasks)

    def forget(self, emit: Emitter, node: SequentialNode) -> None:  # noqa: ARG002
        """No task in any iteration."""
        emit.emit("mov.b32", self.tasks, 0)

    def unroll(self) -> None:
        """Put copies of an iteration behind the loop's body, each leading to the next."""
        if self.whole:
            self.function.blocks.append(self.whole.begin)
        merge_tails(self.function, self._body(Facts(self.function)))
        facts = Facts(self.function)
        body = self._body(facts)
        self._copy_before(body, facts)
        new = self._whole_copies(body)
        new[:0] = self._copies(body)
        originals = {block.label for block in self.originals}
        known = self.function.blocks
        behind = max(i for i, block in enumerate(known) if block.label in originals) + 1
        known[behind:behind] = new

    def _body(self, facts: Facts) -> list[Block]:
        """The blocks of an iteration."""
        stops = {self.meeting, *self.leaving}
        labels = reachable(facts.graph.successors, [self.loop.loop.header], stops=stops) - stops
        return [block for block in self.function.blocks if block.label in labels]

    def _copies(self, body: Sequence[Block]) -> list[Block]:
        """The further iterations of a batch, to the first of which the body leads then."""
        header, labels = self.loop.loop.header, frozenset(block.label for block in body)
        copies = [self.fresh_labels(labels, "iteration") for _ in self.others]
        heads = [mine[header] for mine in copies]
        elsewhere = {label: label for label in (self.meeting, *self.leaving)}
        new: list[Block] = []
        following = [*heads[1:], self.meeting]
        for number, mine in enumerate(copies, 1):
            other, again = self.others[number - 1], following[number - 1]
            copy = Copy({**elsewhere, **mine, self.meeting: again}, other)
            new += self._noting(number, copy.blocks(self.function, labels))
        for block in body:
            retarget(self.function, block, self.meeting, heads[0])
        return new

    def _whole_copies(self, body: Sequence[Block]) -> list[Block]:
        """All iterations of a batch that is whole."""
        if self.whole is None:
            return []
        iterations, over = self.whole.copies(body, self.meeting, self.leaving, self.batch)
        noting = (self._noting(number, blocks) for number, blocks in enumerate(iterations))
        return [*chain.from_iterable(noting), over]

    def _copy_before(self, body: Sequence[Block], facts: Facts) -> None:
        """Copy the registers of a context before the branch to where a task is noted."""
        held = set(self.only.plan.snapshot.values())
        blocks = {block.label: block for block in body}
        for block in body:
            before, *others = facts.graph.predecessors(block.label)
            copies = list(takewhile(partial(_copies_to, held), block.statements))
            if not others and before in blocks and copies:
                branches = [i for i in blocks[before].instructions if i.is_terminator]
                place = blocks[before].statements.index(branches[0])
                blocks[before].statements[place:place] = copies
                del block.statements[: len(copies)]

    def _noting(self, number: int, blocks: list[Block]) -> list[Block]:
        """Copies that note tasks by the bit of their iteration."""
        for block in blocks:
            for one in block.instructions:
                if self.tasks in one.defined():
                    one.operands = (self.tasks, self.tasks, Immediate(str(1 << number)))
        return blocks

    @property
    def is_last_apart(self) -> bool:
        """Always; what is run at once is short."""
        return True

    def resume(self, node: SequentialNode) -> str:  # noqa: ARG002
        """There may be another full warp."""
        return self.more

    def _emit_collect(self, node: SequentialNode) -> None:
        emit, scope = self.at(node.collect), self._scope(node)
        offset, total = self.count(emit)
        self.found_tasks(emit, node)
        address = emit.define("add.s32", "b32", node.top, offset, name="address")
        for iteration, other in enumerate(self.batch):
            own = OWN.of(BIT=1 << iteration).emit(emit, tasks=self.tasks)["own"]
            self._push(emit, node, other, own, address)
        self.forget(emit, node)
        QUEUE_ALL.emit(emit, scope, total=total)
        self._emit_pop(emit, scope)
        emit.emit("bra", node.run)

    def count(self, emit: Emitter) -> tuple[Register, Register]:
        """Emit an exchange, and go to ``check`` if nobody has a task."""
        offset, total = self.exchange(emit)
        none = emit.define("setp.eq.b32", "pred", total, 0, name="none")
        emit.emit("bra", self.check, guard=Guard(none))
        return offset, total

    def exchange(self, emit: Emitter) -> tuple[Register, Register]:
        """Emit what tells the bytes of the tasks of lanes before, and of those of all."""
        number = emit.define("popc.b32", "b32", self.tasks, name="number")
        offset, total = (emit.define("mov.b32", "b32", 0, name=n) for n in ("offset", "total"))
        count_tasks(
            emit, number, len(self.batch), self.kernel.arch, offset, total,
            mask=self.mask, below=self.below,
        )  # fmt: skip
        return offset, total

    def emit_run(self, node: SequentialNode, run: str = "", onward: str = "") -> None:
        """The path, and behind it what leads to another full warp of tasks."""
        super().emit_run(node, run, onward)
        if not run:
            emit = self.at(self.more)
            self.ran(emit, node)
            MORE.emit(emit, {**self._scope(node), "AFTER": self.over_to(node)})

    def ran(self, emit: Emitter, node: SequentialNode) -> None:
        """Emit what members do when a full warp of tasks was run."""

    def over_to(self, node: SequentialNode) -> str:
        """Where they go when there is no other one."""
        return self.after(node)

    def _push(
        self,
        emit: Emitter,
        node: SequentialNode,
        other: Mapping[Register, Register],
        own: Register,
        address: Register,
    ) -> None:
        """The task of one iteration, and on to where the next one goes."""
        guard, known = Guard(own), len(emit.block.statements)
        node.plan.stack.of(other).store(emit, address)
        for one in emit.block.statements[known:]:
            if isinstance(one, Instruction) and one.name == "st":
                one.guard = guard
        emit.emit("add.s32", address, address, 4, guard=guard)


def _copies_to(held: set[Register], statement: Statement) -> bool:
    """Whether it copies a register to one that is ``held`` for a task."""
    if not isinstance(statement, Instruction) or statement.name != "mov" or statement.guard:
        return False
    target, source = statement.operands
    return target in held and isinstance(source, Register)
