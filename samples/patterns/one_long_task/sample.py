"""One task of many turns among a million of ten; see ``kernel.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

SIZES = {"gpu": 1 << 20, "emulator": 1 << 12}
BLOCK = 256
BLOCKS = (64, 128, 256)
BOUND = ("kernel.cu", ("-DSAME_TASK",))
FEW, MANY = 10, 10_000


def inputs(size: int, seed: int) -> dict[str, Any]:
    """The turns of each task, and no results yet.

    Args:
        size: how many tasks; one of them has ``MANY`` turns, or one for 64 tasks where that is
            less, the others ``FEW``.
        seed: what its place is drawn from, one of those that the bound does.

    Returns:
        ``turns`` (size,), int32; ``result`` (size,), uint32, all 0.
    """
    warp = np.random.default_rng(seed).integers(size // 32)
    turns = np.full(size, FEW, np.int32)
    turns[warp * 32 + warp % 32] = min(MANY, size // 64)
    return {"turns": turns, "result": np.zeros(size, np.uint32)}


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """Those of whole warps; ``check`` has to know that a warp's tasks are one and the same."""
    names = ("turns", "result")
    whole = {name: inputs[name][: inputs[name].size // 32 * 32] for name in names}
    return {**inputs, **whole, "same_task": True}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Do all tasks in one launch.

    Returns:
        ``result`` (size,), uint32.
    """
    result = inputs["result"].copy()
    blocks = min(module.resident_blocks("one_long_task", BLOCK), -(-result.size // BLOCK))
    arguments = (np.int32(result.size), inputs["turns"], result)
    module.get_function("one_long_task")((blocks,), (BLOCK,), arguments)
    return {"result": result}


def check(inputs: dict[str, Any], outputs: dict[str, NDArray[Any]]) -> None:
    """Do all tasks again.

    Raises:
        CccError: a result is wrong.
    """
    result = outputs["result"]
    tasks = np.arange(result.size, dtype=np.uint32)
    if "same_task" in inputs:
        tasks = tasks & ~np.uint32(31) | tasks >> np.uint32(5) & np.uint32(31)
    expected, left = tasks.copy(), inputs["turns"][tasks]
    busy = np.flatnonzero(left)
    while busy.size:
        x = expected[busy] * np.uint32(1664525) + np.uint32(1013904223)
        expected[busy] = x ^ x >> np.uint32(7)
        left[busy] -= 1
        busy = busy[left[busy] > 0]
    wrong = np.flatnonzero(result != expected)
    if wrong.size:
        first = wrong[0]
        raise CccError(
            f"result[{first}] is {result[first]}, and should be {expected[first]}"
            f" ({wrong.size} of {result.size} are wrong)"
        )
