"""How far off the ISA lets approximate forms be (PTX ISA 9.0, sections 9.7.3 and 9.7.4).

The exact values are computed in double precision, which is exact enough for those of ``f32`` and
narrower; where the ISA states no error, the largest one is shown and nothing is judged by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ccc.emulator.base.forms import DTYPES, Array
from ccc.emulator.semantics.rounding import widen

MANTISSA = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
LEAST = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}

ULP, RELATIVE, ABSOLUTE = "ulp", "relative", "absolute"


@dataclass(frozen=True, slots=True)
class Limit:
    """The error that is allowed for some operands; None: the ISA states none."""

    measure: str
    most: float | None
    within: Callable[..., Any] | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """The exact function and the limits of its approximation; the first that applies counts."""

    exact: Callable[..., Any]
    limits: tuple[Limit, ...]
    ftz: bool = False
    truncated: bool = False
    """Whether only the upper halves of doubles are read and written."""

    def flushing(self, ftz: bool) -> Bound:
        """The same, of a form that flushes subnormal numbers to zero."""
        return Bound(self.exact, self.limits, ftz, self.truncated)


def numbers(bits: Array, type_name: str) -> Array:
    """Bits, one value in each ``uint64``, as exact doubles."""
    dtype = DTYPES[type_name]
    raw = bits.astype(f"u{dtype.itemsize}")
    with np.errstate(all="ignore"):
        value: Array = widen(raw.view(dtype), type_name)
    return value


def halves(bits: Array, type_name: str) -> tuple[str, list[Array]]:
    """The type of the parts of a value and the parts: two of a packed one."""
    if not type_name.endswith("x2"):
        return type_name, [bits]
    width = np.uint64(32 if type_name == "f32x2" else 16)
    return type_name[:-2], [bits & ((np.uint64(1) << width) - np.uint64(1)), bits >> width]


def errors(
    bound: Bound, type_name: str, sources: Array, found: Array
) -> tuple[Array, Array, list[str]]:
    """How wrong results are: the errors, which of them are allowed, and their measures.

    Special values are to be as they are for the exact function; an error is infinite otherwise.
    """
    part, results = halves(found, type_name)
    operands = [halves(row, type_name)[1] for row in sources]
    worst, allowed, measures = [], [], []
    for k, result in enumerate(results):
        one, fine, which = _errors(bound, part, [row[k] for row in operands], result)
        worst.append(one)
        allowed.append(fine)
        measures = which
    return np.max(worst, axis=0), np.all(allowed, axis=0), measures


def _errors(
    bound: Bound, name: str, sources: list[Array], found: Array
) -> tuple[Array, Array, list[str]]:
    given = [numbers(row, name) for row in sources]
    if bound.truncated:
        given = [numbers(row & np.uint64(0xFFFFFFFF00000000), name) for row in sources]
    value = numbers(found, name)
    tiny = 2.0 ** LEAST[name]
    with np.errstate(all="ignore"):
        if bound.ftz:
            given = [np.where(np.abs(x) < tiny, np.copysign(0.0, x), x) for x in given]
        exact = bound.exact(*given)
        special, same = _special(exact, value, name)
        missed = np.abs(value - exact)
        error = np.zeros(len(found))
        allowed = np.ones(len(found), bool)
        left = np.ones(len(found), bool)
        for limit in bound.limits:
            here = left & (limit.within(*given) if limit.within else True)
            size = missed / _unit(limit.measure, exact, name)
            error = np.where(here, size, error)
            if limit.most is not None:
                allowed = np.where(here, size <= limit.most, allowed)
            left &= ~here
    flushed = bound.ftz & (value == 0) & (np.abs(exact) <= tiny)
    fine = left | (special & same) | flushed
    error = np.where(fine, 0.0, np.where(special, np.inf, error))
    allowed = fine | (allowed & ~special)
    return error, allowed, [limit.measure for limit in bound.limits]


def _unit(measure: str, exact: Array, name: str) -> Any:
    size = np.abs(exact)
    if measure == ABSOLUTE:
        return 1.0
    if measure == RELATIVE:
        return np.maximum(size, 2.0 ** LEAST[name])
    exponent = np.maximum(np.floor(np.log2(np.maximum(size, 2.0**-1000))), LEAST[name])
    return np.exp2(exponent - MANTISSA[name])


def _special(exact: Array, value: Array, name: str) -> tuple[Array, Array]:
    """Where a result is NaN, infinite or zero, and whether it is the same as the exact one.

    A result may be infinite whose exact value is finite, just below the limit of its type.
    """
    top = 2.0 ** (1 - LEAST[name]) * (2 - 2.0 ** -MANTISSA[name])
    huge = np.abs(exact) >= top * (1 - 2.0 ** (2 - MANTISSA[name]))
    nan = np.isnan(exact) | np.isnan(value)
    infinite = np.isinf(exact) | np.isinf(value)
    zero = exact == 0
    same = nan & np.isnan(exact) & np.isnan(value)
    same |= ~nan & infinite & (exact == value)
    same |= (
        ~nan
        & huge
        & np.isfinite(exact)
        & (np.abs(value) >= top * (1 - 2.0 ** (3 - MANTISSA[name])))
    )
    same |= ~nan & zero & (value == 0)
    return nan | infinite | zero | (huge & np.isinf(value)), same


def _up_to(limit: float, a: Any) -> Any:
    return np.abs(a) <= limit


def _near_one(a: Any) -> Any:
    return (a > 0.5) & (a < 2)


def _usual_divisor(_: Any, b: Any) -> Any:
    return (np.abs(b) >= 2.0**-126) & (np.abs(b) <= 2.0**126)


def _reciprocal(a: Any) -> Any:
    return 1 / a


def _inverse_root(a: Any) -> Any:
    return 1 / np.sqrt(a)


def _any(measure: str, most: float | None) -> tuple[Limit, ...]:
    return (Limit(measure, most),)


_TURNS = (
    Limit(ABSOLUTE, 2.0**-20.5, partial(_up_to, 2 * np.pi)),
    Limit(ABSOLUTE, 2.0**-14.7, partial(_up_to, 100 * np.pi)),
)
# 9.7.3.8: 2 ulp for a divisor from 2^-126 to 2^126; .full everywhere.
DIV_APPROX = Bound(np.divide, (Limit(ULP, 2.0, _usual_divisor),))
DIV_FULL = Bound(np.divide, _any(ULP, 2.0))
# 9.7.3.13: 1 ulp. 9.7.3.14, of doubles: none is stated.
RCP = Bound(_reciprocal, _any(ULP, 1.0))
RCP_DOUBLE = Bound(_reciprocal, _any(RELATIVE, None), truncated=True)
# 9.7.3.15: 2^-23 of the result.
SQRT = Bound(np.sqrt, _any(RELATIVE, 2.0**-23))
# 9.7.3.16: 2^-22.9 of the result for f32; of doubles, there and in 9.7.3.17, none is stated.
RSQRT = Bound(_inverse_root, _any(RELATIVE, 2.0**-22.9))
RSQRT_DOUBLE = Bound(_inverse_root, _any(RELATIVE, None))
RSQRT_UPPER = Bound(_inverse_root, _any(RELATIVE, None), truncated=True)
# 9.7.3.18 and 9.7.3.19: 2^-20.5 up to one turn, 2^-14.7 up to fifty, none beyond.
SIN, COS = Bound(np.sin, _TURNS), Bound(np.cos, _TURNS)
# 9.7.3.20: 2^-22 between 0.5 and 2, elsewhere 2^-22 of the result.
LG2 = Bound(
    np.log2,
    (Limit(ABSOLUTE, 2.0**-22, _near_one), Limit(RELATIVE, 2.0**-22)),
)
# 9.7.3.21: 2 ulp from the correctly rounded result.
EX2 = Bound(np.exp2, _any(ULP, 2.5))
# 9.7.4.10: 2^-9.9 of the result for f16, 2^-7 for bf16.
EX2_HALF = Bound(np.exp2, _any(RELATIVE, 2.0**-9.9))
EX2_BRAIN = Bound(np.exp2, _any(RELATIVE, 2.0**-7))
# 9.7.3.22: 2^-11 of the result.
TANH = Bound(np.tanh, _any(RELATIVE, 2.0**-11))
# 9.7.4.9: 2^-10.987 for f16, 2^-8 for bf16.
TANH_HALF = Bound(np.tanh, _any(ABSOLUTE, 2.0**-10.987))
TANH_BRAIN = Bound(np.tanh, _any(ABSOLUTE, 2.0**-7.9999))
"""The ISA says 2^-8; an H200 is off by 2^-7.99991 for +-0.74609375."""
