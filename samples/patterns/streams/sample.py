"""A branch in a loop that waits for memory; see ``kernel.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

SIZES = {"gpu": 25, "emulator": 14}
INPUTS = ("1 in 32", "4 in 32", "13 in 32")
BLOCK = 256
BLOCKS = (64, 128, 256)
BOUND = ("kernel.cu", ())
NAMES = ("a", "b", "c", "d")
ROUNDS = 32
LANES = 32

Words = NDArray[np.uint32]


def inputs(size: int, seed: int, kind: str = INPUTS[0]) -> dict[str, Any]:
    """Numbers of which a share take the branch, at random.

    Args:
        size: log2 of how many, at most 28.
        seed: of the numbers.
        kind: one of ``INPUTS``: the share.

    Returns:
        ``count``, int32; ``limit``, uint32; ``x`` (count,), uint32.
    """
    share = int(kind.partition(" ")[0]) / LANES
    x = np.random.default_rng(seed).integers(0, 2**32, 1 << size, dtype=np.uint32)
    return {"count": np.int32(1 << size), "limit": np.uint32(share * 2**32), "x": x}


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same numbers, in such an order that all lanes of a warp take the branch, or none."""
    x = inputs["x"]
    taken = np.concatenate([x[x < inputs["limit"]], x[x >= inputs["limit"]]])
    warps = taken.reshape(-1, LANES)
    return {**inputs, "x": np.random.default_rng(0).permutation(warps).ravel()}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """All iterations in one launch.

    Returns:
        ``a``, ``b``, ``c`` and ``d`` (count,), uint32.
    """
    x = inputs["x"]
    outputs = {name: x.copy() for name in NAMES}
    blocks = min(module.resident_blocks("streams", BLOCK), -(-int(inputs["count"]) // BLOCK))
    arguments = (inputs["count"], inputs["limit"], x, *outputs.values())
    module.get_function("streams")((blocks,), (BLOCK,), arguments)
    return outputs


def check(inputs: dict[str, Any], outputs: dict[str, Words]) -> None:
    """Compute all of it again.

    Raises:
        CccError: some of it is wrong.
    """
    value = inputs["x"].copy()
    taken = value < inputs["limit"]
    rest = value[taken]
    for _ in range(ROUNDS):
        rest = (rest ^ rest >> np.uint32(15)) * np.uint32(2246822519)
    value[taken] = rest
    expected = {"a": value, "b": value + np.uint32(1), "c": value ^ np.uint32(2), "d": ~value}
    for name in NAMES:
        if (wrong := np.flatnonzero(outputs[name] != expected[name])).size:
            raise CccError(f"{name}[{wrong[0]}] is wrong ({wrong.size} of {value.size} are)")
