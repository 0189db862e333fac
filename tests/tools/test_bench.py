"""``ccc bench``: small samples on the emulator, and a device made of Python."""

from __future__ import annotations

import contextlib
import shutil
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import SAMPLES

from ccc import cli
from ccc.device import gpu
from ccc.device.emulated import EMULATED_ARCH, Emulator
from ccc.errors import CccError
from ccc.harness.check import OutputChecker
from ccc.harness.launch_config import MOST_BLOCKS, OWN, LaunchConfig
from ccc.harness.sample import Sample
from ccc.nvcc import run as nvcc
from ccc.toolkit import find as toolchain
from ccc.toolkit.ptxas import Resources
from ccc.tools.bench import efficiency, measuring, ncu, profiled, session
from ccc.tools.bench.inputs import Inputs
from ccc.tools.bench.results import (
    BOUND,
    CCC,
    CHOSEN,
    ORIGINAL,
    PROFILED,
    SAME_LAUNCH,
    TUNED,
    Entry,
    KernelFootprint,
    Results,
    Treatment,
    launched_as,
)
from ccc.tools.bench.treatments import Subject
from ccc.tools.bench.versions import Build

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
    assert [one.label for one in good.treatments] == [ORIGINAL, PROFILED, "same", BOUND]
    assert good.same == {CCC: ORIGINAL}
    assert set(good.rejected) == {"no C", "wrong"}
    assert "not the numbers" in good.rejected["wrong"]
    assert good[ORIGINAL].cost == good["same"].cost
    assert good.speedup(BOUND) > good.speedup(PROFILED) > good.speedup(CCC) == 1
    assert (good[PROFILED].efficiency or 0) > 2 * (good[ORIGINAL].efficiency or 1)
    assert good[PROFILED].kernels[0].shared_per_thread > 0
    ((default,), (informed,)) = good.paths, good.profiled
    assert (default["strategy"], informed["applied"]) == ("leave", True)
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


# A device made of Python


class Gpu:
    """Says how long launches took: ``times`` by version, number of blocks and threads a block."""

    kind = "gpu"
    arch = "sm_90"
    warmups = 1

    def __init__(self, time: Callable[[str, int, int], float], wrong: str = ""):
        self.time = time
        self.wrong = wrong

    def load(self, version: str) -> GpuModule:
        return GpuModule(self, version)

    def put(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: np.copy(v) if isinstance(v, np.ndarray) else v for name, v in values.items()}

    def get(self, values: dict[str, Any]) -> dict[str, Any]:
        return dict(values)


class GpuModule:
    def __init__(self, device: Gpu, version: str):
        self.device = device
        self.version = version

    def get_function(self, _: str) -> Callable[..., Any]:
        def launch(grid: Any, block: Any, args: Any, *, shared_mem: int) -> Any:
            assert not shared_mem
            _, x, y = args
            v = x.copy()
            for _ in range(40):
                v = (v ^ v << np.uint32(13)) * np.uint32(5) ^ v >> np.uint32(17)
            y[:] = np.where(x % 8 == 0, v, 0) + (self.version == self.device.wrong)
            milliseconds = self.device.time(self.version, grid[0], block[0])
            return types.SimpleNamespace(milliseconds=milliseconds)

        return launch

    def resources(self, _: str) -> Resources:
        return Resources(registers=32, shared=64, stack=0)

    def added(self, _name: str, _threads: int) -> int:
        return 0

    def resident_blocks(self, _name: str, block: int, _shared: int) -> int:
        return 1024 // block


def measured(samples: Path, device: Any) -> Entry:
    """The sample ``good``, whose versions are called a, b and c."""
    ptx = {ORIGINAL: "a", CCC: "b", "same": "c"}
    modules = {label: device.load(text) for label, text in ptx.items()}
    report = {"kernels": [{"name": "odd", "paths": []}]}
    subject = Subject(Sample(samples / "good"), ptx, modules, report, {})
    entry = Entry("good", Inputs(5_000, 0), 0, "ms")
    measuring.fill(entry, subject, device, 3, lambda _: contextlib.nullcontext())
    return entry


def test_each_treatment_runs_as_it_is_fastest(samples: Path) -> None:
    def time(version: str, blocks: int, threads: int) -> float:
        whole = blocks * threads >= 5_000
        if version == "a":
            return 6 + threads / 32 - 4 * whole  # best whole, in small blocks
        return 5 - threads / 32 + 4 * whole  # best resident, in large blocks

    entry = measured(samples, Gpu(time))
    found = {one.label: (one.configuration, one.costs) for one in entry.treatments}
    assert found[ORIGINAL] == (LaunchConfig(32, whole=True), [3.0] * 3)
    assert found[CCC] == (LaunchConfig(64), [3.0] * 3)
    assert found[SAME_LAUNCH] == (LaunchConfig(64), [8.0] * 3)
    assert found["same"] == (OWN, [3.0] * 3)
    assert entry.speedup(CCC) == 1
    assert entry.rivals == [entry["same"]]
    assert entry[ORIGINAL].kernels == [KernelFootprint("odd", 1, 32, 32, 64, 0.5)]


def test_the_faster_of_two_launches_is_the_original() -> None:
    tuned, same = (Treatment("", LaunchConfig(block), [1.0 * block], []) for block in (64, 32))
    tuned.label, same.label = ORIGINAL, SAME_LAUNCH
    ccc = Treatment(CCC, LaunchConfig(32), [5.0], [])
    ordered = measuring._original_first({one.label: one for one in (same, tuned, ccc)})
    assert ordered == [same, ccc, tuned]
    assert [one.label for one in ordered] == [ORIGINAL, CCC, SAME_LAUNCH]


def test_wrong_outputs_are_not_timed(samples: Path) -> None:
    entry = measured(samples, Gpu(lambda *_: 1.0, wrong="c"))
    assert "same" not in entry
    assert "not the numbers" in entry.rejected["same"]
    with pytest.raises(CccError, match=r"y\[0\]: original .*, ccc "):
        measured(samples, Gpu(lambda *_: 1.0, wrong="b"))
    with pytest.raises(CccError, match="original is wrong"):
        measured(samples, Gpu(lambda *_: 1.0, wrong="a"))


class MadeUpVersions:
    """What ccc would make: PTX texts are names of versions, as the device takes them."""

    def __init__(self, device: Gpu, strategies: dict[str, str]):
        self._strategies = strategies
        self.load = device.load

    def strategies(self) -> list[tuple[str, Build]]:
        return [(name, Build(ptx, REPORT)) for name, ptx in self._strategies.items()]

    def profiled(self, file: str) -> Build:
        return Build(file, REPORT)


REPORT: dict[str, Any] = {"kernels": [{"name": "odd", "paths": []}]}
TIMES = {"original": 4.0, "queued": 2.0, "merged": 3.0, "wrong": 1.0}


def chosen(samples: Path, device: Any, default: str, profile: str | CccError) -> Entry:
    """The sample ``good`` as ccc makes it."""
    strategies = {"leave": "original", "queue": "queued", "merge": "merged", "pool": "wrong"}
    versions: Any = MadeUpVersions(device, strategies)
    subject = Subject(Sample(samples / "good"), {}, {}, REPORT, {}, versions)
    for label, ptx in ((ORIGINAL, "original"), (CCC, default)):
        subject.add(label, Build(ptx, REPORT))
    entry = Entry("good", Inputs(5_000, 0), 0, "ms")
    mine = subject.on(profile)
    measuring.fill(entry, mine, device, 2, lambda _: contextlib.nullcontext())
    assert list(subject.modules) == list(dict.fromkeys([ORIGINAL, entry.same.get(CCC, CCC)]))
    return entry


def test_the_fastest_of_all_strategies_is_measured(samples: Path) -> None:
    device = Gpu(lambda version, *_: TIMES[version], wrong="wrong")
    entry = chosen(samples, device, "original", "merged")
    assert entry.same == {CCC: ORIGINAL}
    assert entry.trials == {"leave": 4.0, "queue": 2.0, "merge": 3.0}
    assert "y[0]" in entry.rejected["pool"]
    assert entry.tuned == "queue"
    assert [entry.speedup(label) for label in CHOSEN] == [1, 4 / 3, 2]


def test_strategies_are_tried_on_a_resident_grid_too(samples: Path) -> None:
    def time(version: str, blocks: int, threads: int) -> float:
        whole = blocks * threads >= 5_000
        if version == "merged":
            return 5.0 if whole else 3.0
        return TIMES[version] + 4 * (not whole)  # the original is fastest with a task a thread

    entry = chosen(samples, Gpu(time, wrong="wrong"), "original", "original")
    assert entry.trials == {"leave": 4.0, "queue": 2.0, "merge": 3.0}


def test_what_is_the_same_code_is_measured_once(samples: Path) -> None:
    device = Gpu(lambda version, *_: TIMES[version], wrong="wrong")
    entry = chosen(samples, device, "queued", "queued")
    assert entry.same == {PROFILED: CCC, TUNED: CCC}
    assert [one.label for one in entry.treatments] == [ORIGINAL, CCC]
    assert entry.chosen == list(CHOSEN)


def test_code_is_left_where_hardly_anything_is_gained(samples: Path) -> None:
    times = {"original": 1.0, "queued": 0.99, "merged": 3.0, "wrong": 1.0}
    device = Gpu(lambda version, *_: times[version], wrong="wrong")
    entry = chosen(samples, device, "queued", CccError("it cannot be counted"))
    assert (entry.tuned, entry.same) == ("leave", {TUNED: ORIGINAL})
    assert PROFILED not in entry
    assert "it cannot be counted" in entry.rejected[PROFILED]


def test_each_form_is_compared_with_the_original_in_its_own_launch(samples: Path) -> None:
    def time(version: str, _blocks: int, threads: int) -> float:
        return TIMES[version] + (threads if version == "original" else -threads) / 100

    entry = chosen(samples, Gpu(time, wrong="wrong"), "original", "merged")
    launches = {one.label: one.configuration.block for one in entry.treatments}
    assert launches[ORIGINAL] == 32
    assert launches[PROFILED] == launches[launched_as(PROFILED)] == launches[TUNED] == 64


def test_an_output_equals_that_of_its_model_only() -> None:
    sample: Any = types.SimpleNamespace(check=lambda *_: None)
    inputs: dict[str, Any] = {}
    labels = ("one", "two", "mine")
    models = {"mine": "two"}
    for value, wrong in ((1, True), (2, False)):
        checker = OutputChecker(sample, "one", dict.fromkeys(labels, inputs), {"two"})
        checker.models = models
        checker.check("one", {"y": np.int32(1)})
        checker.check("two", {"y": np.int32(2)})
        checker.check("mine", {"y": np.int32(value)})
        assert bool(checker.complaints) == wrong


@pytest.mark.parametrize("blocks", ["64", "(64.0,)", "(0,)", "(2048,)"])
def test_block_sizes_that_are_none(samples: Path, blocks: str) -> None:
    path = samples / "good" / "sample.py"
    path.write_text(SAMPLE.replace("BLOCKS = (32, 64)", f"BLOCKS = {blocks}"))
    with pytest.raises(CccError, match="BLOCKS must be a tuple of numbers from 1 to 1024"):
        _ = Sample(samples / "good").blocks


def test_configurations() -> None:
    assert OWN.cut((3, 2), (32, 2)) == ((3, 2), (32, 2))
    assert LaunchConfig(64).cut((3,), (256,)) == ((12,), (64,))
    assert LaunchConfig(96).cut((3,), (64,)) == ((2,), (96,))
    assert LaunchConfig(64).cut((3, 2), (32, 2)) == ((3, 2), (32, 2))
    assert LaunchConfig(64).resident_blocks(lambda block: 2048 // int(str(block)), 256) == 8
    assert LaunchConfig(1024).resident_blocks(lambda _: 1, 256) == 4
    assert LaunchConfig(whole=True).resident_blocks(lambda _: 1, 256) == MOST_BLOCKS


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
    ("name", "size"), [("bfs", 7), ("inverse_erf", 4_000), ("path_tracing", 8)]
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
