"""The near field of an electromagnetic integral equation solver; see ``kernel.cu``.

The boxes are those of a nonuniform grid interpolation or a fast multipole method. Lengths are in
sides of a box.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccc.errors import CccError

# Without it, ptxas may fuse a multiplication and an addition in one version and not in the other,
# so that last bits differ. The kernels fuse by hand.
OPTIONS = ("-fmad=false",)
SIZES = {"gpu": 128, "emulator": 24, "quick": 16}
BLOCK = 128
BLOCKS = (64, 128)

RIVALS = {
    "sub-warp 2": ("rivals/sub_warp.cu", ("-DWIDTH=2",)),
    "sub-warp 4": ("rivals/sub_warp.cu", ("-DWIDTH=4",)),
    "sub-warp 8": ("rivals/sub_warp.cu", ("-DWIDTH=8",)),
    "sub-warp 16": ("rivals/sub_warp.cu", ("-DWIDTH=16",)),
    "sub-warp 32": ("rivals/sub_warp.cu", ("-DWIDTH=32",)),
    "loop merging": ("rivals/loop_merging.cu", ()),
    "collection by hand, queue": ("rivals/collection.cu", ()),
    "collection by hand, merge": ("rivals/collection.cu", ("-DMERGE",)),
    "collection by hand, bins": ("rivals/bins.cu", ()),
}
BOUND = ("kernel.cu", ())
PAPER = 1.34

ALONG = 4
"""Observers along the edge of a box, which so holds 64 of them, and as many sources on average."""

WAVENUMBER = np.float32(np.pi / 2)
"""A box is a quarter of a wave long."""

REACH = 2.0
"""An observer that is nearer than this to the centre of a box takes its sources one by one."""

CHECKED = 1 << 10
"""At most about as many observers are computed again by ``check``."""

TOLERANCE = 5e-6
"""Of the sum of all magnitudes at an observer. Sines and cosines are fast ones, 1e-6 off or so."""

Floats = NDArray[np.float32]


def inputs(size: int, seed: int) -> dict[str, Any]:
    """A cube with observers on a grid, and as many sources at random places.

    Boxes of 4 by 4 by 4 observers lie in domains of 2 by 2 by 2 boxes. A domain looks at the boxes
    of itself and of the domains that touch it. Observers come in the order of the grid, row by row.

    Args:
        size: observers along an edge, a multiple of 8; others are rounded up.
        seed: what the sources are drawn from.

    Returns:
        ``observers`` (size^3, 4), float32: places, and 0; ``domains`` (size^3,), int32: where they
        lie; ``first`` (domains + 1,) and ``candidates``, int32: the boxes that each domain looks
        at; ``boxes`` (boxes, 4), float32: centres, and the square of ``REACH``; ``begins``
        (boxes + 1,), int32, and ``sources`` (size^3, 4), float32: places and strengths of the
        sources in each box; ``fields`` (size^3, 2), int64, all 0.
    """
    random = np.random.default_rng(seed)
    domains = -(-size // (2 * ALONG))  # along an edge
    side = 2 * domains
    places = _grid(side * ALONG)
    observers = (places + 0.5) / ALONG
    centres = _grid(side) + 0.5
    sources = np.hstack(
        [random.uniform(0, side, (len(places), 3)), random.normal(size=(len(places), 1))]
    ).astype(np.float32)
    owners = _number(np.minimum(sources[:, :3].astype(np.int64), side - 1), side)
    first, candidates = _candidates(domains)
    return {
        "observers": np.float32(np.pad(observers, ((0, 0), (0, 1)))),
        "domains": _number(places // (2 * ALONG), domains).astype(np.int32),
        "first": first,
        "candidates": candidates,
        "boxes": np.float32(np.pad(centres, ((0, 0), (0, 1)), constant_values=REACH**2)),
        "begins": np.searchsorted(np.sort(owners), np.arange(side**3 + 1)).astype(np.int32),
        "sources": sources[np.argsort(owners, kind="stable")],
        "fields": np.zeros((len(places), 2), np.int64),
    }


def _grid(side: int) -> NDArray[np.int64]:
    """The places of a cubic grid, (side^3, 3): x, y and z, x running fastest."""
    return np.ascontiguousarray(np.indices((side,) * 3).reshape(3, -1)[::-1].T)


def _number(places: NDArray[np.int64], side: int) -> NDArray[np.int64]:
    """Which ones of ``_grid(side)`` places are."""
    numbers: NDArray[np.int64] = places @ np.array([1, side, side**2])
    return numbers


def _candidates(domains: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The boxes that each domain looks at: in domains + 1 parts, and all of them."""
    places = _grid(domains)
    inside = np.array(list(itertools.product(range(-2, 4), repeat=3)))[:, ::-1]
    boxes = 2 * places[:, None] + inside  # (domains, 216, 3)
    exist = ((boxes >= 0) & (boxes < 2 * domains)).all(axis=2)
    first = np.concatenate([[0], np.cumsum(exist.sum(axis=1))])
    return first.astype(np.int32), _number(boxes[exist], 2 * domains).astype(np.int32)


def bound_inputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """As many observers, but all of a warp are at one place: a random choice of the places."""
    count = len(inputs["observers"])
    warps = np.random.default_rng(0).choice(count, count // 32, replace=False)
    chosen = np.repeat(warps, 32)
    return {**inputs, **{name: inputs[name][chosen] for name in ("observers", "domains")}}


def run(module: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Compute all fields in one launch, a thread for each observer.

    Returns:
        ``fields`` (size^3, 2), float64: real and imaginary part at each observer, without rounding
        what the kernel counted.
    """
    fields = inputs["fields"].copy()
    names = ("observers", "domains", "first", "candidates", "boxes", "begins", "sources")
    arrays = [inputs[name] for name in names]
    arguments = (np.int32(len(fields)), WAVENUMBER, *arrays, fields)
    module.get_function("near_field")((-(-len(fields) // BLOCK),), (BLOCK,), arguments)
    return {"fields": fields * 2.0**-32}


def check(inputs: dict[str, NDArray[Any]], outputs: dict[str, NDArray[Any]]) -> None:
    """Compute fields again in NumPy: all of a few observers, a regular choice of many.

    Raises:
        CccError: a field is off by more than ``TOLERANCE``.
    """
    fields = outputs["fields"]
    step = len(fields) // CHECKED + 1
    for observer in range(0, len(fields), step):
        waves = _waves(inputs, observer)
        expected = waves.sum()
        real, imaginary = fields[observer]
        if not abs(real + 1j * imaginary - expected) <= TOLERANCE * np.abs(waves).sum():
            raise CccError(
                f"fields[{observer}] is {real:.6g}{imaginary:+.6g}i, and should be"
                f" {expected.real:.6g}{expected.imag:+.6g}i"
            )


def _waves(inputs: dict[str, NDArray[Any]], observer: int) -> NDArray[np.complex128]:
    """What each source near an observer adds to its field."""
    place, domain = inputs["observers"][observer, :3], inputs["domains"][observer]
    boxes = inputs["candidates"][slice(*inputs["first"][domain : domain + 2])]
    x, y, z = (place - inputs["boxes"][boxes, :3]).T  # rounded as the kernel does
    near = boxes[x * x + y * y + z * z < inputs["boxes"][boxes, 3]]
    begins = inputs["begins"]
    sources = np.concatenate([inputs["sources"][begins[b] : begins[b + 1]] for b in near])
    distances = np.sqrt(((place - sources[:, :3].astype(np.float64)) ** 2).sum(axis=1) + 1e-6)
    waves: NDArray[np.complex128] = np.exp(1j * WAVENUMBER * distances) / distances
    return sources[:, 3] * waves
