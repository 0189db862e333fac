"""Which of two numbers that make an address is the pointer, where both are as wide as one.

    cvta.to.global.u64  %rd1, %rd9;         // p
    ld.global.u64       %rd2, [%rd3];       // h[i], which may be a pointer for all that is seen
    shl.b64             %rd4, %rd2, 2;      // and no pointer any more
    add.s64             %rd5, %rd1, %rd4;   // p + h[i]

A number that was multiplied by a literal leads nowhere, and what is added to a pointer counts what
lies behind that. Both have to be so. Added as it was read, a number may be the distance to another
pointer; and where nothing is a pointer for certain, a product may become one, of a handle from
which some bits were left out: ``(T *)(h[i] << 4) + n``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand, Register, Special, Symbol, Vector
from ccc.ptx.operations import COPIES, COUNTS_ON, SCALES, SUMS

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts

ADDRESS = 64
"""The bits of a generic address."""


class Indices:
    """What is only an index, of all that the addresses of a function are made from."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self._parameters = {parameter.name for parameter in facts.function.parameters}
        self._known: dict[Operand, bool] = {}

    def base(self, total: Instruction) -> Operand | None:
        """The pointer to which a sum adds an index; None if it is not known to do so."""
        base = self._only_base(total)
        return base if base is not None and self._is_pointer(base) else None

    def _only_base(self, total: Instruction) -> Operand | None:
        """What a sum adds an index to."""
        if total.name not in SUMS or _is_narrow(total.operands[0]):
            return None
        *others, last = total.operands[1:]
        if total.name == "mad":
            return last if self._is_product(total) else None
        (first,) = others
        if self._is_index(last):
            return first
        return last if total.name == "add" and self._is_index(first) else None

    def _is_pointer(self, value: Operand) -> bool:
        """Whether a value is an address for certain: that of a variable, one that was made one of
        another state space, or what lies behind one."""
        seen = set[Operand]()
        worklist = [value]
        while worklist:
            one = worklist.pop()
            if one in seen or (isinstance(one, Symbol) and one.name not in self._parameters):
                continue
            seen.add(one)
            for maker in (made := self._makers(one)):
                if maker.name in COPIES:
                    worklist += maker.operands[1:3]
                elif (base := self._only_base(maker)) is not None:
                    worklist.append(base)
                elif maker.name != "cvta":
                    return False
            if not made:
                return False
        return True

    def _is_index(self, value: Operand) -> bool:
        """Whether a value leads nowhere by itself."""
        if value not in self._known:
            self._known[value] = self._leads_nowhere(value)
        return self._known[value]

    def _leads_nowhere(self, value: Operand) -> bool:
        seen = set[Operand]()
        worklist = [value]
        while worklist:
            one = worklist.pop()
            if one in seen or _is_narrow(one):
                continue
            seen.add(one)
            for maker in (made := self._makers(one)):
                if maker.name in SCALES and self._is_product(maker):
                    worklist += maker.operands[3:]
                elif maker.name not in COUNTS_ON or any(map(_is_vector, maker.operands)):
                    return False
                elif not (maker.name == "and" and self._is_masked(maker)):
                    worklist += maker.operands[1:3]
            if not made:
                return False
        return True

    def _is_product(self, maker: Instruction) -> bool:
        """Whether something is multiplied by a literal there, or of narrow numbers."""
        factors = maker.operands[1:3]
        if all(map(_is_narrow, factors)):
            return True
        numbers = self._literals(factors[-1:] if maker.name == "shl" else factors)
        if maker.name == "shl":
            return any(number > 0 for number in numbers)
        is_low = "hi" not in maker.modifiers
        return is_low and any(number not in (0, 1, (1 << ADDRESS) - 1) for number in numbers)

    def _is_masked(self, maker: Instruction) -> bool:
        """Whether no more bits are left of something than a narrow number has."""
        return any(number < 1 << 32 for number in self._literals(maker.operands[1:]))

    def _literals(self, operands: Iterable[Operand]) -> list[int]:
        found = filter(None, map(self.facts.literal, operands))
        return [one.integer % (1 << ADDRESS) for one in found if one.integer is not None]

    def _makers(self, value: Operand) -> list[Instruction]:
        return self.facts.makers.get(value, []) if isinstance(value, Register) else []


def _is_narrow(value: Operand) -> bool:
    """Whether a value has less bits than an address, or is none of a register."""
    if isinstance(value, Register):
        return value.bits < ADDRESS
    return isinstance(value, (Immediate, Special))


def _is_vector(value: Operand) -> bool:
    return isinstance(value, Vector)
