"""Breadth-first search, one kernel launch a level; see ``kernel.cu``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ccc.errors import CccError
from ccc.harness.decompositions import by_hand, by_library
from ccc.harness.inputs.graphs import Graph, read_graph, rmat, uniform
from ccc.harness.inputs.uniform_graph import make_uniform

SIZES = {"gpu": 20, "paper": 22, "emulator": 16}
INPUTS = ("rmat", "uniform")
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = {
    **by_hand(),
    **by_library(),
    "engaging the warp": ("rivals/engagement.cu", ()),
    "collection and engagement": ("rivals/engagement.cu", ("-DCOLLECT",)),
    "loop merging": ("rivals/loop_merging.cu", ()),
    "collection by hand, queue": ("rivals/collection.cu", ()),
    "collection by hand, merge": ("rivals/collection.cu", ("-DMERGE",)),
    "nested collection by hand": ("rivals/collection.cu", ("-DNESTED",)),
}
BOUND = ("kernel.cu", ())
PAPER = 1.13


def inputs(
    size: int, seed: int, graph: str | Path | None = None, kind: str = INPUTS[0]
) -> dict[str, Any]:
    """A graph, and levels that know the source only.

    Args:
        size: log2 of the number of vertices of the graph that is made without ``graph``.
        seed: what that graph is drawn from.
        graph: a file that ``ccc.harness.inputs.graphs.read_graph`` reads, taken instead.
        kind: one of ``INPUTS``: a power-law graph, or one whose vertices are all alike.

    Returns:
        ``indptr`` (vertices + 1,), ``indices`` (edges,), ``levels`` (vertices,): 0 at the source,
        the vertex of largest out-degree, -1 elsewhere; ``done`` (1,). All int32.
    """
    csr = _drawn(size, seed, kind) if graph is None else read_graph(graph)
    if csr.edges > np.iinfo(np.int32).max:
        raise CccError(f"the kernel counts edges in 32 bits, and the graph has {csr.edges}")
    levels = np.full(csr.vertices, -1, np.int32)
    levels[csr.largest()] = 0
    return {
        "indptr": csr.indptr.astype(np.int32),
        "indices": csr.indices,
        "levels": levels,
        "done": np.zeros(1, np.int32),
    }


def _drawn(size: int, seed: int, kind: str) -> Graph:
    return rmat(size, seed=seed) if kind == "rmat" else uniform(1 << size, 16 << size, seed)


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same search, where vertices of a level share warps and each 32 of them their edges.

    The levels have as many vertices and edges as before; the source gets 31 companions.
    """
    graph = Graph(inputs["indptr"], inputs["indices"])
    levels = reference(graph.indptr, graph.indices, inputs["levels"])
    uniform = make_uniform(graph, levels, int(np.flatnonzero(inputs["levels"] == 0)[0]))
    return {
        **inputs,
        "indptr": uniform.graph.indptr.astype(np.int32),
        "indices": uniform.graph.indices,
        "levels": inputs["levels"][uniform.vertices],
    }


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Search until a level finds nobody.

    Returns:
        ``levels`` (vertices,), int32, and ``frontiers``, the number of vertices that stood at
        each level when it was done, so that a comparison sees every level.
    """
    bfs = module.get_function("bfs")
    indptr, indices = inputs["indptr"], inputs["indices"]
    levels, done = inputs["levels"].copy(), inputs["done"].copy()
    vertices = levels.size
    # As many blocks as the device holds at once: the kernel's loop strides over the rest.
    blocks = min(module.resident_blocks("bfs", BLOCK), -(-vertices // BLOCK))
    frontiers, depth = [int((levels == 0).sum())], 0
    while frontiers[-1]:
        done.fill(1)
        arguments = (np.int32(vertices), np.int32(depth), indptr, indices, levels, done)
        bfs((blocks,), (BLOCK,), arguments)
        depth += 1
        frontiers.append(0 if int(done[0]) else int((levels == depth).sum()))
    return {"levels": levels, "frontiers": np.array(frontiers)}


def check(inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> None:
    """Compare with a search in NumPy.

    Raises:
        CccError: a vertex has another level there.
    """
    expected = reference(inputs["indptr"], inputs["indices"], inputs["levels"])
    wrong = np.flatnonzero(outputs["levels"] != expected)
    if wrong.size:
        first = wrong[0]
        raise CccError(
            f"levels[{first}] is {outputs['levels'][first]}, and should be {expected[first]}"
            f" ({wrong.size} of {expected.size} vertices are wrong)"
        )
    frontiers = np.bincount(expected[expected >= 0])
    if not np.array_equal(outputs["frontiers"], [*frontiers, 0]):
        raise CccError(
            f"the frontiers are {outputs['frontiers'].tolist()}, and should be {frontiers.tolist()}"
        )


def reference(indptr: np.ndarray, indices: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The levels of every vertex, from the sources that ``levels`` names."""
    graph, levels = Graph(indptr, indices), levels.copy()
    depth = 0
    while (frontier := np.flatnonzero(levels == depth)).size:
        neighbours = indices[graph.edges_of(frontier)]
        depth += 1
        levels[neighbours[levels[neighbours] == -1]] = depth
    return levels
