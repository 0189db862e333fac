"""Nested loops of lengths that grow along the lanes of a warp; see ``kernel.cu``.

For the study of sensitivity in section 4.2.4 of F. Khorasani, High Performance Vertex-Centric Graph
Analytics on GPUs, dissertation, 2016 (figure 4.25): lengths are four times the number of the lane
(LINE), or an eighth of its square (QUAD).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError
from ccc.harness.decompositions import by_hand, by_library

SIZES = {"gpu": 22, "emulator": 12, "quick": 10}
INPUTS = ("line", "quad")
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = by_hand() | by_library()
BOUND = ("kernel.cu", ("-DSAME_TASK",))
LANES = 32


def inputs(size: int, seed: int, kind: str = INPUTS[0]) -> dict[str, Any]:
    """What the pieces of work are made of.

    Args:
        size: log2 of the number of tasks.
        seed: what they are drawn from: a piece adds up to 16 + 20 times ``step``.
        kind: one of ``INPUTS``.

    Returns:
        ``quadratic``, int32; ``step``, float32, a small integer; ``sums`` (tasks,), float32, all 0.
    """
    return {
        "quadratic": np.int32(kind == "quad"),
        "step": np.float32(np.random.default_rng(seed).integers(1, 1 << 10)),
        "sums": np.zeros(1 << size, np.float32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same, but ``check`` is told that all lanes of a warp do a task of the same size."""
    return {**inputs, "same": True}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """All tasks in one launch.

    Returns:
        ``sums`` (tasks,), float32.
    """
    sums = inputs["sums"].copy()
    blocks = min(module.resident_blocks("walk", BLOCK), -(-sums.size // BLOCK))
    steps = (np.float32(1), inputs["step"], np.float32(0))
    arguments = (np.int32(sums.size), inputs["quadratic"], *steps, sums)
    module.get_function("walk")((blocks,), (BLOCK,), arguments)
    return {"sums": sums}


def check(inputs: dict[str, Any], outputs: dict[str, NDArray[np.float32]]) -> None:
    """Compare with the sum of a series.

    Raises:
        CccError: a sum is another one.
    """
    sums = outputs["sums"]
    tasks = np.arange(sums.size)
    places = tasks // LANES % LANES if "same" in inputs else tasks % LANES
    lengths = places**2 // 8 if inputs["quadratic"] else 4 * places
    pieces = np.arange(lengths.max()) % 16 + 20 * int(inputs["step"])
    expected = np.concatenate([[0], np.cumsum(pieces)])[lengths]
    if (wrong := np.flatnonzero(sums != expected)).size:
        first = wrong[0]
        raise CccError(
            f"sums[{first}] is {sums[first]}, and should be {expected[first]}"
            f" ({wrong.size} of {sums.size} are wrong)"
        )
