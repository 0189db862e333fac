"""Escape times of the Mandelbrot set at scattered points; see ``kernel.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

# Without it, ptxas may fuse a multiplication and an addition in one version and not in the
# other, so that last bits differ.
OPTIONS = ("-fmad=false",)
SIZES = {"gpu": 1 << 24, "emulator": 1 << 11}
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = {
    "loop merging": ("rivals/loop_merging.cu", ("-DIDLE=1", "-DTURNS=1")),
    "loop merging, 8 turns": ("rivals/loop_merging.cu", ("-DIDLE=1", "-DTURNS=8")),
    "loop merging, 8 turns, 8 idle": ("rivals/loop_merging.cu", ("-DIDLE=8", "-DTURNS=8")),
}
BOUND = ("kernel.cu", ("-DSAME_TASK",))
MOST = 256

CHECKED = 1 << 15
"""At most about so many points are followed again by ``check``."""

OUTLIERS = 0.01
"""The share of points that may stay for another number of turns: where multiplications and
additions are fused, points near the edge of the set do."""

Floats = NDArray[np.float32]


def inputs(size: int, seed: int) -> dict[str, Any]:
    """Points, each as likely, and no turns yet.

    Args:
        size: how many points.
        seed: what they are drawn from.

    Returns:
        ``re`` (size,), float32, from -2 to 1; ``im`` (size,), float32, from -1.5 to 1.5; ``turns``
        (size,), int32, all 0.
    """
    random = np.random.default_rng(seed)
    return {
        "re": 3 * random.random(size, np.float32) - np.float32(2),
        "im": 3 * random.random(size, np.float32) - np.float32(1.5),
        "turns": np.zeros(size, np.int32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """Those of whole warps; ``check`` has to know that a warp's points are one and the same."""
    names = ("re", "im", "turns")
    whole = {name: inputs[name][: inputs[name].size // 32 * 32] for name in names}
    return {**inputs, **whole, "same_task": True}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Follow all points in one launch, for at most ``MOST`` turns.

    Returns:
        ``turns`` (size,), int32.
    """
    turns = inputs["turns"].copy()
    blocks = min(module.resident_blocks("escape_time", BLOCK), -(-turns.size // BLOCK))
    arguments = (np.int32(turns.size), np.int32(MOST), inputs["re"], inputs["im"], turns)
    module.get_function("escape_time")((blocks,), (BLOCK,), arguments)
    return {"turns": turns}


def check(inputs: dict[str, Any], outputs: dict[str, NDArray[Any]]) -> None:
    """Follow points again: all of a few, a regular choice of many.

    Raises:
        CccError: more than ``OUTLIERS`` of the points stay for another number of turns.
    """
    turns = outputs["turns"]
    chosen = np.arange(0, turns.size, turns.size // CHECKED + 1)
    tasks = chosen & ~31 | chosen >> 5 & 31 if "same_task" in inputs else chosen
    expected = _turns(inputs["re"][tasks], inputs["im"][tasks])
    wrong = np.flatnonzero(turns[chosen] != expected)
    if wrong.size > OUTLIERS * chosen.size:
        first = wrong[0]
        raise CccError(
            f"turns[{chosen[first]}] is {turns[chosen[first]]}, and should be {expected[first]}"
            f" ({wrong.size} of {chosen.size} checked are wrong)"
        )


def _turns(cx: Floats, cy: Floats) -> NDArray[np.int32]:
    """How many turns each point stays."""
    x, y = np.zeros_like(cx), np.zeros_like(cy)
    turns, left = np.zeros(cx.size, np.int32), np.arange(cx.size)
    for _ in range(MOST):
        left = left[x[left] * x[left] + y[left] * y[left] < 4]
        a, b = x[left], y[left]
        x[left] = a * a - b * b + cx[left]
        y[left] = 2 * a * b + cy[left]
        turns[left] += 1
    return turns
