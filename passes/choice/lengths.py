"""How long lists are: the longest of many, and what lies in long ones.

Profiles count the turns of a lane in the mean, and those of the lane with most of a warp's. Lengths
are taken to have a generalised Pareto distribution with these two. It covers lengths that are
bounded, those of which each turn is the last with equal chance, and those where few long lists have
most turns. Of the rows of a web graph and an R-MAT graph of 2^21 rows (mean 4.7 and 31, the longest
of a warp's 70 and 314 in the mean) it expects the longest of what a warp does in eight iterations
to be 320 and 1648; it is 325 and 1317.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_HALVINGS = 50
"""Steps of a bisection: as many as a number has digits."""
_SHAPES = (-20.0, 1 - 1e-6)
_NO_SHAPE = 1e-4
"""So near to 0 a shape is that of the exponential distribution."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """The distribution of the lengths of lists.

    Args:
        mean: of all.
        most: of ``lanes`` lists the longest, in the mean.
        lanes: see there.
        shape: of the distribution; 0 if each turn is the last with equal chance, and more where
            few lists are long.
    """

    mean: float
    most: float
    lanes: float
    shape: float

    @staticmethod
    def of(mean: float, most: float, lanes: float) -> Lengths:
        """The distribution with a mean, and with ``most`` as the longest of ``lanes``."""
        low, high = _SHAPES
        for _ in range(_HALVINGS):
            shape = (low + high) / 2
            low, high = (shape, high) if _longest(shape, lanes) * mean < most else (low, shape)
        return Lengths(mean, most, lanes, low)

    def longest(self, among: float) -> float:
        """The longest of so many lists."""
        if self.lanes <= 1 or among <= self.lanes or self.most <= self.mean:
            return self.most
        return self.most * _longest(self.shape, among) / _longest(self.shape, self.lanes)

    def above(self, turns: float) -> tuple[float, float]:
        """The share of lists that are longer than that, and the mean of these."""
        if self.lanes <= 1 or self.most <= self.mean:
            return (1.0, self.mean) if self.mean > turns else (0.0, turns)
        shape = self.shape if abs(self.shape) > _NO_SHAPE else _NO_SHAPE
        scale = self.mean * (1 - shape)
        inside = 1 + shape * turns / scale
        if inside <= 0:
            return 0.0, turns
        return inside ** (-1 / shape), turns + (scale + shape * turns) / (1 - shape)


def _longest(shape: float, lists: float) -> float:
    """The longest of so many with the mean 1."""
    shape = shape if abs(shape) > _NO_SHAPE else _NO_SHAPE
    log = math.lgamma(lists + 1) - math.lgamma(lists + 1 - shape) + math.lgamma(1 - shape)
    return (1 - shape) / shape * (math.exp(log) - 1)
