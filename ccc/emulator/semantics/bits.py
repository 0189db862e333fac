"""Bit counting and field operations, shared by several instructions.

All functions take unsigned arrays of shape (n,), or unsigned scalars, and return such.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_bitwise_count: Any = getattr(np, "bitwise_count", None)
"""NumPy has it from 2.0 on."""


def width_of(x: Any) -> int:
    """Bits of an element."""
    return 8 * int(x.dtype.itemsize)


def ones(count: Any, dtype: Any) -> Any:
    """A mask of the lowest ``count`` bits, of ``dtype``; all ones from the type's width on."""
    one = dtype.type(1)
    return (one << count.astype(dtype)) - one


def popcount(x: Any) -> Any:
    """The number of ones (uint32), for uint32 and uint64."""
    if _bitwise_count is not None:
        return _bitwise_count(x).astype(np.uint32)
    kind = x.dtype.type
    all_ones = (1 << width_of(x)) - 1
    x = x - ((x >> kind(1)) & kind(0x5555555555555555 & all_ones))
    pairs = kind(0x3333333333333333 & all_ones)
    x = (x & pairs) + ((x >> kind(2)) & pairs)
    x = (x + (x >> kind(4))) & kind(0x0F0F0F0F0F0F0F0F & all_ones)
    x = x * kind(0x0101010101010101 & all_ones)
    return (x >> kind(width_of(x) - 8)).astype(np.uint32)


def leading_zeros(x: Any) -> Any:
    """The number of zeros above the highest one (uint32)."""
    kind = x.dtype.type
    distance = 1
    while distance < width_of(x):
        x = x | (x >> kind(distance))
        distance *= 2
    return popcount(~x)


def reverse(x: Any) -> Any:
    """The bits in opposite order, for uint32 and uint64."""
    kind = x.dtype.type
    all_ones = (1 << width_of(x)) - 1
    for distance, pattern in (
        (1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F),
        (8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF),
    ):  # fmt: skip
        if distance < width_of(x):
            mask = kind(pattern & all_ones)
            x = ((x >> kind(distance)) & mask) | ((x & mask) << kind(distance))
    return x
