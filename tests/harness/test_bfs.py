"""The sample ``bfs``: its input, its loop of launches and its check."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_device import FakeDevice
from folders import SAMPLES

from ccc import cli
from ccc.harness import measure
from ccc.harness.sample import Sample

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")

BFS = SAMPLES / "bfs"


def visit(*args: Any) -> None:
    """What the kernel does, one vertex after another."""
    vertices, depth, indptr, indices, levels, done = args
    assert vertices == levels.size
    for vertex in np.flatnonzero(levels == depth):
        for neighbour in indices[indptr[vertex] : indptr[vertex + 1]]:
            if levels[neighbour] == -1:
                levels[neighbour] = depth + 1
                done[0] = 0


@contextlib.contextmanager
def bfs_on(kernel: Callable[..., None]) -> Iterator[tuple[Sample, measure.Recorder]]:
    device = FakeDevice("emulator", {"ptx": {"bfs": kernel}})
    yield Sample(BFS), measure.Recorder(device.load("ptx"))


@pytest.mark.parametrize("seed", [0, 1])
def test_bfs_agrees_with_its_reference(seed: int) -> None:
    with bfs_on(visit) as (sample, module):
        inputs = sample.inputs(8, seed)
        before = inputs["levels"].copy()
        outputs = sample.run(module, inputs)
        assert np.array_equal(inputs["levels"], before)
    assert sample.check(inputs, outputs) is None
    assert len(module.launches) == outputs["levels"].max() + 1
    assert outputs["frontiers"].sum() == (outputs["levels"] >= 0).sum()


def test_bfs_reads_graphs(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("0 1\n0 2\n2 3\n4 4\n")
    with bfs_on(visit) as (sample, module):
        outputs = sample.run(module, sample.inputs(0, 0, path))
    assert outputs["levels"].tolist() == [0, 1, 1, 2, -1]
    assert outputs["frontiers"].tolist() == [1, 2, 1, 0]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_bfs_through_the_whole_compiler(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", str(BFS), "--device", "emulator", "--size", "7"]) == 0
    out = capsys.readouterr().out
    assert "equal: yes" in out
    assert "kernel.cu:18:13: ccc for variable: applied (engage" in out


def test_bfs_finds_a_wrong_level() -> None:
    def wrong(*args: Any) -> None:
        visit(*args)
        if args[1] == 0:
            args[4][args[4] == -1] = 1

    with bfs_on(wrong) as (sample, module):
        inputs = sample.inputs(6, 0)
        outputs = sample.run(module, inputs)
    text = sample.check(inputs, outputs)
    assert text is not None
    assert "is 1, and should be 2" in text
