"""The studies of sensitivity: the sample ``synthetic`` on the inputs of figures 4.14 and 4.15.

F. Khorasani, High Performance Vertex-Centric Graph Analytics on GPUs, dissertation, 2016, section
4.1.5: how many lanes take a path of 20 operations, and how long the path is that 8 or 24 take.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ccc.tools.bench.results import CCC, ORIGINAL, Entry

SAMPLE = "synthetic"
LENGTH = 20
LANES = tuple(range(1, 33))
SHARES = (8, 24)
LENGTHS = tuple(1 << power for power in range(10))


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """How many of 32 lanes take the path, and how many operations it has."""

    lanes: int
    length: int

    @property
    def kind(self) -> str:
        """What the sample calls these inputs."""
        return f"lanes={self.lanes} length={self.length}"

    @property
    def bound(self) -> float:
        """The speedup if no lane ever waited."""
        return 32 / self.lanes


def points(quick: bool) -> list[SweepPoint]:
    """All points of both studies, or one in eight of the lanes and one in three of the lengths."""
    lanes = (LANES[0], *LANES[7::8]) if quick else LANES
    lengths = LENGTHS[::3] if quick else LENGTHS
    return [
        *(SweepPoint(number, LENGTH) for number in lanes),
        *(SweepPoint(share, length) for share in SHARES for length in lengths),
    ]


@dataclass(frozen=True, slots=True)
class Measured:
    """A point that was measured."""

    point: SweepPoint
    entry: Entry

    @property
    def labels(self) -> list[str]:
        """What to show of it."""
        return [ORIGINAL, *self.entry.chosen]

    def cost(self, label: str) -> float:
        """The median, in the entry's unit."""
        return self.entry[label].cost


def over_lanes(entries: Iterable[Entry]) -> list[Measured]:
    """Figure 4.14: what was measured of it, by the number of lanes."""
    found = _found(entries)
    return [found[point] for n in LANES if (point := SweepPoint(n, LENGTH)) in found]


def over_lengths(entries: Iterable[Entry], lanes: int) -> list[Measured]:
    """Figure 4.15: what was measured of it with some number of lanes, by the length."""
    found = _found(entries)
    return [found[point] for n in LENGTHS if (point := SweepPoint(lanes, n)) in found]


def _found(entries: Iterable[Entry]) -> dict[SweepPoint, Measured]:
    kinds = {point.kind: point for point in points(quick=False)}
    return {
        kinds[entry.inputs.kind]: Measured(kinds[entry.inputs.kind], entry)
        for entry in entries
        if entry.sample == SAMPLE
        and entry.inputs.kind in kinds
        and ORIGINAL in entry
        and CCC in entry
    }
