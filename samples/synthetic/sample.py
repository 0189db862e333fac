"""A branch of chosen length that a chosen number of lanes take; see ``kernel.cu``.

For the studies of sensitivity in section 4.1.5 of F. Khorasani, High Performance Vertex-Centric
Graph Analytics on GPUs, dissertation, 2016: figure 4.14 varies the lanes, figure 4.15 the length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

SIZES = {"gpu": 28, "paper": 30, "emulator": 18}
INPUTS = (
    "lanes=8 length=20",
    *(f"lanes={lanes} length=20" for lanes in range(1, 33) if lanes != 8),
    *(f"lanes={lanes} length={1 << power}" for lanes in (8, 24) for power in range(10)),
)
BLOCK = 256
BLOCKS = (64, 128, 256)
SLOTS = 4096
CHECKED = 1 << 18
"""About so many iterations are done again by ``check``."""


def inputs(size: int, seed: int, kind: str = INPUTS[0]) -> dict[str, Any]:
    """The loop's bounds and an empty digest.

    Args:
        size: log2 of the number of iterations, at most 30.
        seed: what the tasks begin with.
        kind: one of ``INPUTS``: how many lanes of each warp take the branch, and which kernel.

    Returns:
        ``count``, ``seed``, ``lanes``, ``mask`` and ``length``; ``digest`` (SLOTS,), all 0. All
        uint32.
    """
    lanes, length = (int(part.partition("=")[2]) for part in kind.split())
    tasks = (1 << size) * lanes // 32
    return {
        "count": np.uint32(1 << size),
        "seed": np.random.default_rng(seed).integers(0, 2**32, dtype=np.uint32),
        "lanes": np.uint32(lanes),
        "mask": np.uint32((1 << max(tasks.bit_length() - 14, 0)) - 1),
        "length": np.uint32(length),
        "digest": np.zeros(SLOTS, np.uint32),
    }


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """All iterations in one launch.

    Returns:
        ``digest`` (SLOTS,), uint32.
    """
    digest = inputs["digest"].copy()
    kernel = f"synthetic_{inputs['length']}"
    blocks = min(module.resident_blocks(kernel, BLOCK), -(-int(inputs["count"]) // BLOCK))
    arguments = (*(inputs[name] for name in ("count", "seed", "lanes", "mask")), digest)
    module.get_function(kernel)((blocks,), (BLOCK,), arguments)
    return {"digest": digest}


def check(inputs: dict[str, Any], outputs: dict[str, NDArray[np.uint32]]) -> None:
    """Compute slots of the digest again: all of a small one, else some, the first among them.

    Raises:
        CccError: one of them is wrong.
    """
    turns = -(-int(inputs["count"]) // SLOTS)
    slots = np.arange(0, SLOTS, -(-turns * SLOTS // CHECKED), dtype=np.uint32)
    numbers = np.arange(turns, dtype=np.uint32)[:, None] * np.uint32(SLOTS) + slots
    expected = np.bitwise_xor.reduce(_folded(inputs, numbers), axis=0)
    if (wrong := slots[outputs["digest"][slots] != expected]).size:
        raise CccError(f"digest[{wrong[0]}] is wrong ({wrong.size} of {slots.size} checked are)")


def _folded(inputs: dict[str, Any], i: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """What each iteration folds into the digest."""
    scattered = i * np.uint32(2654435769) + inputs["seed"]
    x = (np.uint32(0x3F800000) | scattered >> np.uint32(10)).view(np.float32)
    for _ in range(int(inputs["length"])):
        # A product of two floats is exact in double precision, as in a fused multiply-addition.
        x = (x.astype(np.float64) ** 2 - np.float64(np.float32(1.9))).astype(np.float32)
    end = x.view(np.uint32)
    taken = (np.uint32(5) * i + (i >> np.uint32(5))) % np.uint32(32) < inputs["lanes"]
    kept = taken & (i < inputs["count"]) & (end & inputs["mask"] == 0)
    return np.where(kept, end ^ i, np.uint32(0))
