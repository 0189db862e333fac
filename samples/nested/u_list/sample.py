"""The U-list of a fast multipole method, the sums over near points; see ``kernel.cu``.

As in section 4.2.3 of F. Khorasani, High Performance Vertex-Centric Graph Analytics on GPUs,
dissertation, 2016, points are distributed with equal or unequal probability, and a leaf of the
octree has at most 5 or 10 of them. The method is that of L. Greengard and V. Rokhlin, 1987; the
lists are named in L. Ying, G. Biros, D. Zorin, 2004.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError
from ccc.harness.decompositions import by_hand, by_library
from ccc.harness.inputs.octree import build

# Without it, ptxas may fuse a multiplication and an addition in one version and not in the other,
# so that last bits differ. The kernels fuse by hand.
OPTIONS = ("-fmad=false",)
SIZES = {"gpu": 1_000_000, "paper": 10_000_000, "emulator": 2_000, "quick": 600}
INPUTS = ("unequal Q=10", "unequal Q=5", "equal Q=10", "equal Q=5")
BLOCK = 128
BLOCKS = (64, 128)
RIVALS = by_hand() | by_library()
BOUND = ("kernel.cu", ())

SKEW = 3
"""Coordinates with unequal probability are a random number to this power."""

RESOLUTION = 2.0**24

CHECKED = 1 << 10
"""At most about as many potentials are computed again by ``check``."""

TOLERANCE = 1e-5
"""Of the sum of all magnitudes at a point."""


def inputs(size: int, seed: int, kind: str = INPUTS[0]) -> dict[str, Any]:
    """Points in the leaves of an octree, along a Morton curve; targets are the same in any order.

    Args:
        size: how many points.
        seed: what they are drawn from.
        kind: one of ``INPUTS``: how they are distributed, and how many a leaf has at most.

    Returns:
        ``targets`` (size, 4), float32: places and charges, as they were drawn; ``leaves`` (size,),
        int32: the leaf of each; ``points`` (size, 4): the same, leaf by leaf; ``begins``
        (leaves + 1,), int32: the points of each leaf; ``first`` (leaves + 1,) and ``near``, int32:
        the leaves that touch each one, itself among them; ``potentials`` (size,), int64, all 0.
    """
    random = np.random.default_rng(seed)
    distribution, _, most = kind.replace("=", " ").split()
    places = random.random((size, 3))
    if distribution == "unequal":
        places **= SKEW
    tree = build(places, int(most))
    charges = random.normal(size=(size, 1))
    targets = np.hstack([places, charges]).astype(np.float32)
    counts = np.diff(tree.begins)
    leaves = np.empty(size, np.int32)
    leaves[tree.order] = np.repeat(np.arange(counts.size), counts)
    return {
        "targets": targets,
        "leaves": leaves,
        "points": targets[tree.order],
        "begins": tree.begins.astype(np.int32),
        "first": tree.first.astype(np.int32),
        "near": tree.near,
        "potentials": np.zeros(size, np.int64),
    }


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """As many targets, but all of a warp are at one place: a random choice of the places."""
    count = len(inputs["targets"])
    warps = np.random.default_rng(0).choice(count, -(-count // 32), replace=False)
    chosen = np.repeat(warps, 32)[:count]
    return {**inputs, **{name: inputs[name][chosen] for name in ("targets", "leaves")}}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Compute all potentials in one launch.

    Returns:
        ``potentials`` (size,), float64, without rounding what the kernel counted.
    """
    potentials = inputs["potentials"].copy()
    blocks = min(module.resident_blocks("u_list", BLOCK), -(-len(potentials) // BLOCK))
    names = ("targets", "leaves", "points", "begins", "first", "near")
    arguments = (np.int32(len(potentials)), *(inputs[name] for name in names), potentials)
    module.get_function("u_list")((blocks,), (BLOCK,), arguments)
    return {"potentials": potentials / RESOLUTION}


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[Any]]) -> None:
    """Compute potentials again in NumPy: all of a few targets, a regular choice of many.

    Raises:
        CccError: a potential is off by more than ``TOLERANCE``.
    """
    potentials = outputs["potentials"]
    for target in range(0, len(potentials), len(potentials) // CHECKED + 1):
        terms = _terms(inputs, target)
        expected = terms.sum()
        if not abs(potentials[target] - expected) <= TOLERANCE * np.abs(terms).sum():
            found = potentials[target]
            raise CccError(f"potentials[{target}] is {found:.6g}, and should be {expected:.6g}")


def _terms(inputs: dict[str, NDArray[Any]], target: int) -> NDArray[np.float64]:
    """What each point near a target makes there."""
    leaf, begins = inputs["leaves"][target], inputs["begins"]
    near = inputs["near"][slice(*inputs["first"][leaf : leaf + 2])]
    sources = np.concatenate([inputs["points"][begins[b] : begins[b + 1]] for b in near])
    steps = sources[:, :3] - inputs["targets"][target, :3]  # rounded as the kernel does
    distances = np.sqrt((steps.astype(np.float64) ** 2).sum(axis=1))
    terms: NDArray[np.float64] = sources[distances > 0, 3] / distances[distances > 0]
    return terms
