"""PageRank, two kernel launches an iteration; see ``kernel.cu``.

L. Page, S. Brin, R. Motwani, T. Winograd: The PageRank Citation Ranking, 1999. Vertices without
links give nothing away.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ccc.errors import CccError
from ccc.harness.decompositions import by_hand, by_library
from ccc.harness.inputs import matrices

SIZES = {"gpu": 21, "emulator": 11, "quick": 9}
INPUTS = matrices.KINDS
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = by_hand() | by_library()
BOUND = ("kernel.cu", ())
DAMPING = 0.85
ITERATIONS = 3
RESOLUTION = 2.0**32
TOLERANCE = 1e-6
"""Absolute, of ranks whose mean is 1; a quotient in the middle may be rounded either way."""


def by_cusparse(
    vertices: Any, indptr: Any, indices: Any, shares: Any, damping: Any, ranks: Any
) -> Callable[[], object]:
    """What ``csr @ x`` of CuPy does, for a matrix of ones, with the scaling and the sum inside."""
    import cupy  # noqa: PLC0415 - on a GPU only
    import cupyx.cusparse  # noqa: PLC0415
    import cupyx.scipy.sparse  # noqa: PLC0415

    shape = (int(vertices), int(vertices))
    parts = (cupy.ones(indices.size), indices, indptr)
    matrix = cupyx.scipy.sparse.csr_matrix(parts, shape=shape)
    matrix.has_canonical_format = True  # that nothing is sorted first

    def gather() -> None:
        ranks.fill(1 - float(damping))
        cupyx.cusparse.spmv(matrix, shares, y=ranks, alpha=float(damping), beta=1.0)

    return gather


LIBRARIES = {"cuSPARSE": ("gather", by_cusparse)}


def inputs(
    size: int, seed: int, graph: str | Path | None = None, kind: str = INPUTS[0]
) -> dict[str, Any]:
    """A graph, and equal ranks.

    Args:
        size: log2 of the number of vertices of the graph that is made without ``graph``.
        seed: what that graph is drawn from.
        graph: a file that ``ccc.harness.inputs.graphs.read_graph`` reads, taken instead.
        kind: one of ``INPUTS``.

    Returns:
        ``indptr`` (vertices + 1,) and ``indices`` (edges,), int32: the vertices that link to each
        one; ``degrees`` (vertices,), int32: to how many each one links; ``ranks`` and ``shares``
        (vertices,), float64: 1 and 0 everywhere.
    """
    csr = matrices.read_or_draw(graph, kind, size, seed)
    return {
        "indptr": csr.indptr.astype(np.int32),
        "indices": csr.indices,
        "degrees": np.bincount(csr.indices, minlength=csr.vertices).astype(np.int32),
        "ranks": np.ones(csr.vertices),
        "shares": np.zeros(csr.vertices),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same links, dealt out evenly among the vertices that share a warp."""
    return {**inputs, "indptr": matrices.evened(inputs["indptr"])}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Iterate.

    Returns:
        ``ranks`` (vertices,), float64.
    """
    ranks, shares = inputs["ranks"].copy(), inputs["shares"].copy()
    vertices = np.int32(ranks.size)
    links = (inputs["indptr"], inputs["indices"])
    for _ in range(ITERATIONS):
        _launch(module, "spread", (vertices, inputs["degrees"], ranks, shares))
        _launch(module, "gather", (vertices, *links, shares, np.float64(DAMPING), ranks))
    return {"ranks": ranks}


def _launch(module: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """As many blocks as the device holds at once, or fewer where there is less to do."""
    blocks = min(module.resident_blocks(name, BLOCK), -(-int(arguments[0]) // BLOCK))
    module.get_function(name)((blocks,), (BLOCK,), arguments)


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[np.float64]]) -> None:
    """Iterate in SciPy.

    Raises:
        CccError: a rank is off by more than ``TOLERANCE``.
    """
    vertices, degrees = inputs["ranks"].size, inputs["degrees"]
    parts = (np.ones(inputs["indices"].size), inputs["indices"], inputs["indptr"])
    links = scipy.sparse.csr_matrix(parts, shape=(vertices, vertices))
    expected = inputs["ranks"]
    for _ in range(ITERATIONS):
        shares = np.rint(RESOLUTION * expected / np.maximum(degrees, 1)) / RESOLUTION
        expected = DAMPING * (links @ np.where(degrees > 0, shares, 0)) + (1 - DAMPING)
    off = ~(np.abs(outputs["ranks"] - expected) <= TOLERANCE)  # a NaN is off, too
    if off.any():
        first = np.argmax(off)
        raise CccError(
            f"ranks[{first}] is {outputs['ranks'][first]!r}, and should be {expected[first]!r}"
            f" ({off.sum()} of {off.size} ranks are off by more than {TOLERANCE})"
        )
