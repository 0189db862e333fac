"""Cross sections by binary search in tables of all lengths; see ``kernel.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

# Without it, ptxas may fuse a multiplication and an addition in one version and not in the
# other, so that last bits differ.
OPTIONS = ("-fmad=false",)
SIZES = {"gpu": 1 << 24, "emulator": 1 << 12}
BLOCK = 256
BLOCKS = (64, 128, 256)
BOUND = ("kernel.cu", ("-DSAME_TASK",))
NUCLIDES = 64
SHORTEST, LONGEST = 2, 16
"""Log2 of the lengths of tables, each as likely."""
CHECKED = 1 << 15
"""At most about so many items are looked up again by ``check``."""
TOLERANCE = 1e-4
"""Absolute; what is found goes from 0 to 1. Two energies of a table may be close to one another."""
LONG, SHORTER = 1 << 20, 9
"""For less than ``LONG`` items, the longest table has 2**SHORTER points, for the emulator."""

REACTIONS = ("elastic", "absorption", "fission")
OUTPUTS = ("scattered", "absorbed", "split")

Floats = NDArray[np.float32]


def inputs(size: int, seed: int) -> dict[str, Any]:
    """Tables, items to look up, and room for what is found.

    Args:
        size: how many items.
        seed: what all is drawn from.

    Returns:
        ``energy`` and ``density`` (size,), float32; ``nuclide`` (size,), int32; ``first``
        (NUCLIDES + 1,), int32: where the table of each nuclide begins; ``grid`` and ``REACTIONS``
        (points,), float32: energies, from 0 to 1 in each table, and cross sections there;
        ``OUTPUTS`` (size,), float32, all 0.
    """
    random = np.random.default_rng(seed)
    longest = LONGEST if size >= LONG else SHORTER
    lengths = np.round(2 ** random.uniform(SHORTEST, longest, NUCLIDES)).astype(np.int32)
    first = np.append(0, np.cumsum(lengths)).astype(np.int32)
    spaces = random.uniform(0.5, 1.5, first[-1])
    spaces[first[:-1]] = 0
    before = np.cumsum(spaces)
    owner = np.repeat(np.arange(NUCLIDES), lengths)
    low, high = before[first[:-1]], before[first[1:] - 1]
    grid = (before - low[owner]) / (high - low)[owner]
    return {
        "energy": random.random(size, np.float32),
        "nuclide": random.integers(NUCLIDES, size=size, dtype=np.int32),
        "density": random.random(size, np.float32),
        "first": first,
        "grid": grid.astype(np.float32),
        **{name: random.random(first[-1], np.float32) for name in REACTIONS},
        **{name: np.zeros(size, np.float32) for name in OUTPUTS},
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """Those of whole warps; ``check`` has to know that a warp's items are one and the same."""
    names = ("energy", "nuclide", "density", *OUTPUTS)
    whole = {name: inputs[name][: inputs[name].size // 32 * 32] for name in names}
    return {**inputs, **whole, "same_task": True}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Look all items up in one launch, a thread for each.

    Returns:
        ``OUTPUTS`` (size,), float32.
    """
    found = {name: inputs[name].copy() for name in OUTPUTS}
    count = inputs["energy"].size
    names = ("energy", "nuclide", "density", "first", "grid", *REACTIONS)
    arguments = (np.int32(count), *(inputs[name] for name in names), *found.values())
    module.get_function("lookup")((-(-count // BLOCK),), (BLOCK,), arguments)
    return found


def check(inputs: dict[str, Any], outputs: dict[str, Floats]) -> None:
    """Look items up again: all of a few, a regular choice of many.

    Raises:
        CccError: something else is found, by more than ``TOLERANCE``.
    """
    count = inputs["energy"].size
    chosen = np.arange(0, count, count // CHECKED + 1)
    tasks = chosen & ~31 | chosen >> 5 & 31 if "same_task" in inputs else chosen
    low, share = _places(inputs, tasks)
    for reaction, name in zip(REACTIONS, OUTPUTS, strict=True):
        table, found = inputs[reaction], outputs[name][chosen]
        between = table[low] + share * (table[low + 1] - table[low])
        expected = inputs["density"][tasks] * between
        wrong = np.flatnonzero(~(np.abs(found - expected) <= TOLERANCE))  # a NaN is wrong, too
        if wrong.size:
            one = wrong[0]
            raise CccError(
                f"{name}[{chosen[one]}] is {found[one]}, and should be {expected[one]}"
                f" ({wrong.size} of {chosen.size} checked are wrong)"
            )


def _places(inputs: dict[str, Any], tasks: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Before which point of its table each item lies, and how far from there to the next one."""
    energy, grid, first = inputs["energy"][tasks], inputs["grid"], inputs["first"]
    nuclides, low = inputs["nuclide"][tasks], np.empty(tasks.size, np.int64)
    for nuclide in range(NUCLIDES):
        mine = np.flatnonzero(nuclides == nuclide)
        begin, end = first[nuclide], first[nuclide + 1]
        places = np.searchsorted(grid[begin + 1 : end - 1], energy[mine], side="right")
        low[mine] = begin + places
    return low, (energy - grid[low]) / (grid[low + 1] - grid[low])
