"""Reductions: accumulators that paths update (no pass; the collector uses it).

A task that updates an accumulator runs on any lane, but the sum belongs to the lane that found the
task. So a task begins with the operation's neutral element, and what it makes of that is combined
into a slot of its owner, in shared memory; when the loop is over, each lane combines its slot with
its own register.

Before, in the path and after the loop:

            add.f32 %sum, %sum, %x;
    AFTER:  ...

After, with one slot a lane:

            mov.f32 %own, 0f80000000;                    // -0.0: the task begins with nothing
            add.f32 %own, %own, %x;
            red.shared.add.f32 [%slot_of_owner], %own;
    DONE:   bar.warp.sync %members;
            ld.shared.f32 %others, [%my_slot];
            add.f32 %sum, %sum, %others;
    AFTER:  ...

PTX has no atomic minimum or maximum of floating-point numbers: their slots hold integers in the
same order. Nor has it atomic operations of 16 bits: their slots have 32, of which the lower half
counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from ccc.analysis.paths.model import Accumulator
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard
from ccc.ir.operands import Address, Immediate, Register, Special
from ccc.ptx.types import WARP_SIZE

_NEUTRAL = {
    ("add", "f32"): "0f80000000",
    ("add", "f64"): "0d8000000000000000",
    ("min", "f32"): "0f7FFFFFFF",
    ("max", "f32"): "0f7FFFFFFF",
    ("min", "f64"): "0d7FFFFFFFFFFFFFFF",
    ("max", "f64"): "0d7FFFFFFFFFFFFFFF",
}
"""Where it is not an integer. The minimum of a number and a NaN is the number (PTX ISA, min)."""


@dataclass(frozen=True, slots=True)
class Slots:
    """One accumulator's slots: at byte ``offset`` of the warp's share, one for each lane."""

    accumulator: Accumulator
    offset: int

    @property
    def bytes(self) -> int:
        """The size of all of them."""
        return WARP_SIZE * self._stored_bytes

    @property
    def _stored_bytes(self) -> int:
        return max(self.accumulator.bytes, 4)

    @property
    def _is_narrow(self) -> bool:
        return self.accumulator.bytes < self._stored_bytes

    @property
    def neutral(self) -> Immediate:
        """What a task begins with."""
        kind = self.accumulator.operation, self.accumulator.type
        return Immediate(_NEUTRAL[kind] if kind in _NEUTRAL else str(self._neutral_integer()))

    def _neutral_integer(self) -> int:
        operation, bits = self.accumulator.operation, 8 * self.accumulator.bytes
        signed = self._stored_type[0] == "s"
        highest = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
        if operation == "min":
            return highest
        if operation == "max":
            return -highest - 1 if signed else 0
        return -1 if operation == "and" else 0

    @property
    def _in_order(self) -> bool:
        """Whether the slots hold integers that are ordered as the numbers are."""
        return self.accumulator.operation in ("min", "max") and self.accumulator.type[0] == "f"

    @property
    def _stored_type(self) -> str:
        kind = "s" if self._in_order else self.accumulator.type[0]
        return f"{kind}{8 * self._stored_bytes}"

    def clear(self, emit: Emitter, base: Register) -> None:
        """Make the lane's own slot neutral."""
        kind = self.accumulator.operation, self.accumulator.type
        plain = kind in _NEUTRAL and not self._in_order
        value = Immediate(_NEUTRAL[kind] if plain else str(self._neutral_integer()))
        own = emit.define("mov.u32", "b32", Special("%laneid"))
        emit.emit(f"st.shared.{self._stored_type}", self._address(emit, base, own), value)

    def combine(self, emit: Emitter, base: Register, owner: Register, value: Register) -> None:
        """Combine ``value`` into the slot of lane ``owner``."""
        address = self._address(emit, base, owner)
        guard = None
        if self._in_order:
            kind = self.accumulator.type
            guard = Guard(emit.define(f"setp.num.{kind}", "pred", value, value))
            value = self._ordered(emit, self._bits(emit, value))
        if self._is_narrow:
            value = emit.define("cvt.u32.u16", "b32", value)
        name = f"red.shared.{self.accumulator.operation}.{self._stored_type}"
        emit.emit(name, address, value, guard=guard)

    def finish(self, emit: Emitter, base: Register, target: Register) -> None:
        """Combine the lane's own slot with its register."""
        bits, operation = 8 * self._stored_bytes, self.accumulator.operation
        own = emit.define("mov.u32", "b32", Special("%laneid"))
        value = emit.define(f"ld.shared.b{bits}", f"b{bits}", self._address(emit, base, own))
        kind = self.accumulator.type
        touched = None
        if self._in_order:  # no update, no change: the slot then holds the bits of a NaN
            none = str(self._neutral_integer())
            touched = Guard(emit.define(f"setp.ne.s{bits}", "pred", value, Immediate(none)))
            value = self._ordered(emit, value)
        if self._is_narrow:
            value = emit.define("cvt.u16.u32", "b16", value)
        if kind[0] == "f":
            number = emit.function.registers.fresh(kind)
            emit.emit(f"mov.b{bits}", number, value)
            value = number
        emit.emit(f"{operation}.{kind}", target, target, value, guard=touched)

    def _address(self, emit: Emitter, base: Register, lane: Register) -> Address:
        size = self._stored_bytes
        return Address(emit.define("mad.lo.s32", "b32", lane, size, base), self.offset)

    def _bits(self, emit: Emitter, value: Register) -> Register:
        bits = f"b{8 * self.accumulator.bytes}"
        return emit.define(f"mov.{bits}", bits, value)

    def _ordered(self, emit: Emitter, value: Register) -> Register:
        """Between the bits of a number and an integer in its order; the way back is the same."""
        bits = 8 * self.accumulator.bytes
        highest = (1 << (bits - 1)) - 1
        sign = emit.define(f"shr.s{bits}", f"b{bits}", value, bits - 1)
        mask = emit.define(f"and.b{bits}", f"b{bits}", sign, highest)
        return emit.define(f"xor.b{bits}", f"b{bits}", value, mask)


def place_slots(accumulators: tuple[Accumulator, ...], start: int) -> tuple[Slots, ...]:
    """Room for the accumulators of a loop, from byte ``start`` of the warp's share on."""
    slots: list[Slots] = []
    for accumulator in accumulators:
        slots.append(Slots(accumulator, start + sum(other.bytes for other in slots)))
    return tuple(slots)
