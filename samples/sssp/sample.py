"""Single-source shortest paths, two kernel launches a round; see ``kernel.cu``.

P. Harish, P. J. Narayanan: Accelerating Large Graph Algorithms on the GPU Using CUDA, 2007. As in
that paper, weights are random integers from 1 to 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError
from ccc.harness.decompositions import by_hand, by_library
from ccc.harness.inputs.graphs import Graph, read_graph, rmat, uniform
from ccc.harness.inputs.uniform_graph import make_uniform

SIZES = {"gpu": 20, "paper": 22, "emulator": 13}
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
PAPER = 1.09
HEAVIEST = 10
UNREACHED = np.iinfo(np.int32).max


def inputs(
    size: int, seed: int, graph: str | Path | None = None, kind: str = INPUTS[0]
) -> dict[str, Any]:
    """A graph with weights, and costs that know the source only.

    Args:
        size: log2 of the number of vertices of the graph that is made without ``graph``.
        seed: what that graph and the weights are drawn from.
        graph: a file that ``ccc.harness.inputs.graphs.read_graph`` reads, taken instead.
        kind: one of ``INPUTS``: a power-law graph, or one whose vertices are all alike.

    Returns:
        ``indptr`` (vertices + 1,), ``indices`` and ``weights`` (edges,), ``costs`` (vertices,): 0
        at the source, the vertex of largest out-degree, ``UNREACHED`` elsewhere; ``changed`` (1,).
        All int32. ``mask`` (vertices / 32,), uint32: the bit of the source.
    """
    csr = _drawn(size, seed, kind) if graph is None else read_graph(graph)
    if csr.edges > np.iinfo(np.int32).max:
        raise CccError(f"the kernel counts edges in 32 bits, and the graph has {csr.edges}")
    costs = np.full(csr.vertices, UNREACHED, np.int32)
    costs[csr.largest()] = 0
    return {
        "indptr": csr.indptr.astype(np.int32),
        "indices": csr.indices,
        "weights": np.random.default_rng(seed).integers(1, HEAVIEST + 1, csr.edges, np.int32),
        "costs": costs,
        "mask": _bits(costs == 0),
        "changed": np.zeros(1, np.int32),
    }


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """32 flags in a number, the first in the lowest bit."""
    bits = np.packbits(np.pad(flags, (0, -flags.size % 32)), bitorder="little")
    return bits.view("<u4").astype(np.uint32)


def _drawn(size: int, seed: int, kind: str) -> Graph:
    return rmat(size, seed=seed) if kind == "rmat" else uniform(1 << size, 16 << size, seed)


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same search, where vertices with the same history share warps, and each 32 their edges.

    All costs of a vertex are told from the first one that it gets, which so is 0, and weights
    follow. That makes many histories the same. In each round the costs of as many vertices fall as
    before, by as much, and as many edges are relaxed; the source gets 31 companions.
    """
    graph, weights = Graph(inputs["indptr"], inputs["indices"]), inputs["weights"]
    past = _search(graph, weights, inputs["costs"])
    uniform = make_uniform(graph, past.kinds, int(np.flatnonzero(inputs["costs"] == 0)[0]))
    shifts = np.where(past.firsts == UNREACHED, 0, past.firsts)
    weights = weights + np.repeat(shifts, np.diff(graph.indptr)) - shifts[graph.indices]
    costs = inputs["costs"][uniform.vertices]
    return {
        **inputs,
        "indptr": uniform.graph.indptr.astype(np.int32),
        "indices": uniform.graph.indices,
        "weights": weights[uniform.edges].astype(np.int32),
        "costs": costs,
        "mask": _bits(costs == 0),
        "known": (past.costs - shifts)[uniform.vertices],
        "rounds": past.rounds,
    }


@dataclass(frozen=True)
class _Past:
    """What became of the vertices in a search of so many rounds.

    ``firsts`` and ``costs`` are the first and the last cost of each; ``kinds`` are the same where
    costs fell in the same rounds, and by as much.
    """

    rounds: int
    firsts: NDArray[np.int64]
    costs: NDArray[np.int64]
    kinds: NDArray[np.integer]


def _search(graph: Graph, weights: NDArray[np.int32], costs: NDArray[np.int32]) -> _Past:
    """What the kernels do, in NumPy."""
    rounds, degrees = 0, np.diff(graph.indptr)
    firsts, last = costs.astype(np.int64), costs.astype(np.int64)
    whens = falls = np.zeros(costs.size, np.int64)
    fell = costs == 0
    while fell.any():
        whens = _refined(whens, fell)
        falls = _refined(falls, np.where(fell, 1 + firsts - last, 0))
        before, sources = last.copy(), np.flatnonzero(fell)
        edges = graph.edges_of(sources)
        offers = np.repeat(last[sources], degrees[sources]) + weights[edges]
        np.minimum.at(last, graph.indices[edges], offers)
        fell = last < before
        firsts = np.where(before == UNREACHED, last, firsts)
        rounds += 1
    return _Past(rounds, firsts, last, _refined(whens, falls))


def _refined(classes: NDArray[np.integer], values: NDArray[Any]) -> NDArray[np.integer]:
    """Numbers, the same for equal pairs, in the order of these."""
    pairs = classes * (int(values.max()) + 1) + values
    numbers: NDArray[np.integer] = np.unique(pairs, return_inverse=True)[1]
    return numbers


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Repeat both kernels until no cost falls.

    Returns:
        ``costs`` (vertices,), int32; ``rounds``, how often the two kernels ran. Both are the same
        in every order: costs are integers, and the least offer counts.
    """
    costs, offers, mask = (inputs[name].copy() for name in ("costs", "costs", "mask"))
    changed = inputs["changed"].copy()
    graph = [inputs[name] for name in ("indptr", "indices", "weights")]
    vertices = np.int32(costs.size)
    rounds, again = 0, True
    while again:
        changed.fill(0)
        _launch(module, "relax", (vertices, mask, *graph, costs, offers))
        mask.fill(0)
        _launch(module, "settle", (vertices, offers, costs, mask, changed))
        rounds, again = rounds + 1, bool(int(changed[0]))
    return {"costs": costs, "rounds": np.int32(rounds)}


def _launch(module: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """As many blocks as the device holds at once, or fewer where there is less to do."""
    blocks = min(module.resident_blocks(name, BLOCK), -(-int(arguments[0]) // BLOCK))
    module.get_function(name)((blocks,), (BLOCK,), arguments)


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[Any]]) -> None:
    """Prove the costs right without searching again.

    They are when the source costs nothing, no edge offers less than its end costs, and every other
    vertex that was reached has an edge that offers just what it costs: weights are positive, so
    that such edges lead back to the source. Those of the bound are not, but there costs and rounds
    are known.

    Raises:
        CccError: one of these does not hold somewhere.
    """
    costs = outputs["costs"].astype(np.int64)
    if "known" in inputs:
        if not np.array_equal(costs, inputs["known"]) or outputs["rounds"] != inputs["rounds"]:
            raise CccError("costs or rounds are not those of the graph that this one was made of")
        return
    ends = inputs["indices"]
    sources = np.repeat(np.arange(costs.size), np.diff(inputs["indptr"]))
    offers = np.where(costs[sources] == UNREACHED, UNREACHED, costs[sources] + inputs["weights"])
    if (lower := np.flatnonzero(offers < costs[ends])).size:
        edge = lower[0]
        vertex = ends[edge]
        raise CccError(f"costs[{vertex}] is {costs[vertex]}, but an edge offers {offers[edge]}")
    reached = inputs["costs"] == 0
    reached[ends[(offers == costs[ends]) & (offers != UNREACHED)]] = True
    if (costs[inputs["costs"] == 0] != 0).any():
        raise CccError("the source does not cost 0")
    if (lost := np.flatnonzero((costs != UNREACHED) & ~reached)).size:
        raise CccError(f"costs[{lost[0]}] is {costs[lost[0]]}, and no edge offers that")
