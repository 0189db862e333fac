"""Integer and extended-precision arithmetic (PTX ISA sections 9.7.1 and 9.7.2).

Where the manual leaves a result open it is what an H200 gives (docs/agreement.md): all ones for the
quotient and the remainder of a division by zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.base.forms import DTYPES, Compute, Form, Operation, emulates, same
from ccc.emulator.semantics.bits import leading_zeros, ones, popcount, reverse, width_of

_CARRY_OUT = frozenset({"out"})


def add(form: Form) -> Operation:
    """``add``, with ``.sat`` and ``.cc``."""
    if form.has("sat"):
        return same(_saturated(np.add), "s32", 2)
    if form.has("cc"):
        return _with_carry(_add_carry, form, carry_in=False)
    return same(np.add, _unsigned(form), 2)


def sub(form: Form) -> Operation:
    """``sub``, with ``.sat`` and ``.cc``."""
    if form.has("sat"):
        return same(_saturated(np.subtract), "s32", 2)
    if form.has("cc"):
        return _with_carry(_sub_carry, form, carry_in=False)
    return same(np.subtract, _unsigned(form), 2)


def mul(form: Form) -> Operation:
    """``mul`` with ``.lo``, ``.hi`` or ``.wide``."""
    product, source, result = _product(form)
    return Operation(product, (source, source), (result,))


def mad(form: Form) -> Operation:
    """``mad``: the part of the product that ``mul`` gives, plus ``c``."""
    product, source, result = _product(form)
    if form.has("cc"):
        return _mad_carry(form, carry_in=False)
    if form.has("sat"):
        add_up = _saturated(np.add)
        return Operation(
            lambda a, b, c: add_up(product(a, b), c), (source, source, result), (result,)
        )
    return Operation(lambda a, b, c: product(a, b) + c, (source, source, result), (result,))


@emulates("addc")
def addc(form: Form) -> Operation:
    """Add with carry."""
    return _with_carry(_add_carry, form, carry_in=True)


@emulates("subc")
def subc(form: Form) -> Operation:
    """Subtract with borrow."""
    return _with_carry(_sub_carry, form, carry_in=True)


@emulates("madc")
def madc(form: Form) -> Operation:
    """Multiply and add with carry."""
    return _mad_carry(form, carry_in=True)


def _add_carry(a: Any, b: Any, carry: Any) -> tuple[Any, Any]:
    part = a + b
    total = part + carry
    return total, (part < a) | (total < part)


def _sub_carry(a: Any, b: Any, carry: Any) -> tuple[Any, Any]:
    """The hardware adds the complement: the flag is 1 where nothing is borrowed."""
    return _add_carry(a, ~b, carry)


def _with_carry(step: Compute, form: Form, carry_in: bool) -> Operation:
    kind = _unsigned(form)
    dtype = DTYPES[kind]
    start = dtype.type(step is _sub_carry)

    def compute(a: Any, b: Any, *carry: Any) -> Any:
        result = step(a, b, carry[0].astype(dtype) if carry else start)
        return result if form.has("cc") else result[0]

    flags = frozenset({"in"} if carry_in else ()) | (_CARRY_OUT if form.has("cc") else frozenset())
    return Operation(compute, (kind, kind), (kind, "pred")[: 1 + form.has("cc")], carry=flags)


def _mad_carry(form: Form, carry_in: bool) -> Operation:
    product, source, result = _product(form)
    inner = _with_carry(_add_carry, form, carry_in)
    kind = _unsigned(form)

    def compute(a: Any, b: Any, c: Any, *carry: Any) -> Any:
        return inner.compute(product(a, b).view(DTYPES[kind]), c, *carry)

    del result
    return Operation(compute, (source, source, kind), inner.results, carry=inner.carry)


def _saturated(step: Compute) -> Compute:
    def compute(a: Any, b: Any) -> Any:
        wide = step(a.astype(np.int64), b.astype(np.int64))
        return np.clip(wide, -(1 << 31), (1 << 31) - 1).astype(np.int32)

    return compute


def _unsigned(form: Form) -> str:
    if form.kind not in "bus" or form.bits < 16:
        form.refuse(f"computes with {form.type}")
    return f"u{form.bits}"


def _product(form: Form) -> tuple[Compute, str, str]:
    """The product function of a ``mul`` or ``mad``, its source type and its result type."""
    kind, bits = form.kind, form.bits
    if form.has("wide"):
        wide = f"{kind}{2 * bits}"
        dtype = DTYPES[wide]
        return lambda a, b: a.astype(dtype) * b.astype(dtype), form.type, wide
    if form.has("hi"):
        return (_high_64 if bits == 64 else _high), form.type, form.type
    if not form.has("lo"):
        form.refuse("names no part of the product")
    return np.multiply, _unsigned(form), _unsigned(form)


def _high(a: Any, b: Any) -> Any:
    bits = width_of(a)
    wide = np.dtype(f"{a.dtype.kind}{bits // 4}").type
    return (a.astype(wide) * b.astype(wide) >> wide(bits)).astype(a.dtype)


def _high_64(a: Any, b: Any) -> Any:
    """The upper half of a 128-bit product, from 32-bit limbs."""
    low_bits, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x, y = a.view(np.uint64), b.view(np.uint64)
    x0, x1, y0, y1 = x & low_bits, x >> half, y & low_bits, y >> half
    middle = x1 * y0 + (x0 * y0 >> half)
    other = x0 * y1 + (middle & low_bits)
    high = x1 * y1 + (middle >> half) + (other >> half)
    if a.dtype.kind == "i":
        zero = np.uint64(0)
        high = high - np.where(a < 0, y, zero) - np.where(b < 0, x, zero)
    return high.view(a.dtype)


def divide(a: Any, b: Any) -> Any:
    """Integer quotient, truncated, of two arrays (n,) or scalars of one integer dtype."""
    if a.dtype.kind == "u":
        return np.where(b == 0, ~(b & b.dtype.type(0)), a // np.maximum(b, b.dtype.type(1)))
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    quotient = divide(np.abs(a).view(unsigned), np.abs(b).view(unsigned)).view(a.dtype)
    return np.where(((a < 0) != (b < 0)) & (b != 0), -quotient, quotient)


def remainder(a: Any, b: Any) -> Any:
    """What a truncated quotient leaves; it has the sign of ``a``. All ones if ``b`` is 0."""
    return np.where(b == 0, ~(b & b.dtype.type(0)), a - divide(a, b) * b)


@emulates("mul24", "mad24")
def mul24(form: Form) -> Operation:
    """The low or high 32 bits of a 48-bit product."""
    signed = form.kind == "s"
    shift = np.int64(16 if form.has("hi") else 0)
    sat = form.has("sat")
    add_up = _saturated(np.add)

    def clamped(a: Any, b: Any) -> Any:
        return add_up(a, b).view(np.uint32)

    def cut(x: Any) -> Any:
        wide = x.astype(np.int64) & np.int64(0xFFFFFF)
        return np.where(wide >> np.int64(23) == 1, wide - (1 << 24), wide) if signed else wide

    def compute(a: Any, b: Any, c: Any = None) -> Any:
        product = (cut(a) * cut(b) >> shift).astype(np.uint32)
        if c is None:
            return product
        return clamped(product.view(np.int32), c.view(np.int32)) if sat else product + c

    return same(compute, "u32", 3 if form.instruction.name == "mad24" else 2)


@emulates("sad")
def sad(form: Form) -> Operation:
    """c + |a - b|."""
    return same(lambda a, b, c: c + (np.maximum(a, b) - np.minimum(a, b)), form.type, 3)


def absolute(form: Form) -> Operation:
    """``abs``."""
    return same(np.abs, form.type, 1)


def negate(form: Form) -> Operation:
    """``neg``."""
    kind = _unsigned(form)
    return same(lambda a: DTYPES[kind].type(0) - a, kind, 1)


@emulates("popc")
def popc(form: Form) -> Operation:
    """Count ones."""
    return Operation(popcount, (f"u{form.bits}",), ("u32",))


@emulates("clz")
def clz(form: Form) -> Operation:
    """Count leading zeros."""
    return Operation(leading_zeros, (f"u{form.bits}",), ("u32",))


@emulates("brev")
def brev(form: Form) -> Operation:
    """Reverse the bits."""
    return same(reverse, f"u{form.bits}", 1)


@emulates("bfind")
def bfind(form: Form) -> Operation:
    """The position of the highest bit that is not a sign bit; all ones where there is none."""
    bits, signed = form.bits, form.kind == "s"
    kind = DTYPES[f"u{bits}"].type

    def compute(a: Any) -> Any:
        if signed:
            a = np.where(a >> kind(bits - 1) == 1, ~a, a)
        zeros = leading_zeros(a)
        found = zeros if form.has("shiftamt") else np.uint32(bits - 1) - zeros
        return np.where(a == 0, np.uint32(0xFFFFFFFF), found)

    return Operation(compute, (f"u{bits}",), ("u32",))


@emulates("fns")
def fns(_: Form) -> Operation:
    """The position of the n-th one from a base, upward or downward."""

    def one(mask: int, base: int, offset: int) -> int:
        if offset == 0:
            return base if mask >> base & 1 else 0xFFFFFFFF
        if offset == -(1 << 31):
            return 0  # as an H200 does
        step = 1 if offset > 0 else -1
        found, position = 0, base
        while 0 <= position < 32:
            found += mask >> position & 1
            if found == abs(offset):
                return position
            position += step
        return 0xFFFFFFFF

    search = np.frompyfunc(one, 3, 1)

    def compute(mask: Any, base: Any, offset: Any) -> Any:
        base = base & np.uint32(31)
        return np.asarray(search(*(np.asarray(x, object) for x in (mask, base, offset)))).astype(
            np.uint32
        )

    return Operation(compute, ("u32", "u32", "s32"), ("u32",))


def _field(number: Any, bits: int) -> Any:
    """The position or length of a bit field, up to the width.

    Beyond 255, where the manual leaves results open, an H200 looks at the lowest 8 bits only, if
    fields are of 32 bits.
    """
    if bits == 32:
        number = number & np.uint32(255)
    return np.minimum(number, np.uint32(bits))


@emulates("bfe")
def bfe(form: Form) -> Operation:
    """Extract a bit field; a signed one is sign-extended."""
    bits, signed = form.bits, form.kind == "s"
    dtype = DTYPES[f"u{bits}"]
    kind = dtype.type

    def compute(a: Any, position: Any, length: Any) -> Any:
        position, length = _field(position, bits), _field(length, bits)
        room = np.uint32(bits) - position
        mask = ones(np.minimum(length, room), dtype)
        field = (a >> position.astype(dtype)) & mask
        if not signed:
            return field
        top = np.minimum(position + length - np.uint32(1), np.uint32(bits - 1))
        negative = (length != 0) & ((a >> top.astype(dtype)) & kind(1) == 1)
        return np.where(negative, field | ~mask, field)

    return Operation(compute, (f"u{bits}", "u32", "u32"), (f"u{bits}",))


@emulates("bfi")
def bfi(form: Form) -> Operation:
    """Insert a bit field of ``a`` into ``b``."""
    dtype = DTYPES[f"u{form.bits}"]

    def compute(a: Any, b: Any, position: Any, length: Any) -> Any:
        position = _field(position, form.bits).astype(dtype)
        mask = ones(_field(length, form.bits), dtype) << position
        return (b & ~mask) | ((a << position) & mask)

    kind = f"u{form.bits}"
    return Operation(compute, (kind, kind, "u32", "u32"), (kind,))


@emulates("bmsk")
def bmsk(form: Form) -> Operation:
    """A mask of ``b`` ones from bit ``a`` on."""
    wrap = form.has("wrap")

    def compute(a: Any, b: Any) -> Any:
        if wrap:
            a, b = a & np.uint32(31), b & np.uint32(31)
        return ones(b, np.dtype(np.uint32)) << a

    return same(compute, "u32", 2)


@emulates("szext")
def szext(form: Form) -> Operation:
    """Extend the lowest ``b`` bits of ``a`` by their sign or by zeros."""
    wrap, signed = form.has("wrap"), form.kind == "s"

    def compute(a: Any, b: Any) -> Any:
        if wrap:
            b = b & np.uint32(31)
        mask = ones(b, np.dtype(np.uint32))
        if not signed:
            return a & mask
        top = np.minimum(b - np.uint32(1), np.uint32(31))
        negative = (b != 0) & ((a >> top) & np.uint32(1) == 1)
        return np.where(negative, a | ~mask, a & mask)

    return same(compute, "u32", 2)


@emulates("dp4a", "dp2a")
def dot_product(form: Form) -> Operation:
    """Four products of bytes, or two of a half word and a byte, added to ``c``."""
    parts = 4 if form.instruction.name == "dp4a" else 2
    first = 2 if form.has("hi") else 0
    left, right = form.types

    def part(x: Any, index: int, bits: int, signed: bool) -> Any:
        wide = (x >> np.uint32(index * bits)).astype(f"u{bits // 8}")
        return wide.astype(f"i{bits // 8}").astype(np.int32) if signed else wide.astype(np.int32)

    def compute(a: Any, b: Any, c: Any) -> Any:
        total = c
        for k in range(parts):
            x = part(a, k, 32 // parts, left == "s32")
            y = part(b, first + k, 8, right == "s32")
            total = total + (x * y).astype(np.uint32)
        return total

    return same(compute, "u32", 3)
