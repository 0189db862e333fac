"""Comparisons by which a counter ends its loop, whatever others do.

    add.s32 %r1, %r1, 8;
    setp.lt.u32 %p1, %r1, 1000;         // goes on if so

A counter that takes steps of a constant goes round all numbers of its type that lie so far apart as
the largest power of two that divides the step. It ends the loop if one of them does. That is not
certain if the step may be zero; if the bound has to be met, or lies next to the end of all numbers,
and may be stepped over; or if the counter is compared as a wider number than it is.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.operations import INVERSE, SWAPPED, UNSIGNED
from ccc.ptx.types import TYPES, number_of_type

_SIGNS = {"add": 1, "sub": -1}


@dataclass(frozen=True, slots=True)
class LoopCounters:
    """The counters of a loop.

    ``makers`` has the registers that one instruction of the loop alone writes, and does so once in
    each trip; ``written`` is all that the loop writes.
    """

    makers: Mapping[Register, Instruction]
    written: Container[Operand | str]

    def end(self, comparison: Instruction, value: bool) -> bool:
        """Whether a comparison that is made in each trip comes to have some value."""
        relation = UNSIGNED.get(comparison.modifiers[0], comparison.modifiers[0])
        is_plain = len(comparison.operands) == 3 and _is_of_integers(comparison)
        if not is_plain or relation not in INVERSE:
            return False
        goes_on = INVERSE[relation] if value else relation
        type_name = comparison.types[-1]
        _, one, other = comparison.operands
        return self._pass(one, goes_on, other, type_name) or self._pass(
            other, SWAPPED[goes_on], one, type_name
        )

    def _pass(self, counter: Operand, relation: str, bound: Operand, type_name: str) -> bool:
        """Whether a counter comes to have no longer a relation to a bound."""
        step = self._step(counter, TYPES[type_name].bits)
        apart = step & -step
        if step == 0:
            return False
        if relation == "eq":
            return bound not in self.written
        if apart == 1 and relation in ("lt", "gt"):
            return True  # the last number of all has it to none
        if relation == "ne":
            return apart == 1 and bound not in self.written
        number = bound.integer if isinstance(bound, Immediate) else None
        return number is not None and apart <= _numbers_beyond(number, relation, type_name)

    def _step(self, counter: Operand, bits: int) -> int:
        """What an operand gains each time that it is made anew, in so many low bits.

        0 where that is not known: it may come from what is not itself, or lose some of these bits.
        """
        way: list[Operand] = []
        steps: list[int] = []
        while counter not in way:
            maker = self.makers.get(counter) if isinstance(counter, Register) else None
            step = _step_of(maker) if maker else None
            if maker is None or step is None or min(TYPES[t].bits for t in maker.types) < bits:
                return 0
            way.append(counter)
            steps.append(step)
            counter = maker.operands[1]
        return sum(steps[way.index(counter) :]) % (1 << bits)


def _numbers_beyond(bound: int, relation: str, type_name: str) -> int:
    """How many numbers of a type do not have a relation, one of order, to a bound."""
    kind = TYPES[type_name]
    place = number_of_type(bound, type_name) - (-(1 << kind.bits - 1) if kind.kind == "s" else 0)
    least = {"lt": place, "le": place + 1, "gt": place + 1, "ge": place}[relation]
    return (1 << kind.bits) - least if relation in ("lt", "le") else least


def _step_of(maker: Instruction) -> int | None:
    """What an instruction adds to its first operand, if it is a step or a copy."""
    if maker.modifiers != maker.types or not _is_of_integers(maker):
        return None
    if maker.name in ("mov", "cvt"):
        return 0
    added = maker.operands[2] if maker.name in _SIGNS else None
    number = added.integer if isinstance(added, Immediate) else None
    return None if number is None else _SIGNS[maker.name] * number


def _is_of_integers(instruction: Instruction) -> bool:
    kinds = [TYPES[name].kind for name in instruction.types]
    return bool(kinds) and all(kind in "bsu" for kind in kinds)
