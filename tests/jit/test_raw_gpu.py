"""``ccc.RawModule`` and ``ccc.RawKernel`` beside CuPy's own classes, on a device."""

from __future__ import annotations

import importlib
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import DOCS

import ccc
from ccc.errors import CccError
from ccc.jit import at_exit

pytestmark = pytest.mark.gpu

SOURCE = """\
extern "C" {
__constant__ int limit;
__global__ void k(int *x, int n) {
    extern __shared__ int memory[];
    memory[threadIdx.x] = threadIdx.x;
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        #pragma ccc if
        if (x[i] > limit) {
            for (int j = 0; j < 50; j++) x[i] = x[i] * x[i] + j;
        }
    }
}
}
"""
LARGE = """\
extern "C" __global__ void k(const double *x, double *y, int n) {
    extern __shared__ unsigned char mine[];
    mine[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int shift = mine[(threadIdx.x + 1) % blockDim.x];
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3], e = x[i + 4];
        #pragma ccc if strategy(queue)
        if (a * b + c * d > e) {
            for (int j = 0; j < 5; j++) a = a * b + c * d - e * j;
            y[i] = a;
        }
    }
    __syncthreads();
    if (mine[threadIdx.x] != threadIdx.x % 256) y[0] = -1;
    if (shift != (threadIdx.x + 1) % blockDim.x % 256) y[1] = -1;
}
"""
TEMPLATE = """\
namespace ns { __device__ int table[2]; }
template <class T> __global__ void k(T *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (x[i] > T(2)) {
            x[i] = x[i] * x[i] + ns::table[1];
        }
    }
}
"""
GRID = """\
#include <cooperative_groups.h>
extern "C" __global__ void k(int *x, int *sum) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    atomicAdd(&x[0], 1);
    grid.sync();
    if (threadIdx.x == 0) atomicAdd(sum, x[0]);
}
"""
SMALL = """\
extern "C" __global__ void k(float *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (i % 3 == 0) {
            x[i] = x[i] * 0.5f + x[i];
        }
    }
}
"""
COMPLEX = """\
#include <cuComplex.h>
extern "C" __global__ void k(cuDoubleComplex *x) {
    int i = threadIdx.x;
    x[i] = cuCadd(cuCmul(x[i], x[i]), make_cuDoubleComplex(1.0, 2.0));
}
"""
PARENT = """\
__global__ void child(int *x) { atomicAdd(x, 1); }
extern "C" __global__ void k(int *x) { child<<<1, 32>>>(x); }
"""


@pytest.fixture(params=["nvrtc", "nvcc"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def cupy() -> Any:
    return importlib.import_module("cupy")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("CCC_CACHE_DIR", str(folder))
    return folder


COLLECTING = ("--ccc-strategy=collect",)


def launch(cupy: Any, kernel: Any, **options: Any) -> Any:
    """What a kernel makes of some numbers; copied to the host, so that it has ended."""
    values = cupy.arange(10_000, dtype=cupy.int32) % 7
    kernel((8,), (128,), (values, np.int32(values.size)), **{"shared_mem": 512, **options})
    return cupy.asnumpy(values)


def test_the_same_as_cupys(cupy: Any, backend: str) -> None:
    kernel = ccc.RawKernel(SOURCE, "k", COLLECTING, backend)
    plain = ccc.RawKernel(SOURCE, "k", ("--ccc-off",), backend)
    own = cupy.RawKernel(SOURCE, "k", backend=backend)
    (path,) = kernel.report["paths"]
    assert path["applied"], path["reason"]
    assert plain.report["paths"] == []
    for other in (plain, own):
        assert np.array_equal(launch(cupy, kernel), launch(cupy, other))
    assert set(kernel.attributes) == set(own.attributes)
    assert kernel.num_regs == kernel.attributes["num_regs"] > 0
    assert kernel.shared_size_bytes > own.shared_size_bytes
    for name in own.attributes:
        assert isinstance(getattr(kernel, name), int)


def test_a_module(cupy: Any, backend: str) -> None:
    module = ccc.RawModule(code=SOURCE, backend=backend)
    kernel = module.get_function("k")
    before = launch(cupy, kernel)
    pointer = module.get_global("limit")
    limit = cupy.ndarray((1,), cupy.int32, pointer)
    limit[...] = 3
    assert not np.array_equal(launch(cupy, kernel), before)
    limit[...] = 0
    assert np.array_equal(launch(cupy, kernel), before)
    assert kernel.kernel.ptr
    assert module.module.get_function("k").ptr == kernel.kernel.ptr
    with pytest.raises(cupy.cuda.driver.CUDADriverError, match="NOT_FOUND"):
        module.get_function("missing")


def test_name_expressions(cupy: Any, backend: str) -> None:
    names = ("k<int>", "k<float>", "&ns::table")
    module = ccc.RawModule(
        code=TEMPLATE, options=COLLECTING, backend=backend, name_expressions=names
    )
    cupy.ndarray((2,), cupy.int32, module.get_global("&ns::table"))[...] = 4
    for name, kind in (("k<int>", np.int32), ("k<float>", np.float32)):
        values = cupy.arange(100, dtype=kind) % 5
        expected = cupy.where(values > 2, values * values + 4, values)
        kernel = module.get_function(name)
        assert kernel.report["paths"][0]["applied"]
        kernel((1,), (64,), (values, np.int32(100)))
        assert cupy.array_equal(values, expected)


def test_much_shared_memory(cupy: Any, backend: str) -> None:
    kernel = ccc.RawKernel(SOURCE, "k", backend=backend)
    expected = launch(cupy, kernel)
    # What CuPy's kernel has room for, this one has, too: its stack of tasks comes on top.
    assert np.array_equal(launch(cupy, kernel, shared_mem=48 * 1024), expected)
    assert np.array_equal(launch(cupy, kernel, shared_mem=100_000), expected)
    assert kernel.max_dynamic_shared_size_bytes == 100_000


def test_stacks_in_dynamic_shared_memory(cupy: Any, backend: str) -> None:
    kernel = ccc.RawKernel(LARGE, "k", backend=backend)
    plain = ccc.RawKernel(LARGE, "k", ("--ccc-off",), backend=backend)
    (path,) = kernel.report["paths"]
    assert (path["placement"], path["strategy"]) == ("dynamic", "queue")
    x = cupy.random.default_rng(1).random(200_004)

    def run(one: Any, block: int, size: int) -> Any:
        y = cupy.zeros(200_000)
        one((16,), (block,), (x, y, np.int32(y.size)), shared_mem=size)
        return cupy.asnumpy(y)

    for block, size in ((64, 64), (1024, 1024), (100, 77 + 1024), (128, 120_000)):
        assert np.array_equal(run(kernel, block, size), run(plain, block, size))
    with pytest.raises(CccError, match="--ccc-dynamic-shared=N"):
        run(kernel, 1024, 200_000)


def test_streams_and_graphs(cupy: Any, backend: str) -> None:
    kernel = ccc.RawKernel(SOURCE, "k", backend=backend)
    expected = launch(cupy, kernel)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        assert np.array_equal(launch(cupy, kernel), expected)
        values = cupy.arange(10_000, dtype=cupy.int32) % 7
        stream.synchronize()
        stream.begin_capture()
        kernel((8,), (128,), (values, np.int32(values.size)), shared_mem=512)
        graph = stream.end_capture()
    graph.launch(stream)
    stream.synchronize()
    assert np.array_equal(cupy.asnumpy(values), expected)


def test_pickles(cupy: Any, backend: str) -> None:
    kernel = ccc.RawKernel(SOURCE, "k", backend=backend)
    expected = launch(cupy, kernel)
    assert np.array_equal(launch(cupy, pickle.loads(pickle.dumps(kernel))), expected)
    module = pickle.loads(pickle.dumps(ccc.RawModule(code=SOURCE, backend=backend)))
    assert np.array_equal(launch(cupy, module.get_function("k")), expected)


def test_files(cupy: Any, backend: str, tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(SOURCE)
    module = ccc.RawModule(path=str(path), backend=backend, options=("--ccc-mark-only",))
    expected = launch(cupy, module.get_function("k"))
    marked = tmp_path / "k.ptx"
    marked.write_text(module.ptx)
    transformed = ccc.RawModule(path=str(marked), options=COLLECTING)
    assert transformed.report["kernels"][0]["paths"][0]["applied"]
    for one in (transformed, ccc.RawModule(path=str(marked), options=("--ccc-off",))):
        assert np.array_equal(launch(cupy, one.get_function("k")), expected)
    if backend == "nvcc":
        built = module._build().image
        assert np.array_equal(
            launch(cupy, ccc.RawModule(path=str(built)).get_function("k")), expected
        )


def test_cooperative_launches(cupy: Any, backend: str) -> None:
    kernel = ccc.RawKernel(GRID, "k", backend=backend, enable_cooperative_groups=True)
    counted, total = cupy.zeros(1, cupy.int32), cupy.zeros(1, cupy.int32)
    kernel((4,), (32,), (counted, total))
    assert int(total[0]) == 4 * 128


def test_small_numbers_are_zero_as_in_cupy(cupy: Any, backend: str) -> None:
    tiny = np.full(64, 1e-39, np.float32)
    found = []
    for make, options in (
        (ccc.RawKernel, ()),
        (ccc.RawKernel, ("--ccc-off",)),
        (cupy.RawKernel, ()),
    ):
        values = cupy.asarray(tiny)
        make(SMALL, "k", options, backend)((1,), (32,), (values, np.int32(64)))
        found.append(cupy.asnumpy(values))
    assert found[0][0] == 0
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_complex_numbers(cupy: Any, backend: str) -> None:
    for translate in (False, True):
        values = cupy.arange(32, dtype=cupy.complex128) * (1 + 2j)
        expected = values * values + (1 + 2j)
        ccc.RawKernel(COMPLEX, "k", (), backend, translate)((1,), (32,), (values,))
        assert cupy.allclose(values, expected)


def test_relocatable_code(cupy: Any, backend: str) -> None:
    kernel = ccc.RawKernel(PARENT, "k", ("-rdc=true",), backend)
    count = cupy.zeros(1, cupy.int32)
    if backend == "nvrtc" and not _has_device_runtime(cupy):
        with pytest.raises(CccError, match="cannot be linked"):
            kernel.compile()
        return
    kernel((2,), (1,), (count,))
    assert int(count[0]) == 64


def _has_device_runtime(cupy: Any) -> bool:
    home = cupy.cuda.get_cuda_path()
    return home is not None and any(Path(home).glob("lib*/libcudadevrt.a"))


def test_several_devices(cupy: Any, backend: str) -> None:
    kernel = ccc.RawKernel(SOURCE, "k", backend=backend)
    expected = launch(cupy, kernel)
    for device in range(cupy.cuda.runtime.getDeviceCount()):
        with cupy.cuda.Device(device):
            assert np.array_equal(launch(cupy, kernel), expected)


def test_a_profile_is_used(
    cupy: Any, backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(at_exit, "_counting", {})
    file = tmp_path / "p.json"
    expected = launch(cupy, ccc.RawKernel(SOURCE, "k", backend=backend))
    counting = ccc.RawKernel(SOURCE, "k", backend=backend, profile=file)
    assert np.array_equal(launch(cupy, counting), expected)
    at_exit.write()
    ((path,),) = (kernel.paths for kernel in ccc.profile.read(file).kernels)
    assert 0 < path.entries <= path.visits <= path.visiting_lanes <= 32 * path.visits
    assert path.entering_lanes <= path.visiting_lanes
    edited = f"// moved\n{SOURCE}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(
            launch(cupy, ccc.RawKernel(edited, "k", backend=backend, use=file)), expected
        )


def test_the_examples_of_the_pages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    for name in ("cupy.md", "profile.md", "tuning.md"):
        for example in re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(), re.DOTALL):
            exec(compile(example, name, "exec"), scope)
    applied, times, _, after, efficiency, _, tuning = capsys.readouterr().out.splitlines()
    assert applied == "if applied"
    assert re.fullmatch(r"[\d.]+ ms before, [\d.]+ ms after: [\d.]+ times as fast", times)
    assert "of the lanes active" in after
    assert 0 < float(efficiency) <= 1
    assert "'chosen': " in tuning
