"""Sparse matrices, and the leaves of an octree, as samples run on them."""

from __future__ import annotations

import numpy as np
import pytest

from ccc.errors import CccError
from ccc.harness.inputs import matrices, octree
from ccc.harness.inputs.graphs import banded


def test_a_band() -> None:
    graph = banded(5, 1)
    rows = [graph.indices[slice(*graph.indptr[row : row + 2])].tolist() for row in range(5)]
    assert rows == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4]]
    assert banded(0, 3).edges == 0
    with pytest.raises(CccError, match="no band of 3 vertices and a reach of -1"):
        banded(3, -1)


@pytest.mark.parametrize("kind", matrices.KINDS)
def test_rows_are_as_irregular_as_their_kind(kind: str) -> None:
    graph = matrices.pattern(kind, 10, 0)
    lengths = np.diff(graph.indptr)
    assert graph.vertices == 1 << 10
    assert 3 < lengths.mean() < 18
    least, most = {"web": (9, 999), "rmat": (5, 99), "uniform": (1.3, 3), "banded": (1, 1.1)}[kind]
    assert least <= lengths.max() / lengths.mean() < most


def test_a_file_is_taken_instead(tmp_path: object) -> None:
    file = f"{tmp_path}/two.npz"
    np.savez(file, indptr=np.array([0, 1, 2]), indices=np.array([1, 0]))
    assert matrices.read_or_draw(file, "rmat", 30, 0).edges == 2


def test_values_are_small_integers() -> None:
    values = matrices.small_values(10_000, 1)
    assert set(np.abs(values)) == set(range(1, matrices.LARGEST_VALUE + 1))
    assert values.dtype == np.float32
    assert abs(values.mean()) < 0.3


def test_entries_are_dealt_out_evenly_within_a_warp() -> None:
    graph = matrices.pattern("rmat", 7, 0)
    indptr = matrices.evened(np.append(graph.indptr, graph.edges + 5).astype(np.int32))
    lengths = np.diff(indptr)
    assert indptr[:: matrices.LANES].tolist() == graph.indptr[:: matrices.LANES].tolist()
    warps = lengths[:-1].reshape(-1, matrices.LANES)
    assert (warps.max(axis=1) - warps.min(axis=1) <= 1).all()
    assert lengths[-1] == 5


@pytest.mark.parametrize("power", [1, 3])
def test_leaves_that_touch(power: int) -> None:
    points = np.random.default_rng(0).random((400, 3)) ** power
    tree = octree.build(points, 6)
    counts = np.diff(tree.begins)
    assert sorted(tree.order) == list(range(400))
    assert counts.min() >= 1
    assert counts.max() <= 6
    cells = np.sort(octree._cells((points * (1 << octree.LEVELS)).astype(np.int64)))
    starts, levels = octree._leaves(cells, 6)
    filled = np.searchsorted(cells, starts) < np.searchsorted(
        cells, [*starts[1:], 8**octree.LEVELS]
    )
    low = octree._corners(starts)[filled]
    high = low + (1 << (octree.LEVELS - levels[filled]))[:, None]
    touch = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=2)
    found = np.zeros_like(touch)
    found[np.repeat(np.arange(counts.size), np.diff(tree.first)), tree.near] = True
    assert (found == touch).all()
    assert found.sum() == tree.near.size


def test_points_in_one_place() -> None:
    tree = octree.build(np.full((9, 3), 0.3), 4)
    assert tree.begins.tolist() == [0, 9]
    assert tree.near.tolist() == [0]
