"""Breadth-first search whose inner loop reads its end again in each turn; see ``kernel.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.errors import CccError
from ccc.harness.inputs.graphs import Graph, rmat
from ccc.harness.inputs.uniform_graph import make_uniform

SIZES = {"gpu": 19, "emulator": 10}
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = {
    "sub-warp 8": ("rivals/sub_warp.cu", ("-DWIDTH=8",)),
    "sub-warp 32": ("rivals/sub_warp.cu", ("-DWIDTH=32",)),
    "engaging the warp": ("rivals/engagement.cu", ()),
}
BOUND = ("kernel.cu", ())


def inputs(size: int, seed: int) -> dict[str, Any]:
    """An R-MAT graph, and levels that know the source only.

    Args:
        size: log2 of the number of vertices.
        seed: what the graph is drawn from.

    Returns:
        ``row`` (vertices + 1,), ``column`` (edges,), ``levels`` (vertices,): 0 at the source, the
        vertex of largest out-degree, -1 elsewhere; ``done`` (1,). All int32.
    """
    graph = rmat(size, seed=seed)
    levels = np.full(graph.vertices, -1, np.int32)
    levels[graph.largest()] = 0
    return {
        "row": graph.indptr.astype(np.int32),
        "column": graph.indices,
        "levels": levels,
        "done": np.zeros(1, np.int32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same search, where vertices of a level share warps and each 32 of them their edges."""
    graph = Graph(inputs["row"], inputs["column"])
    source = int(np.flatnonzero(inputs["levels"] == 0)[0])
    uniform = make_uniform(graph, _levels(inputs), source)
    return {
        **inputs,
        "row": uniform.graph.indptr.astype(np.int32),
        "column": uniform.graph.indices,
        "levels": inputs["levels"][uniform.vertices],
    }


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Search until a level finds nobody.

    Returns:
        ``levels`` (vertices,), int32.
    """
    search = module.get_function("reread_bound")
    levels, done = inputs["levels"].copy(), inputs["done"].copy()
    blocks = min(module.resident_blocks("reread_bound", BLOCK), -(-levels.size // BLOCK))
    depth = 0
    while not int(done[0]):
        done.fill(1)
        arguments = (inputs["row"], inputs["column"], levels, done)
        search((blocks,), (BLOCK,), (np.int32(levels.size), np.int32(depth), *arguments))
        depth += 1
    return {"levels": levels}


def check(inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
    """Compare with a search in NumPy.

    Raises:
        CccError: a vertex has another level there.
    """
    levels, expected = outputs["levels"], _levels(inputs)
    wrong = np.flatnonzero(levels != expected)
    if wrong.size:
        first = wrong[0]
        raise CccError(
            f"levels[{first}] is {levels[first]}, and should be {expected[first]}"
            f" ({wrong.size} of {expected.size} vertices are wrong)"
        )


def _levels(inputs: dict[str, Any]) -> Any:
    """The levels of every vertex."""
    graph, levels, depth = Graph(inputs["row"], inputs["column"]), inputs["levels"].copy(), 0
    while (frontier := np.flatnonzero(levels == depth)).size:
        neighbours = graph.indices[graph.edges_of(frontier)]
        depth += 1
        levels[neighbours[levels[neighbours] == -1]] = depth
    return levels
