"""The diagonal of a sparse matrix; see ``kernel.cu``."""

from __future__ import annotations

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


def inputs(
    size: int, seed: int, graph: str | Path | None = None, kind: str = INPUTS[0]
) -> dict[str, Any]:
    """A matrix of small integers.

    Args:
        size: log2 of the number of rows of the matrix that is made without ``graph``.
        seed: what the matrix is drawn from.
        graph: a file that ``ccc.harness.inputs.graphs.read_graph`` reads, taken instead: an entry
            for each edge.
        kind: one of ``INPUTS``.

    Returns:
        ``indptr`` (rows + 1,) and ``indices`` (entries,), int32; ``values`` (entries,) and
        ``found`` (rows,), float32; ``found`` is all 0.
    """
    csr = matrices.read_or_draw(graph, kind, size, seed)
    return {
        "indptr": csr.indptr.astype(np.int32),
        "indices": csr.indices,
        "values": matrices.small_values(csr.edges, seed),
        "found": np.zeros(csr.vertices, np.float32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same entries, dealt out evenly among the rows that share a warp."""
    return {**inputs, "indptr": matrices.evened(inputs["indptr"])}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Extract the diagonal in one launch.

    Returns:
        ``found`` (rows,), float32; 0 where a row has no such entry.
    """
    found = inputs["found"].copy()
    blocks = min(module.resident_blocks("diagonal", BLOCK), -(-found.size // BLOCK))
    arrays = [inputs[name] for name in ("indptr", "indices", "values")]
    arguments = (np.int32(found.size), *arrays, found)
    module.get_function("diagonal")((blocks,), (BLOCK,), arguments)
    return {"found": found}


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[np.float32]]) -> None:
    """Extract it in SciPy.

    Raises:
        CccError: an element of the diagonal is another one.
    """
    rows = inputs["found"].size
    parts = (inputs["values"], inputs["indices"], inputs["indptr"])
    expected = scipy.sparse.csr_matrix(parts, shape=(rows, rows)).diagonal()
    if (wrong := np.flatnonzero(outputs["found"] != expected)).size:
        first = wrong[0]
        raise CccError(
            f"found[{first}] is {outputs['found'][first]}, and should be {expected[first]}"
            f" ({wrong.size} of {rows} are wrong)"
        )
