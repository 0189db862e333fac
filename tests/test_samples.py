"""Every sample, small, through nvcc and the emulator as ``ccc compare`` runs it."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccc import measure, nvcc, png, toolchain
from ccc.errors import CccError
from ccc.sample import Sample

SAMPLES = Path(__file__).resolve().parent.parent / "samples"

SMALL = {
    "bfs": 7,
    "cuckoo_hash": 2_000,
    "fractal_flame": 9_000,
    "path_tracing": 15,
    "ray_tracing": 40,
    "sssp": 7,
}
"""The size at which each sample is run here."""

DRAWN = ["fractal_flame", "path_tracing", "ray_tracing"]


@functools.cache
def compiled(name: str) -> nvcc.Compiled:
    """The kernels of a sample, compiled once for all tests."""
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    return nvcc.compile(SAMPLES / name / "kernel.cu", arch=measure.EMULATED_ARCH)


@functools.cache
def original_run(name: str) -> tuple[Sample, dict[str, Any], dict[str, Any]]:
    """A sample, its inputs, and the outputs of its original kernels."""
    sample, device = Sample(SAMPLES / name), emulator("lockstep")
    inputs = sample.inputs(SMALL[name], 2)
    module = measure.Recorder(device.load(compiled(name).original))
    return sample, inputs, sample.run(module, device.put(inputs))


def emulator(schedule: str | int) -> measure.Device:
    return measure.Emulator(measure.EMULATED_ARCH, schedule, toolchain.find().bin / "ptxas")


def test_none_is_forgotten() -> None:
    assert sorted(SMALL) == sorted(path.parent.name for path in SAMPLES.glob("*/kernel.cu"))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("schedule", ["lockstep", 1])
def test_versions_are_equal_and_right(name: str, schedule: str | int) -> None:
    texts = compiled(name)
    sample, device = Sample(SAMPLES / name), emulator(schedule)
    result = measure.measure(
        sample,
        device,
        {"original": device.load(texts.original), "ccc": device.load(texts.ptx)},
        sample.inputs(SMALL[name], 1),
        repeat=1,
        step=lambda _: contextlib.nullcontext(),
    )
    assert result.differences == []


@pytest.mark.parametrize("name", SMALL)
def test_inputs_follow_from_the_seed(name: str) -> None:
    sample = Sample(SAMPLES / name)
    one, again, other = (sample.inputs(SMALL[name], seed) for seed in (0, 0, 1))
    assert measure.differences("again", one, again) == []
    assert measure.differences("other", one, other) != []


@pytest.mark.parametrize("name", SMALL)
def test_wrong_outputs_are_found(name: str) -> None:
    compiled(name)
    sample, inputs, outputs = original_run(name)
    assert sample.check(inputs, outputs) is None
    first, *_ = outputs
    assert sample.check(inputs, {**outputs, first: outputs[first] + 1}) is not None


@pytest.mark.parametrize("name", DRAWN)
def test_pictures(name: str) -> None:
    compiled(name)
    sample, _, outputs = original_run(name)
    picture = sample.picture(outputs)
    assert png.encode(picture).startswith(png.SIGNATURE)
    assert len(np.unique(picture)) > 20
