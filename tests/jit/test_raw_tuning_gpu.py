"""``ccc.RawKernel(tune=True)`` on a device: real events, streams and graphs."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccc
from ccc.passes.thresholds import TUNED_ROUNDS, TUNED_VERSIONS

pytestmark = pytest.mark.gpu

SOURCE = """\
extern "C" __global__ void __launch_bounds__(256)
k(const unsigned *x, float *y, unsigned *count, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned v = x[i];
        #pragma ccc if
        if (((v & 15) == 0) == SELDOM) {
            float f = v & 1023;
            for (int j = 0; j < TURNS; j++) f = f * 0.5f + 1.5f;
            y[i] = f;
            atomicAdd(count, 1);
        }
    }
}
"""
N, GRID, BLOCK = 1 << 22, (1056,), (256,)
CALLS = TUNED_VERSIONS * (TUNED_ROUNDS + 1)


@pytest.fixture
def cupy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("CCC_CACHE_DIR", str(tmp_path))
    return importlib.import_module("cupy")


def inputs(cupy: Any) -> tuple[Any, Any, Any, np.int32]:
    x = cupy.asarray(np.random.default_rng(1).integers(0, 1 << 32, N, dtype=np.uint32))
    return x, cupy.zeros(N, np.float32), cupy.zeros(1, np.uint32), np.int32(N)


def tuned(seldom: bool, turns: int) -> ccc.RawKernel:
    options = (f"-DSELDOM={int(seldom)}", f"-DTURNS={turns}")
    return ccc.RawKernel(SOURCE, "k", options, tune=True)


def play(cupy: Any, kernel: ccc.RawKernel, wait: bool) -> tuple[Any, Any]:
    """Calls until a version is chosen; each must have been made once."""
    arguments = inputs(cupy)
    plain = ccc.RawKernel(SOURCE, "k", (*kernel.options, "--ccc-off"))
    plain(GRID, BLOCK, arguments)
    expected, each = arguments[1].copy(), int(arguments[2][0])
    arguments[1][:] = 0
    arguments[2][:] = 0
    for _ in range(CALLS):
        kernel(GRID, BLOCK, arguments)
        if wait:
            cupy.cuda.get_current_stream().synchronize()
    cupy.cuda.get_current_stream().synchronize()
    assert cupy.array_equal(arguments[1], expected)
    assert int(arguments[2][0]) == (CALLS * each) % (1 << 32)
    (shape,) = kernel.report["tuning"]["shapes"]
    return arguments, shape


@pytest.mark.parametrize("wait", [True, False])
def test_a_branch_that_pays_and_one_that_does_not(cupy: Any, wait: bool) -> None:
    _, pays = play(cupy, tuned(True, 200), wait)
    assert pays["chosen"] not in (None, "leave"), pays
    assert pays["milliseconds"][pays["chosen"]] < pays["milliseconds"]["leave"]
    _, does_not = play(cupy, tuned(False, 1), wait)
    times = does_not["milliseconds"]  # of a few microseconds, near to one another
    assert times[does_not["chosen"]] <= times["leave"], does_not
    assert len(does_not["milliseconds"]) == TUNED_VERSIONS


def test_on_another_stream_and_from_the_cache(cupy: Any) -> None:
    with cupy.cuda.Stream(non_blocking=True):
        _, found = play(cupy, tuned(True, 200), wait=False)
        again = tuned(True, 200)
        again(GRID, BLOCK, inputs(cupy))
    assert found["chosen"] is not None
    (shape,) = again.report["tuning"]["shapes"]
    assert (shape["chosen"], shape["calls"]) == (found["chosen"], {})


def test_in_a_graph(cupy: Any) -> None:
    """Nothing is timed while a graph is captured; it gets the version that is best so far."""
    kernel = tuned(True, 200)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        arguments = inputs(cupy)
        kernel(GRID, BLOCK, arguments)
        kernel.compile()  # what a graph takes has to be loaded before
        stream.synchronize()
        before = kernel.report["tuning"]["shapes"][0]["calls"]
        each = int(arguments[2][0])
        stream.begin_capture()
        kernel(GRID, BLOCK, arguments)
        graph = stream.end_capture()
        for _ in range(3):
            graph.launch()
        stream.synchronize()
        assert int(arguments[2][0]) == 4 * each
    assert kernel.report["tuning"]["shapes"][0]["calls"] == before
