"""Graphs made over for searches without divergence: the same edges, dealt out evenly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from ccc.harness.inputs.graphs import Graph, from_edges, rmat
from ccc.harness.inputs.uniform_graph import UniformGraph, make_uniform
from ccc.ptx.types import WARP_SIZE

SOURCE = 5


def kinds_of(graph: Graph, count: int) -> NDArray[np.int64]:
    """Random ones; that of ``SOURCE`` is its own."""
    kinds = np.random.default_rng(0).integers(0, count, graph.vertices)
    kinds[SOURCE] = count
    return kinds


def sources_of(graph: Graph) -> NDArray[np.integer]:
    return np.repeat(np.arange(graph.vertices), np.diff(graph.indptr))


@pytest.fixture
def graph() -> Graph:
    return rmat(9, seed=1)


@pytest.fixture
def kinds(graph: Graph) -> NDArray[np.int64]:
    return kinds_of(graph, 3)


@pytest.fixture
def uniform(graph: Graph, kinds: NDArray[np.int64]) -> UniformGraph:
    return make_uniform(graph, kinds, SOURCE)


def test_all_vertices_are_there_and_the_source_fills_a_warp(
    graph: Graph, uniform: UniformGraph
) -> None:
    counts = np.bincount(uniform.vertices)
    assert counts[SOURCE] == WARP_SIZE
    assert (np.delete(counts, SOURCE) == 1).all()
    first = np.flatnonzero(uniform.vertices == SOURCE)[0]
    assert first % WARP_SIZE == 0
    assert uniform.graph.vertices == uniform.vertices.size == graph.vertices + WARP_SIZE - 1


def test_edges_keep_their_ends_and_the_kinds_that_they_begin_at(
    graph: Graph, kinds: NDArray[np.int64], uniform: UniformGraph
) -> None:
    assert np.array_equal(np.sort(uniform.edges), np.arange(graph.edges))
    assert np.array_equal(uniform.vertices[uniform.graph.indices], graph.indices[uniform.edges])
    begins = uniform.vertices[sources_of(uniform.graph)]
    assert np.array_equal(kinds[begins], kinds[sources_of(graph)[uniform.edges]])


def test_lanes_have_lists_of_the_same_length(
    kinds: NDArray[np.int64], uniform: UniformGraph
) -> None:
    lengths = np.diff(uniform.graph.indptr)
    mixed = 0
    for begin in range(0, lengths.size, WARP_SIZE):
        own, mine = kinds[uniform.vertices][begin:][:WARP_SIZE], lengths[begin:][:WARP_SIZE]
        mixed += len(set(own)) > 1
        assert all(np.ptp(mine[own == kind]) <= 1 for kind in set(own))
    assert mixed < 4  # 31 vertices may be left of each kind


def test_what_is_left_of_a_kind_keeps_its_edges_to_itself() -> None:
    graph = from_edges(6, np.array([0, 0, 0, 1, 2, 3]), np.array([1, 2, 3, 4, 5, 5]))
    uniform = make_uniform(graph, np.array([0, 0, 1, 1, 2, 3]), 5)
    assert uniform.vertices.tolist() == [5] * WARP_SIZE + [0, 1, 2, 3, 4]
    assert np.diff(uniform.graph.indptr).tolist() == [0] * WARP_SIZE + [2, 2, 1, 1, 0]
    assert uniform.graph.edges_of(np.array([WARP_SIZE, WARP_SIZE + 2])).tolist() == [0, 1, 4]
