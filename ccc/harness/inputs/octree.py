"""Points in a cube, in the leaves of an octree, and which leaves touch one another.

All is done level by level on arrays. A leaf is known by its first cell: cells are those of the
finest level, along the Morton curve, which goes through a leaf of any level without leaving it.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

LEVELS = 16
"""Cells are a 2^16th of the cube along each edge."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Octree:
    """Leaves that have points, in the order of the Morton curve.

    Args:
        order: (points,): in which the points lie along the curve.
        begins: (leaves + 1,): the points of each leaf, in that order.
        first: (leaves + 1,): those of ``near`` that touch each leaf.
        near: leaves; each touches itself, too.
    """

    order: Integers
    begins: Integers
    first: Integers
    near: NDArray[np.int32]


def build(points: NDArray[np.float64], most: int) -> Octree:
    """Divide the cube until no leaf has more than ``most`` points; those on the last level may.

    Args:
        points: (points, 3), from 0 to less than 1.
        most: points of a leaf.
    """
    cells = _cells((points * (1 << LEVELS)).astype(np.int64))
    order = np.argsort(cells)
    starts, levels = _leaves(cells[order], most)
    begins = np.append(np.searchsorted(cells[order], starts), len(points))
    filled = np.flatnonzero(np.diff(begins))
    touching = _touching(starts, levels)[filled][:, filled]
    begins = np.append(begins[filled], len(points))
    return Octree(order, begins, touching.indptr.astype(np.int64), touching.indices)


def _leaves(cells: Integers, most: int) -> tuple[Integers, Integers]:
    """First cells and levels of the leaves of sorted cells; empty leaves are among them."""
    starts, levels = [], []
    open_cells = np.zeros(1, np.int64)
    for level in range(LEVELS + 1):
        width = 1 << 3 * (LEVELS - level)
        counts = np.searchsorted(cells, open_cells + width) - np.searchsorted(cells, open_cells)
        divided = (counts > most) & (level < LEVELS)
        starts.append(open_cells[~divided])
        levels.append(np.full(starts[-1].size, level))
        open_cells = (open_cells[divided][:, None] + width // 8 * np.arange(8)).ravel()
    every = np.concatenate(starts)
    order = np.argsort(every)
    return every[order], np.concatenate(levels)[order]


def _touching(starts: Integers, levels: Integers) -> scipy.sparse.csr_matrix:
    """A matrix with an entry where two leaves touch, or are the same one.

    Each leaf looks into the 26 cells of its level around it: the leaf there touches it if it is no
    smaller. That the smaller ones touch as well they have found themselves.
    """
    corners = _corners(starts)
    sides = 1 << (LEVELS - levels)

    def along(step: tuple[int, ...]) -> tuple[Integers, Integers]:
        places = corners + sides[:, None] * np.array(step)
        mine = np.flatnonzero(((places >= 0) & (places < 1 << LEVELS)).all(axis=1))
        found = np.searchsorted(starts, _cells(places[mine]), side="right") - 1
        larger = levels[found] <= levels[mine]
        mine, found = mine[larger], found[larger]
        smaller = levels[found] < levels[mine]
        return np.append(mine, found[smaller]), np.append(found, mine[smaller])

    steps = [step for step in itertools.product((-1, 0, 1), repeat=3) if any(step)]
    with ThreadPoolExecutor() as pool:
        pairs = list(pool.map(along, steps))
    numbers = np.arange(starts.size)
    row = np.concatenate([numbers, *(rows for rows, _ in pairs)])
    column = np.concatenate([numbers, *(columns for _, columns in pairs)])
    entries = np.ones(row.size, np.int8)
    shape = (starts.size, starts.size)
    # Equal entries, of leaves that touch in several directions, become one.
    return scipy.sparse.coo_matrix((entries, (row, column)), shape=shape).tocsr()


def _cells(places: Integers) -> Integers:
    """Numbers along the Morton curve: the bits of three coordinates in turn."""
    x, y, z = (_spread(axis) for axis in places.T)
    numbers: Integers = x | y << 1 | z << 2
    return numbers


def _corners(cells: Integers) -> Integers:
    """The coordinates of cells: what ``_cells`` undoes."""
    return np.stack([_gathered(cells >> axis) for axis in range(3)], axis=1)


MASKS = (
    (32, 0x1F00000000FFFF),
    (16, 0x1F0000FF0000FF),
    (8, 0x100F00F00F00F00F),
    (4, 0x10C30C30C30C30C3),
    (2, 0x1249249249249249),
)


def _spread(bits: Integers) -> Integers:
    """Two zeros between any two bits."""
    for shift, mask in MASKS:
        bits = (bits | bits << shift) & mask
    return bits


def _gathered(bits: Integers) -> Integers:
    """Every third bit."""
    bits = bits & MASKS[-1][1]
    for (shift, _), (_, mask) in zip(MASKS[::-1], [*MASKS[-2::-1], (0, 0x1FFFFF)], strict=True):
        bits = (bits | bits >> shift) & mask
    return bits
