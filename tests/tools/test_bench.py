"""``ccc bench``: small samples on the emulator."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ccc import cli
from ccc.errors import CccError
from ccc.tools.bench import session
from ccc.tools.bench.results import (
    BOUND,
    CCC,
    ORIGINAL,
    PROFILED,
    Results,
)
from ccc.tools.bench.treatments import Subject

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")

KERNEL = """\
extern "C" __global__ void __launch_bounds__(64)
odd(int n, const unsigned* __restrict__ x, unsigned* y)
{
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = x[i];
        #pragma ccc if
        if (v % STEP == 0) {
            for (int k = 0; k < 40; ++k) v = (v ^ v << 13) * 5 ^ v >> 17;
            y[i] = v ^ FLIP;
        }
    }
}
"""

SAMPLE = """\
import numpy as np

SIZES = {"emulator": 20_000, "gpu": 90_000}
OPTIONS = ("-DSTEP=8", "-DFLIP=0")
BLOCKS = (32, 64)
RIVALS = {
    "same": ("rival.cu", ()),
    "wrong": ("rival.cu", ("-UFLIP", "-DFLIP=1")),
    "no C": ("broken.cu", ()),
}
BOUND = ("kernel.cu", ())
PAPER = 1.5


def inputs(size, seed):
    x = np.random.default_rng(seed).integers(0, 2**32, size, np.uint32)
    return {"x": x, "y": np.zeros(size, np.uint32)}


def bound_inputs(inputs):
    return {**inputs, "x": np.sort(inputs["x"] % 8) + inputs["x"] // 8 * 8}


def run(module, inputs):
    x, y = inputs["x"], inputs["y"].copy()
    blocks = min(module.resident_blocks("odd", 64), -(-x.size // 64))
    module.get_function("odd")((blocks,), (64,), (np.int32(x.size), x, y))
    return {"y": y}


def check(inputs, outputs):
    v = inputs["x"].copy()
    for _ in range(40):
        v = (v ^ v << np.uint32(13)) * np.uint32(5) ^ v >> np.uint32(17)
    assert np.array_equal(outputs["y"], np.where(inputs["x"] % 8 == 0, v, 0)), "not the numbers"
"""

README = """\
# Odd

What it is.

## Results

Every eighth number takes long.

## Else

Something else.
"""


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """A folder with a good sample, and one that cannot be loaded."""
    for name, text in {"good": SAMPLE, "bad": SAMPLE.replace("BLOCKS = (", "BLOCKS = ((")}.items():
        folder = tmp_path / "samples" / name
        folder.mkdir(parents=True)
        (folder / "kernel.cu").write_text(KERNEL)
        (folder / "rival.cu").write_text(KERNEL.replace("#pragma ccc", "// "))
        (folder / "broken.cu").write_text("this is no C\n")
        (folder / "sample.py").write_text(text)
        (folder / "README.md").write_text(README)
    (tmp_path / "samples" / "README.md").write_text("## Results\n\nOf all samples.\n")
    return tmp_path / "samples"


def bench(samples: Path, out: Path, *arguments: str) -> int:
    given = ["bench", *arguments, "--samples", str(samples), "--out", str(out)]
    return cli.main([*given, "--device", "emulator"])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_a_bench_from_end_to_end(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert bench(samples, out) == 1  # a sample fails, and so do two rivals
    said = capsys.readouterr().err
    assert "bad: failed: " in said
    assert "sample.py" in said
    results = Results.load(out)
    bad, good = results.entries
    assert bad.error is not None
    assert good.error is None
    assert [one.label for one in good.treatments] == [ORIGINAL, CCC, PROFILED, "same", BOUND]
    assert good.same == {}
    assert set(good.rejected) == {"no C", "wrong"}
    assert "not the numbers" in good.rejected["wrong"]
    assert good[ORIGINAL].cost == good["same"].cost
    assert good.speedup(BOUND) > good.speedup(PROFILED) > good.speedup(CCC) >= 0.99
    assert (good[PROFILED].efficiency or 0) > 2 * (good[ORIGINAL].efficiency or 1)
    assert good[PROFILED].kernels[0].shared_per_thread > 0
    ((default,), (informed,)) = good.paths, good.profiled
    # Lanes find out themselves whether it pays, and have too few iterations here for that.
    assert (default["strategy"], informed["strategy"]) == ("adaptive(3)", "batch3")
    assert informed["expected"] > 1
    text = (out / "results.md").read_text()
    assert "Every eighth number takes long." in text
    assert "## Other figures\n\nOf all samples.\n" in text
    assert "Something else" not in text
    assert f"| good | {good[ORIGINAL].cost:,.0f} |" in text
    assert "1.00 (same)" in text
    assert "- bad: " in text

    before = good[PROFILED].costs
    mended = SAMPLE.replace("RIVALS", "OTHERS").replace("BOUND", "LIMIT")
    (samples / "bad" / "sample.py").write_text(mended)
    assert bench(samples, out, "bad") == 0
    results = Results.load(out)
    assert [entry.error for entry in results.entries] == [None, None]
    assert results.entries[1][PROFILED].costs == before
    assert [entry.run for entry in results.entries] == [1, 0]
    assert [run.command.split()[:2] for run in results.runs] == [["ccc", *sys.argv[1:2]]] * 2


def test_an_interruption_keeps_what_is_done(
    samples: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: Any) -> Subject:
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "prepare", interrupted)
    assert bench(samples, tmp_path / "out") == 130
    assert "interrupted" in capsys.readouterr().err
    assert [entry.sample for entry in Results.load(tmp_path / "out").entries] == ["bad"]
    assert (tmp_path / "out" / "results.md").exists()


def test_wrong_arguments(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(samples, tmp_path, "god") == 1
    assert 'there is no sample "god"; there are bad, good' in capsys.readouterr().err
    shutil.copytree(samples / "good", samples / "family" / "good")
    assert bench(samples, tmp_path, "fam") == 1
    known = "there are bad, family/good, good"
    assert f'there is no sample "fam"; {known}' in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert bench(tmp_path / "empty", tmp_path) == 1
    assert "there are no samples here" in capsys.readouterr().err
    assert bench(samples, tmp_path, "--redraw") == 1
    assert "there are no results here" in capsys.readouterr().err
    (tmp_path / "results.json").write_text("{}")
    assert bench(samples, tmp_path, "--redraw") == 1
    assert "this is no file of ccc bench" in capsys.readouterr().err


def test_a_family_is_measured_by_its_name(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> Subject:
        raise CccError("no")

    monkeypatch.setattr(session, "prepare", failing)
    for name in ("one", "two"):
        shutil.copytree(samples / "good", samples / "family" / name)
    assert bench(samples, tmp_path / "out", "family", "good") == 1
    found = [entry.sample for entry in Results.load(tmp_path / "out").entries]
    assert found == ["family/one", "family/two", "good"]
