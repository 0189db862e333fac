"""Functions of which there are approximations only (PTX ISA sections 9.7.3.18 to 9.7.3.21).

They are sums, products and quotients of doubles, in the same order here and in the C library
(``native/lanes.h``), which takes the coefficients from here: so both give the same bits. They are
exact to some 1e-15, and are rounded once after that.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ccc.emulator.semantics.rounding import narrow

TURNS_IN_RADIAN = float(np.float32(0.15915493667125702))
"""By which the hardware multiplies an angle first, in single precision and toward zero."""

SINE = tuple(
    (-1) ** k * (2 * math.pi) ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(11)
)
"""Of the sine of so many turns, by their square: it is this times the turns."""
POWER = tuple(math.log(2) ** k / math.factorial(k) for k in range(14))
"""Of the power of two of a fraction."""
LOGARITHM = tuple(2 / math.log(2) / (2 * k + 1) for k in range(11))
"""Of the binary logarithm of ``(1 + s) / (1 - s)``, by the square of ``s``: this times ``s``."""
SERIES = {"sine": SINE, "power": POWER, "logarithm": LOGARITHM}

LARGEST_POWER = 200.0
"""Beyond it there is nothing but infinity and zero."""


def series(coefficients: tuple[float, ...], x: Any) -> Any:
    """A polynomial."""
    result = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result = result * x + coefficient
    return result


def _turns(x: Any) -> Any:
    """How often an angle goes round."""
    return narrow(x * TURNS_IN_RADIAN, "f32", "rz").astype(np.float64)


def _sine(turns: Any) -> Any:
    """Of a quarter of a turn at most, on either side."""
    return turns * series(SINE, turns * turns)


def sine(x: Any) -> Any:
    """The sine of a single-precision number, as the hardware reduces it."""
    turns = _turns(x)
    size = np.abs(turns)
    rest = size - np.rint(size)
    rest = np.where(np.abs(rest) > 0.25, np.copysign(0.5, rest) - rest, rest)
    return np.copysign(1.0, turns) * _sine(rest)


def cosine(x: Any) -> Any:
    """The cosine of a single-precision number, as the hardware reduces it."""
    size = np.abs(_turns(x))
    return _sine(0.25 - np.abs(size - np.rint(size)))


def power_of_two(x: Any) -> Any:
    """Two to the power of a number."""
    near = np.minimum(np.maximum(x, -LARGEST_POWER), LARGEST_POWER)
    whole = np.rint(near)
    exponent = np.where(np.isnan(x), 0.0, whole).astype(np.int64) + 1023
    return series(POWER, near - whole) * (exponent << 52).view(np.float64)


_MANTISSA = np.int64((1 << 52) - 1)
_ONE = np.int64(1023 << 52)


def logarithm(x: Any) -> Any:
    """The binary logarithm of a number that is no subnormal double."""
    bits = x.view(np.int64)
    mantissa = ((bits & _MANTISSA) | _ONE).view(np.float64)
    is_large = mantissa > math.sqrt(2)
    exponent = ((bits >> 52) - 1023).astype(np.float64) + is_large
    mantissa = np.where(is_large, mantissa * 0.5, mantissa)
    ratio = (mantissa - 1) / (mantissa + 1)
    result = exponent + ratio * series(LOGARITHM, ratio * ratio)
    result = np.where(x == np.inf, np.inf, np.where(x == 0, -np.inf, result))
    return np.where((x < 0) | np.isnan(x), np.nan, result)
