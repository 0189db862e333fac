"""Graphs made over so that the lanes of a warp do not part when they are searched.

Lanes part where their vertices are not active in the same rounds, and where they have lists of
edges of different lengths. Where it is known what becomes of each vertex, a graph can be made that
is searched with the same work in the same rounds, and with neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.harness.inputs.graphs import Graph
from ccc.ptx.types import WARP_SIZE

Numbers = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class UniformGraph:
    """A graph that was made of another one.

    Args:
        graph: the new one.
        vertices: (new vertices,), integers: which vertex of the old graph each one stands for.
        edges: (edges,), integers: which edge of the old graph each one was.
    """

    graph: Graph
    vertices: Numbers
    edges: Numbers


def make_uniform(graph: Graph, kinds: Numbers, source: int) -> UniformGraph:
    """Put vertices of a kind side by side, and deal out the edges of each 32 evenly among them.

    That changes nothing where vertices of a kind are active in the same rounds and there with the
    same values: then an edge does the same whichever of them it begins at. Where it ends is kept.

    Full warps come first; the up to 31 vertices of each kind that are left follow, with those of
    other kinds in their warps, and deal out their edges among themselves.

    Args:
        graph: the old one.
        kinds: (vertices,), integers.
        source: a vertex that is of its kind alone. It gets 31 companions to share its edges with.
    """
    vertices = np.append(np.arange(graph.vertices), np.full(WARP_SIZE - 1, source))
    vertices = vertices[_in_warps(kinds[vertices])]
    places = np.empty(graph.vertices, np.int64)
    places[vertices] = np.arange(vertices.size)

    groups = _groups(kinds[vertices])
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    sizes = np.bincount(groups)

    # All edges, group by group. Those with ends near to one another, and so of a kind, are dealt
    # out together: what lanes find there makes them part as well.
    own = np.repeat(groups[places], np.diff(graph.indptr))
    edges = np.argsort(own << 32 | places[graph.indices])
    own = own[edges]
    counts = np.bincount(own, minlength=sizes.size)
    turns, members = np.divmod(_ranks(own, counts), sizes[own])

    shares = -(-(counts[groups] - _ranks(groups, sizes)) // sizes[groups])
    indptr = np.append(0, np.cumsum(shares))
    order = np.empty_like(edges)
    order[indptr[firsts[own] + members] + turns] = edges
    return UniformGraph(
        Graph(indptr, places[graph.indices[order]].astype(np.int32)), vertices, order
    )


def _in_warps(kinds: Numbers) -> Numbers:
    """The order in which each kind fills warps; what is left of them follows, kind by kind."""
    order = np.argsort(kinds, kind="stable")
    _, numbers, counts = np.unique(kinds[order], return_inverse=True, return_counts=True)
    left = _ranks(numbers, counts) >= (counts // WARP_SIZE * WARP_SIZE)[numbers]
    return order[np.argsort(left, kind="stable")]


def _groups(kinds: Numbers) -> Numbers:
    """Numbers, rising from 0, of what neighbours of a kind share a warp."""
    borders = np.diff(kinds) != 0
    borders[WARP_SIZE - 1 :: WARP_SIZE] = True
    return np.append(0, np.cumsum(borders))


def _ranks(sorted_numbers: Numbers, counts: Numbers) -> Numbers:
    """How many of the same number stand before each one; ``counts`` has how many there are."""
    return np.arange(sorted_numbers.size) - (np.cumsum(counts) - counts)[sorted_numbers]
