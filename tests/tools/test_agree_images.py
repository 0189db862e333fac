"""Textures and surfaces of ``ccc agree``: the emulator against formulas of CUDA's guide, and a GPU.

The formulas are written here with exact numbers, so that they know nothing of how hardware rounds;
what hardware gave is in the record that ``test_agree.py`` reads.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from ccc.device.emulated import EMULATED_ARCH
from ccc.device.gpu import GpuDevice
from ccc.emulator.memory.filtering import shares
from ccc.tools.agree import PTX_VERSION
from ccc.tools.agree.case import Case
from ccc.tools.agree.fetches import fetches
from ccc.tools.agree.images import Image
from ccc.tools.agree.operands import operands
from ccc.tools.agree.places import size_of
from ccc.tools.agree.running import EQUAL, Setting, agree, on_emulator
from ccc.tools.agree.surfaces import surfaces

FETCHES = list({case.form: case for case in fetches()}.values())
SURFACES = list(surfaces())


def image_of(case: Case) -> Image:
    assert case.image
    return case.image


def coordinates(case: Case) -> np.ndarray:
    """In elements, float64: (dimensions, n)."""
    rows = []
    for bits, kind in zip(operands(case.sources), case.sources, strict=True):
        raw = bits.astype(np.uint32)
        if kind.startswith("index"):
            rows.append(raw.view(np.int32).astype(float))
        else:
            scale = size_of(kind) if kind.startswith("unit") else 1
            with np.errstate(invalid="ignore"):
                rows.append(raw.view(np.float32).astype(float) * scale)
    return np.array(rows)


def ordinary(case: Case) -> np.ndarray:
    """The threads whose coordinates are finite, near the image, and at no border of elements."""
    x = coordinates(case)
    with np.errstate(invalid="ignore"):
        near = np.abs(x - np.rint(x * 2) / 2) < 0.02
        far = np.abs(x) > 100 + 3 * np.array(image_of(case).sizes)[:, None]
    return np.asarray(~(np.isnan(x) | near | far).any(axis=0))


def folded(index: np.ndarray, size: int, how: str) -> np.ndarray:
    """The element that stands for one beyond the image; -1 for none."""
    if how == "wrap":
        return np.asarray(index % size)
    if how == "mirror":
        index = index % (2 * size)
        return np.where(index >= size, 2 * size - 1 - index, index)
    if how == "border":
        return np.where((index < 0) | (index >= size), -1, index)
    return np.asarray(np.clip(index, 0, size - 1))


def content(image: Image) -> np.ndarray:
    """The elements as what is read of them: (depth, height, width, channels), float64."""
    array = image.make().array
    numbers = array.astype(float)
    if image.as_float:
        numbers = np.maximum(numbers / np.iinfo(array.dtype).max, -1.0)
    return numbers.reshape((1,) * (3 - len(image.sizes)) + (*image.sizes[::-1], image.channels))


def picked(image: Image, places: list[np.ndarray]) -> np.ndarray:
    """Elements by x, y and z, which may be beyond: (n, channels)."""
    numbers = content(image)
    every = [
        folded(place, size, image.addressing)
        for place, size in zip(places, image.sizes, strict=True)
    ]
    missing = np.logical_or.reduce([index < 0 for index in every])
    every += [np.zeros_like(every[0])] * (3 - len(every))
    found = numbers[every[2], every[1], every[0]]
    return np.where(missing[:, None], 0.0, found)


def by_formula(image: Image, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the guide's formulas give, and how far off weights of eight bits may be."""
    if not image.linear:
        found = picked(image, [np.floor(one).astype(int) for one in x])
        return found, np.full(found.shape, 2.0**-22) * np.abs(found)
    lows = np.floor(x - 0.5).astype(int)
    parts = x - 0.5 - lows
    total = np.zeros((x.shape[1], image.channels))
    largest = np.zeros_like(total)
    for ends in itertools.product((0, 1), repeat=len(x)):
        shares = [part if end else 1 - part for part, end in zip(parts, ends, strict=True)]
        corner = picked(image, [low + end for low, end in zip(lows, ends, strict=True)])
        total += np.prod(shares, axis=0)[:, None] * corner
        largest = np.maximum(largest, np.abs(corner))
    if len(x) == 1 and image.addressing == "border":
        total /= 2  # a single row, at the border of which it is read
    return total, largest * (2 ** len(x) * 3) / 256 + 2.0**-14


@pytest.mark.parametrize(
    "case",
    [c for c in FETCHES if c.form.startswith("tex.") and image_of(c).content == "random"][::7],
    ids=lambda case: case.form,
)
def test_textures_follow_the_formulas(case: Case) -> None:
    image = image_of(case)
    chosen = ordinary(case) if case.sources[0][:5] != "index" else np.ones(8192, bool)
    found = on_emulator(case, EMULATED_ARCH, PTX_VERSION)[: image.channels, chosen].T
    x = coordinates(case)[:, chosen]
    whole = case.sources[0].startswith("index")
    if whole:
        inside = [(one >= 0) & (one < size) for one, size in zip(x, image.sizes, strict=True)]
        expected = picked(image, [np.clip(one, -(2**30), 2**30).astype(int) for one in x])
        expected = np.where(np.logical_and.reduce(inside)[:, None], expected, 0.0)
        error = np.abs(expected) * 2.0**-22
    else:
        expected, error = by_formula(image, x)
    kind = np.int32 if ".v4.s32." in case.form else np.uint32
    floats = image.element.startswith("f") or image.as_float
    numbers = found.astype(np.uint32).view(np.float32 if floats else kind).astype(float)
    if not floats and ".v4.f32." in case.form:
        numbers = found.astype(np.uint32).view(np.int32).astype(float)
    assert chosen.sum() > 1000
    assert (np.abs(numbers - expected) <= error).all()


def test_gathers_find_what_a_filter_would_mix() -> None:
    case = next(c for c in FETCHES if c.form == "tld4.g.2d.v4.f32.f32, f32 x4, nearest, clamp")
    chosen = ordinary(case)
    found = on_emulator(case, EMULATED_ARCH, PTX_VERSION)[:, chosen].astype(np.uint32)
    x, y = np.floor(coordinates(case)[:, chosen] - 0.5).astype(int)
    for values, (right, up) in zip(found, ((0, 1), (1, 1), (1, 0), (0, 0)), strict=True):
        expected = picked(image_of(case), [x + right, y + up])[:, 1]
        assert (values.view(np.float32) == expected.astype(np.float32)).all()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((43, 128), [107, 21, 106, 22]),
        ((127, 146), [55, 55, 74, 72]),
        ((43, 197, 128), [24, 5, 82, 17, 24, 5, 82, 17]),
        ((9, 128, 214), [21, 0, 20, 1, 103, 4, 103, 4]),
        ((0, 128, 111), [73, 0, 72, 0, 56, 0, 55, 0]),
        ((77, 145, 179), [23, 10, 31, 13, 54, 23, 71, 31]),
    ],
)
def test_weights_are_those_of_an_h200(parts: tuple[int, ...], expected: list[int]) -> None:
    found = [0] * len(expected)
    for ends, share in shares([np.array([part]) for part in parts]):
        found[sum(end << k for k, end in enumerate(ends))] = int(share[0])
    assert found == expected


def bytes_of(image: Image) -> np.ndarray:
    """A surface's elements as bytes: (depth, height, width, bytes)."""
    array = np.ascontiguousarray(image.make().array)
    raw = array.reshape(-1).view(np.uint8)
    return np.array(raw.reshape((1,) * (3 - len(image.sizes)) + (*image.sizes[::-1], -1)))


def columns(raw: np.ndarray, part: int) -> np.ndarray:
    """Bytes as numbers of ``part`` bytes: (parts, n)."""
    numbers = np.ascontiguousarray(raw).view(f"u{part}").reshape(raw.shape[0], -1)
    return np.asarray(numbers.T.astype(np.uint64))


@pytest.mark.parametrize(
    "case",
    [c for c in SURFACES if c.form.startswith("suld") and not c.form.endswith("trap")][::5],
    ids=lambda case: case.form,
)
def test_surfaces_are_read(case: Case) -> None:
    image = image_of(case)
    x = coordinates(case).astype(np.int64)
    how = "border" if case.form.endswith("zero") else "clamp"
    every = [folded(one, size, how) for one, size in zip(x, image.sizes, strict=True)]
    missing = np.logical_or.reduce([index < 0 for index in every])
    every += [np.zeros_like(every[0])] * (3 - len(every))
    raw = bytes_of(image)[every[2], every[1], every[0]]
    expected = columns(raw, raw.shape[1] // len(case.results))
    expected[:, missing] = 0
    assert (on_emulator(case, EMULATED_ARCH, PTX_VERSION) == expected).all()


@pytest.mark.parametrize(
    "case",
    [c for c in SURFACES if c.form.endswith("one value")][::7],
    ids=lambda case: case.form,
)
def test_surfaces_are_written(case: Case) -> None:
    image = image_of(case)
    x = coordinates(case).astype(np.int64)
    how = "border" if ".zero" in case.form else "clamp"
    every = [folded(one, size, how) for one, size in zip(x, image.sizes, strict=True)]
    inside = ~np.logical_or.reduce([index < 0 for index in every])
    every += [np.zeros_like(every[0])] * (3 - len(every))
    raw = bytes_of(image)
    raw[every[2][inside], every[1][inside], every[0][inside]] = 0x5A
    expected = image.words(raw.reshape(-1).view(image.make().array.dtype))
    assert (on_emulator(case, EMULATED_ARCH, PTX_VERSION) == expected).all()


@pytest.mark.parametrize(
    "case", [c for c in (*FETCHES, *SURFACES) if c.form[1:3] in ("xq", "uq")], ids=lambda c: c.form
)
def test_sizes(case: Case) -> None:
    """On an H200 a texture of one dimension has a height, a surface has none."""
    sizes = [*image_of(case).sizes, 1 if case.form.startswith("txq") else 0, 0][:3]
    name = case.form.split(".")[1]
    expected = sizes[("width", "height", "depth").index(name)]
    if name == "depth" and len(image_of(case).sizes) < 3:
        expected = 0
    assert (on_emulator(case, EMULATED_ARCH, PTX_VERSION) == expected).all()


@pytest.mark.parametrize("name", ["add", "min", "max"])
@pytest.mark.parametrize("beyond", ["clamp", "zero"])
def test_surfaces_are_reduced(name: str, beyond: str) -> None:
    case = next(c for c in SURFACES if c.form == f"sured.b.{name}.2d.u32.{beyond}")
    image = image_of(case)
    x = operands(case.sources)[:2].astype(np.uint32).view(np.int32).astype(np.int64)
    values = operands(case.sources)[2].astype(np.uint32)
    how = "border" if beyond == "zero" else "clamp"
    across, down = (folded(one, size, how) for one, size in zip(x, image.sizes, strict=True))
    inside = (across >= 0) & (down >= 0)
    array = image.make().array.copy()
    step = {"add": np.add, "min": np.minimum, "max": np.maximum}[name]
    step.at(array, (down[inside], across[inside]), values[inside])
    assert (on_emulator(case, EMULATED_ARCH, PTX_VERSION) == image.words(array)).all()


@pytest.mark.gpu
def test_every_third_form_gives_the_same_on_the_gpu(tmp_path: Path) -> None:
    device = GpuDevice()
    chosen = [*FETCHES, *SURFACES][::3]
    there = Setting(device.arch, PTX_VERSION, "ptxas", device, keep=tmp_path / "kept")
    verdicts = agree(chosen, there, lambda _: None)
    assert not [one.form for one in verdicts if one.status != EQUAL]
    kept = [np.load(file) for file in (tmp_path / "kept").glob("*.npz")]
    assert {form for one in kept for form in one.files} == {case.form for case in chosen}
