"""Kernels that nvcc compiled, against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from emulating import compiled, cuda, needs_nvcc

from ccc.emulator import EmulatorError, Module

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]

SCHEDULES = ("lockstep", *range(4))

BFS = """
extern "C" __global__ void bfs(int n, int depth, int* levels, const int* row, const int* col,
                               int* done) {
  for (int v = threadIdx.x + blockIdx.x * blockDim.x; v < n; v += gridDim.x * blockDim.x)
    if (levels[v] == depth)
      for (int j = row[v]; j < row[v + 1]; j++) {
        int w = col[j];
        if (levels[w] == -1) { levels[w] = depth + 1; *done = 0; }
      }
}
"""


def levels_of(row: np.ndarray, col: np.ndarray) -> np.ndarray:
    levels = np.full(len(row) - 1, -1, np.int32)
    levels[0] = 0
    frontier, depth = [0], 0
    while frontier:
        depth += 1
        found = {int(w) for v in frontier for w in col[row[v] : row[v + 1]] if levels[w] < 0}
        frontier = sorted(found)
        levels[frontier] = depth
    return levels


@pytest.mark.parametrize("schedule", ["lockstep", 1])
def test_breadth_first_search(schedule: str | int) -> None:
    random = np.random.default_rng(1)
    degrees = random.zipf(1.7, 500).clip(0, 100)
    row = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    col = random.integers(0, 500, row[-1]).astype(np.int32)
    levels = np.full(500, -1, np.int32)
    levels[0] = 0
    kernel = cuda(BFS).get_function("bfs")
    for depth in range(100):
        done = np.ones(1, np.int32)
        arguments = (np.int32(500), np.int32(depth), levels, row, col, done)
        counts = kernel((2,), (128,), arguments, schedule=schedule)
        assert 0 < counts.warp_execution_efficiency < 1
        if done[0]:
            break
    assert levels.tolist() == levels_of(row, col).tolist()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_reduction_through_shuffles_and_shared_memory(schedule: str | int) -> None:
    source = """
    extern "C" __global__ void sum(const float* in, float* out, int n) {
      extern __shared__ float part[];
      float s = 0;
      for (int i = threadIdx.x; i < n; i += blockDim.x) s += in[i];
      for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
      if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
      __syncthreads();
      if (threadIdx.x < 32) {
        s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
        if (threadIdx.x == 0) *out = s;
      }
    }"""
    data = np.arange(1000, dtype=np.float32)
    out = np.zeros(1, np.float32)
    kernel = cuda(source).get_function("sum")
    kernel((1,), (256,), (data, out, np.int32(1000)), shared_mem=32, schedule=schedule)
    assert out[0] == data.sum()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_recursion_and_arguments_in_memory(schedule: str | int) -> None:
    source = """
    struct Pair { int a; double b; int c[3]; };
    __device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    __device__ __noinline__ Pair change(Pair p, int k) { p.b += k; p.c[k % 3] = k; return p; }
    extern "C" __global__ void k(int* f, double* b, Pair p) {
      Pair q = change(p, threadIdx.x);
      f[threadIdx.x] = fib(threadIdx.x % 9) * 100 + q.c[0] + q.c[1] + q.c[2];
      b[threadIdx.x] = q.b;
    }"""
    kind = np.dtype([("a", "i4"), ("b", "f8"), ("c", "i4", 3)], align=True)
    pair = np.array([(1, 0.5, (1, 2, 3))], kind)[0]
    numbers, doubles = np.zeros(64, np.int32), np.zeros(64)
    kernel = cuda(source).get_function("k")
    kernel((1,), (64,), (numbers, doubles, pair), schedule=schedule)
    fib = [0, 1, 1, 2, 3, 5, 8, 13, 21]
    assert numbers.tolist() == [100 * fib[i % 9] + 6 - (i % 3 + 1) + i for i in range(64)]
    assert doubles.tolist() == [0.5 + i for i in range(64)]


def test_endless_recursion_is_reported() -> None:
    source = """
    __device__ __noinline__ int down(int n) { return n == -1 ? 0 : down(n + 1) * 3 + n; }
    extern "C" __global__ void k(int* out) { *out = down(0); }"""
    with pytest.raises(EmulatorError, match="calls are nested deeper than 1000"):
        cuda(source).get_function("k")((1,), (1,), (np.zeros(1, np.int32),))


@pytest.mark.slow
@pytest.mark.usefixtures("all_headers")
def test_mathematics() -> None:
    source = """
    extern "C" __global__ void k(const double* x, double* out, const float* y, float* single) {
      int i = threadIdx.x;
      out[8 * i] = exp(x[i]); out[8 * i + 1] = log(fabs(x[i])); out[8 * i + 2] = sin(x[i]);
      out[8 * i + 3] = pow(fabs(x[i]), 1.25); out[8 * i + 4] = erfinv(sin(x[i]) * 0.99);
      out[8 * i + 5] = sqrt(fabs(x[i])); out[8 * i + 6] = x[i] / 3;
      out[8 * i + 7] = fmod(x[i], 2.0);
      single[6 * i] = expf(y[i]); single[6 * i + 1] = logf(fabsf(y[i]));
      single[6 * i + 2] = sinf(y[i] * 1e5f); single[6 * i + 3] = powf(fabsf(y[i]), 1.25f);
      single[6 * i + 4] = erff(y[i]); single[6 * i + 5] = cosf(y[i]) / 3;
    }"""
    x = np.linspace(-20, 20, 64)
    y = x.astype(np.float32)
    out, single = np.zeros((64, 8)), np.zeros((64, 6), np.float32)
    cuda(source).get_function("k")((1,), (64,), (x, out, y, single))
    size = np.abs(x)
    exact = [np.exp(x), np.log(size), np.sin(x), size**1.25, None, np.sqrt(size), x / 3]
    for column, expected in enumerate(exact):
        if expected is not None:
            np.testing.assert_allclose(out[:, column], expected, rtol=1e-13)
    np.testing.assert_allclose(out[:, 7], np.fmod(x, 2), rtol=1e-15)
    back = [math.erf(v) for v in out[:, 4]]
    np.testing.assert_allclose(back, np.sin(x) * 0.99, rtol=1e-12, atol=1e-15)
    wide = y.astype(np.float64)
    for column, expected in enumerate(
        [np.exp(wide), np.log(np.abs(wide)), np.sin((y * np.float32(1e5)).astype(np.float64)),
         np.abs(wide) ** 1.25, [math.erf(v) for v in wide], np.cos(wide) / 3]
    ):  # fmt: skip
        np.testing.assert_allclose(single[:, column], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_switch_and_a_local_array(schedule: str | int) -> None:
    source = """
    extern "C" __global__ void k(int* out, int m) {
      int mine[16];
      for (int j = 0; j < 16; j++) mine[j] = j * threadIdx.x;
      int v = mine[(threadIdx.x * m) & 15];
      switch (threadIdx.x & 7) {
        case 0: v += 1; break;
        case 1: v *= 2; break;
        case 2: v -= 4; break;
        case 3: v ^= 8; break;
        case 5: v = __popc(v); break;
        case 6: v = v / 3 + v % 5; break;
        default: if (v > 50) return;
      }
      out[threadIdx.x] = v;
    }"""
    out = np.full(100, -1, np.int32)
    cuda(source).get_function("k")((1,), (100,), (out, np.int32(3)), schedule=schedule)
    expected = []
    for i in range(100):
        v = ((i * 3) & 15) * i
        kept = -1 if v > 50 else v
        cases = [v + 1, v * 2, v - 4, v ^ 8, kept, bin(v).count("1"), v // 3 + v % 5, kept]
        expected.append(cases[i & 7])
    assert out.tolist() == expected


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_histogram_with_contention(schedule: str | int) -> None:
    source = """
    extern "C" __global__ void histogram(const unsigned char* in, int n, unsigned* bins) {
      __shared__ unsigned mine[16];
      if (threadIdx.x < 16) mine[threadIdx.x] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i] & 15], 1u);
      __syncthreads();
      if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
    }"""
    data = np.random.default_rng(3).integers(0, 256, 1000).astype(np.uint8)
    bins = np.zeros(16, np.uint32)
    kernel = cuda(source).get_function("histogram")
    kernel((3,), (96,), (data, np.int32(1000), bins), schedule=schedule)
    assert bins.tolist() == np.bincount(data & 15, minlength=16).tolist()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_compaction_by_ballot(schedule: str | int) -> None:
    """A queue of one warp: ballot, rank, shared memory, __syncwarp."""
    source = """
    extern "C" __global__ void k(const int* in, int n, int* out, int* total) {
      __shared__ int queue[64];
      int lane = threadIdx.x, held = 0, written = 0;
      for (int i = lane; __any_sync(~0u, i < n); i += 32) {
        bool wanted = i < n && in[i] % 3 == 0;
        unsigned mask = __ballot_sync(~0u, wanted);
        if (wanted) queue[held + __popc(mask & ((1u << lane) - 1))] = in[i];
        __syncwarp();
        held += __popc(mask);
        if (held >= 32) {
          held -= 32;
          out[written + lane] = queue[held + lane];
          written += 32;
          __syncwarp();
        }
      }
      if (lane < held) out[written + lane] = queue[lane];
      if (lane == 0) *total = written + held;
    }"""
    data = np.random.default_rng(5).integers(0, 1000, 500).astype(np.int32)
    out, total = np.zeros(500, np.int32), np.zeros(1, np.int32)
    kernel = cuda(source).get_function("k")
    kernel((1,), (32,), (data, np.int32(500), out, total), schedule=schedule)
    wanted = data[data % 3 == 0]
    assert total[0] == len(wanted)
    assert sorted(out[: total[0]]) == sorted(wanted)


def test_assertions_and_what_has_no_body() -> None:
    source = """
    #include <assert.h>
    #include <stdio.h>
    extern "C" __global__ void checks(int* out) { assert(out[threadIdx.x] < 5); }
    extern "C" __global__ void prints(int* out) { out[threadIdx.x] += printf("%d", out[0]) - 1; }
    extern "C" __global__ void allocates(int* out) {
        int *own = (int *)malloc(8), *other = (int *)malloc(4);
        own[0] = out[threadIdx.x];
        own[1] = *other = threadIdx.x;
        out[threadIdx.x] = own[0] + 10 * own[1];
        free(own);
    }
    __device__ __noinline__ void put(int *place, int value) { *place += value; }
    extern "C" __global__ void fills(int* out) {
        int *own = (int *)malloc(4);
        own[0] = threadIdx.x;
        put(out + threadIdx.x, own[0]);
    }"""
    module = cuda(source)
    data = np.arange(8, dtype=np.int32)
    module.get_function("checks")((1,), (5,), (data,))
    with pytest.raises(EmulatorError) as caught:
        module.get_function("checks")((1,), (8,), (data,))
    where, said = str(caught.value).split(": error: ")
    assert where.endswith(":4")
    assert said == (
        'assertion "out[threadIdx.x] < 5" failed in void checks(int *), kernel checks, '
        "thread (5, 0, 0) of block (0, 0, 0)"
    )
    module.get_function("prints")((1,), (8,), (data,))
    assert data.tolist() == list(range(8))
    module.get_function("allocates")((1,), (8,), (data,))
    assert data.tolist() == [11 * number for number in range(8)]
    module.get_function("fills")((1,), (8,), (data,))
    assert data.tolist() == [12 * number for number in range(8)]
    unknown = Module(".version 8.0\n.target sm_90\n.entry k() { call elsewhere, (); ret; }")
    with pytest.raises(EmulatorError, match="elsewhere has no body here, and is not emulated"):
        unknown.get_function("k")((1,), (8,), ())


def test_kernels_are_found_by_their_source_names() -> None:
    source = """
    __global__ void scale(float* x, float f) { x[threadIdx.x] *= f; }
    namespace deep { __global__ void scale2(float* x) { x[threadIdx.x] *= 2; } }
    template <int K> __global__ void times(int* x) { x[threadIdx.x] *= K; }
    template __global__ void times<3>(int*);"""
    module = Module(compiled(source))
    x = np.ones(4, np.float32)
    module.get_function("scale")((1,), (4,), (x, np.float32(3)))
    assert x.tolist() == [3.0] * 4
    y = np.ones(4, np.int32)
    module.get_function("times")((1,), (4,), (y,))
    assert y.tolist() == [3] * 4
