"""Reductions: accumulators that paths update (no pass; the collector uses it).

A task that updates an accumulator runs on any lane, but the sum belongs to the lane that found the
task. So a task begins with the operation's neutral element, and what it makes of that is combined
into a slot of its owner, in shared memory; when the loop is over, each lane combines its slot with
its own register.

Before, in the path and after the loop:

            add.f32 %sum, %sum, %x;
    AFTER:  ...

After, the task's copy of the path adds to a register that begins with the neutral element, of
floating-point addition -0.0. The result goes to the owner's slot with ``COMBINE``, and from there
to ``%sum`` with ``FINISH``, behind a meeting of all members.

PTX has no atomic minimum or maximum of floating-point numbers: their slots hold integers in the
same order. Nor has it atomic operations of 16 bits: their slots have 32, of which the lower half
counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from ccc.analysis.paths.model import Accumulator
from ccc.ir.edit import Emitter
from ccc.ir.operands import Address, Immediate, Register
from ccc.ptx.types import WARP_SIZE
from ccc.snippet import Snippet

OWN_SLOT = Snippet("""
    .reg .b32 %slot, %own, %bytes, %base;
        mov.u32 %own, %laneid;
        mad.lo.s32 %slot, %own, %bytes, %base;
""")
"""Where the lane's own slot is, but for the offset that all have."""

SLOT = Snippet("""
    .reg .b32 %slot, %owner, %bytes, %base;
        mad.lo.s32 %slot, %owner, %bytes, %base;
""")
"""The same for the owner of a task."""

CLEAR = Snippet(
    """
    .reg .STORED %neutral;
    .reg .b32 %slot;
        st.shared.STORED [%slot], %neutral;
    """,
    "STORED",
)
"""Before the loop, the lane's own slot is made neutral."""

COMBINE = Snippet(
    """
    .reg .STORED %value;
    .reg .b32 %slot;
        red.shared.OPERATION.STORED [%slot], %value;
    """,
    "OPERATION", "STORED",
)  # fmt: skip
"""When a task has ended, what it made of the neutral element is combined into its owner's slot."""

COMBINE_NARROW = Snippet(
    """
    .reg .b16 %value;
    .reg .b32 %slot, %wide;
        cvt.WIDENED %wide, %value;
        red.shared.OPERATION.STORED [%slot], %wide;
    """,
    "OPERATION", "STORED", "WIDENED",
)  # fmt: skip
"""The same with 16 bits."""

COMBINE_ORDERED = Snippet(
    """
    .reg .pred %is_number;
    .reg .TYPE %value;
    .reg .BITS %bits, %sign, %mask, %ordered;
    .reg .b32 %slot;
        setp.num.TYPE %is_number, %value, %value;
        mov.BITS %bits, %value;
        shr.STORED %sign, %bits, SIGN_BIT;
        and.BITS %mask, %sign, HIGHEST;
        xor.BITS %ordered, %bits, %mask;      // an integer in the order of the numbers
        @%is_number red.shared.OPERATION.STORED [%slot], %ordered;
    """,
    "TYPE", "BITS", "STORED", "OPERATION", "SIGN_BIT", "HIGHEST",
)  # fmt: skip
"""The same with the minimum or maximum of floating-point numbers."""

FINISH = Snippet(
    """
    .reg .TYPE %others, %sum;
    .reg .b32 %slot;
        ld.shared.BITS %others, [%slot];
        OPERATION.TYPE %sum, %sum, %others;
    """,
    "TYPE", "BITS", "OPERATION",
)  # fmt: skip
"""When all have left the loop, the lane combines its own slot with its register."""

FINISH_NARROW = Snippet(
    """
    .reg .b32 %wide, %slot;
    .reg .b16 %others, %sum;
        ld.shared.BITS %wide, [%slot];
        cvt.u16.u32 %others, %wide;
        OPERATION.TYPE %sum, %sum, %others;
    """,
    "TYPE", "BITS", "OPERATION",
)  # fmt: skip

FINISH_ORDERED = Snippet(
    """
    .reg .pred %touched;
    .reg .BITS %ordered, %sign, %mask, %bits;
    .reg .TYPE %others, %sum;
    .reg .b32 %slot;
        ld.shared.BITS %ordered, [%slot];
        setp.ne.STORED %touched, %ordered, NEUTRAL;
        shr.STORED %sign, %ordered, SIGN_BIT;
        and.BITS %mask, %sign, HIGHEST;
        xor.BITS %bits, %ordered, %mask;      // the way back is the same
        mov.BITS %others, %bits;
        @%touched OPERATION.TYPE %sum, %sum, %others;
    """,
    "TYPE", "BITS", "STORED", "OPERATION", "SIGN_BIT", "HIGHEST", "NEUTRAL",
)  # fmt: skip
"""Where there was no update there is no change: the slot then holds the bits of a NaN."""

FINISH_COMPARED = Snippet(
    """
    .reg .pred %better;
    .reg .BITS %ordered, %sign, %mask, %bits;
    .reg .TYPE %others, %sum;
    .reg .b32 %slot;
        ld.shared.BITS %ordered, [%slot];
        shr.STORED %sign, %ordered, SIGN_BIT;
        and.BITS %mask, %sign, HIGHEST;
        xor.BITS %bits, %ordered, %mask;
        mov.BITS %others, %bits;              // a NaN where there was no update
        setp.BETTER.TYPE %better, %others, %sum;
        @%better mov.TYPE %sum, %others;
    """,
    "TYPE", "BITS", "STORED", "SIGN_BIT", "HIGHEST", "BETTER",
)  # fmt: skip
"""The same where the loop compares: what is no number is neither taken nor replaced."""

_NEUTRAL = {
    ("add", "f32"): "0f80000000",
    ("add", "f64"): "0d8000000000000000",
    ("min", "f32"): "0f7FFFFFFF",
    ("max", "f32"): "0f7FFFFFFF",
    ("min", "f64"): "0d7FFFFFFFFFFFFFFF",
    ("max", "f64"): "0d7FFFFFFFFFFFFFFF",
}
"""Where it is not an integer. The minimum of a number and a NaN is the number (PTX ISA, min)."""
_INFINITE = {
    ("min", "f32"): "0f7F800000",
    ("max", "f32"): "0fFF800000",
    ("min", "f64"): "0d7FF0000000000000",
    ("max", "f64"): "0dFFF0000000000000",
}
"""Where the loop compares: each number is less, or more, than this, or as good."""


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
        known = _INFINITE if self.accumulator.compares else _NEUTRAL
        return Immediate(known[kind] if kind in known else str(self._neutral_integer()))

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
    def in_order(self) -> bool:
        """Whether the slots hold integers that are ordered as the numbers are.

        What is no number is not taken into them, and so stays with its owner, bit for bit.
        """
        return self.accumulator.operation in ("min", "max") and self.accumulator.type[0] == "f"

    @property
    def _stored_type(self) -> str:
        kind = "s" if self.in_order else self.accumulator.type[0]
        return f"{kind}{8 * self._stored_bytes}"

    def clear(self, emit: Emitter, base: Register) -> None:
        """Make the lane's own slot neutral."""
        kind = self.accumulator.operation, self.accumulator.type
        plain = kind in _NEUTRAL and not self.in_order
        value = Immediate(_NEUTRAL[kind] if plain else str(self._neutral_integer()))
        clear = CLEAR.of(STORED=self._stored_type)
        clear.emit(emit, slot=self._own_slot(emit, base), neutral=value)

    def combine(self, emit: Emitter, base: Register, owner: Register, value: Register) -> None:
        """Combine ``value`` into the slot of lane ``owner``."""
        slot = SLOT.emit(emit, owner=owner, bytes=self._stored_bytes, base=base)["slot"]
        text = self._text(COMBINE, COMBINE_NARROW, COMBINE_ORDERED)
        text.emit(emit, slot=Address(slot, self.offset), value=value)

    def finish(self, emit: Emitter, base: Register, target: Register) -> None:
        """Combine the lane's own slot with its register."""
        ordered = FINISH_COMPARED if self.accumulator.compares else FINISH_ORDERED
        text = self._text(FINISH, FINISH_NARROW, ordered)
        text.emit(emit, slot=self._own_slot(emit, base), sum=target)

    def _text(self, plain: Snippet, narrow: Snippet, ordered: Snippet) -> Snippet:
        """The one of these that the type takes, with its words."""
        bits = 8 * self._stored_bytes
        sign = "s" if self.accumulator.type[0] == "s" else "u"
        words = {
            "WIDENED": f"{sign}32.{sign}16",
            "TYPE": self.accumulator.type, "BITS": f"b{bits}", "STORED": self._stored_type,
            "OPERATION": self.accumulator.operation, "NEUTRAL": self._neutral_integer(),
            "SIGN_BIT": bits - 1, "HIGHEST": (1 << (bits - 1)) - 1,
            "BETTER": "lt" if self.accumulator.operation == "min" else "gt",
        }  # fmt: skip
        return (ordered if self.in_order else narrow if self._is_narrow else plain).of(**words)

    def _own_slot(self, emit: Emitter, base: Register) -> Address:
        slot = OWN_SLOT.emit(emit, bytes=self._stored_bytes, base=base)["slot"]
        return Address(slot, self.offset)
