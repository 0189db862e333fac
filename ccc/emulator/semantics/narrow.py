"""Conversions to and from floating-point formats of 4 to 8 bits, tf32, and packed integers.

(PTX ISA section 9.7.9, cvt and cvt.pack; section 5.2.3 for the formats.) Elements of a packed type
lie side by side, the first source in the highest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ccc.emulator.base.forms import DTYPES, Compute, Form, Operation, emulates
from ccc.emulator.semantics.rounding import canonical, narrow, widen


@dataclasses.dataclass(frozen=True, slots=True)
class Small:
    """A format: a sign, ``exponent`` and ``mantissa`` bits; ``room`` is what one takes packed.

    ``largest`` is the code of its largest number and ``nan`` that of NaN, if it has one.
    """

    exponent: int
    mantissa: int
    room: int
    largest: int
    nan: int | None = None
    infinity: int | None = None

    @property
    def least(self) -> int:
        """The exponent of the smallest normal number."""
        return 2 - (1 << (self.exponent - 1))

    def encode(self, x: Any, relu: bool) -> Any:
        """The codes (uint8) of doubles, to nearest even; what is too large becomes the largest."""
        sign = np.where(np.signbit(x), np.uint8(1 << (self.exponent + self.mantissa)), np.uint8(0))
        size = np.minimum(np.abs(np.where(np.isnan(x), 0.0, x)), 2.0**40)
        _, exponent = np.frexp(size)
        scale = np.where(size > 0, np.maximum(exponent - 1, self.least), self.least)
        steps = np.rint(np.ldexp(size, self.mantissa - scale)).astype(np.int64)
        code = steps + (scale - self.least << self.mantissa)
        code = np.minimum(code, self.largest).astype(np.uint8) | sign
        if relu:
            code = np.where(np.signbit(x), np.uint8(0), code)
        for_nan = np.uint8(self.largest if self.nan is None else self.nan)
        return np.where(np.isnan(x), for_nan, code)

    def decode(self, code: Any) -> Any:
        """The doubles that codes (uint8) stand for."""
        sign_bit = 1 << (self.exponent + self.mantissa)
        size = (code & np.uint8(sign_bit - 1)).astype(np.int64)
        field = size >> self.mantissa
        steps = size & ((1 << self.mantissa) - 1) | np.where(field > 0, 1 << self.mantissa, 0)
        scale = np.maximum(field, 1) - 1 + self.least - self.mantissa
        value = np.ldexp(steps.astype(np.float64), scale)
        if self.infinity is not None:
            value = np.where(size == self.infinity, np.inf, value)
            value = np.where(size > self.infinity, np.nan, value)
        elif self.nan is not None:
            value = np.where(size == self.nan, np.nan, value)
        return np.where(code & np.uint8(sign_bit) != 0, -value, value)


SMALL: dict[str, Small] = {
    "e4m3": Small(4, 3, 8, 0x7E, nan=0x7F),
    "e5m2": Small(5, 2, 8, 0x7B, nan=0x7F, infinity=0x7C),
    "e2m3": Small(2, 3, 8, 0x1F),
    "e3m2": Small(3, 2, 8, 0x1F),
    "e2m1": Small(2, 1, 4, 0x07),
}


def is_narrow(form: Form) -> bool:
    """Whether a ``cvt`` has to do with one of the formats of this file."""
    words = form.instruction.modifiers
    return "tf32" in words or any(word[:-2] in SMALL or word == "ue8m0x2" for word in words)


def convert(form: Form) -> Operation:
    """A ``cvt`` to or from such a format."""
    if form.has("rs"):
        form.refuse("rounds by random bits")
    if len(form.types) != 2:
        form.refuse("scales")
    target, source = form.types
    if target == "tf32":
        return _to_tf32(form)
    if target == "ue8m0x2":
        return _pairs(form, _to_exponent(form), np.uint8, 8)
    if source == "ue8m0x2":
        return _unpacked(form, _from_exponent, 8, "bf16")
    if target[:-2] in SMALL:
        small = SMALL[target[:-2]]
        relu = form.has("relu")
        return _pairs(form, lambda x: small.encode(x, relu), np.uint8, small.room)
    return _from_small(form, SMALL[source[:-2]])


def _pairs(form: Form, one: Compute, part: Any, room: int) -> Operation:
    """Two numbers of their own, or two halves, to a packed pair; ``one`` takes doubles."""
    target, source = form.types
    whole = DTYPES[target].type

    def pack(high: Any, low: Any) -> Any:
        high, low = one(high).astype(part), one(low).astype(part)
        return (high.astype(whole) << whole(room)) | low.astype(whole)

    if source == "f32":
        return Operation(
            lambda a, b: pack(a.astype(np.float64), b.astype(np.float64)), ("f32", "f32"), (target,)
        )
    return Operation(lambda a: pack(*_halves(a, source[:-2])), (source,), (target,))


def _halves(a: Any, half: str) -> tuple[Any, Any]:
    """The doubles in the upper and in the lower half of packed f16 or bf16."""
    parts = (a >> np.uint32(16)).astype(np.uint16), a.astype(np.uint16)
    high, low = (widen(x.view(DTYPES[half]), half) for x in parts)
    return high, low


def _unpacked(form: Form, one: Callable[[Any], Any], room: int, half: str) -> Operation:
    """A packed pair to two halves; ``one`` takes codes and gives doubles."""
    target, source = form.types
    mask = np.uint16((1 << room) - 1)
    bits = np.uint16

    def compute(a: Any) -> Any:
        a = a.astype(np.uint16)
        values = (one(code.astype(np.uint8)) for code in (a >> np.uint16(room) & mask, a & mask))
        numbers = (canonical(narrow(x, half), half) if half == "f16" else narrow(x, half)
                   for x in values)  # fmt: skip
        high, low = (x.view(bits).astype(np.uint32) for x in numbers)
        return (high << np.uint32(16)) | low

    return Operation(compute, (source,), (target,))


def _from_small(form: Form, small: Small) -> Operation:
    relu = form.has("relu")

    def one(code: Any) -> Any:
        value = small.decode(code)
        return np.where(value <= 0, 0.0, value) if relu else value

    return _unpacked(form, one, small.room, form.types[0][:-2])


def _to_exponent(form: Form) -> Compute:
    """To ue8m0, a power of two: the sign is left out."""
    up = form.has("rp")
    finite = form.has("satfinite")

    def one(x: Any) -> Any:
        size = np.abs(x)
        safe = np.where(np.isfinite(size) & (size > 0), size, 1.0)
        part, exponent = np.frexp(safe)
        power = exponent - 1 + (up & (part > 0.5)) if up else exponent - 1
        code = np.clip(power + 127, 0, 254 if finite else 255)
        code = np.where(size == 0, 0, code)
        code = np.where(np.isinf(size), 254 if finite else 255, code)
        return np.where(np.isnan(x), 255, code).astype(np.uint8)

    return one


def _from_exponent(code: Any) -> Any:
    value = np.ldexp(1.0, code.astype(np.int64) - 127)
    return np.where(code == 255, np.nan, value)


_TF32_BITS = 13
"""The lowest bits of f32, which tf32 has not."""


_NAN_TF32 = 0x7FFFE000


def _to_tf32(form: Form) -> Operation:
    """Round f32 to 10 bits of mantissa; it stays in its 32 bits."""
    mode = form.choose("rna", "rn", "rz") or "rna"
    relu, finite = form.has("relu"), form.has("satfinite")
    unit = np.uint32(1 << _TF32_BITS)
    low = unit - np.uint32(1)
    one = np.uint32(1)

    def compute(a: Any) -> Any:
        bits = a.view(np.uint32)
        size = bits & np.uint32(0x7FFFFFFF)
        sign = bits ^ size
        if mode == "rna":
            rounded = size + (unit >> one)
        elif mode == "rn":
            rounded = size + (low >> one) + (size >> np.uint32(_TF32_BITS) & one)
        else:
            rounded = size
        rounded = np.where(size >= np.uint32(0x7F800000), size, rounded) & ~low
        if finite:
            rounded = np.where(rounded >= np.uint32(0x7F800000), rounded - unit, rounded)
        result = rounded | sign
        if mode == "rna":  # in a few integer operations, to which NaNs are large numbers
            return result
        if relu:
            result = np.where(sign != 0, np.uint32(0), result)
        return np.where(np.isnan(a), np.uint32(_NAN_TF32), result)

    return Operation(compute, ("f32",), ("b32",))


_PACKED = {f"{kind}{bits}": (kind, bits) for kind in "us" for bits in (2, 4, 8, 16)}


@emulates("cvt.pack")
def pack(form: Form) -> Operation:
    """Two integers, clamped, into the lowest bits; above them the lowest bits of a third."""
    name = form.choose(*_PACKED)
    if name is None:
        form.refuse("names no type to pack")
    kind, bits = _PACKED[name]
    low = -(1 << (bits - 1)) if kind == "s" else 0
    high = low + (1 << bits) - 1
    mask, shift = np.uint32((1 << bits) - 1), np.uint32(bits)
    has_rest = len(form.instruction.operands) == 4

    def compute(a: Any, b: Any, c: Any = None) -> Any:
        x, y = (
            np.clip(value, np.int32(low), np.int32(high)).astype(np.int32).view(np.uint32) & mask
            for value in (a, b)
        )
        pair = (x << shift) | y
        return pair if c is None else (c << (shift + shift)) | pair

    sources = ("s32", "s32", "b32") if has_rest else ("s32", "s32")
    return Operation(compute, sources, ("b32",))
