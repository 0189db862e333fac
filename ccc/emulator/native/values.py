"""Operands of an encoded program: registers, and what is the same for many lanes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from ccc.emulator.lanes.special import PER_LANE
from ccc.ir.operands import Register
from ccc.ptx.types import SPECIAL_REGISTERS, TIME, TYPES


class NotNativeError(Exception):
    """The C library does not know this; Python does it."""


@dataclass(frozen=True, slots=True)
class ConstantValue:
    """One value for all lanes, by its place among the constants."""

    index: int
    bits: int


@dataclass(frozen=True, slots=True)
class PerLane:
    """A special register that differs from lane to lane, by its place among those."""

    index: int
    bits: int = 32


Value: TypeAlias = Register | ConstantValue | PerLane


def bytes_of(value: Value) -> int:
    """The bytes of an element; a predicate has one."""
    return max(value.bits // 8, 1)


def temporary(number: int, bits: int) -> Register:
    """A register that the program has not."""
    return Register(f"native {number}", "pred" if bits == 1 else f"b{bits}")


@dataclass(slots=True)
class UniformValues:
    """What is the same for all lanes, by what it is: a number, or known only at a launch.

    ``known`` has for each constant its kind (``"value"``, ``"special"``, ``"param"`` or
    ``"frame"``), its bits and the number, the register's name or the offset.
    """

    known: dict[tuple[str, int, int | str], int] = field(default_factory=dict)
    lanes: dict[str, int] = field(default_factory=dict)

    def of(self, kind: str, bits: int, what: int | str) -> ConstantValue:
        """The constant of that kind."""
        return ConstantValue(self.known.setdefault((kind, bits, what), len(self.known)), bits)

    def value(self, number: int, bits: int) -> ConstantValue:
        """A number."""
        return self.of("value", bits, number & ((1 << bits) - 1))

    def special(self, name: str) -> Value:
        """A special register."""
        register = SPECIAL_REGISTERS[name]
        if register.varies == TIME:
            raise NotNativeError
        if name in PER_LANE:
            return PerLane(self.lanes.setdefault(name, len(self.lanes)))
        return self.of("special", TYPES[register.type].bits, name)
