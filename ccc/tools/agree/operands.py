"""The operands that forms are tried with: the edges of each kind, their neighbours, random bits.

A kind is a type of PTX, one of those of :data:`SPECIAL`, or a coordinate (``places.py``). Values
are bits, held as ``uint64``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array
from ccc.ptx.types import TYPES
from ccc.tools.agree import places

COUNT = 8192
"""Threads of a kernel, unless it has a single operand of 16 bits at most: that takes all values."""

FORMATS = {  # bits of exponent and of mantissa
    "f16": (5, 10), "bf16": (8, 7), "tf32": (8, 10), "f32": (8, 23), "f64": (11, 52),
    "e4m3": (4, 3), "e5m2": (5, 2),
}  # fmt: skip


def _whole(kind: Any, count: int) -> list[int]:
    """The bits of small whole numbers, or of all pairs of them."""
    numbers = np.arange(-4, 5).astype(kind)
    bits = [int(bits) for bits in numbers.view(f"u{numbers.itemsize}")]
    if count == 1:
        return bits
    return [high << 16 | low for high in bits for low in bits]


SPECIAL = {
    "amount": [*range(72), 127, 128, 129, 255, 256, 257, 287, 288, 1 << 16, 1 << 31, 0xFFFFFFFF],
    "offset": [n & 0xFFFFFFFF for n in (*range(-34, 35), -(1 << 31), (1 << 31) - 1)],
    "bit": list(range(32)),
    "lane": list(range(32)),
    "even": list(range(0, 32, 2)),
    "segment": [clamp | mask << 8 for clamp in (0, 7, 30, 31) for mask in (0, 16, 24, 28, 30, 31)],
    "pred": [0, 1],
    "halves": _whole(np.float16, 2),
    "brains": [bits >> 16 | bits & 0xFFFF0000 for bits in _whole(np.float32, 1)],
    "singles": _whole(np.float32, 1),
    "doubles": _whole(np.float64, 1),
    "eighths": [0, 0x38383838, 0x3CBC3CBC, 0x40C0B800, 0xBC3C0040, 0x004000C0],
}
"""Kinds that are no types, with all their values: amounts of shifts and the like, and registers
that hold elements of matrices, which are whole numbers."""

WHOLE_WARPS = {"votes": 1, "like32": 32, "like64": 64}
"""Kinds whose values are drawn for whole warps, so that some of them agree; and their bits."""

BITS = {**dict.fromkeys(SPECIAL, 32), **WHOLE_WARPS, "votes": 32, "doubles": 64}


_WIDE = {"b128": ("b64", "b64")}
"""What takes two columns of entries."""


def bits_of(kind: str) -> int:
    """The width of an operand of that kind."""
    if places.size_of(kind):
        return 32
    return BITS.get(kind) or TYPES[kind].bits


def _halves(kind: str) -> tuple[str, int] | None:
    """The type of the parts of a packed type, and how many there are."""
    if kind.endswith("x2") and kind[:-2] in (*FORMATS, *TYPES):
        return kind[:-2], 2
    return None


@functools.cache
def edges(kind: str) -> tuple[int, ...]:
    """The values of a kind that something may go wrong for."""
    if kind in SPECIAL:
        return tuple(SPECIAL[kind])
    if places.size_of(kind):
        return tuple(places.edges(kind))
    parts = _halves(kind)
    if parts:
        part, _ = parts
        width = bits_of(kind) // 2
        inner = edges(part)
        shift = 1 + len(inner) // 3
        return tuple(a | inner[(k + shift) % len(inner)] << width for k, a in enumerate(inner))
    if kind in FORMATS:
        return tuple(dict.fromkeys(_float_edges(kind)))
    return tuple(dict.fromkeys(_integer_edges(bits_of(kind))))


def _integer_edges(bits: int) -> list[int]:
    """Powers of two and their neighbours, of both signs; patterns of bits."""
    mask = (1 << bits) - 1
    powers = [1 << k for k in range(bits)]
    values = [
        0,
        *(p + d for p in powers for d in (0, -1, 1)),
        *(-p + d for p in powers for d in (0, 1)),
    ]
    patterns = [
        0x5555555555555555,
        0xAAAAAAAAAAAAAAAA,
        0x00FF00FF00FF00FF,
        0x0123456789ABCDEF,
        3,
        10,
    ]
    return [value & mask for value in (*values, *patterns)]


def _float_edges(name: str) -> list[int]:
    exponent, mantissa = FORMATS[name]
    drop = 13 if name == "tf32" else 0  # tf32 lies in the upper bits of 32
    top = 1 << (exponent + mantissa)
    infinity = ((1 << exponent) - 1) << mantissa
    bias = (1 << (exponent - 1)) - 1
    found = [0, 1, 2, 3, (1 << mantissa) - 1, 1 << mantissa, (1 << mantissa) + 1, infinity - 1]
    found += [infinity, infinity + 1, infinity | 1 << (mantissa - 1)]
    found += [infinity | (1 << (mantissa - 1)) + 1, infinity | (1 << mantissa) - 1]
    found += [1 << k for k in range(1, mantissa)]
    for power in _powers(bias, mantissa):
        if 0 < power + bias < (1 << exponent) - 1:
            whole = (power + bias) << mantissa
            found += [whole, whole + 1, whole - 1, whole | 1 << (mantissa - 1)]
            found += [whole | (1 << mantissa) - 1, whole | 0x2AAAAAAAAAAAAA & ((1 << mantissa) - 1)]
    both = [*found, *(value | top for value in found)]
    return [value << drop for value in both]


def _powers(bias: int, mantissa: int) -> list[int]:
    """The exponents at which conversions, ranges and roundings change."""
    near = [
        *range(-3, 4),
        mantissa - 1,
        mantissa,
        mantissa + 1,
        mantissa + 2,
        -mantissa,
        -mantissa - 1,
    ]
    limits = [7, 8, 15, 16, 31, 32, 63, 64, -14, -24, -25, -126, -149, 127, 128]
    ends = [bias, bias - 1, 1 - bias, 2 - bias, bias // 2, -bias // 2, bias // 2 + 1]
    return sorted({*near, *limits, *ends})


def count_of(kinds: Sequence[str]) -> int:
    """How many threads a form with such operands gets."""
    if len(kinds) == 1 and bits_of(kinds[0]) <= 16:
        return 1 << 16
    return COUNT


def operands(kinds: Sequence[str], seed: int = 1) -> Array:
    """The operands of a form: one row for each, ``count_of`` columns, the same each time."""
    count = count_of(kinds)
    if len(kinds) == 1 and bits_of(kinds[0]) <= 16:
        return np.arange(count, dtype=np.uint64)[None, :]
    kinds = [part for kind in kinds for part in _WIDE.get(kind, (kind,))]
    random = np.random.default_rng([seed, *map(ord, " ".join(kinds))])
    if any(kind in WHOLE_WARPS for kind in kinds):
        return np.array([_for_warps(kind, count, random) for kind in kinds])
    half = count // 2
    found = np.empty((len(kinds), count), np.uint64)
    found[:, :half] = _combined([edges(kind) for kind in kinds], half, random)
    for row, kind in enumerate(kinds):
        found[row, half:] = _drawn(kind, count - half, random)
    _meet(kinds, found, random)
    return found


def _for_warps(kind: str, count: int, random: Any) -> Any:
    """In each warp one value, all but one lane the same, two values, or any."""
    bits = WHOLE_WARPS[kind]
    any_value = (
        random.integers(0, 1 << bits, count, np.uint64)
        if bits < 64
        else random.integers(0, 1 << 63, count, np.uint64)
    )
    lane, warp = np.arange(count) % 32, np.arange(count) // 32
    first = any_value[warp * 32]
    other = any_value[warp * 32 + 1]
    odd = np.where(lane == warp % 32, other, first)
    two = np.where(random.integers(0, 2, count) == 1, first, other)
    pick = (warp // 32 + warp) % 4
    return np.select([pick == 0, pick == 1, pick == 2], [first, odd, two], any_value)


def _combined(values: list[tuple[int, ...]], count: int, random: Any) -> Any:
    """All combinations of edges where there are few, else some."""
    total = 1
    for each in values:
        total *= len(each)
    if total <= count:
        table = np.array(list(itertools.product(*values)), np.uint64).reshape(total, len(values))
        return table[np.arange(count) % max(total, 1)].T
    return np.array([random.choice(np.array(each, np.uint64), count) for each in values])


def _drawn(kind: str, count: int, random: Any) -> Any:
    """Random bits, numbers of moderate size, and edges."""
    bits = bits_of(kind)
    mask = np.uint64((1 << bits) - 1)
    some = np.array(edges(kind), np.uint64)
    if places.size_of(kind):
        return places.drawn(kind, count, random)
    if kind in SPECIAL and kind not in ("amount", "offset"):
        return np.asarray(random.choice(some, count))
    raw = random.integers(0, 1 << 64, count, np.uint64, endpoint=False) & mask
    short = raw >> random.integers(0, bits, count).astype(np.uint64)
    if kind in FORMATS:
        short = _moderate(kind, raw, random)
    pick = random.integers(0, 8, count)
    edge = random.choice(some, count)
    return np.where(pick < 3, raw, np.where(pick < 7, short, edge))


def _moderate(name: str, raw: Array, random: Any) -> Any:
    """Random mantissas with exponents near 0, so that sums and products meet."""
    exponent, mantissa = FORMATS[name]
    bias = (1 << (exponent - 1)) - 1
    if name == "tf32":
        mantissa = 23
    spread = min(bias - 1, 2 + mantissa)
    chosen = random.integers(bias - spread, bias + spread + 1, len(raw)).astype(np.uint64)
    keep = np.uint64((1 << mantissa) - 1 | 1 << (exponent + mantissa))
    return raw & keep | chosen << np.uint64(mantissa)


def _meet(kinds: Sequence[str], found: Array, random: Any) -> None:
    """Some operands that are equal, differ in the last bits, or cancel; several NaNs at once."""
    if len(kinds) < 2 or kinds[0] != kinds[1]:
        return
    if kinds[0] in SPECIAL or places.size_of(kinds[0]):
        return
    part = found.shape[1] // 16
    sixteenths = [slice(first * part, (first + 1) * part) for first in range(16)]
    near = sixteenths[15]
    delta = random.integers(-2, 3, part)
    mask = np.uint64((1 << bits_of(kinds[0])) - 1)
    sign = random.integers(0, 2, part).astype(np.uint64) << np.uint64(bits_of(kinds[0]) - 1)
    found[1, near] = ((found[0, near] + delta.astype(np.uint64)) & mask) ^ sign
    if kinds[0] not in FORMATS:
        return
    _barely(kinds[0], found[:, sixteenths[13]], random)
    if set(kinds) == {kinds[0]}:
        _nans(kinds[0], found[:, sixteenths[12]], random)
    if len(kinds) == 3 and kinds[2] == kinds[0] and kinds[0] in ("f32", "f64"):
        _cancel(kinds[0], found[:, sixteenths[14]], random)


def _cancel(name: str, found: Array, random: Any) -> None:
    """``c`` close to ``-a * b``."""
    dtype, raw = np.dtype(name.replace("f", "float")), np.dtype(name.replace("f", "uint"))
    with np.errstate(all="ignore"):
        a, b = (found[k].astype(raw).view(dtype) for k in (0, 1))
        c = np.ascontiguousarray(-(a * b)).view(raw)
    c = c + random.integers(-2, 3, len(c)).astype(raw)
    found[2] = c.astype(np.uint64)


def _barely(name: str, found: Array, random: Any) -> None:
    """Factors whose product is the smallest normal number, or misses it by a little."""
    exponent, mantissa = FORMATS[name]
    bias = (1 << (exponent - 1)) - 1
    count = found.shape[1]
    power = random.integers(2 - bias, 0, count)
    step = 1 << random.integers(0, mantissa, count)
    low = power + bias << mantissa
    high = 1 - bias - power + bias << mantissa
    top = random.integers(0, 2, (2, count)) << (exponent + mantissa)
    pick = random.integers(0, 4, count)
    first = low + np.where(pick < 2, step, np.where(pick == 2, -step, 0))
    second = high - np.where(pick < 2, 2 * step - (pick == 1), np.where(pick == 3, step, 0))
    for row, values in enumerate((first, second)):
        found[row] = (np.maximum(values, 0) | top[row]).astype(np.uint64)
    if len(found) > 2:
        found[2] = np.where(random.integers(0, 4, count) > 0, np.uint64(0), found[2])


def _nans(name: str, found: Array, random: Any) -> None:
    """NaNs of all kinds, two or three at a time."""
    exponent, mantissa = FORMATS[name]
    whole = (1 << exponent) - 1 << mantissa
    quiet = 1 << (mantissa - 1)
    payloads = [1, 2, quiet - 1, quiet, quiet + 1, quiet + 2, 2 * quiet - 1]
    values = [whole | payload | sign << (exponent + mantissa) for payload in payloads
              for sign in (0, 1)]  # fmt: skip
    for row in found:
        row[:] = np.where(
            random.integers(0, 4, len(row)) > 0,
            random.choice(np.array(values, np.uint64), len(row)),
            row,
        )
