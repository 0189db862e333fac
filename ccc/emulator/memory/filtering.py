"""The linear filter of textures, to the bit.

The CUDA C++ Programming Guide (texture fetching, linear filtering) states the formulas, and that
weights have eight bits behind the point. How hardware rounds is not documented: what is here gives
the bits that an H200 gave (agreement.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array

FRACTION = 8
"""Bits of a coordinate between two elements, and of weights."""
_GUARD = 4
"""Bits of a float that are kept behind the last one of the largest float."""
_SMALLEST = 2.0**-126
"""Floats of 32 bits that are smaller are zeros."""
_NAN, _HALF_NAN = 0x7FFFFFFF, 0x7FFFE000
"""What any NaN becomes."""
_NONE = -1000
"""The exponent of zero."""
_HALF_LEAST = -13
"""The exponent of the smallest normal half, as frexp counts."""

Shares = list[tuple[tuple[int, ...], Array]]


def shares(parts: list[Array]) -> Shares:
    """The corners of a cell, each with its part of 256.

    256 is divided between both ends of z, each part between both ends of x, and those between both
    ends of y. A half goes to the far end; of y only where that of x is the far one too.

    Args:
        parts: in x, y and z, how many 256th of the far end are wanted.

    Returns:
        The corners as 0 or 1 in x, y and z; those of the near z come first.
    """
    count = len(parts)
    found: Shares = [((), np.full(len(parts[0]), 256))]
    if count == 3:
        found = _divided(found, parts[2], (128, 128))
    found = _divided(found, parts[0], (128, 128))
    if count > 1:
        found = _divided(found, parts[1], (127, 128))
    order = {1: (0,), 2: (0, 1), 3: (1, 2, 0)}[count]
    return [(tuple(ends[k] for k in order), share) for ends, share in found]


def _divided(found: Shares, part: Array, halves: tuple[int, int]) -> Shares:
    """Each share between two ends; what is added before rounding depends on the end before."""
    both: Shares = []
    for ends, share in found:
        far = share * part + halves[ends[-1] if ends else 0] >> FRACTION
        both += [((*ends, 0), share - far), ((*ends, 1), far)]
    return both


def mixed(elements: Array, parts: list[Array], corners: Shares) -> Any:
    """The sum of elements by their weights: float32.

    Args:
        elements: (corners, n, channels), of one of the types that are interpolated.
        parts: in each dimension, how many 256th of the far end are wanted.
        corners: of the elements, with their weights.
    """
    wide = np.array([share for _, share in corners])[:, :, None]
    if elements.dtype.kind == "f":
        counts = [[part != 0 for part, end in zip(parts, ends, strict=True) if end]
                  for ends, _ in corners]  # fmt: skip
        every = np.array([np.logical_and.reduce([np.ones(len(parts[0]), bool), *some])
                          for some in counts])[:, :, None]  # fmt: skip
        bits = np.finfo(elements.dtype).nmant + 1
        return _floats(elements.astype(np.float64), wide, every, bits)
    total = (elements.astype(np.int64) * wide).sum(axis=0)
    return _normalized(total, elements.dtype)


def _normalized(total: Array, dtype: Any) -> Any:
    """A sum of integers, in 256th: rounded to 16 bits, of which the largest is 1."""
    if dtype == np.int8:  # to 16 bits: 1 / 128 and 1 / 32768 more
        sixteen = total + ((total >> 4) * 257 + 1024 >> 11)
    elif dtype == np.uint8:
        sixteen = total * 257 + 128 >> FRACTION
    else:
        sixteen = total + 128 >> FRACTION
    largest = 32767 if dtype.kind == "i" else 65535
    return np.maximum(sixteen / largest, -1.0).astype(np.float32)


def _floats(elements: Array, weights: Array, counts: Array, bits: int) -> Any:
    """A sum of floats with that many bits, in the same format; halves are rounded away from zero.

    Infinities and NaNs count even if their weight was rounded to 0.
    """
    is_half = bits == np.finfo(np.float16).nmant + 1
    smallest = 0.0 if is_half else _SMALLEST
    whole = (weights != 0) & np.isfinite(elements) & (np.abs(elements) >= smallest)
    finite = np.where(whole, elements, 0.0)
    total = _summed(finite, np.broadcast_to(weights, finite.shape), bits)
    found = _rounded(total, bits, is_half)
    negative = np.where(total == 0, (np.signbit(elements) | (weights == 0)).all(axis=0), total < 0)
    found = np.where(np.abs(found) < smallest, 0.0, np.abs(found)) * np.where(negative, -1.0, 1.0)
    special = np.where(counts & ~np.isfinite(elements), elements, 0.0).sum(axis=0)
    found = np.where(special == 0, found, special).astype(np.float32)
    nan = np.uint32(_HALF_NAN if is_half else _NAN)
    return np.where(np.isnan(found), nan, found.view(np.uint32)).view(np.float32)


def _summed(elements: Array, weights: Array, bits: int) -> Any:
    """The sum before it is rounded.

    Of the four elements of each z, bits far behind the last one of the largest are cut off. The
    sums of both z are rounded down to multiples of what is a power of 16 times a quarter of the
    last bit that was kept of elements near 1.
    """
    exponents = np.where(elements != 0, np.frexp(elements)[1], _NONE)
    sums, largest = [], []
    for first in range(0, len(elements), 4):
        one = slice(first, first + 4)
        largest.append(exponents[one].max(axis=0))
        scale = bits + _GUARD - largest[-1]
        cut = np.trunc(np.ldexp(elements[one], scale))
        sums.append(np.ldexp((cut * weights[one]).sum(axis=0), -scale))
    if len(sums) == 2:
        most = np.maximum(*largest)
        scale = bits + _GUARD - most + (most + 2) % 4
        sums = [np.ldexp(np.floor(np.ldexp(one, scale)), -scale) for one in sums]
    return np.ldexp(sum(sums[1:], sums[0]), -FRACTION)


def _rounded(total: Array, bits: int, is_half: bool) -> Any:
    """To so many bits, of halves to fewer where they are subnormal."""
    exponent = np.frexp(total)[1]
    if is_half:
        exponent = np.maximum(exponent, _HALF_LEAST)
    last = np.ldexp(total, bits - exponent)
    return np.ldexp(np.sign(last) * np.floor(np.abs(last) + 0.5), exponent - bits)
