"""The inverse error function in double precision; see ``kernel.cu``.

M. Giles: Approximating the erfinv Function, GPU Computing Gems, Jade Edition, 2012.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfinv

from ccc.errors import CccError

# Without it, ptxas may fuse a multiplication and an addition in one version and not in the other,
# so that last bits differ. The kernels fuse by hand.
OPTIONS = ("-fmad=false",)
SIZES = {"gpu": 100_000_000, "emulator": 200_000}
INPUTS = ("balanced", "uniform")
BLOCK = 256
BLOCKS = (64, 128, 256)

RIVALS = {
    "collection by hand, queue": ("rivals/collection.cu", ()),
    "collection by hand, merge": ("rivals/collection.cu", ("-DMERGE",)),
    "iteration delaying": ("rivals/iteration_delaying.cu", ()),
    "one polynomial": ("rivals/one_polynomial.cu", ()),
}
BOUND = ("kernel.cu", ())
PAPER = 2.72

BRANCHES = (0.0, 6.25, 16.0, 36.0)
"""Between these values of w = -log(1 - x^2) the kernel takes one polynomial each. Where w is 36,
x is as near to 1 as a double can be."""

CHECKED = 1 << 20
"""At most about as many values are computed again by ``check``."""

TOLERANCE = 2e-15
"""Relative. The polynomials are exact to 2e-16 or so by themselves; their sums and w are rounded on
top, on the GPU and in SciPy in different places."""

Doubles = NDArray[np.float64]


def inputs(size: int, seed: int, kind: str = INPUTS[0]) -> dict[str, Any]:
    """Values from -1 to 1, without both.

    Args:
        size: how many.
        seed: what they are drawn from.
        kind: ``"balanced"``: each branch is as likely, in a random order; ``"uniform"``: each value
            is as likely, so that one in a thousand leaves the central branch.

    Returns:
        ``x`` (size,) and ``y`` (size,), all 0. Both float64.
    """
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, size)
    if kind == "balanced":
        which = random.integers(3, size=size)
        low, high = np.array(BRANCHES[:-1])[which], np.array(BRANCHES[1:])[which]
        x = np.copysign(np.sqrt(-np.expm1(-(low + (high - low) * np.abs(x)))), x)
    x[np.abs(x) == 1] = 0
    return {"x": x, "y": np.zeros(size)}


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same values, branch by branch."""
    order = np.argsort(_branches(inputs["x"]), kind="stable")
    return {**inputs, "x": inputs["x"][order]}


def _branches(x: Doubles) -> NDArray[np.uint8]:
    return np.digitize(-np.log((1 - x) * (1 + x)), BRANCHES[1:-1]).astype(np.uint8)


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Compute all values in one launch.

    Returns:
        ``y`` (size,), float64.
    """
    x, y = inputs["x"], inputs["y"].copy()
    blocks = min(module.resident_blocks("inverse_erf", BLOCK), -(-x.size // BLOCK))
    module.get_function("inverse_erf")((blocks,), (BLOCK,), (np.int32(x.size), x, y))
    return {"y": y}


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[Any]]) -> None:
    """Compare with SciPy: all of a few values, a regular choice of many.

    Raises:
        CccError: a value is off by more than ``TOLERANCE``.
    """
    step = len(outputs["y"]) // CHECKED + 1
    x, y = inputs["x"][::step], outputs["y"][::step]
    expected = erfinv(x)
    off = ~(np.abs(y - expected) <= TOLERANCE * np.abs(expected))  # a NaN is off, too
    if off.any():
        first = np.argmax(off)
        raise CccError(
            f"y[{first * step}] is {y[first]!r}, and should be {expected[first]!r}"
            f" ({off.sum()} of {off.size} values are off by more than {TOLERANCE})"
        )
