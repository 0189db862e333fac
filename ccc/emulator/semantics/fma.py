"""Fused multiply-add with one rounding (PTX ISA section 9.7.3, fma).

All functions take float64, arrays of shape (n,) or scalars.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ccc.emulator.semantics.rounding import make_odd, narrow, two_sum

_SPLIT = np.float64(2**27 + 1)
_HALFWAY = np.uint64(0x10000000)
_LOW_BITS = np.uint64(0x1FFFFFFF)
_ONE = np.uint64(1)
_SMALL = (np.float64(2.0**-126).view(np.uint64) << _ONE) - _ONE


def fma_narrow(a: Any, b: Any, c: Any, type_name: str, mode: str) -> Any:
    """a * b + c of exact doubles that came from a narrower type; the product is exact.

    The result is of that narrower type, bf16 as uint16.
    """
    product = a * b
    total = product + c
    if type_name == "f32" and mode == "rn" and not _in_doubt(total):
        return total.astype(np.float32)
    total, error = two_sum(product, c)
    result = narrow(make_odd(total, error), type_name, mode)
    if mode != "rm" or type_name == "bf16":
        return result
    # Rounding down, a sum that cancels is -0; a sum of positive zeros stays +0.
    cancels = (total == 0) & (np.signbit(product) | np.signbit(c))
    return np.where(cancels, -np.abs(result), result)


def _in_doubt(total: Any) -> bool:
    """Whether rounding the sums again may go wrong: halfway cases and subnormal results."""
    bits = total.view(np.uint64)
    halfway = (bits & _LOW_BITS) == _HALFWAY
    tiny = (bits << _ONE) - _ONE < _SMALL  # zero wraps around, and is not among them
    return bool((halfway | tiny).any())


def fma_double(a: Any, b: Any, c: Any) -> Any:
    """a * b + c of doubles, correctly rounded to nearest.

    Error-free transformations (Boldo and Melquiond, 2008); extreme exponents go through exact
    arithmetic one by one.
    """
    a, b, c = np.broadcast_arrays(a, b, c)
    product = a * b
    result = _fma_usual(a, b, c, product)
    size, factor = np.abs(product), np.maximum(np.abs(a), np.abs(b))
    usual = (size < 2.0**1000) & (size > 2.0**-900) & (factor < 2.0**900)
    usual &= np.abs(c) < 2.0**1000
    rare = ~usual & (a != 0) & (b != 0) & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    plain = ~usual & ~rare
    product = np.where(np.isfinite(a) & np.isfinite(b) & np.isinf(c), 0.0, product)
    result = np.where(plain, product + c, result)
    if rare.any():
        exact = np.frompyfunc(_fma_exact, 3, 1)(a[rare], b[rare], c[rare])
        result[rare] = np.asarray(exact).astype(np.float64)
    return result


def _two_product(a: Any, b: Any, product: Any) -> Any:
    """What a rounded product misses (Dekker)."""
    x, y = a * _SPLIT, b * _SPLIT
    a_high, b_high = x - (x - a), y - (y - b)
    a_low, b_low = a - a_high, b - b_high
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _fma_usual(a: Any, b: Any, c: Any, product: Any) -> Any:
    low = _two_product(a, b, product)
    high_sum, high_rest = two_sum(c, low)
    total, rest = two_sum(product, high_sum)
    tail, tail_rest = two_sum(rest, high_rest)
    return total + make_odd(tail, tail_rest)


def _fma_exact(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) or (-0.0 if exact < 0 else 0.0)
    except OverflowError:
        return -math.inf if exact < 0 else math.inf
