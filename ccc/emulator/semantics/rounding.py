"""Rounding floating-point results as PTX says: to nearest even, toward zero, down or up.

Exact values are kept as a double plus the sign of what is missing. A double made *odd* (its last
bit set when something is missing) rounds correctly to any narrower type afterwards.

All functions take and return arrays of shape (n,), or NumPy scalars: float16, float32 or float64,
and uint16 for bf16, which NumPy does not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

MODES = ("rn", "rz", "rm", "rp")

NAN_BITS: dict[str, Any] = {
    "f16": np.uint16(0x7FFF),
    "bf16": np.uint16(0x7FFF),
    "f32": np.uint32(0x7FFFFFFF),
}
"""The one NaN that instructions of these types give; of f64, NaNs keep their payload."""

_QUIET = {"f16": 1 << 9, "f32": 1 << 22, "f64": 1 << 51}
_SMALLEST = {"e2": np.float16(2**-14), "e4": np.float32(2**-126), "e8": np.float64(2.0**-1022)}
_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def flush(x: Any) -> Any:
    """Subnormal numbers to zeros of their sign (``.ftz``)."""
    zero = x.dtype.type(0)
    return np.where(np.abs(x) < _SMALLEST[f"e{x.dtype.itemsize}"], np.copysign(zero, x), x)


def flush_bits(x: Any) -> Any:
    """The same of bf16, which comes as its bits."""
    tiny = x & np.uint16(0x7F80) == 0
    return np.where(tiny, x & np.uint16(0x8000), x)


def canonical(x: Any, type_name: str) -> Any:
    """Every NaN to the one that the hardware gives."""
    top = x.max()  # NaN if there is one: the quickest test
    if type_name == "f64" or not np.isnan(top):
        return x
    return np.where(np.isnan(x), NAN_BITS[type_name].view(x.dtype), x)


def quiet(x: Any, type_name: str = "f64") -> Any:
    """Signalling NaNs to quiet ones, with their payloads."""
    dtype = np.dtype(f"u{x.dtype.itemsize}")
    bit = dtype.type(_QUIET[type_name])
    return np.where(np.isnan(x), (x.view(dtype) | bit).view(x.dtype), x)


def nan_of(result: Any, *operands: Any) -> Any:
    """Which NaN a sum, product or minimum of doubles is: that of the first operand that is one."""
    if not np.isnan(result.max()):
        return result
    for operand in reversed(operands):
        result = np.where(np.isnan(result) & np.isnan(operand), operand, result)
    return quiet(result)


def saturate(x: Any) -> Any:
    """Clamp to [0, 1]; NaN gives 0 (``.sat``)."""
    zero, one = x.dtype.type(0), x.dtype.type(1)
    return np.where(x > zero, np.minimum(x, one), zero)


def widen(x: Any, type_name: str) -> Any:
    """The exact value as a double; bf16 comes as its bits."""
    if type_name == "bf16":
        return (x.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    return x.astype(np.float64)


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """The rounded sum of doubles, and exactly what it misses (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def make_odd(x: Any, error: Any) -> Any:
    """Round to odd: ``x`` is the nearest double of an exact value, ``error`` what it misses."""
    bits = x.view(np.int64)
    inexact = ((error > 0) | (error < 0)) & (bits & np.int64(1) == 0) & np.isfinite(x)
    step = np.where((error > 0) == (x > 0), np.int64(1), np.int64(-1))
    return np.where(inexact, bits + step, bits).view(np.float64)


def narrow(x: Any, type_name: str, mode: str = "rn") -> Any:
    """Round a double (made odd, if it is not exact) to a narrower type, or leave it a double."""
    if type_name == "f64":
        return x
    if type_name == "bf16":
        return _narrow_bf16(x, mode)
    nearest = x.astype(_FLOATS[type_name])
    if mode == "rn":
        return nearest
    return directed(nearest, x - nearest.astype(np.float64), mode)


def _narrow_bf16(x: Any, mode: str) -> Any:
    """bf16 has the upper half of the bits of f32, which first takes the value made odd."""
    largest = np.float64(np.finfo(np.float32).max)
    single = np.where(np.isinf(x), x, np.clip(x, -largest, largest)).astype(np.float32)
    missing = x - single.astype(np.float64)
    bits = single.view(np.uint32)
    even = ((missing > 0) | (missing < 0)) & (bits & np.uint32(1) == 0) & np.isfinite(single)
    away = (missing > 0) == (x > 0)
    one = np.uint32(1)
    bits = np.where(even, np.where(away, bits + one, bits - one), bits)
    low, high = bits & np.uint32(0xFFFF), bits >> np.uint32(16)
    negative = bits >> np.uint32(31) == 1
    half = np.uint32(0x8000)
    match mode:
        case "rn":
            up = (low > half) | ((low == half) & (high & one == 1))
        case "rz":
            up = low > half + half
        case "rm":
            up = negative & (low > 0)
        case _:
            up = ~negative & (low > 0)
    finite = np.isfinite(single)
    rounded = np.where(up & finite, high + one, high).astype(np.uint16)
    return np.where(np.isnan(x), NAN_BITS["bf16"], rounded)


def directed(nearest: Any, error: Any, mode: str) -> Any:
    """From the nearest value and the sign of what it misses to another rounding."""
    infinity = nearest.dtype.type(np.inf)
    up = np.nextafter(nearest, infinity)
    down = np.nextafter(nearest, -infinity)
    match mode:
        case "rp":
            return np.where(error > 0, up, nearest)
        case "rm":
            return np.where(error < 0, down, nearest)
        case "rz":
            result = np.where((error < 0) & (nearest > 0), down, nearest)
            return np.where((error > 0) & (nearest < 0), up, result)
        case _:
            return nearest


def exactly(
    exact: Callable[..., Fraction], nearest: Any, operands: tuple[Any, ...], mode: str
) -> Any:
    """Directed rounding of doubles, element by element in exact arithmetic: slow, and rare."""

    def error(value: float, *numbers: float) -> float:
        if not all(map(math.isfinite, numbers)) or math.isnan(value):
            return 0.0
        if math.isinf(value):
            return -value
        difference = exact(*map(Fraction, numbers)) - Fraction(value)
        return float((difference > 0) - (difference < 0))

    errors = np.frompyfunc(error, 1 + len(operands), 1)(nearest, *operands)
    return directed(nearest, np.asarray(errors).astype(np.float64), mode)
