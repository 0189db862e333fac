"""How much more than is had the cost model expects of branches where memory is busy.

The loop reads one array side by side, and writes another in its branch. The longer the branch, the
smaller is the share of time in which memory is busy. Lanes take it at random, as the model has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ccc.errors import CccError
from ccc.passes.thresholds import GAIN, MEMORY_GAIN, MUCH_MEMORY
from ccc.ptx.types import WARP_SIZE
from ccc.tools.bench.calibration.card import Card, Constant
from ccc.tools.bench.calibration.memory import (
    LOOP,
    SHARING,
    by_sectors,
    sector_slots,
    times_streamed,
)

ITEMS = 1 << 25
LENGTHS = (48, 64, 128, 256)
LANES = 4
STRATEGY = "batch3"

SOURCE = f"""{LOOP}\
        const unsigned half = i * 2654435769u;
        #pragma ccc if prob(0.125)
        if (((half ^ half >> 15) * 2246822519u >> 16) % 32u < lanes) {{
            #pragma unroll
            for (int step = 0; step < LENGTH; ++step) x = fmaf(x, x, -1.9f);
            to[i] = x;
        }}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Gain:
    """Of one loop: the share of time in which it has memory busy, and how many times as fast as the
    original it is when it collects."""

    memory: float
    expected: float
    measured: float

    @property
    def missed(self) -> float:
        """How many times as much is expected as is measured."""
        return self.expected / self.measured


def constants(card: Card) -> Iterator[Constant]:
    """Measure from which share of memory on gains are missed, and by how much at most."""
    streamed, _ = times_streamed(card)
    sector, gains = streamed * sector_slots(card), []
    for length in LENGTHS:
        gain = _gain(card, length, sector)
        gains.append(gain)
        yield Constant(f"{length} operations, memory", None, gain.memory)
        yield Constant(f"{length} operations, gain", gain.expected, gain.measured)
    missed = [one for one in gains if one.missed > GAIN]
    yield Constant("MUCH_MEMORY", MUCH_MEMORY, min((one.memory for one in missed), default=1.0))
    yield Constant("MEMORY_GAIN", MEMORY_GAIN, max((one.missed for one in missed), default=1.0))


def _gain(card: Card, length: int, sector: float) -> Gain:
    """That of a branch with so many operations; a sector takes so many slots."""
    before, after = (card.compile(SOURCE, one, f"-DLENGTH={length}") for one in ("", STRATEGY))
    if card.expected is None:
        raise CccError("the model does not tell what it expects of a loop with its share told")
    original, collected = (card.slots(module, ITEMS, LANES) for module in (before, after))
    busy = _sectors() * sector * ITEMS / WARP_SIZE
    return Gain(busy / original, card.expected, original / collected)


def _sectors() -> float:
    """Those that a warp reads and writes in an iteration."""
    half = np.arange(1 << 16, dtype=np.uint32) * np.uint32(2654435769)
    numbers = (half ^ half >> np.uint32(15)) * np.uint32(2246822519) >> np.uint32(16)
    taken = by_sectors(numbers % np.uint32(32) < LANES)
    return WARP_SIZE / SHARING + float(taken.any(axis=2).sum(axis=1).mean())
