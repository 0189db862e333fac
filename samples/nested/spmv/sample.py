"""A sparse matrix times a vector; see ``kernel.cu``."""

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

SIZES = {"gpu": 21, "emulator": 12, "quick": 10}
INPUTS = matrices.KINDS
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = by_hand() | by_library()
BOUND = ("kernel.cu", ())


def by_cusparse(
    rows: Any, indptr: Any, indices: Any, values: Any, x: Any, y: Any
) -> Callable[[], object]:
    """What ``csr @ x`` of CuPy does, for a matrix that is there."""
    import cupyx.cusparse  # noqa: PLC0415 - on a GPU only
    import cupyx.scipy.sparse  # noqa: PLC0415

    matrix = cupyx.scipy.sparse.csr_matrix((values, indices, indptr), shape=(int(rows), int(rows)))
    matrix.has_canonical_format = True  # that nothing is sorted first
    return lambda: cupyx.cusparse.spmv(matrix, x, y=y, alpha=1.0, beta=0.0)


LIBRARIES = {"cuSPARSE": ("spmv", by_cusparse)}


def inputs(
    size: int, seed: int, graph: str | Path | None = None, kind: str = INPUTS[0]
) -> dict[str, Any]:
    """A matrix and a vector of small integers, whose sums are exact in every order.

    Args:
        size: log2 of the number of rows of the matrix that is made without ``graph``.
        seed: what matrix and vector are drawn from.
        graph: a file that ``ccc.harness.inputs.graphs.read_graph`` reads, taken instead: an entry
            for each edge.
        kind: one of ``INPUTS``.

    Returns:
        ``indptr`` (rows + 1,) and ``indices`` (entries,), int32; ``values`` (entries,), ``x`` and
        ``y`` (rows,), float32; ``y`` is all 0.
    """
    csr = matrices.read_or_draw(graph, kind, size, seed)
    return {
        "indptr": csr.indptr.astype(np.int32),
        "indices": csr.indices,
        "values": matrices.small_values(csr.edges, seed),
        "x": matrices.small_values(csr.vertices, seed + 1),
        "y": np.zeros(csr.vertices, np.float32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same entries, dealt out evenly among the rows that share a warp."""
    return {**inputs, "indptr": matrices.evened(inputs["indptr"])}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Multiply in one launch.

    Returns:
        ``y`` (rows,), float32.
    """
    y = inputs["y"].copy()
    blocks = min(module.resident_blocks("spmv", BLOCK), -(-y.size // BLOCK))
    arrays = [inputs[name] for name in ("indptr", "indices", "values", "x")]
    module.get_function("spmv")((blocks,), (BLOCK,), (np.int32(y.size), *arrays, y))
    return {"y": y}


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[np.float32]]) -> None:
    """Multiply in SciPy.

    Raises:
        CccError: an element of the product is another one.
    """
    rows = inputs["y"].size
    parts = (inputs["values"], inputs["indices"], inputs["indptr"])
    expected = scipy.sparse.csr_matrix(parts, shape=(rows, rows)) @ inputs["x"]
    if (wrong := np.flatnonzero(outputs["y"] != expected)).size:
        first = wrong[0]
        raise CccError(
            f"y[{first}] is {outputs['y'][first]}, and should be {expected[first]}"
            f" ({wrong.size} of {rows} are wrong)"
        )
