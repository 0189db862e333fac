"""A branch that an earlier one has decided is passed by, where something would be uninitialised.

nvcc writes four turns of an inner loop in a row, and the up to three that are left behind them. Who
has less than four in all goes straight to the latter, and has at least one of them. That none is
left is asked all the same; and of the way on which it would be so nvcc knows that nobody takes it,
so that what the turns make need not be there. It then looks like a value of the iteration before.

Before, of a loop of ``%r6`` turns that make ``%p28``:

        and.b32 %r7, %r6, 3;
        add.s32 %r25, %r6, -1;
        setp.lt.u32 %p10, %r25, 3;
        @%p10 bra REST;
        ...                             // four turns in a row
    REST:
        setp.eq.s32 %p19, %r7, 0;
        @%p19 bra BEHIND;
    ONE:
        ...                             // those that are left
    BEHIND:
        selp.u16 %rs1, 1, 0, %p28;

After:

        @%p10 bra ONE;
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, TypeAlias

from ccc.analysis.facts import Facts
from ccc.ir.edit import jump, retarget
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Operand, Register
from ccc.pipeline import Kernel, Pass
from ccc.ptx.operations import INVERSE, UNSIGNED
from ccc.ptx.types import TYPES

_Read: TypeAlias = tuple[Operand, Instruction]
"""What an instruction reads."""
_Part: TypeAlias = tuple[Operand, Instruction]
"""A register, as an instruction makes it."""
_DEPTH = 6
"""Additions that make a number of turns, at most."""
_SIGNS = {"mov": (1,), "add": (1, 1), "sub": (1, -1), "not": (-1,)}
"""What adds up, and with which signs; ``not`` takes one more away."""


class KnownBranches(Pass):
    """Lead the ways on which a branch is known round it, where something is not set on them."""

    name: ClassVar[str] = "known-branches"

    def run(self, kernel: Kernel) -> None:
        """Do so with all of them."""
        facts, function = kernel.facts, kernel.function
        unset = facts.liveness.live_in(facts.entry)
        if not unset or facts.unknown is not None or not facts.is_reducible:
            return
        branches = _Branches(facts)
        known = [
            (facts.blocks[before], label, onward)
            for label in facts.graph
            if not unset.isdisjoint(facts.liveness.live_in(label))
            for before, onward in branches.known(label)
        ]
        for before, label, onward in known:
            retarget(function, before, label, onward)
            if before.terminator is None or before.terminator.target != onward:
                before.statements.append(jump(onward))
        if known:
            kernel.changed()


class _Branches:
    """What branches ask, and what is known of it where they do."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self._homes = {
            one: (label, number)
            for label, block in facts.blocks.items()
            for number, one in enumerate(block.instructions)
        }

    def known(self, label: str) -> Iterator[tuple[str, str]]:
        """The blocks before one of whose branch they know where it leads, and that."""
        remainder = self._remainder(label) if self._only_decides(label) else None
        if remainder is None:
            return
        number, mask, onward = remainder
        graph = self.facts.graph
        for before in graph.predecessors(label):
            at, to = before, label
            ways = list(graph.predecessors(before))
            if len(ways) == 1 and len(list(graph.successors(before))) == 1:
                at, to = ways[0], before
            less = self._less(at, to)
            if less is not None and less[1] <= mask and self._is_one_less(less[0], number):
                yield before, onward

    def _only_decides(self, label: str) -> bool:
        """Whether a block does nothing but decide where it leads."""
        block = self.facts.blocks.get(label)
        if block is None or any(not isinstance(one, Instruction) for one in block.statements):
            return False
        own = list(block.instructions)
        made = {register for i in own for register in i.defined()}
        later = (self.facts.liveness.live_in(to) for to in self.facts.graph.successors(label))
        idle = made.isdisjoint(frozenset[Register]().union(*later))
        return idle and all(i.is_terminator or not (i.effects or i.guard) for i in own)

    def _remainder(self, label: str) -> tuple[_Read, int, str] | None:
        """Of which number a block asks whether its lowest bits, by a mask, are all 0, and where it
        leads if they are not."""
        test = self._test(label)
        if test is None or test.modifiers[0] not in ("eq", "ne"):
            return None
        made = self._maker((test.operands[1], test))
        zero = self.facts.literal(test.operands[2])
        if made is None or made.name != "and" or zero is None or zero.integer != 0:
            return None
        number, mask = made.operands[1], self.facts.literal(made.operands[2])
        if mask is None or mask.integer is None or not isinstance(number, Register):
            return None
        bits = mask.integer % (1 << number.bits)
        onward = self._way(label, test.modifiers[0] == "ne")
        return ((number, made), bits, onward) if onward and not bits & (bits + 1) else None

    def _less(self, label: str, to: str) -> tuple[_Read, int] | None:
        """What is less than a number, without signs, on a way from a block."""
        test = self._test(label)
        if test is None or TYPES[test.types[-1]].kind != "u":
            return None
        number, bound = test.operands[1], self.facts.literal(test.operands[2])
        relation: str | None = UNSIGNED.get(test.modifiers[0], test.modifiers[0])
        if self._way(label, True) != to:
            relation = INVERSE.get(relation or "") if self._way(label, False) == to else None
        if relation not in ("lt", "le") or not isinstance(number, Register):
            return None
        if bound is None or bound.integer is None:
            return None
        return (number, test), bound.integer % (1 << number.bits) + (relation == "le")

    def _test(self, label: str) -> Instruction | None:
        """The comparison of integers by which a block decides."""
        block = self.facts.blocks.get(label)
        branch = block.terminator if block else None
        test = self._maker((branch.guard.register, branch)) if branch and branch.guard else None
        plain = test is not None and test.name == "setp" and len(test.operands) == 3
        return test if test is not None and plain and TYPES[test.types[-1]].kind in "bsu" else None

    def _way(self, label: str, holds: bool) -> str | None:
        """Where a guarded branch leads if its predicate holds, or does not; None if it is not known
        or the same."""
        branch = self.facts.blocks[label].terminator
        after = list(self.facts.graph.successors(label))
        if branch is None or branch.guard is None or len(after) != 2 or branch.target not in after:
            return None
        (other,) = (to for to in after if to != branch.target)
        return branch.target if holds != branch.guard.negated else other

    def _is_one_less(self, less: _Read, number: _Read) -> bool:
        """Whether a number is that of another, less 1."""
        one, other = self._sum(less, _DEPTH), self._sum(number, _DEPTH)
        bits = {value.bits for value, _ in (less, number) if isinstance(value, Register)}
        if one is None or other is None or len(bits) != 1:
            return False
        other.subtract(one)
        return other.pop(None, 0) % (1 << bits.pop()) == 1 and not any(other.values())

    def _sum(self, read: _Read, depth: int) -> Counter[_Part | None] | None:
        """What a value is the sum of, registers as something made them, and under None a number;
        None if it is not known what made it."""
        if (literal := self.facts.literal(read[0])) is not None:
            return Counter({None: literal.integer}) if literal.integer is not None else None
        maker = self._maker(read)
        if maker is None:
            return None
        whole = (read[0], maker)
        if maker.name not in _SIGNS or maker.modifiers != maker.types or not depth:
            return Counter({whole: 1})
        found: Counter[_Part | None] = Counter({None: -(maker.name == "not")})
        for sign, source in zip(_SIGNS[maker.name], maker.operands[1:], strict=True):
            added = self._sum((source, maker), depth - 1)
            if added is None:
                return Counter({whole: 1})
            found.update({key: sign * times for key, times in added.items()})
        return found

    def _maker(self, read: _Read) -> Instruction | None:
        """The only instruction that may have made a value where that is read, if it stands on all
        ways there.

        So two that read what it has made, on all ways to one place, have read the same when control
        comes there: behind where it has run last, each has run again.
        """
        value, user = read
        if not isinstance(value, Register):
            return None
        place, own = self._homes[user]
        found = self.facts.reaching.of_uses(place)[user, value]
        made = found[0].instruction if len(found) == 1 else None
        if made is None or made.guard is not None:
            return None
        home, number = self._homes[made]
        is_before = number < own if home == place else self.facts.dominators.dominates(home, place)
        return made if is_before else None
