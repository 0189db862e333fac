"""Floating-point arithmetic (PTX ISA sections 9.7.3 to 9.7.5).

Results are correctly rounded. Those of ``.approx`` and ``.full`` forms are the correctly rounded
value of the function, computed in double precision (of ``sin`` and ``cos``, of the angle as the
hardware reduces it): hardware differs from it in the last bits, and so does the emulator from
hardware.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ccc.emulator.base.forms import DTYPES, SEMANTICS, Compute, Form, Operation, emulates, same
from ccc.emulator.semantics import approximate
from ccc.emulator.semantics.fma import fma_double, fma_narrow
from ccc.emulator.semantics.rounding import (
    MODES,
    NAN_BITS,
    canonical,
    directed,
    exactly,
    flush,
    flush_bits,
    make_odd,
    nan_of,
    narrow,
    quiet,
    saturate,
    two_sum,
    widen,
)

_SINGLE = ("f16", "bf16", "f32", "f64")


def is_floating(form: Form) -> bool:
    """Whether a form computes with floating-point numbers."""
    return form.type in _SINGLE or form.type in ("f16x2", "bf16x2", "f32x2")


def by_halves(form: Form) -> Operation:
    """A packed type: the operation of its half, on both halves."""
    instruction = form.instruction
    opcode = instruction.opcode.replace(f"{form.type}", form.type[:-2])
    half = Form(dataclasses.replace(instruction, opcode=opcode))
    inner = SEMANTICS[instruction.name](half)
    if len(inner.results) != 1 or inner.group or inner.carry:
        form.refuse("is packed")
    dtype = DTYPES[form.type[:-2]]
    part = np.dtype(f"u{dtype.itemsize}")
    whole = DTYPES[form.type]
    bits = whole.type(8 * dtype.itemsize)

    def compute(*sources: Any) -> Any:
        low = inner.compute(*(x.astype(part).view(dtype) for x in sources))
        high = inner.compute(*((x >> bits).astype(part).view(dtype) for x in sources))
        return (high.view(part).astype(whole) << bits) | low.view(part).astype(whole)

    return Operation(compute, (form.type,) * len(inner.sources), (form.type,))


def mixed(form: Form) -> Operation:
    """A sum or product of f32 whose first operands are narrower (PTX ISA section 9.7.5)."""
    instruction, narrower = form.instruction, form.type
    words = instruction.opcode.split(".")
    words.remove(narrower)
    inner = SEMANTICS[instruction.name](
        Form(dataclasses.replace(instruction, opcode=".".join(words)))
    )
    count = 2 if instruction.name == "fma" else 1

    def compute(*sources: Any) -> Any:
        wide = (widen(x, narrower).astype(np.float32) for x in sources[:count])
        return inner.compute(*wide, *sources[count:])

    return Operation(compute, (narrower,) * count + inner.sources[count:], inner.results)


def mode_of(form: Form) -> str:
    """The rounding mode; to nearest even where none is named."""
    return form.choose(*MODES) or "rn"


def finished(form: Form, compute: Compute, count: int, exact: Compute | None = None) -> Operation:
    """``compute`` on numbers of the form's type, with ``.ftz``, ``.sat``, ``.relu`` and NaNs.

    Args:
        form: the form.
        compute: the function, which gives rounded results.
        count: how many operands it has.
        exact: the function in double precision, where rounding may lift a subnormal result.
    """
    name = form.type
    ftz, sat, relu = form.has("ftz"), form.has("sat"), form.has("relu")
    if name == "f64" and not (ftz or sat):
        return same(compute, name, count)
    if name == "bf16" and sat:
        form.refuse("saturates bf16")
    if not (ftz or sat or relu):
        if name == "bf16":
            return same(compute, name, count)
        return same(lambda *sources: canonical(compute(*sources), name), name, count)

    def whole(*sources: Any) -> Any:
        if ftz:
            sources = tuple(flush_bits(x) if name == "bf16" else flush(x) for x in sources)
        result = compute(*sources)
        if ftz:
            result = flush_bits(result) if name == "bf16" else flush(result)
            if exact:
                result = _flush_lifted(result, exact, sources, name, mode_of(form))
        if relu:
            result = _relu(result, name)
        if sat:
            return saturate(result)
        return result if name == "bf16" else canonical(result, name)

    return same(whole, name, count)


def _flush_lifted(
    result: Any, exact: Compute, sources: tuple[Any, ...], name: str, mode: str
) -> Any:
    """Flush also results that are normal since the subnormal range is too coarse for them.

    The hardware rounds as if exponents had no end, and flushes what is too small then.
    """
    tiny = np.finfo(result.dtype).tiny
    doubtful = np.abs(result) == tiny
    if not doubtful.any():
        return result
    scale = np.float64(2.0**64 if name == "f32" else 2.0**10)
    larger = np.abs(narrow(exact(*sources) * scale, name, mode))
    lifted = doubtful & (larger < result.dtype.type(tiny * scale))
    return np.where(lifted, np.copysign(result.dtype.type(0), result), result)


def _relu(x: Any, name: str) -> Any:
    if name == "bf16":
        return np.where((x >> np.uint16(15) == 1) & (x <= np.uint16(0xFF80)), np.uint16(0), x)
    return np.where(x <= 0, x.dtype.type(0), x)


def add(form: Form, sign: int = 1) -> Operation:
    """``add``, or ``sub`` with ``sign`` -1."""
    name, mode = form.type, mode_of(form)
    plain = np.add if sign > 0 else np.subtract
    if name == "f64":
        return finished(form, lambda a, b: nan_of(_sum(a, sign * b, mode), b, a), 2)
    if mode == "rn" and name != "bf16":
        return finished(form, plain, 2)
    one = np.float64(1)

    def compute(a: Any, b: Any) -> Any:
        return fma_narrow(widen(a, name), one, sign * widen(b, name), name, mode)

    return finished(form, compute, 2)


def _sum(a: Any, b: Any, mode: str) -> Any:
    """The rounded sum of doubles; rounded down, it is -0 if they cancel."""
    if mode == "rn":
        return a + b
    if mode == "rm":
        return _negated(_sum(-a, -b, "rp"))
    return exactly(lambda x, y: x + y, a + b, (a, b), mode)


def _negated(x: Any) -> Any:
    """All but NaNs with the other sign."""
    return np.where(np.isnan(x), x, -x)


def sub(form: Form) -> Operation:
    """``sub``."""
    return add(form, -1)


def mul(form: Form) -> Operation:
    """``mul``."""
    name, mode = form.type, mode_of(form)
    if name == "f64" and mode == "rn":
        return finished(form, lambda a, b: nan_of(a * b, b, a), 2)
    if name == "f64":

        def directed_product(a: Any, b: Any) -> Any:
            return nan_of(exactly(lambda x, y: x * y, a * b, (a, b), mode), b, a)

        return finished(form, directed_product, 2)

    def exact(a: Any, b: Any) -> Any:
        return widen(a, name) * widen(b, name)

    if mode == "rn" and name != "bf16":
        return finished(form, np.multiply, 2, exact)
    return finished(form, lambda a, b: narrow(exact(a, b), name, mode), 2, exact)


def fma(form: Form) -> Operation:
    """``fma`` and ``mad``: one rounding."""
    name, mode = form.type, mode_of(form)
    if name == "f64":
        return finished(form, lambda a, b, c: nan_of(_fma_sum(a, b, c, mode), b, c, a), 3)

    def compute(a: Any, b: Any, c: Any) -> Any:
        return fma_narrow(widen(a, name), widen(b, name), widen(c, name), name, mode)

    def exact(a: Any, b: Any, c: Any) -> Any:
        return make_odd(*two_sum(widen(a, name) * widen(b, name), widen(c, name)))

    if form.has("oob"):
        return finished(form, lambda a, b, c: _in_bounds(a, b, compute(a, b, c)), 3)
    return finished(form, compute, 3, exact)


def _fma_sum(a: Any, b: Any, c: Any, mode: str) -> Any:
    """The rounded a * b + c of doubles; rounded down, it is -0 if they cancel."""
    if mode == "rm":
        return _negated(_fma_sum(-a, b, -c, "rp"))
    nearest = np.asarray(fma_double(a, b, c))
    if mode == "rn":
        return nearest
    return exactly(lambda x, y, z: x * y + z, nearest, (a, b, c), mode)


def _in_bounds(a: Any, b: Any, result: Any) -> Any:
    """0 where a factor is the NaN that stands for what is out of bounds (``.oob``)."""
    outside = np.zeros(np.shape(result), bool)
    for factor in (a, b):
        outside |= factor.view(np.uint16) & np.uint16(0x7FFF) == _OUT_OF_BOUNDS
    return np.where(outside, result.dtype.type(0), result)


def _quotient(name: str, mode: str) -> Compute:
    def exact(x: Fraction, y: Fraction) -> Fraction:
        return x / y

    def compute(a: Any, b: Any) -> Any:
        nearest = a / b
        if mode == "rn":
            return nearest
        if name == "f64":
            return np.where(b == 0, nearest, exactly(exact, nearest, (a, b), mode))
        product = nearest.astype(np.float64) * b.astype(np.float64)
        error = np.where(
            np.isfinite(nearest),
            (a.astype(np.float64) - product) * np.sign(b).astype(np.float64),
            np.where((b != 0) & np.isfinite(a), -nearest, 0),
        )
        return directed(nearest, error, mode)

    return compute


def _wide_quotient(a: Any, b: Any) -> Any:
    return a.astype(np.float64) / b.astype(np.float64)


def div(form: Form) -> Operation:
    """``div``, with the approximate forms rounded correctly, too."""
    return finished(form, _quotient(form.type, mode_of(form)), 2, _wide_quotient)


@emulates("rcp")
def rcp(form: Form) -> Operation:
    """1 / a."""
    if form.type == "f64" and form.has("approx"):
        return _upper_half(form, lambda a: 1 / a)
    divide = _quotient(form.type, mode_of(form))
    one = DTYPES[form.type].type(1)
    return finished(form, lambda a: divide(one, a), 1, lambda a: _wide_quotient(one, a))


def _upper_half(form: Form, function: Compute) -> Operation:
    """An approximation that reads and writes the upper halves of doubles only."""
    upper = np.uint64(0xFFFFFFFF00000000)

    def cut(x: Any) -> Any:
        return (x.view(np.uint64) & upper).view(np.float64)

    return finished(form, lambda a: cut(function(cut(a))), 1)


@emulates("sqrt")
def sqrt(form: Form) -> Operation:
    """Square root."""
    name, mode = form.type, mode_of(form)

    def compute(a: Any) -> Any:
        nearest = np.sqrt(a)
        if mode == "rn":
            return nearest
        if name == "f64":
            return directed(nearest, np.asarray(_sqrt_error(nearest, a)).astype(float), mode)
        wide = nearest.astype(np.float64)
        error = np.where(np.isfinite(nearest), a.astype(np.float64) - wide * wide, 0)
        return directed(nearest, error, mode)

    return finished(form, compute, 1)


def _root_misses(root: float, number: float) -> float:
    if not math.isfinite(root):
        return 0.0
    difference = Fraction(number) - Fraction(root) ** 2
    return float((difference > 0) - (difference < 0))


_sqrt_error = np.frompyfunc(_root_misses, 2, 1)


_OUT_OF_BOUNDS = np.uint16(0x7FF7)
"""The bits of such a NaN, apart from its sign, of f16 and of bf16."""


def _in_double(function: Callable[[Any], Any]) -> Callable[[Form], Operation]:
    """A function of one number, computed in double precision and rounded once."""

    def semantics(form: Form) -> Operation:
        name = form.type
        if name == "f64" and form.has("ftz"):
            return _upper_half(form, function)
        return finished(form, lambda a: narrow(function(widen(a, name)), name), 1)

    return semantics


def _emulate(row: str, function: Callable[[Any], Any]) -> None:
    one = _in_double(function)
    emulates(row)(lambda form: by_halves(form) if form.type.endswith("x2") else one(form))


_emulate("rsqrt", lambda x: 1 / np.sqrt(x))
_emulate("sin", approximate.sine)
_emulate("cos", approximate.cosine)
_emulate("lg2", approximate.logarithm)
_emulate("ex2", approximate.power_of_two)
_emulate("tanh", np.tanh)


def extreme_of(form: Form, name: str, smaller: bool) -> Compute:
    """``min`` or ``max`` of two: a number beats NaN, and -0 is less than +0."""
    pick, meet = (np.fmin, np.bitwise_or) if smaller else (np.fmax, np.bitwise_and)
    bits = np.dtype(f"u{DTYPES[name].itemsize}")
    top = bits.type(1 << (8 * bits.itemsize - 1))
    with_sign = form.has("xorsign")

    def compute(a: Any, b: Any) -> Any:
        sign = (a.view(bits) ^ b.view(bits)) & top
        if with_sign:
            a, b = np.abs(a), np.abs(b)
        met = meet(a.view(bits), b.view(bits)).view(a.dtype)
        result = np.where(a == b, met, pick(a, b))
        if form.has("NaN"):
            result = np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), result)
        return (result.view(bits) | sign).view(a.dtype) if with_sign else result

    return compute


def extreme(form: Form) -> Operation:
    """``min`` and ``max`` of two or three numbers."""
    smaller = form.instruction.name == "min"
    if form.type == "bf16":
        return finished(form, _extreme_bf16(extreme_of(form, "f32", smaller)), 2)
    two = extreme_of(form, form.type, smaller)
    if form.type == "f64":
        return finished(form, lambda a, b: nan_of(two(a, b), b, a), 2)
    if len(form.instruction.operands) == 3:
        return finished(form, two, 2)
    if form.has("abs"):
        return finished(form, lambda a, b, c: two(two(np.abs(a), np.abs(b)), np.abs(c)), 3)
    return finished(form, lambda a, b, c: two(two(a, b), c), 3)


def _extreme_bf16(two: Compute) -> Compute:
    """bf16 has the upper half of the bits of f32, and compares as that does."""
    half = np.uint32(16)

    def compute(a: Any, b: Any) -> Any:
        wide = (x.astype(np.uint32) << half for x in (a, b))
        found = two(*(x.view(np.float32) for x in wide))
        bits = (found.view(np.uint32) >> half).astype(np.uint16)
        return np.where(np.isnan(found), NAN_BITS["bf16"], bits)

    return compute


def _sign_bits(form: Form) -> tuple[str, Any, Any]:
    bits = f"b{form.bits}"
    dtype = DTYPES[bits]
    return bits, dtype, dtype.type(1 << (form.bits - 1))


def _signed(form: Form, change: Compute) -> Operation:
    """``abs`` and ``neg``: change the sign bit, unless it is NaN's."""
    name = form.type
    _, dtype, top = _sign_bits(form)

    def compute(a: Any) -> Any:
        result = change(a.view(dtype), top).view(a.dtype)
        wide = widen(a, name)
        if name == "f64":
            return np.where(np.isnan(wide), quiet(a), result)
        return np.where(np.isnan(wide), NAN_BITS[name].view(a.dtype), result)

    return finished(form, compute, 1)


def absolute(form: Form) -> Operation:
    """``abs``: the sign bit cleared."""
    return _signed(form, lambda bits, top: bits & ~top)


def negate(form: Form) -> Operation:
    """``neg``: the sign bit inverted."""
    return _signed(form, lambda bits, top: bits ^ top)


@emulates("copysign")
def copysign(form: Form) -> Operation:
    """The sign of ``a`` on the magnitude of ``b``."""
    bits, _, top = _sign_bits(form)
    return same(lambda a, b: (a & top) | (b & ~top), bits, 2)


@emulates("testp")
def testp(form: Form) -> Operation:
    """Which kind of number it is; zeros count as normal."""
    smallest = np.finfo(DTYPES[form.type]).tiny
    tests: dict[str, Compute] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= smallest) | (a == 0)),
        "subnormal": lambda a: (np.abs(a) < smallest) & (a != 0),
    }
    name = form.choose(*tests)
    if name is None:
        form.refuse("names no test")
    return Operation(tests[name], (form.type,), ("pred",))
