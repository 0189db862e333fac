"""Random walks that follow from one another; see ``kernel.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

SIZES = {"gpu": 1 << 19, "emulator": 512}
BLOCK = 256
BLOCKS = (64, 128, 256)
RIVALS = {
    "loop merging": ("rivals/loop_merging.cu", ("-DIDLE=1", "-DTURNS=1")),
    "loop merging, 4 turns": ("rivals/loop_merging.cu", ("-DIDLE=1", "-DTURNS=4")),
    "loop merging, 8 turns": ("rivals/loop_merging.cu", ("-DIDLE=1", "-DTURNS=8")),
}
BOUND = ("kernel.cu", ("-DSAME_TASK",))
WALKS = 64
FEW_WALKS, FEW = 8, 4096
"""Walks of each of less than ``FEW`` walkers, for the emulator."""
RADIUS = 12
ABSORBED = 2**32 // 24
"""A step in so many ends a walk."""

CHECKED = 1 << 10
"""At most about so many walkers are followed again by ``check``."""


def inputs(size: int, seed: int) -> dict[str, Any]:
    """Where the random numbers of each walker begin.

    Args:
        size: how many walkers.
        seed: what they are drawn from.

    Returns:
        ``seeds`` (size,), uint32, none of them 0; ``walks``, int32; ``reach`` (size,), uint32, all
        0.
    """
    random = np.random.default_rng(seed)
    return {
        "seeds": random.integers(1, 2**32, size, dtype=np.uint32),
        "walks": np.int32(WALKS if size >= FEW else FEW_WALKS),
        "reach": np.zeros(size, np.uint32),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """Those of whole warps; ``check`` has to know that a warp's walkers are one and the same."""
    names = ("seeds", "reach")
    whole = {name: inputs[name][: inputs[name].size // 32 * 32] for name in names}
    return {**inputs, **whole, "same_task": True}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """All walks in one launch.

    Returns:
        ``reach`` (size,), uint32: the sum of the squares of how far each walker's walks came.
    """
    reach = inputs["reach"].copy()
    blocks = min(module.resident_blocks("random_walk", BLOCK), -(-reach.size // BLOCK))
    numbers = (np.int32(reach.size), inputs["walks"], np.uint32(ABSORBED), np.int32(RADIUS))
    module.get_function("random_walk")((blocks,), (BLOCK,), (*numbers, inputs["seeds"], reach))
    return {"reach": reach}


def check(inputs: dict[str, Any], outputs: dict[str, NDArray[Any]]) -> None:
    """Follow walkers again: all of a few, a regular choice of many.

    Raises:
        CccError: a walker came farther, or less far.
    """
    reach = outputs["reach"]
    chosen = np.arange(0, reach.size, reach.size // CHECKED + 1)
    tasks = chosen & ~31 | chosen >> 5 & 31 if "same_task" in inputs else chosen
    expected = _reach(inputs["seeds"][tasks], int(inputs["walks"]))
    wrong = np.flatnonzero(reach[chosen] != expected)
    if wrong.size:
        first = wrong[0]
        raise CccError(
            f"reach[{chosen[first]}] is {reach[chosen[first]]}, and should be {expected[first]}"
            f" ({wrong.size} of {chosen.size} checked are wrong)"
        )


def _reach(seeds: NDArray[np.uint32], walks: int) -> NDArray[np.uint32]:
    """All walks of each walker: walkers take a step at a time, each in a walk of its own."""
    random, reach = seeds.copy(), np.zeros(seeds.size, np.uint32)
    left, at = np.full(seeds.size, walks), np.zeros((seeds.size, 3), np.int32)
    busy = np.arange(seeds.size)
    while busy.size:
        r = random[busy]
        r ^= r << np.uint32(13)
        r ^= r >> np.uint32(17)
        r ^= r << np.uint32(5)
        random[busy] = r
        axis = r >> np.uint32(1) & np.uint32(3)
        way = np.where(r & np.uint32(1), 1, -1)
        at[busy] += np.where(axis[:, None] == np.arange(3), way[:, None], 0)
        squares = (at[busy] ** 2).sum(axis=1)
        ends = (r < ABSORBED) | (squares >= RADIUS**2)
        ended = busy[ends]
        reach[ended] += squares[ends].astype(np.uint32)
        at[ended] = 0
        left[ended] -= 1
        busy = busy[left[busy] > 0]
    return reach
