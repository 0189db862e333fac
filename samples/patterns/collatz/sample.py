"""Steps of the Collatz map from each number to 1; see ``kernel.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

SIZES = {"gpu": 1 << 22, "emulator": 1 << 11}
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = {
    "loop merging": ("rivals/loop_merging.cu", ("-DIDLE=1", "-DTURNS=1")),
    "loop merging, 8 turns": ("rivals/loop_merging.cu", ("-DIDLE=1", "-DTURNS=8")),
    "loop merging, 8 turns, 8 idle": ("rivals/loop_merging.cu", ("-DIDLE=8", "-DTURNS=8")),
}
BOUND = ("kernel.cu", ("-DSAME_TASK",))

CHECKED = 1 << 15
"""At most about so many numbers are followed again by ``check``."""


def inputs(size: int, seed: int) -> dict[str, Any]:
    """Where to begin, and no steps yet.

    Args:
        size: how many numbers.
        seed: what the first of them is drawn from.

    Returns:
        ``first``, uint64, from 1 to 1,000,000; ``steps`` (size,), int32, all 0.
    """
    first = np.random.default_rng(seed).integers(1, 1_000_000, endpoint=True, dtype=np.uint64)
    return {"first": first, "steps": np.zeros(size, np.int32)}


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same ones; ``check`` has to know that all numbers of a warp are one and the same."""
    return {**inputs, "same_task": True}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Follow all numbers in one launch.

    Returns:
        ``steps`` (size,), int32.
    """
    steps = inputs["steps"].copy()
    blocks = min(module.resident_blocks("collatz", BLOCK), -(-steps.size // BLOCK))
    module.get_function("collatz")(
        (blocks,), (BLOCK,), (np.int32(steps.size), inputs["first"], steps)
    )
    return {"steps": steps}


def check(inputs: dict[str, Any], outputs: dict[str, NDArray[Any]]) -> None:
    """Follow numbers again: all of a few, a regular choice of many.

    Raises:
        CccError: a number takes another number of steps.
    """
    steps = outputs["steps"]
    chosen = np.arange(0, steps.size, steps.size // CHECKED + 1)
    tasks = chosen & ~31 | chosen >> 5 & 31 if "same_task" in inputs else chosen
    expected = _steps(inputs["first"] + tasks.astype(np.uint64))
    wrong = np.flatnonzero(steps[chosen] != expected)
    if wrong.size:
        first = wrong[0]
        raise CccError(
            f"steps[{chosen[first]}] is {steps[chosen[first]]}, and should be {expected[first]}"
            f" ({wrong.size} of {chosen.size} checked are wrong)"
        )


def _steps(numbers: NDArray[np.uint64]) -> NDArray[np.int32]:
    """How many steps each number takes to 1."""
    x, steps = numbers.copy(), np.zeros(numbers.size, np.int32)
    left = np.flatnonzero(x != 1)
    while left.size:
        now = x[left]
        x[left] = np.where(
            now & np.uint64(1), now * np.uint64(3) + np.uint64(1), now >> np.uint64(1)
        )
        steps[left] += 1
        left = left[x[left] != 1]
    return steps
