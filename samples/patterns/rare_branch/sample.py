"""A short branch that a few iterations in 1,000 take; see ``kernel.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

SIZES = {"gpu": 30, "emulator": 17}
INPUTS = ("1 in 1,000", "4 in 1,000", "16 in 1,000", "31 in 1,000")
BLOCK = 256
BLOCKS = (64, 128, 256)
BOUND = ("kernel.cu", ())
SLOTS = 4096
CHECKED = 1 << 21
"""About so many iterations are done again by ``check``."""

Words = NDArray[np.uint32]


def inputs(size: int, seed: int, kind: str = INPUTS[0]) -> dict[str, Any]:
    """The loop's bounds and an empty digest.

    Args:
        size: log2 of the number of iterations, at most 30.
        seed: what the iterations begin with.
        kind: one of ``INPUTS``: how many iterations take the branch.

    Returns:
        ``count`` and ``shift``, which is 0, int32; ``seed``, ``limit`` and ``mask``, uint32;
        ``digest`` (SLOTS,), uint32, all 0.
    """
    share = int(kind.partition(" ")[0]) / 1000
    tasks = int(share * (1 << size))
    return {
        "count": np.int32(1 << size),
        "shift": np.int32(0),
        "seed": np.random.default_rng(seed).integers(0, 2**32, dtype=np.uint32),
        "limit": np.uint32(share * 2**32),
        "mask": np.uint32((1 << max(tasks.bit_length() - 14, 0)) - 1),
        "digest": np.zeros(SLOTS, np.uint32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same ones, but that all lanes of a warp take the branch, or none."""
    return {**inputs, "shift": np.int32(5)}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """All iterations in one launch.

    Returns:
        ``digest`` (SLOTS,), uint32.
    """
    digest = inputs["digest"].copy()
    blocks = min(module.resident_blocks("rare_branch", BLOCK), -(-int(inputs["count"]) // BLOCK))
    arguments = (*(inputs[name] for name in ("count", "shift", "seed", "limit", "mask")), digest)
    module.get_function("rare_branch")((blocks,), (BLOCK,), arguments)
    return {"digest": digest}


def check(inputs: dict[str, Any], outputs: dict[str, Words]) -> None:
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


def _folded(inputs: dict[str, Any], i: Words) -> Words:
    """What each iteration folds into the digest."""
    drawn = i >> np.uint32(inputs["shift"])
    x = _mixed(drawn * np.uint32(2654435769) + inputs["seed"], 16, 2246822519)
    x ^= x >> np.uint32(13)
    taken = (x < inputs["limit"]) & (i < np.uint32(inputs["count"]))
    x = (x ^ i) * np.uint32(3266489917)
    x = _mixed(_mixed(x, 16, 668265263), 15, 374761393)
    x ^= x >> np.uint32(16)
    return np.where(taken & (x & inputs["mask"] == 0), x, np.uint32(0))


def _mixed(x: Words, shift: int, factor: int) -> Words:
    return (x ^ x >> np.uint32(shift)) * np.uint32(factor)
