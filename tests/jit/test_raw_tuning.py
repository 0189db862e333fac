"""``ccc.RawKernel(..., tune=True)``: versions take turns; kernels run on the emulator."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import emulated_cupy
import numpy as np
import pytest
from emulated_cupy import Stream
from emulating import needs_nvcc

from ccc.decisions import AnnotationPlace, TunedDecisions, TunedPath
from ccc.device import gpu
from ccc.errors import CccError
from ccc.jit import telling
from ccc.jit.raw import RawKernel
from ccc.jit.telling import CccWarning
from ccc.jit.tuning import LaunchShape, _state
from ccc.passes.thresholds import TUNED_CALLS, TUNED_ROUNDS, TUNED_VERSIONS

SOURCE = """\
extern "C" __global__ void __launch_bounds__(64) k(int *x, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        #pragma ccc if
        if (x[i] % 16 == 3) {
            for (int j = 0; j < 120; j++) x[i] = x[i] * x[i] + j;
        }
    }
}
"""
OFTEN = SOURCE.replace("== 3", "!= 3").replace("j < 120", "j < 1")
COUNTER = SOURCE.replace('extern "C"', '__device__ int counter;\nextern "C"', 1).replace(
    "x[i] * x[i]", "x[i] * x[i] + atomicAdd(&counter, 1)"
)
NOTHING = SOURCE.replace("    #pragma ccc if\n", "").replace("    #pragma ccc for\n", "")
CALLS = TUNED_VERSIONS * (TUNED_ROUNDS + 1)

pytestmark = [pytest.mark.slow, needs_nvcc, pytest.mark.usefixtures("few_headers", "in_process")]


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = tmp_path_factory.getbasetemp() / "cache"
    emulated_cupy.install(monkeypatch, cache)
    shutil.rmtree(cache / "tuned", ignore_errors=True)
    monkeypatch.setattr(Stream, "now", 0.0)
    monkeypatch.setattr(Stream, "told", None)
    monkeypatch.setattr(Stream, "capturing", False)
    telling._shown.clear()


def tuned(source: str = SOURCE, **more: Any) -> RawKernel:
    return RawKernel(source, "k", ("-O3",), "nvcc", tune=True, **more)


def launch(kernel: RawKernel, blocks: int = 2) -> None:
    """One call, whose result must be that of any version."""
    given = np.arange(800, dtype=np.int32)
    kernel((blocks,), (64,), (given, np.int32(given.size)))
    expected = np.arange(800, dtype=np.int32)
    chosen = expected % 16 == 3
    value = expected[chosen]
    with np.errstate(over="ignore"):
        for j in range(120):
            value = value * value + np.int32(j)
    expected[chosen] = value
    assert (given == expected).all()


def shape_of(kernel: RawKernel) -> dict[str, Any]:
    (found,) = kernel.report["tuning"]["shapes"]
    assert isinstance(found, dict)
    return found


def test_versions_take_turns_until_one_is_ahead() -> None:
    kernel = tuned()
    launch(kernel)
    first = shape_of(kernel)
    assert first["chosen"] is None
    for _ in range(CALLS - 1):
        launch(kernel)
    found = shape_of(kernel)
    times = found["milliseconds"]
    assert len(times) == TUNED_VERSIONS
    assert found["chosen"] == min(times, key=times.get) != "leave"
    assert all(calls >= 1 + TUNED_CALLS for calls in found["calls"].values())
    assert sum(found["calls"].values()) < CALLS  # the rest took the one that is ahead
    assert (found["blocks"], found["threads"]) == ([2, 3], [64])
    assert {"leave", found["chosen"]} <= set(times)
    # Another kernel of the same source knows it at once, and nothing else is compiled.
    again = tuned()
    launch(again)
    assert shape_of(again)["chosen"] == found["chosen"]
    assert set(again._tuning._versions) == {found["chosen"]} - {"auto"}  # type: ignore[union-attr]
    # A launch of another shape is another question.
    launch(again, blocks=8)
    assert [one["chosen"] for one in again.report["tuning"]["shapes"]] == [found["chosen"], None]


@pytest.mark.long
def test_what_does_not_pay_stays_as_it_was() -> None:
    kernel = tuned(OFTEN)
    given = np.arange(800, dtype=np.int32)
    for _ in range(CALLS):
        kernel((2,), (64,), (given, np.int32(given.size)))
    assert shape_of(kernel)["chosen"] == "leave"


def test_nobody_waits_for_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stream, "told", -1.0)  # no event has passed as far as the host knows
    kernel = tuned()
    for _ in range(CALLS + 10):
        launch(kernel)
    found = shape_of(kernel)
    assert (found["chosen"], found["milliseconds"]) == (None, {})
    assert max(found["calls"].values()) == TUNED_ROUNDS + 1
    monkeypatch.setattr(Stream, "told", None)
    assert shape_of(kernel)["chosen"] is not None


def test_what_goes_into_a_graph_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tuned()
    monkeypatch.setattr(Stream, "capturing", True)
    for _ in range(CALLS):
        launch(kernel)
    assert (shape_of(kernel)["calls"], shape_of(kernel)["best"]) == ({}, "auto")
    monkeypatch.setattr(Stream, "capturing", False)
    monkeypatch.setattr(Stream, "told", -1.0)
    for _ in range(5):
        launch(kernel)  # timed, and not known to be over
    monkeypatch.setattr(Stream, "capturing", True)
    with monkeypatch.context() as patch:
        patch.setattr(gpu, "event_done", lambda _: pytest.fail("a capture forbids that"))
        launch(kernel)
    monkeypatch.setattr(Stream, "capturing", False)
    monkeypatch.setattr(Stream, "told", None)
    for _ in range(CALLS):
        launch(kernel)
    chosen = shape_of(kernel)["chosen"]
    before = dict(shape_of(kernel)["calls"])
    assert chosen is not None
    monkeypatch.setattr(Stream, "capturing", True)
    launch(kernel)
    assert shape_of(kernel)["calls"] == before


def test_a_kernel_with_variables_is_not_tuned() -> None:
    kernel = tuned(COUNTER)
    given = np.arange(800, dtype=np.int32)
    for _ in range(3):
        kernel((2,), (64,), (given, np.int32(given.size)))
    told = kernel.report["tuning"]
    assert "variables of its own, such as counter" in told["reason"]
    assert [one["chosen"] for one in told["shapes"]] == ["auto"]


def test_without_alternatives_nothing_is_tried() -> None:
    kernel = tuned(NOTHING)
    launch(kernel)
    assert kernel.report["tuning"]["reason"] == "no strategy applies"
    assert shape_of(kernel)["chosen"] == "leave"


def test_who_asks_for_variables_ends_it() -> None:
    kernel = tuned()
    launch(kernel)
    with pytest.raises(Exception, match="nothing"):
        kernel.get_global("nothing")
    launch(kernel)
    assert shape_of(kernel)["chosen"] == "auto"


def test_attributes_are_those_of_all_versions() -> None:
    kernel = tuned()
    kernel.max_dynamic_shared_size_bytes = 60_000
    for _ in range(TUNED_VERSIONS):
        launch(kernel)
    versions = kernel._tuning._versions.values()  # type: ignore[union-attr]
    assert {one.max_dynamic_shared_size_bytes for one in versions} <= {60_000}


def test_it_can_be_pickled() -> None:
    kernel = pickle.loads(pickle.dumps(tuned()))
    launch(kernel)
    assert kernel.report["tuning"]["shapes"]


def test_versions_do_not_warn_again() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", CccWarning)
        kernel = tuned()
        for _ in range(TUNED_VERSIONS):
            launch(kernel)
    assert not said


def test_a_damaged_file_is_measured_again() -> None:
    kernel = tuned()
    for _ in range(CALLS):
        launch(kernel)
    (file,) = Path(os.environ["CCC_CACHE_DIR"], "tuned").iterdir()
    assert json.loads(file.read_text())["chosen"] == shape_of(kernel)["chosen"]
    for text in ("", "[]", '{"chosen": "quee"}', '{"chosen": null}'):
        file.write_text(text)
        again = tuned()
        launch(again)
        assert shape_of(again)["chosen"] is None


@pytest.mark.parametrize("option", ["--ccc-off", "--ccc-mark-only", "--ccc-profile=p"])
def test_options_that_ask_for_one_version(option: str) -> None:
    with pytest.raises(ValueError, match="tune=True takes one version or another"):
        RawKernel(SOURCE, "k", (option,), "nvcc", tune=True)


def test_timers_are_for_programs() -> None:
    with pytest.raises(CccError, match="tune=True"):
        RawKernel(SOURCE, "k", ("--ccc-time=t.json",), "nvcc")


def test_decisions_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "decisions.json"
    place = AnnotationPlace("source.cu", 4, 9, "k", "if", "then")
    for strategy in ("merge", "leave"):
        TunedDecisions([TunedPath(place, strategy)]).write(file)
        kernel = RawKernel(SOURCE, "k", backend="nvcc", decisions=file)
        assert kernel.report["paths"][0]["strategy"] == strategy
    with pytest.raises(ValueError, match="leave out decisions"):
        RawKernel(SOURCE, "k", backend="nvcc", decisions=file, tune=True)


class CUDADriverError(RuntimeError):
    """As CuPy calls it."""


def test_a_version_that_cannot_be_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes more registers than there are for the block: the call is made by another one."""
    kernel = tuned()
    launch_one = emulated_cupy.Kernel.__call__
    refused: list[str] = []

    def launched(one: Any, *args: Any, **options: Any) -> None:
        if one is not kernel._tuning._versions["leave"]._raw():  # type: ignore[union-attr]
            refused.append("once")
            raise CUDADriverError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources")
        launch_one(one, *args, **options)

    monkeypatch.setattr(emulated_cupy.Kernel, "__call__", launched)
    for _ in range(TUNED_VERSIONS + 2):
        launch(kernel)
    assert len(refused) == TUNED_VERSIONS - 1
    assert shape_of(kernel)["chosen"] == "leave"


def test_what_is_wrong_with_a_call_is_told() -> None:
    kernel = tuned()
    with pytest.raises(Exception, match="argument"):
        kernel((2,), (64,), ())
    assert shape_of(kernel)["chosen"] is None


def test_launches_of_one_shape() -> None:
    shape = LaunchShape.of((1000,), (64, 1, 1), 0)
    assert shape == LaunchShape.of((8, 100), (64,), 0)
    assert shape != LaunchShape.of((1024,), (64,), 0)
    assert shape != LaunchShape.of((1000,), (32, 2), 0)
    assert shape != LaunchShape.of((1000,), (64,), 4)


@pytest.mark.parametrize(
    ("declared", "state"),
    [
        (".visible .global .align 4 .u32 counter;", "counter"),
        (".global .align 4 .b8 table[16] = {1, 2};", "table"),
        (".visible .const .align 4 .u32 limit;", "limit"),
        (".const .align 4 .b8 fixed[8] = {1, 2};", None),
        (".global .align 1 .b8 $str[6] = {72, 101};", None),
        ("    ld.global.u32 %r1, [%rd1];", None),
    ],
)
def test_variables_that_may_change(declared: str, state: str | None) -> None:
    assert _state(f".version 9.0\n{declared}\n") == state


def test_calls_are_counted_once() -> None:
    values = np.zeros(64, np.int32)
    add = SOURCE.replace("x[i] % 16 == 3", "x[i] >= 0").replace(
        "for (int j = 0; j < 120; j++) x[i] = x[i] * x[i] + j;", "x[i] += 1;"
    )
    kernel = tuned(add)
    for _ in range(20):
        kernel((1,), (64,), (values, np.int32(values.size)))
    assert Counter(values.tolist()) == {20: 64}
