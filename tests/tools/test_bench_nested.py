"""The page and the plots of nested patterns, and libraries beside kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from folders import SAMPLES

from ccc.device.library import LibraryModule
from ccc.errors import CccError
from ccc.harness.decompositions import AUTOMATIC, BLOCK, ENGAGED, LIBRARY, by_hand, by_library
from ccc.harness.launch_config import OWN
from ccc.harness.sample import Sample, find_samples
from ccc.ptx.occupancy import KB
from ccc.toolkit.ptxas import Resources
from ccc.tools.bench import families, nested, nested_page, nested_plots, plots
from ccc.tools.bench.inputs import Inputs
from ccc.tools.bench.results import (
    CCC,
    ORIGINAL,
    Entry,
    KernelFootprint,
    Results,
    Run,
    Treatment,
)

TIMES = {
    ORIGINAL: 8.0,
    CCC: 5.0,
    "sub-warp 2": 6.0,
    "sub-warp 8": 4.0,
    ENGAGED: 2.0,
    AUTOMATIC: 2.5,
    BLOCK: 1.6,
    "cte::thread": 8.0,
    "cte::sub_warp<4>": 5.0,
}


def made_up(sample: str, kind: str, scale: float = 1, **more: float) -> Entry:
    def treatment(label: str, time: float) -> Treatment:
        kernel = KernelFootprint("odd", 1, 64, 0 if label in more else 20, KB, 1.0)
        return Treatment(label, OWN, [scale * time] * 3, [kernel], 0.5)

    treatments = [treatment(*each) for each in {**TIMES, **more}.items()]
    return Entry(sample, Inputs(7, 0, kind), 0, "ms", None, treatments)


@pytest.fixture
def results() -> Results:
    return Results(
        [Run("ccc bench", "2000-01-01T00:00:00+00:00", {"gpu": "a card", "cuda_driver": 13000})],
        [
            made_up("nested/spmv", "web", cuSPARSE=1.0),
            made_up("nested/spmv", "uniform"),
            made_up("bfs", "rmat"),
            made_up("nested/task_sizes", "line"),
            made_up("nested/task_sizes", "quad", 0.5),
        ],
    )


def test_the_page_of_nested_patterns(results: Results, tmp_path: Path) -> None:
    (tmp_path / "nested").mkdir()
    (tmp_path / "nested" / "README.md").write_text("# Nested\n\n## Results\n\nOf them all.\n")
    nested_page.write(results, tmp_path, {"nested-matrices": "m.png"}, tmp_path)
    text = (tmp_path / nested_page.PAGE).read_text()
    assert "bfs, nested/spmv, nested/task_sizes: a card" in text.replace(
        "nested/spmv, bfs", "bfs, nested/spmv"
    )
    ratios = "2.00 (8) | 1.60 (sub_warp<4>) | 1.00 | 4.00 | 3.20 | 5.00 | 1.60"
    assert f"| spmv, web | 8 ms | {ratios} | 8.00 (cuSPARSE) |" in text
    assert f"| bfs, rmat | 8 ms | {ratios} | - |" in text
    assert "| spmv, uniform | 2.00 | 1.28 | 4.00 | 1.90 | Delaunay_n24 | 80.0 % |" in text
    assert "| bfs, rmat | 2.00 | 1.30 | 4.00 | - | LiveJournal | 80.0 % |" in text
    assert "| paper, Wb-edu | 16.6 % | 36.8 % |" in text
    assert "| cte::warp | 2 ms | 1 ms | 0.50 | 0.67 | 50.0 % | 50.0 % |" in text
    assert "![Speedups, sparse matrices](m.png)" in text
    assert text.endswith("## What the figures say\n\nOf them all.\n")


def test_no_page_where_nothing_is_nested(tmp_path: Path) -> None:
    nested_page.write(Results(), tmp_path, {}, tmp_path)
    assert not (tmp_path / nested_page.PAGE).exists()


def test_nested_patterns_are_no_programs(results: Results) -> None:
    assert [entry.sample for entry in families.programs(results.entries)] == ["bfs"]


def test_plots_of_nested_patterns(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = plots.draw(results, tmp_path, nested_plots.PLOTS)
    there = ["nested-efficiency", "nested-graphs", "nested-matrices", "nested-sizes"]
    assert sorted(name for name in drawn if name.startswith("nested")) == there


def test_who_is_counted() -> None:
    assert nested.counted("nested/spmv", "sub-warp 4")
    assert nested.counted("nested/spmv", ENGAGED)
    assert not nested.counted("nested/spmv", "cuSPARSE")
    assert not nested.counted("bfs", ENGAGED)


def test_samples_have_all_decompositions() -> None:
    shown = {name for one in nested.FIGURES for name in one.samples} | {nested.SIZES}
    assert {name for name in find_samples(SAMPLES) if name.startswith("nested/")} < shown
    for name in shown:
        rivals = Sample(SAMPLES / name).rivals
        assert rivals.keys() >= {*by_hand(), *by_library()}
        assert set(by_library()) == set(LIBRARY)


def test_kinds_forget_entries_without(results: Results) -> None:
    results.entries.append(made_up("sssp", ""))
    results.put(made_up("sssp", "rmat"))
    assert [entry.inputs.kind for entry in results.entries if entry.sample == "sssp"] == ["rmat"]


# Libraries


@dataclass
class Device:
    """Counts what was held, in place of a GPU."""

    held: list[int] = field(default_factory=list)

    def hold(self, cycles: int) -> None:
        self.held.append(cycles)

    def event(self) -> int:
        return len(self.held)

    def milliseconds(self, start: int, end: int) -> float:
        return float(start + end)


class Module:
    """A module with a kernel besides."""

    def get_function(self, name: str) -> str:
        return f"kernel {name}"

    def resources(self, name: str) -> Resources:
        return Resources(registers=len(name), shared=1, stack=0)

    def added(self, name: str, threads: int) -> int:
        return len(name) + threads

    def resident_blocks(self, *_: Any) -> int:
        return 7


def test_a_library_does_the_work_of_one_kernel() -> None:
    done: list[Any] = []
    device: Any = Device()
    module = LibraryModule(
        device, Module(), "spmv", lambda *arguments: lambda: done.append(arguments)
    )
    timing = module.get_function("spmv")((4,), (32,), (1, 2), shared_mem=0)
    assert done == [(1, 2)]
    assert timing.milliseconds == 2
    assert len(device.held) == 1
    assert module.get_function("other") == "kernel other"
    assert (module.resources("spmv").registers, module.resources("other").registers) == (0, 5)
    assert (module.added("spmv", 9), module.added("other", 9)) == (0, 14)
    assert module.resident_blocks("spmv", 32) == 7


def test_libraries_of_a_sample(tmp_path: Path) -> None:
    text = """
def inputs(size, seed): return {}
def run(module, inputs): return {}
def check(inputs, outputs): pass
"""
    (tmp_path / "kernel.cu").touch()
    (tmp_path / "sample.py").write_text(f'LIBRARIES = {{"mine": ("k", print)}}\n{text}')
    expected: object = {"mine": ("k", print)}
    assert Sample(tmp_path).libraries == expected
    (tmp_path / "sample.py").write_text(text)
    assert Sample(tmp_path).libraries == {}
    (tmp_path / "sample.py").write_text(f'LIBRARIES = {{"mine": "k"}}\n{text}')
    with pytest.raises(CccError, match="LIBRARIES must be a dict of kernels and functions"):
        _ = Sample(tmp_path).libraries
