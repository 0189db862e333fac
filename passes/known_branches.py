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

Some loops have those that are left before the four: who has none left there has four or more. And
where two turns stand in a row, it may be asked whether the number is just 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
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
_Sum: TypeAlias = Counter[_Part | None]
"""How often each is added up, and under None a number."""
_DEPTH = 6
"""Additions that make a number of turns, at most."""
_INTEGERS = ("b", "s", "u")
"""The kinds of types that hold them, one in a register."""
_SIGNS = {"mov": (1,), "add": (1, 1), "sub": (1, -1), "not": (-1,)}
"""What adds up, and with which signs; ``not`` takes one more away."""


@dataclass(frozen=True, slots=True)
class _Remainder:
    """A number, and its lowest bits by a ``mask``; ``is_other`` tells what a predicate is if they
    are not all 0."""

    whole: _Sum
    bits: int
    mask: int
    is_other: bool


@dataclass(frozen=True, slots=True)
class _Less:
    """A number that is less than a bound, without signs."""

    whole: _Sum
    bits: int
    bound: int


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
        if not self._only_decides(label):
            return
        graph = self.facts.graph
        for before in graph.predecessors(label):
            at, to = before, label
            ways = list(graph.predecessors(before))
            if len(ways) == 1 and len(list(graph.successors(before))) == 1:
                at, to = ways[0], before
            onward = self._if_less(at, to, label) or self._if_none_left(at, to, label)
            if onward is not None:
                yield before, onward

    def _if_less(self, at: str, to: str, label: str) -> str | None:
        """Where a block leads that asks whether the lowest bits of a number are 0, if that is known
        to be one more than what is less than they can tell."""
        asked, less = self._remainder(label), self._less(at, to)
        if asked is None or less is None or not self._are_one(less, asked):
            return None
        return self._way(label, asked.is_other)

    def _if_none_left(self, at: str, to: str, label: str) -> str | None:
        """Where a block leads that asks whether such a number, less 1, is less than that, if the
        bits are known to be 0: it is as great, or it was 0, and without a sign is the greatest."""
        known = self._remainder(at)
        if known is None or self._way(at, not known.is_other) != to:
            return None
        ways = list(self.facts.graph.successors(label))
        for way, other in zip(ways, reversed(ways), strict=True):
            less = self._less(label, way)
            if less is not None and way != other and self._are_one(less, known):
                return other
        return None

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

    def _remainder(self, label: str) -> _Remainder | None:
        """Of which number a block asks whether its lowest bits are all 0."""
        test = self._test(label)
        if test is None or test.modifiers[0] not in ("eq", "ne"):
            return None
        made, seen = self._maker((test.operands[1], test)), list(test.types)
        if made is not None and made.name == "cvt" and made.modifiers == made.types:
            seen += made.types
            made = self._maker((made.operands[1], made))
        zero = self.facts.literal(test.operands[2])
        if made is None or made.name != "and" or zero is None or zero.integer != 0:
            return None
        number, mask = made.operands[1], self.facts.literal(made.operands[2])
        if mask is None or mask.integer is None or not isinstance(number, Register):
            return None
        bits = mask.integer % (1 << number.bits)
        whole = self._sum((number, made), _DEPTH)
        are_seen = all(TYPES[one].kind in _INTEGERS and bits < 1 << TYPES[one].bits for one in seen)
        if whole is None or bits & (bits + 1) or not are_seen:
            return None
        return _Remainder(whole, number.bits, bits, test.modifiers[0] == "ne")

    def _less(self, label: str, to: str) -> _Less | None:
        """What is less than a number, without signs, on a way from a block; what is equal to
        something is more than that by less than 1."""
        test = self._test(label)
        if test is None or not isinstance(test.operands[1], Register):
            return None
        bits, other = test.operands[1].bits, test.operands[2]
        relation: str | None = UNSIGNED.get(test.modifiers[0], test.modifiers[0])
        if self._way(label, True) != to:
            relation = INVERSE.get(relation or "") if self._way(label, False) == to else None
        whole = self._sum((test.operands[1], test), _DEPTH)
        if whole is None or TYPES[test.types[-1]].bits != bits:
            return None
        if relation == "eq" and (same := self._sum((other, test), _DEPTH)) is not None:
            whole.subtract(same)
            return _Less(whole, bits, 1)
        bound = self.facts.literal(other)
        if TYPES[test.types[-1]].kind != "u" or relation not in ("lt", "le"):
            return None
        if bound is None or bound.integer is None:
            return None
        return _Less(whole, bits, bound.integer % (1 << bits) + (relation == "le"))

    @staticmethod
    def _are_one(less: _Less, remainder: _Remainder) -> bool:
        """Whether a number that is asked for its lowest bits is one more than what is less than
        these can tell."""
        if less.bits != remainder.bits or less.bound > remainder.mask:
            return False
        more = Counter(remainder.whole)
        more.subtract(less.whole)
        return more.pop(None, 0) % (1 << less.bits) == 1 and not any(more.values())

    def _test(self, label: str) -> Instruction | None:
        """The comparison of integers by which a block decides."""
        block = self.facts.blocks.get(label)
        branch = block.terminator if block else None
        test = self._maker((branch.guard.register, branch)) if branch and branch.guard else None
        plain = test is not None and test.name == "setp" and len(test.operands) == 3
        return test if test and plain and TYPES[test.types[-1]].kind in _INTEGERS else None

    def _way(self, label: str, holds: bool) -> str | None:
        """Where a guarded branch leads if its predicate holds, or does not; None if it is not known
        or the same."""
        branch = self.facts.blocks[label].terminator
        after = list(self.facts.graph.successors(label))
        if branch is None or branch.guard is None or len(after) != 2 or branch.target not in after:
            return None
        (other,) = (to for to in after if to != branch.target)
        return branch.target if holds != branch.guard.negated else other

    def _sum(self, read: _Read, depth: int) -> _Sum | None:
        """What a value is the sum of, registers as something made them, and under None a number;
        None if it is not known what made it."""
        if (literal := self.facts.literal(read[0])) is not None:
            return Counter({None: literal.integer}) if literal.integer is not None else None
        maker = self._maker(read)
        if maker is None:
            return None
        whole = (read[0], maker)
        is_sum = maker.name in _SIGNS and maker.modifiers == maker.types and depth > 0
        if not is_sum or TYPES[maker.types[-1]].kind not in _INTEGERS:
            return Counter({whole: 1})  # floating point rounds, and halves of a register wrap
        found: _Sum = Counter({None: -(maker.name == "not")})
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
