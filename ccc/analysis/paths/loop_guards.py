"""Branches before a loop by which it is only begun if its counter has not come to its bound.

As nvcc has it of ``for (k = first; k < end; ++k)``, whose test it puts behind the turn:

        setp.ge.s32 %p1, %r1, %r2;
        @%p1 bra BEHIND;
    TURN:
        ...
        add.s32 %r1, %r1, 1;
        setp.lt.s32 %p2, %r1, %r2;
        @%p2 bra TURN;
    BEHIND:
"""

from __future__ import annotations

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import Induction
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Operand, Register
from ccc.ptx.operations import INVERSE, SWAPPED

_STRICTER = {"le": ("le", "lt"), "ge": ("ge", "gt")}
"""What of two numbers implies a relation that is not implied by itself alone."""


def is_guarded(loop: Loop, ends: Induction, facts: Facts) -> bool:
    """Whether the relation by which a loop goes on holds each time that it is begun."""
    around = [one.blocks for one in facts.loops if loop.blocks < one.blocks]
    for label in facts.dominators.chain(loop.header)[1:]:
        if not all(label in blocks for blocks in around):
            return False  # it may be begun again without that branch
        if _Guard(label, loop, facts).implies(ends):
            return True
    return False


class _Guard:
    """The branch of a block that dominates a loop, around it."""

    def __init__(self, label: str, loop: Loop, facts: Facts):
        self.loop, self.facts = loop, facts
        self._label = label
        self._own = list(facts.blocks[label].instructions)
        self._outside = frozenset(facts.blocks) - loop.blocks

    def implies(self, ends: Induction) -> bool:
        """Whether the loop is only come to where its counter has not come to its bound."""
        last = [one for one in self._own if one.is_terminator]  # a jump may follow a branch
        branch = last[0] if last else None
        if branch is None or branch.guard is None or not branch.target:
            return False
        ways = {way for way in self.facts.graph.successors(self._label) if self._is_before(way)}
        tests = [one for one in self._own if branch.guard.register in one.defined()]
        if len(ways) != 1 or len(tests) != 1 or not _compares(tests[0], ends):
            return False
        (test,) = tests
        relation, (_, first, second) = test.modifiers[0], test.operands
        if (branch.target in ways) == branch.guard.negated:
            relation = INVERSE.get(relation, "")
        if not self._is_counter(first, ends, test):
            first, second, relation = second, first, SWAPPED.get(relation, "")
        return (
            relation in _STRICTER.get(ends.relation, (ends.relation,))
            and self._is_counter(first, ends, test)
            and self._is_bound(second, ends, test)
        )

    def _is_before(self, way: str) -> bool:
        """Whether who comes to the loop has come by one way from the block."""
        before = {*self.facts.graph.predecessors(way)}
        if way == self.loop.header:
            before -= self.loop.blocks
        dominates = self.facts.dominators.dominates(way, self.loop.header)
        return before == {self._label} and dominates

    def _is_counter(self, operand: Operand, ends: Induction, test: Instruction) -> bool:
        """Whether it is what the counter begins with, then as now."""
        if operand == ends.counter:
            return self._is_settled(ends.counter, test)
        begins = self.facts.begins(self.loop, ends.counter) or ()
        if not isinstance(operand, Register) or len(begins) != 1:
            return False
        copy, made = begins[0].instruction, self.facts.maker(operand)
        is_copy = copy.name == "mov" and copy.operands[1] == operand and copy.guard is None
        return is_copy and made is not None and self._is_settled(operand, test)

    def _is_bound(self, operand: Operand, ends: Induction, test: Instruction) -> bool:
        if isinstance(operand, Register):
            return operand == ends.bound and self._is_settled(operand, test)
        literal = self.facts.literal(operand)
        return literal is not None and literal.integer == ends.bound

    def _is_settled(self, register: Register, test: Instruction) -> bool:
        """Whether nothing writes a register between a comparison and the loop: all that do so
        outside of the loop are come to before, on any way to the comparison."""
        written = self.facts.written_in(self._outside, register)
        return all(
            self._own.index(one) < self._own.index(test)
            if home == self._label
            else self.facts.dominators.dominates(home, self._label)
            for home, one in written
        )


def _compares(test: Instruction, ends: Induction) -> bool:
    """Whether it does so as the loop does, and in nothing but that."""
    plain = test.name == "setp" and test.guard is None and len(test.operands) == 3
    return plain and test.modifiers[1:] == (ends.type,)
