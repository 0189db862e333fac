"""How lanes get to the melded code, and know which arm is theirs.

Where only comparisons and arithmetic stand between the branches that choose an arm, all lanes do
all of it, and the number of the arm is selected; of two arms with one branch the predicate of the
branch says it. Else the branches stay, and each arm has become the setting of that number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.ir.edit import Emitter, retarget
from ccc.ir.nodes import Block, Guard, Instruction
from ccc.ir.operands import Register
from ccc.passes.melding.arms import Branch
from ccc.passes.melding.cost import slots
from ccc.passes.melding.pairing import may_run_anywhere
from ccc.passes.thresholds import MELD_DISPATCH, MELD_PARTING


@dataclass(frozen=True, slots=True)
class Told:
    """How a lane knows its arm: by a guard that holds in the first of two, or by a number."""

    guard: Guard | None
    number: Register | None

    def known(self) -> dict[frozenset[int], Guard]:
        """The predicates that are known."""
        return {} if self.guard is None else {frozenset({0}): self.guard}


class Dispatch:
    """The dispatch of a branch; every block ends with a jump, or with one terminator."""

    def __init__(self, branch: Branch, facts: Facts):
        self.branch = branch
        self.facts = facts
        self.arms = {arm.path.entry: number for number, arm in enumerate(branch.arms)}
        self.is_straight = self._is_straight()
        inside = (branch.head, *branch.dispatch) if self.is_straight else ()
        self.conditions = {label: self._condition(label) for label in inside}

    def _is_straight(self) -> bool:
        """Whether all lanes may do all that chooses the arm."""
        graph, between = self.facts.graph, self.branch.dispatch
        labels = [self.branch.head, *sorted(between)]
        allowed = {*between, *self.arms}
        if any(not set(graph.successors(label)) <= allowed for label in labels):
            return False
        if any(loop.header in labels and loop.latches & {*labels} for loop in self.facts.loops):
            return False
        own = {arm.path.marker for arm in self.branch.arms}
        if any(marker not in own for one in between for marker in self.facts.blocks[one].markers):
            return False
        blocks = [self.facts.blocks[label] for label in labels]
        if any(i.is_terminator and i.name != "bra" for block in blocks for i in block.instructions):
            return False
        body = [i for label in between for i in self.facts.blocks[label].instructions]
        body = [i for i in body if not i.is_terminator]
        if len(body) > MELD_DISPATCH or not all(map(may_run_anywhere, body)):
            return False
        return all(self._writes_its_own(label) for label in between)

    def _writes_its_own(self, label: str) -> bool:
        """Whether what a block writes is read only where it has been."""
        written = {r for i in self.facts.blocks[label].instructions for r in i.defined()}
        dominated = set(self.facts.dominators.dominated(label))
        inside = {self.branch.head, *self.branch.dispatch}
        others = {*inside, *self.arms, self.branch.join} - dominated
        read: set[Register] = set()
        for other in others:
            read |= self.facts.liveness.live_in(other)
        for other in inside - dominated:
            ways = (i for i in self.facts.blocks[other].instructions if i.is_terminator)
            read.update(register for i in ways for register in i.used())
        return written.isdisjoint(read)

    @property
    def length(self) -> int:
        """The issue slots of what stands between the branches."""
        blocks = [self.facts.blocks[label] for label in self.branch.dispatch]
        return sum(slots(i) for block in blocks for i in block.instructions if not i.is_terminator)

    @property
    def price(self) -> int:
        """The issue slots, about, of telling lanes their arm."""
        others = len(self.arms) - 1
        if self.is_straight:
            return others + self.length
        # They part as before, and set the number.
        return others * (MELD_PARTING + 2) + self.length

    def tell(self, make: Mapping[str, Register]) -> Told:
        """How lanes will know their arms; ``make`` gives the number's register."""
        condition = self.conditions.get(self.branch.head)
        if condition is not None and len(self.arms) == 2:
            guard, *ways = condition
            then, otherwise = map(self._arm, ways)
            if then is not None and otherwise is not None:
                return Told(guard if then == 0 else guard.inverted(), None)
        return Told(None, make["number"])

    def _arm(self, label: str) -> int | None:
        """The arm that a way leads to without another branch."""
        while label not in self.arms and self.conditions[label] is None:
            (label,) = set(self.facts.graph.successors(label))
        return self.arms.get(label)

    def _condition(self, label: str) -> tuple[Guard, str, str] | None:
        """The guard of the branch at the end of a block, and its two ways; None of a jump."""
        ways = [i for i in self.facts.blocks[label].instructions if i.is_terminator]
        if len(ways) == 1 or ways[0].guard is None:
            return None
        then, otherwise = ways[0].target, ways[1].target
        assert then is not None
        assert otherwise is not None
        return None if then == otherwise else (ways[0].guard, then, otherwise)

    def write(self, emit: Emitter, told: Told) -> None:
        """Write what leads to the melded code, behind which ``emit`` goes on.

        Its block is the head if that may be; it then has lost its branch.
        """
        if self.is_straight:
            self._write_straight(emit, told)
        else:
            self._write_stubs(emit, told)

    def _write_straight(self, emit: Emitter, told: Told) -> None:
        for label in self._in_order():
            statements = self.facts.blocks[label].statements
            emit.block.statements += [
                s for s in statements if isinstance(s, Instruction) and not s.is_terminator
            ]
        if told.number is not None:
            value = self._number(emit, self.branch.head)
            emit.emit("mov.b32", told.number, value)

    def _in_order(self) -> list[str]:
        """The blocks of the dispatch, each behind those that lead to it."""
        order: list[str] = []

        def visit(label: str) -> None:
            for onward in self.facts.graph.successors(label):
                if onward in self.branch.dispatch and onward not in order:
                    visit(onward)
            order.append(label)

        visit(self.branch.head)
        return order[-2::-1]

    def _number(self, emit: Emitter, label: str) -> Register | int:
        """The number of the arm that is come to from a block."""
        if label in self.arms:
            return self.arms[label]
        condition = self.conditions[label]
        if condition is None:
            (onward,) = set(self.facts.graph.successors(label))
            return self._number(emit, onward)
        guard, then, otherwise = condition
        numbers = [self._number(emit, then), self._number(emit, otherwise)]
        if guard.negated:
            numbers.reverse()
        if numbers[0] == numbers[1]:
            return numbers[0]
        return emit.define("selp.b32", "b32", *numbers, guard.register, name="arm")

    def _write_stubs(self, emit: Emitter, told: Told) -> None:
        """Each arm becomes a block that sets the number and jumps to the melded code."""
        function, melded = emit.function, emit.block.label
        assert told.number is not None
        for entry, number in self.arms.items():
            stub = Block(function.fresh_label("arm"), named=False)
            function.blocks.append(stub)
            at = Emitter(function, stub, emit.span)
            at.emit("mov.b32", told.number, number)
            at.emit("bra", melded)
            for before in list(self.facts.graph.predecessors(entry)):
                retarget(function, self.facts.blocks[before], entry, stub.label)
