"""Counting active lanes for ``ccc bench``: by Nsight Compute, by the kernels, by the emulator."""

from __future__ import annotations

import contextlib
import shutil
import types
from pathlib import Path
from typing import Any

import pytest
from breadth import one_in
from folders import SAMPLES
from test_bench import samples

from ccc import cli
from ccc.device import gpu
from ccc.device.emulated import EMULATED_ARCH, Emulator
from ccc.errors import CccError
from ccc.harness.launch_config import OWN
from ccc.harness.sample import Sample
from ccc.nvcc import run as nvcc
from ccc.toolkit import find as toolchain
from ccc.tools.bench import efficiency, ncu, profiled
from ccc.tools.bench.inputs import Inputs
from ccc.tools.bench.results import (
    CCC,
    ORIGINAL,
    Entry,
    KernelFootprint,
    Results,
    Treatment,
)
from ccc.tools.bench.treatments import Subject

__all__ = ["samples"]


pytestmark = pytest.mark.usefixtures("few_headers", "in_process")

# Active lanes

CSV = """\
==PROF== Connected to process 7
hello
==PROF== Profiling "odd": 0%....50%....100% - 1 pass
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","7","odd","smsp__inst_executed.sum","inst","1,000"
"0","7","odd","smsp__thread_inst_executed_pred_on_per_inst_executed.ratio","","8.00"
"1","7","odd","smsp__inst_executed.sum","inst","3,000"
"1","7","odd","smsp__thread_inst_executed_pred_on_per_inst_executed.ratio","","16.00"
"2","7","odd","smsp__inst_executed.sum","inst","10"
"2","7","odd","smsp__thread_inst_executed_pred_on_per_inst_executed.ratio","","32.00"
==PROF== Disconnected from process 7
"""


def task(**values: Any) -> ncu.ProfilingJob:
    usual = {"ptx": "", "inputs": Inputs(1, 0), "configuration": OWN}
    return ncu.ProfilingJob(**{**usual, "kernels": ("odd", "x.y"), "launches": 2, **values})


def test_what_ncu_prints() -> None:
    launches = list(ncu.read(CSV))
    assert ncu.efficiencies(launches, [2, 1]) == [(8 + 3 * 16) / 4 / 32, 1.0]
    with pytest.raises(CccError, match="it counted 3 launches of 4"):
        ncu.efficiencies(launches, [2, 2])
    with pytest.raises(CccError, match="does not know"):
        ncu.efficiencies([{ncu.INSTRUCTIONS: 1.0}], [1])
    assert list(ncu.read("==ERROR== none\n")) == []


def test_what_ncu_is_told() -> None:
    command = ncu.command("ncu", [task()], Path("jobs"), Path("counts"))
    assert r"regex:^(odd|x\.y)$" in command
    assert command[-3:] == ["ccc.tools.bench.profiled", "jobs", "counts"]
    assert [task(launches=n).every for n in (1, 40, 41, 400)] == [1, 1, 2, 10]


def fake_ncu(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "ncu"
    program.write_text(f"#!/bin/sh\n{script}")
    program.chmod(0o755)
    monkeypatch.setattr(ncu.shutil, "which", lambda _: str(program))


def test_ncu_counts(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "csv"
    output.write_text(CSV)
    sample = Sample(samples / "good")
    script = f'for last; do :; done\necho "[2, 1]" > "$last"\ncat {output}\n'
    fake_ncu(tmp_path, monkeypatch, script)
    assert ncu.count(sample, [task(), task()]) == [0.4375, 1.0]
    fake_ncu(tmp_path, monkeypatch, "echo '==ERROR== ERR_NVGPUCTRPERM: not you'; exit 1\n")
    with pytest.raises(CccError, match="ERR_NVGPUCTRPERM"):
        ncu.count(sample, [task()])


def test_only_some_launches_are_looked_at() -> None:
    seen = []

    class Device:
        @contextlib.contextmanager
        def profiling(self) -> Any:
            seen.append("(")
            yield
            seen.append(")")

    module = types.SimpleNamespace(get_function=lambda name: lambda: seen.append(name))
    watched = profiled.Watched(Device(), module, frozenset({"odd"}), 2)  # type: ignore[arg-type]
    for name in ("odd", "even", "odd", "odd"):
        watched.get_function(name)()
    assert seen == ["(", "odd", ")", "even", "odd", "(", "odd", ")"]
    assert (watched.launches, watched.profiled) == (3, 2)


def test_the_next_source_counts_where_one_cannot(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> list[float]:
        raise CccError("not allowed")

    def count(_: Sample, tasks: Any) -> list[float]:
        assert [(one.ptx, one.configuration, one.kernels, one.launches) for one in tasks] == [
            ("a", OWN, ("odd",), 1),
            ("b", OWN, ("odd",), 1),
        ]
        return [0.25, 0.75]

    monkeypatch.setattr(efficiency, "SOURCES", {"one": refuse, "two": count})
    kernel = KernelFootprint("odd", 1, 64, 20, 640, 1.0)
    treatments = [Treatment(label, OWN, [1.0], [kernel]) for label in (ORIGINAL, CCC)]
    entry = Entry("good", Inputs(7, 0, ""), 0, "ms", treatments=treatments)
    subject = Subject(Sample(samples / "good"), {ORIGINAL: "a", CCC: "b"}, {}, {}, {})
    step = lambda _: contextlib.nullcontext()  # noqa: E731
    assert efficiency.fill([(entry, subject)], step) == ["one: not allowed"]
    assert [entry[label].efficiency for label in (ORIGINAL, CCC)] == [0.25, 0.75]
    assert entry.efficiency_source == "two"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
@pytest.mark.parametrize(
    ("name", "size"), one_in(3, [("bfs", 7), ("inverse_erf", 4_000), ("path_tracing", 8)])
)
def test_kernels_that_count_themselves_count_as_the_emulator_does(name: str, size: int) -> None:
    sample = Sample(SAMPLES / name)
    sample.sizes["emulator"] = size
    both = nvcc.compile(
        sample.kernel, EMULATED_ARCH, sample.options, dynamic_shared=0, strategy="collect"
    )
    names = tuple(kernel["name"] for kernel in both.report["kernels"])
    tasks = [
        ncu.ProfilingJob(ptx, Inputs(size, 0), OWN, names, launches=1)
        for ptx in (both.original, both.ptx)
    ]
    device = Emulator(EMULATED_ARCH, "lockstep", toolchain.find().bin / "ptxas")
    found = efficiency.instrumented(sample, tasks, device)
    assert found == efficiency.emulated(sample, tasks)
    assert found[0] < found[1] < 1


def test_without_a_gpu_kernels_cannot_count_themselves(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> None:
        raise CccError(gpu.NO_DEVICE)

    monkeypatch.setattr(gpu, "require", none)
    with pytest.raises(CccError, match="CuPy finds no CUDA device"):
        efficiency.instrumented(Sample(samples / "good"), [task()])


@pytest.mark.gpu
def test_on_a_gpu(samples: Path, tmp_path: Path) -> None:
    given = ["bench", "good", "--samples", str(samples), "--out", str(tmp_path), "--quick"]
    cli.main([*given, "--device", "gpu"])
    (entry,) = Results.load(tmp_path).entries
    assert entry.error is None
    assert entry.unit == "ms"
    assert len(entry[CCC].costs) == 3
    assert 0 < (entry[CCC].efficiency or 0) <= 1
