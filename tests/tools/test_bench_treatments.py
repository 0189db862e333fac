"""What ``ccc bench`` measures of each treatment, on a device made of Python."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_bench import SAMPLE, samples

from ccc.errors import CccError
from ccc.harness.check import OutputChecker
from ccc.harness.launch_config import MOST_BLOCKS, OWN, LaunchConfig
from ccc.harness.sample import Sample
from ccc.toolkit.ptxas import Resources
from ccc.tools.bench import measuring
from ccc.tools.bench.inputs import Inputs
from ccc.tools.bench.results import (
    CCC,
    CHOSEN,
    ORIGINAL,
    PROFILED,
    SAME_LAUNCH,
    TUNED,
    Entry,
    KernelFootprint,
    Treatment,
    launched_as,
)
from ccc.tools.bench.treatments import Subject
from ccc.tools.bench.versions import Build

__all__ = ["samples"]


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

    def alike(self, values: dict[str, Any], others: dict[str, Any]) -> bool:
        return all(np.array_equal(value, others[name]) for name, value in values.items())


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
