"""Becke's weights on the quadrature grid of a molecule; see ``kernel.cu``.

A. D. Becke: A multicenter numerical integration scheme for polyatomic molecules, 1988. That far
atoms have no say is shown in R. E. Stratmann, G. E. Scuseria, M. J. Frisch, 1996. Lengths are in
bohr.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ccc.errors import CccError
from ccc.harness.decompositions import by_hand, by_library

# Without it, ptxas may fuse a multiplication and an addition in one version and not in the other,
# so that last bits differ. The kernels fuse by hand.
OPTIONS = ("-fmad=false",)
SIZES = {"gpu": 1_500_000, "emulator": 20_000, "quick": 6_000}
BLOCK = 128
BLOCKS = (64, 128)

RIVALS = {
    **by_hand(),
    **by_library(),
    "engaging the warp": ("rivals/engagement.cu", ()),
    "loop merging": ("rivals/loop_merging.cu", ()),
    "refill at 1 idle lane": ("rivals/refill.cu", ("-DIDLE=1",)),
    "refill at 8 idle lanes": ("rivals/refill.cu", ("-DIDLE=8",)),
    "collection by hand, shared": ("rivals/collection.cu", ("-DSHARED",)),
    "collection by hand, registers": ("rivals/collection.cu", ()),
    "collection by hand, registers, counter": ("rivals/collection.cu", ("-DCOUNTER",)),
}
BOUND = ("kernel.cu", ())
PAPER = 1.63

ATOMS = 892
"""As many as BPTI has, the protein in the paper."""

DENSITY = 0.0167
"""Atoms in a cubic bohr, as in a protein."""

CLOSEST = 1.9
"""No two atoms are nearer to each other; a hydrogen is as near as this."""

SHELLS = 48
ATOM_SIZE = 1.3
LARGEST_SHELL = 8.0

SCREENING = 0.64
"""An atom whose share, from -1 to 1, cannot come below this has no say (Stratmann et al.)."""

FEWEST, MOST = 2, 80
"""Atoms near a point."""

SMALL, SMALL_MOST = 100_000, 16
"""Grids of less than SMALL points have at most SMALL_MOST atoms near a point, for the emulator."""

CHECKED = 1 << 14
"""At most about as many weights are computed again by ``check``."""

TOLERANCE = 1e-12
"""Absolute; weights go from 0 to 1. NumPy does not fuse, and what an atom far from a point keeps of
it is the small difference of two numbers near 1."""

Doubles = NDArray[np.float64]


def inputs(size: int, seed: int) -> dict[str, Any]:
    """A grid round the atoms of a made-up molecule, of a protein's size and density.

    Along rays from each atom, in random directions, a point lies on each shell. Consecutive points
    are those of a ray, from the atom outwards. The atoms near a point are those near its own atom,
    out to a distance that grows with the radius of its shell.

    Args:
        size: how many points.
        seed: what atoms and directions are drawn from.

    Returns:
        ``points`` (size, 3), float64; ``owners`` (size,), int32: the atom of each point; ``counts``
        (size,), int32: how many atoms are near; ``near`` (ATOMS, most, 3), float64: for each atom
        itself and the atoms near it, the nearest first; ``weights`` (size,), float64, all 0.
    """
    random = np.random.default_rng(seed)
    most = MOST if size >= SMALL else SMALL_MOST
    atoms = _molecule(random)
    distances, neighbours = map(np.asarray, cKDTree(atoms).query(atoms, most))
    rays = -(-size // SHELLS)
    owners = np.repeat(np.arange(rays) * ATOMS // rays, SHELLS)[:size]
    directions = random.normal(size=(rays, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = _shells()
    points = (atoms[owners[::SHELLS], None] + radii[:, None] * directions[:, None]).reshape(-1, 3)
    reach = 2 * radii / (1 - SCREENING)
    within = (distances[:, None] < reach[:, None]).sum(axis=2)  # (ATOMS, SHELLS)
    counts = np.clip(within[owners, np.arange(size) % SHELLS], FEWEST, most)
    return {
        "points": points[:size],
        "owners": owners.astype(np.int32),
        "counts": counts.astype(np.int32),
        "near": atoms[neighbours],
        "weights": np.zeros(size),
    }


def _molecule(random: np.random.Generator) -> Doubles:
    """ATOMS places in a ball, no two of them closer than CLOSEST, (ATOMS, 3)."""
    radius = (ATOMS / DENSITY * 3 / (4 * np.pi)) ** (1 / 3)
    atoms = np.empty((0, 3))
    while len(atoms) < ATOMS:
        place = random.uniform(-radius, radius, 3)
        if place @ place < radius**2 and (((atoms - place) ** 2).sum(axis=1) > CLOSEST**2).all():
            atoms = np.vstack([atoms, place])
    return atoms


def _shells() -> Doubles:
    """Radii by the Euler-Maclaurin rule of C. W. Murray et al., 1993, (SHELLS,)."""
    last = (LARGEST_SHELL / ATOM_SIZE) ** 0.5
    steps = np.arange(1, SHELLS + 1) / SHELLS * last / (1 + last)
    radii: Doubles = ATOM_SIZE * (steps / (1 - steps)) ** 2
    return radii


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same points, those with as many atoms side by side."""
    order = np.argsort(inputs["counts"], kind="stable")
    return {**inputs, **{name: inputs[name][order] for name in ("points", "owners", "counts")}}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Compute all weights in one launch.

    Returns:
        ``weights`` (size,), float64, from 0 to 1.
    """
    weights = inputs["weights"].copy()
    blocks = min(module.resident_blocks("becke", BLOCK), -(-weights.size // BLOCK))
    grid = [inputs[name] for name in ("points", "owners", "counts", "near")]
    arguments = (np.int32(weights.size), *grid, np.int32(grid[-1].shape[1]), weights)
    module.get_function("becke")((blocks,), (BLOCK,), arguments)
    return {"weights": weights}


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[Any]]) -> None:
    """Compute weights again in NumPy: all of a small grid, a regular choice of a large one.

    Raises:
        CccError: a weight is off by more than ``TOLERANCE``.
    """
    weights = outputs["weights"]
    points = np.arange(0, len(weights), len(weights) // CHECKED + 1)
    found, expected = weights[points], reference(inputs, points)
    off = ~(np.abs(found - expected) < TOLERANCE)  # a NaN is off, too
    if off.any():
        first = np.argmax(off)
        raise CccError(
            f"weights[{points[first]}] is {found[first]!r}, and should be {expected[first]!r}"
            f" ({off.sum()} of {off.size} weights are off by more than {TOLERANCE})"
        )


def reference(inputs: dict[str, NDArray[Any]], points: NDArray[np.integer]) -> Doubles:
    """The weights of some points, (points,)."""
    weights = np.empty(len(points))
    counts = inputs["counts"][points]
    for count in np.unique(counts):
        mine = np.flatnonzero(counts == count)
        for part in np.array_split(mine, len(mine) * count**2 // CHECKED + 1):
            chosen = points[part]
            atoms = inputs["near"][inputs["owners"][chosen], :count]
            weights[part] = _weights(inputs["points"][chosen], atoms)
    return weights


def _weights(points: Doubles, atoms: Doubles) -> Doubles:
    """What the first of its atoms keeps of each point: (points, 3) and (points, atoms, 3)."""
    distances = np.linalg.norm(atoms - points[:, None], axis=2)
    between = np.linalg.norm(atoms[:, :, None] - atoms[:, None], axis=3)
    own = np.arange(atoms.shape[1])
    between[:, own, own] = 1
    shares = (distances[:, :, None] - distances[:, None]) / between
    for _ in range(3):
        shares *= 1.5 - 0.5 * shares**2
    shares = 0.5 - 0.5 * shares
    shares[:, own, own] = 1
    products = shares.prod(axis=2)
    weights: Doubles = products[:, 0] / products.sum(axis=1)
    return weights
