"""Conversions (PTX ISA section 9.7.9, cvt)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.base.forms import DTYPES, Compute, Form, Operation, emulates
from ccc.emulator.semantics import narrow as narrow_formats
from ccc.emulator.semantics.rounding import (
    MODES,
    canonical,
    directed,
    flush,
    narrow,
    quiet,
    saturate,
    widen,
)
from ccc.ptx.types import TYPES

_FLOATING = ("f16", "bf16", "f32", "f64")
_TO_INTEGER = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}


@emulates("cvt")
def cvt(form: Form) -> Operation:
    """Convert between integers and floating-point numbers of all widths."""
    if narrow_formats.is_narrow(form):
        return narrow_formats.convert(form)
    if len(form.types) != 2:
        form.refuse("names no two types")
    if form.has("rs"):
        form.refuse("rounds by random bits")
    target, source = form.types
    if target in ("f16x2", "bf16x2") and source == "f32":
        return _two(form, target)
    for name in (target, source):
        if TYPES[name].kind not in "us" and name not in _FLOATING:
            form.refuse(f"converts {name}")
    return Operation(_conversion(form, target, source), (source,), (target,))


def _two(form: Form, target: str) -> Operation:
    """Two floats to a packed pair: ``a`` goes to the upper half."""
    one = _conversion(form, target[:-2], "f32")

    def compute(a: Any, b: Any) -> Any:
        high, low = one(a).view(np.uint16), one(b).view(np.uint16)
        return (high.astype(np.uint32) << np.uint32(16)) | low.astype(np.uint32)

    return Operation(compute, ("f32", "f32"), (target,))


def _conversion(form: Form, target: str, source: str) -> Compute:
    from_float, to_float = source in _FLOATING, target in _FLOATING
    if from_float and to_float:
        return _float_to_float(form, target, source)
    if from_float:
        return _float_to_integer(form, target, source)
    if to_float:
        return _integer_to_float(form, target, source)
    return _integer_to_integer(form, target, source)


def _integer_to_integer(form: Form, target: str, source: str) -> Compute:
    wanted = DTYPES[target]
    if not form.has("sat"):
        return lambda a: a.astype(wanted)
    low, high = np.iinfo(wanted).min, np.iinfo(wanted).max
    least, most = np.iinfo(DTYPES[source]).min, np.iinfo(DTYPES[source]).max

    def clamp(a: Any) -> Any:
        kind = a.dtype.type
        return np.clip(a, kind(max(low, least)), kind(min(high, most))).astype(wanted)

    return clamp


def _integer_to_float(form: Form, target: str, source: str) -> Compute:
    mode = form.choose(*MODES) or "rn"
    sat = form.has("sat")
    exact_in_double = TYPES[source].bits <= 32
    wanted = DTYPES[target]

    def compute(a: Any) -> Any:
        if exact_in_double:
            result = narrow(a.astype(np.float64), target, mode)
        elif mode == "rn" and target in ("f32", "f64"):
            result = a.astype(wanted)
        else:
            result = _wide_integer(a, target, mode)
        return saturate(result) if sat else result

    return compute


def _wide_integer(a: Any, target: str, mode: str) -> Any:
    """64-bit integers, whose low bits a double loses."""
    nearest = a.astype(np.float64)
    misses = np.frompyfunc(lambda i, x: int(i) - int(x), 2, 1)(a, nearest)
    error = np.sign(np.asarray(misses).astype(np.float64))
    if target == "f64":
        return directed(nearest, error, mode)
    bits = nearest.view(np.int64)
    step = np.where((error > 0) == (nearest > 0), np.int64(1), np.int64(-1))
    odd = np.where((error != 0) & (bits & np.int64(1) == 0), bits + step, bits)
    return narrow(odd.view(np.float64), target, mode)


def _float_to_integer(form: Form, target: str, source: str) -> Compute:
    """Rounded and clamped; what NaN becomes depends on the widths."""
    round_ = _TO_INTEGER[form.choose(*_TO_INTEGER) or "rzi"]
    wanted = DTYPES[target]
    low, high = int(np.iinfo(wanted).min), int(np.iinfo(wanted).max)
    nan_is_zero = source != "f64" and TYPES[target].bits < 64
    for_nan = wanted.type(0) if nan_is_zero else _top_bit(wanted)
    ftz = form.has("ftz")
    # The first double beyond the range, below which a cast is safe.
    beyond = np.float64(high + 1)

    def compute(a: Any) -> Any:
        if ftz:
            a = flush(a)
        whole = round_(widen(a, source))
        inside = (whole >= low) & (whole < beyond)
        safe = np.where(inside, whole, 0.0)
        result = safe.astype(wanted)
        result = np.where(whole < low, wanted.type(low), result)
        result = np.where(whole >= beyond, wanted.type(high), result)
        return np.where(np.isnan(whole), for_nan, result)

    return compute


def _top_bit(dtype: np.dtype[Any]) -> Any:
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return unsigned.type(1 << (8 * dtype.itemsize - 1)).astype(dtype)


def _float_to_float(form: Form, target: str, source: str) -> Compute:
    mode = form.choose(*MODES) or "rn"
    to_whole = _TO_INTEGER.get(form.choose(*_TO_INTEGER) or "")
    ftz, sat, relu = form.has("ftz"), form.has("sat"), form.has("relu")
    finite = form.has("satfinite")

    if to_whole is None and not (ftz or sat) and (source, target) in _SAME_NAN:
        return _unchanged(source, target)
    flushes = ftz and source == "f32" and target != "f16"

    def compute(a: Any) -> Any:
        if flushes:
            a = flush(a)
        wide = widen(a, source)
        if to_whole:
            wide = to_whole(wide)
        if relu:
            wide = np.where(wide <= 0, 0.0, wide)
        if sat:
            wide = saturate(wide)
        result = narrow(wide, target, mode)
        if finite:
            result = _finite(result, target)
        if ftz and target == "f32":
            result = flush(result)
        if target == "f64":
            return quiet(result)
        if source == "f64" and not sat:
            return _cut_nan(a, result, target)
        return result if target == "bf16" else canonical(result, target)

    return compute


_SAME_NAN = {("f32", "f32"), ("f64", "f64"), ("bf16", "f32")}
"""Sources and targets between which the value does not change, nor do NaNs."""


def _unchanged(source: str, target: str) -> Compute:
    if source == target:
        return lambda a: a
    return lambda a: (a.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _cut_nan(a: Any, result: Any, target: str) -> Any:
    """A NaN of f64 becomes one with the upper bits of its payload."""
    nan = np.isnan(a)
    if not nan.any():
        return result
    bits = a.view(np.uint64)
    width, (exponent, mantissa) = TYPES[target].bits, _FIELDS[target]
    sign = bits >> np.uint64(63) << np.uint64(width - 1)
    ones = np.uint64((1 << exponent) - 1 << mantissa | 1 << (mantissa - 1))
    payload = (bits & np.uint64((1 << 52) - 1)) >> np.uint64(52 - mantissa)
    found = (sign | ones | payload).astype(f"u{width // 8}").view(result.dtype)
    return np.where(nan, found, result)


_FIELDS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23)}
"""Bits of exponent and mantissa."""


_LARGEST = {"f16": 0x7BFF, "bf16": 0x7F7F, "f32": 0x7F7FFFFF}


def _finite(x: Any, target: str) -> Any:
    """Infinities to the largest numbers of their sign (``.satfinite``)."""
    dtype = DTYPES[f"u{TYPES[target].bits}"]
    bits = x.view(dtype)
    sign = bits & dtype.type(1 << (TYPES[target].bits - 1))
    largest = sign | dtype.type(_LARGEST[target])
    wide = widen(x, target)
    return np.where(np.isinf(wide), largest, bits).view(x.dtype)
