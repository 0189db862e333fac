"""Sparse matrices in compressed sparse rows, from irregular to regular; their values are small.

All numbers are integers that a float holds, and so are the sums of their products, whatever the
order they are added in.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError
from ccc.harness.inputs.graphs import Graph, banded, read_graph, rmat, uniform

KINDS = ("web", "rmat", "uniform", "banded")
"""Power-law rows as in a crawl of the web; those of an R-MAT graph, with a few that are longer by
far; rows about equally long with entries anywhere; and all alike round a diagonal."""

A_ROW = 16
"""Entries on the average, or about so many."""

LANES = 32
"""Of a warp."""

LARGEST_VALUE = 8
"""So the products of two values of 100,000 entries add up to less than 2^24."""


LONGEST, EXPONENT = 4000, 1.2
"""Of rows of a crawl: one is longer than n with probability n^-EXPONENT. The mean is 4.6. Wb-edu of
the University of Florida's collection has 5.8, and a longest row of 3841."""


@functools.lru_cache(maxsize=len(KINDS))
def pattern(kind: str, size: int, seed: int) -> Graph:
    """Where a matrix of 2^size rows has its entries; nobody may change the arrays.

    Args:
        kind: one of ``KINDS``. ``rmat`` has the probabilities of Graph500.
        size: log2 of the number of rows.
        seed: what is random is drawn from it.
    """
    if kind == "web":
        return _power_law(1 << size, seed)
    if kind == "rmat":
        return rmat(size, A_ROW, a=0.57, b=0.19, c=0.19, seed=seed)
    if kind == "uniform":
        return uniform(1 << size, A_ROW << size, seed)
    return banded(1 << size, A_ROW // 2)


def _power_law(rows: int, seed: int) -> Graph:
    """Rows whose lengths follow a power law up to a longest one, with entries anywhere."""
    random = np.random.default_rng(seed)
    lengths = np.minimum(random.random(rows) ** (-1 / EXPONENT), LONGEST).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return Graph(indptr, random.integers(0, rows, int(indptr[-1]), np.int32))


def read_or_draw(graph: str | Path | None, kind: str, size: int, seed: int) -> Graph:
    """The pattern of a file where there is one; else as ``pattern`` draws it.

    Raises:
        CccError: the file cannot be read, or has more entries than 32 bits count.
    """
    found = pattern(kind, size, seed) if graph is None else read_graph(graph)
    if found.edges > np.iinfo(np.int32).max:
        raise CccError(f"the kernel counts entries in 32 bits, and there are {found.edges}")
    return found


def small_values(count: int, seed: int) -> NDArray[np.float32]:
    """Random integers from ``-LARGEST_VALUE`` to ``LARGEST_VALUE`` without 0, as floats."""
    draw = np.random.default_rng(seed).integers(1, LARGEST_VALUE + 1, count, np.int8)
    signs = np.random.default_rng(~seed & 0xFFFFFFFF).integers(0, 2, count, np.int8)
    values: NDArray[np.float32] = (draw * (2 * signs - 1)).astype(np.float32)
    return values


def evened(indptr: NDArray[np.int32]) -> NDArray[np.int32]:
    """Other rows of the same entries: each 32 that share a warp have about as many each."""
    rows = np.arange(indptr.size)
    first = rows // LANES * LANES
    last = np.minimum(first + LANES, rows[-1])
    begin, end = indptr[first].astype(np.int64), indptr[last].astype(np.int64)
    shares = (end - begin) * (rows - first) // np.maximum(last - first, 1)
    other: NDArray[np.int32] = (begin + shares).astype(np.int32)
    return other
