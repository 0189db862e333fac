"""What the cost model takes memory to cost that neighbours share.

A sector takes as long as so many multiply-additions. What is fitted are times of kernels that do
little else than to read and write arrays side by side.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ccc.passes.choice.exchange import IN_PARTS, STREAMED
from ccc.ptx.throughput import SECTOR, Pipe, slots_of
from ccc.ptx.types import WARP_SIZE
from ccc.tools.bench.calibration.card import Card, Constant
from ccc.tools.bench.calibration.fit import nonnegative

ITEMS = 1 << 24
"""Iterations; an array has as many numbers, of which there are five."""
LANES = (1, 4, 13)
STRATEGY = "batch3"
WRITTEN = (1, 4)
"""Arrays that are written. One is read."""
SHARING = SECTOR // 4
"""The lanes that share a sector."""

LOOP = """\
extern "C" __global__ void __launch_bounds__(256) loop(int count, int lanes, float* out)
{
    const float* __restrict__ from = out;
    float* __restrict__ to = out + count;
    const int stride = gridDim.x * blockDim.x;
    #pragma ccc for noalias(from, to)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        float x = from[i];
"""
"""A loop begins so that reads one array and writes others."""
SOURCE = f"""{LOOP}\
        #pragma ccc if
        if ((i * 2654435769u >> 16) % 32u < lanes) {{
            #pragma unroll
            for (int step = 0; step < 16; ++step) x = fmaf(x, x, -1.9f);
        }}
        #pragma unroll
        for (int array = 0; array < WRITTEN; ++array) to[array * count + i] = x + array;
    }}
}}
"""


def constants(card: Card) -> Iterator[Constant]:
    """Measure what a sector takes that each iteration asks for once, and what one that is written
    in parts."""
    streamed, off = times_streamed(card)
    yield Constant("STREAMED", STREAMED, streamed, off)
    in_parts, off = _in_parts(card, streamed)
    yield Constant("IN_PARTS", IN_PARTS, in_parts, off)


def times_streamed(card: Card) -> tuple[float, float]:
    """How many times as long as others a sector takes, and how far that is off."""
    rows, found = [], []
    for written in WRITTEN:
        spent = _visit(card, "", written, 0)
        rows.append([(1 + written) * WARP_SIZE / SHARING * sector_slots(card) / spent])
        found.append(1.0)
    (streamed,), off = nonnegative(rows, found)
    return streamed, off


def _in_parts(card: Card, streamed: float) -> tuple[float, float]:
    """How many times as long as other streams a sector takes that is written in parts."""
    numbers = np.arange(1 << 16, dtype=np.uint32) * np.uint32(2654435769) >> np.uint32(16)
    rows, found = [], []
    for written in WRITTEN:
        for lanes in LANES:
            taken = by_sectors(numbers % np.uint32(32) < lanes)
            some, every = taken.any(axis=2), taken.all(axis=2)
            whole, parted = (~some | every).sum(axis=1), 2 * (some & ~every).sum(axis=1)
            sector = streamed * sector_slots(card)
            spent = _visit(card, STRATEGY, written, lanes)
            read = WARP_SIZE / SHARING
            rest = sector * (read + written * float(whole.mean()))
            rows.append([written * sector * float(parted.mean()) / spent])
            found.append(1 - rest / spent)
    (in_parts,), off = nonnegative(rows, found)
    return in_parts, off


def by_sectors(lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Something of lanes, by warps and the sectors that these share."""
    return lanes.reshape(-1, WARP_SIZE // SHARING, SHARING)


def _visit(card: Card, strategy: str, written: int, lanes: int) -> float:
    """The issue slots of an iteration of a warp."""
    module = card.compile(SOURCE, strategy, f"-DWRITTEN={written}")
    return card.slots(module, ITEMS, lanes) / (ITEMS / WARP_SIZE)


def sector_slots(card: Card) -> float:
    """What the cost model has a sector take that is no stream's."""
    return slots_of(Pipe.SECTORS, card.arch)
