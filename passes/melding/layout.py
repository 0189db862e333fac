"""Melded code takes the place of the arms."""

from __future__ import annotations

from ccc.analysis.facts import Facts
from ccc.ir.edit import Copy, Emitter
from ccc.ir.nodes import Block, Guard, Instruction, MarkerNote
from ccc.ir.operands import Register
from ccc.passes.melding.agreement import write_agreement
from ccc.passes.melding.arms import Branch
from ccc.passes.melding.candidates import Candidate, stands_behind_a_branch
from ccc.passes.melding.pairing import may_run_anywhere
from ccc.passes.melding.table import ENTRY, declaration, load, missing
from ccc.passes.melding.writing import LINE_BYTES, Line, Stretch
from ccc.pipeline import Kernel
from ccc.snippet import Snippet

ONE = Snippet(
    """
    .reg .pred %mine;
    .reg .b32 %arm, %which;
        setp.eq.u32 %mine, %arm, %which;  // this arm is the lane's
    """
)
SEVERAL = Snippet(
    """
    .reg .pred %mine;
    .reg .b32 %arm, %which, %bits, %bit;
        shr.u32 %bits, %which, %arm;  // a bit for each arm
        and.b32 %bit, %bits, 1;
        setp.ne.b32 %mine, %bit, 0;
    """
)


def lay_out(kernel: Kernel, branch: Branch, candidate: Candidate) -> int:
    """Put the melded code where the arms are; return the bytes of its table.

    Every block of the function ends with a jump, or with one terminator.
    """
    return _Layout(kernel, branch, candidate).run()


class _Layout:
    def __init__(self, kernel: Kernel, branch: Branch, candidate: Candidate):
        self.kernel = kernel
        self.function = kernel.function
        self.branch = branch
        self.dispatch = candidate.dispatch
        self.keeps_arms = candidate.keeps_arms
        fresh = self.function.registers.fresh
        number = fresh("b32", "arm")
        self.told = self.dispatch.tell({"number": number})
        self.melded = candidate.write(fresh, self.told.known())
        self.number = number
        self.entry: Register | None = None

    def run(self) -> int:
        function, facts = self.function, self.kernel.facts
        old = {block.label for block in function.blocks}
        live = facts.liveness.live_in(self.branch.head)
        head = facts.blocks[self.branch.head]
        ways = [i for i in head.instructions if i.is_terminator]
        place = head.statements.index(ways[0])
        block = head
        if self.dispatch.is_straight:
            head.statements = head.statements[:place]
        else:
            block = Block(function.fresh_label("melded"), named=False)
            function.blocks.append(block)
        self._forget_markers()
        emit = Emitter(function, block, ways[0].span)
        self.dispatch.write(emit, self.told)
        if self.told.guard and (self.keeps_arms or self.melded.lines or self.melded.predicates):
            numbers = (1, 0) if self.told.guard.negated else (0, 1)
            emit.emit("selp.b32", self.number, *numbers, self.told.guard.register)
        if self.keeps_arms:
            write_agreement(emit, self.number, ways)
        size = self._begin(emit)
        for run in self.melded.runs:
            self._write_run(emit, run)
        emit.block.statements += self.melded.results
        emit.emit("bra", self.branch.join)
        self._arrange(old)
        self._clear(head, place, live)
        return size

    def _begin(self, emit: Emitter) -> int:
        """What tells the arms apart, and where the lane's entry of the table is."""
        number = self.number
        for arms, mine in self.melded.predicates.items():
            if len(arms) == 1:
                ONE.emit(emit, mine=mine, arm=number, which=next(iter(arms)))
            else:
                which = sum(1 << arm for arm in arms)
                SEVERAL.emit(emit, mine=mine, arm=number, which=which)
        if not self.melded.lines:
            return 0
        number_of_table = len(self.kernel.declarations)
        hint = f"ccc_literals_{self.function.name}_{number_of_table}"
        name = self.function.names.free(hint)
        count = len(self.branch.arms)
        self.kernel.declarations.append(declaration(name, self.melded.lines, count))
        self.entry = ENTRY.emit(emit, arm=number, TABLE=name)["entry"]
        return LINE_BYTES * count * len(self.melded.lines)

    def _write_run(self, emit: Emitter, run: Stretch) -> None:
        guard = run.guard
        after = ""
        if guard is not None and stands_behind_a_branch(run):
            after = self.function.fresh_label("after")
            emit.emit("bra", after, guard=guard.inverted())
            emit.start(self.function.fresh_label("alone"))
            guard = None
        for one in run.statements:
            self._write(emit, one, guard)
        if run.piece is not None:
            self._write_piece(emit, run, after)
        elif after:
            emit.start(after)

    def _write(self, emit: Emitter, statement: Instruction | Line, guard: Guard | None) -> None:
        if isinstance(statement, Line):
            assert self.entry is not None
            kind = statement.type
            unused = [self.function.registers.fresh(kind, "") for _ in range(missing(statement))]
            number = self.melded.lines.index(statement)
            emit.block.statements.append(
                load(statement, number, len(self.branch.arms), self.entry, unused)
            )
            return
        if guard is not None and not may_run_anywhere(statement):
            assert statement.guard is None
            statement.guard = guard
        emit.block.statements.append(statement)

    def _write_piece(self, emit: Emitter, run: Stretch, after: str) -> None:
        assert run.piece is not None
        step = run.piece.step
        labels = {label: self.function.fresh_label("piece") for label in step.blocks}
        labels[step.exit] = after
        copy = Copy(labels, run.registers)
        emit.block.statements += [copy.branch(self.function, way) for way in step.instructions]
        self.function.blocks += copy.blocks(self.function, step.blocks)
        emit.start(after)

    def _forget_markers(self) -> None:
        """Nobody shall find the arms again."""
        own = {arm.path.marker for arm in self.branch.arms}
        for label in self.branch.dispatch.union(*(arm.blocks for arm in self.branch.arms)):
            block = self.kernel.facts.blocks[label]
            block.statements = [
                s for s in block.statements if not isinstance(s, MarkerNote) or s.marker not in own
            ]

    def _arrange(self, old: set[str]) -> None:
        """Leave the arms out, and put the new blocks where they were."""
        gone = frozenset().union(*(arm.blocks for arm in self.branch.arms))
        before = self.branch.head
        if self.dispatch.is_straight:
            gone |= self.branch.dispatch
        if self.keeps_arms:
            gone = frozenset()
        kept = [b for b in self.function.blocks if b.label in old and b.label not in gone]
        new = [b for b in self.function.blocks if b.label not in old]
        place = next(n for n, block in enumerate(kept) if block.label == before) + 1
        self.function.blocks = [*kept[:place], *new, *kept[place:]]

    def _clear(self, head: Block, place: int, live: frozenset[Register]) -> None:
        """Zero what lanes of other arms now read, to no effect, and nothing has set."""
        facts = Facts(self.function, self.kernel.facts.callees, self.kernel.facts.files)
        unset = facts.liveness.live_in(head.label) - live
        scratch = Block("")
        Emitter(self.function, scratch, self.function.span).clear(unset)
        head.statements[place:place] = scratch.statements
