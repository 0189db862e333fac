"""Comparisons by which a counter ends its loop, whatever others do.

    add.s32 %r1, %r1, 8;
    setp.lt.u32 %p1, %r1, 1000;         // goes on if so

A counter that takes steps of a constant goes round all numbers of its type that lie so far apart as
the largest power of two that divides the step. It ends the loop if one of them does. That is not
certain if the step may be zero; if the bound has to be met, or lies next to the end of all numbers,
and may be stepped over; or if the counter is compared as a wider number than it is. Nor is it if it
may take longer than anybody waits, as counters of 64 bits may: these need a known way to go.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from ccc.analysis.thresholds import WAITED_TURNS
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.operations import INVERSE, SWAPPED, UNSIGNED
from ccc.ptx.types import TYPES, number_of_type

_SIGNS = {"add": 1, "sub": -1}


@dataclass(frozen=True, slots=True)
class LoopCounters:
    """The counters of a loop.

    ``makers`` has the registers that one instruction of the loop alone writes, and does so once in
    each trip; ``written`` is all that the loop writes. ``literal`` tells what an operand always is,
    and ``start`` with what number a register comes to the loop, if that is known.
    """

    makers: Mapping[Register, Instruction]
    written: Container[Operand | str]
    literal: Callable[[Operand], Immediate | None]
    start: Callable[[Operand], int | None]

    def end(self, comparison: Instruction, value: bool) -> bool:
        """Whether a comparison that is made in each trip comes to have some value."""
        relation = UNSIGNED.get(comparison.modifiers[0], comparison.modifiers[0])
        is_plain = len(comparison.operands) == 3 and _is_of_integers(comparison)
        if not is_plain or relation not in INVERSE:
            return False
        goes_on = INVERSE[relation] if value else relation
        type_name = comparison.types[-1]
        _, one, other = comparison.operands
        return any(
            self._pass(counter, way_on, bound, type_name)
            and (way_on == "eq" or self._is_near(counter, way_on, bound, type_name))
            for counter, way_on, bound in ((one, goes_on, other), (other, SWAPPED[goes_on], one))
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

    def _is_near(self, counter: Operand, relation: str, bound: Operand, type_name: str) -> bool:
        """Whether a counter has not too many turns to go to a bound."""
        kind = TYPES[type_name]
        numbers = 1 << kind.bits
        if numbers <= WAITED_TURNS:
            return True
        step = number_of_type(self._step(counter, kind.bits), f"s{kind.bits}")
        first, last = self._first(counter), self.literal(bound)
        if first is None and kind.kind == "u" and relation in ("lt", "le"):
            first = 0  # at the least
        if first is None or last is None or last.integer is None:
            return False
        begin, end = (number_of_type(one, type_name) for one in (first, last.integer))
        distance = end - begin if step > 0 else begin - end
        if relation == "ne":
            distance %= numbers
        elif (relation in ("lt", "le")) != (step > 0):
            return False
        return distance <= WAITED_TURNS * abs(step)

    def _first(self, counter: Operand) -> int | None:
        """What a counter is where it is compared first, if that is known."""
        added = 0
        seen: set[Operand] = set()
        while counter not in seen:
            seen.add(counter)
            maker = self.makers.get(counter) if isinstance(counter, Register) else None
            step = _step_of(maker) if maker else None
            if maker is None or step is None:
                return None
            added += step
            counter = maker.operands[1]
            if (start := self.start(counter)) is not None:
                return start + added
        return None

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
