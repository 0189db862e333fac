"""The constants that explain times best.

Nothing takes less than no time, and long kernels should not outweigh short ones: so it is the least
squares of what the model is off in relation to each time, among constants that are not negative.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ccc.tools.bench.calibration.card import Constant


class Fit:
    """What was measured of a strategy, and the constants that explain it."""

    def __init__(self) -> None:
        self._rows: list[list[float]] = []
        self._found: list[float] = []

    def add(self, row: Sequence[float], found: float, whole: float) -> None:
        """How often each constant counts in a time, what they take together, and the whole."""
        self._rows.append([one / whole for one in row])
        self._found.append(found / whole)

    def constants(self, name: str, known: Mapping[str, float]) -> Iterator[Constant]:
        """Them, by the names of those that are ``known``."""
        fitted, off = nonnegative(self._rows, self._found)
        for (part, before), measured in zip(known.items(), fitted, strict=True):
            yield Constant(f"{name}, {part}", before, measured, off)


def nonnegative(
    rows: Sequence[Sequence[float]], found: Sequence[float]
) -> tuple[list[float], float]:
    """The numbers, none below 0, that explain best what was found, and how far they are off in the
    mean. There are few: so each choice of those that are 0 is tried."""
    every, wanted = np.array(rows), np.array(found)
    best, error = np.zeros(every.shape[1]), wanted
    for kept in itertools.product((False, True), repeat=every.shape[1]):
        fitted = np.zeros(every.shape[1])
        fitted[list(kept)] = np.linalg.lstsq(every[:, kept], wanted, rcond=None)[0]
        left = wanted - every @ fitted
        if (fitted >= 0).all() and left @ left < error @ error:
            best, error = fitted, left
    return [float(one) for one in best], float(np.abs(error).mean())


def fitted(rows: Sequence[Sequence[float]], found: Sequence[float]) -> list[float]:
    """The numbers that explain what was found."""
    return nonnegative(rows, found)[0]
