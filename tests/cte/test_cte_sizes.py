"""What is chosen by the sizes of lists, and by how much an item needs, makes one result."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from breadth import one_in
from emulating import cuda, needs_nvcc
from numpy.typing import NDArray

import ccc
from ccc.emulator import Module, Race

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]

SOURCE = """\
#include <cte.cuh>

struct Four {
    unsigned words[4];
};

// What becomes of x if affine functions are applied one after the other: their order shows.
struct Affine {
    unsigned factor, shift;
};

template <class Value>
__device__ void sums(const int *rows, Value *sums, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int begin = rows[row < n ? row : n], end = rows[row < n ? row + 1 : n];
    const Value sum = cte::for_each_index<BY, 96, cte::scanned>(
        begin, end, [](int k) { return Value(k % 7); }, cte::plus(), Value(0));
    if (row < n) sums[row] = sum;
}

extern "C" __global__ void narrow(const int *rows, float *out, int n) { sums(rows, out, n); }
extern "C" __global__ void wide(const int *rows, double *out, int n) { sums(rows, out, n); }

extern "C" __global__ void fetched(const int *rows, int *out, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int begin = rows[row < n ? row : n], end = rows[row < n ? row + 1 : n];
    const int sum = cte::for_each_index<BY, 96>(
        begin, end, [](int k, int by) { return k % 7 * by; }, cte::plus(), 0, row);
    if (row < n) out[row] = sum;
}

extern "C" __global__ void large(const int *rows, unsigned *out, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int begin = rows[row < n ? row : n], end = rows[row < n ? row + 1 : n];
    const unsigned sum = cte::for_each_index<BY, 96, cte::scanned>(
        begin, end, [](int k, Four by) { return k % 7 * by.words[k % 4]; }, cte::plus(), 0u,
        Four{unsigned(row), 1, 2, 3});
    if (row < n) out[row] = sum;
}

extern "C" __global__ void ordered(const int *rows, Affine *out, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int begin = rows[row < n ? row : n], end = rows[row < n ? row + 1 : n];
    const auto map = [](int k, Four by) { return Affine{2u * k + 3, by.words[k % 4]}; };
    const auto reduce = [](const Affine &a, const Affine &b) {
        return Affine{a.factor * b.factor, a.shift * b.factor + b.shift};
    };
    const Affine all = cte::for_each_index<BY, 96>(begin, end, map, reduce, Affine{1, 0},
                                                   Four{unsigned(row), 1, 2, 3});
    if (row < n) out[row] = all;
}

extern "C" __global__ void visited(const int *rows, unsigned *out, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int begin = rows[row < n ? row : n], end = rows[row < n ? row + 1 : n];
    cte::for_each<BY, 96>(begin, end, [=](int k, Four by) { atomicAdd(out + by.words[0], k % 7); },
                          Four{unsigned(row), 1, 2, 3});
}
"""
ROWS = 180  # two blocks of 96 threads, of which the last twelve have no row
AFFINE = np.dtype([("factor", "u4"), ("shift", "u4")])
TYPES: dict[str, Any] = {
    "narrow": np.float32,
    "wide": np.float64,
    "fetched": np.int32,
    "large": np.uint32,
    "ordered": AFFINE,
    "visited": np.uint32,
}


def _even(length: int) -> Callable[[Any], NDArray[Any]]:
    return lambda _: np.full(ROWS, length)


SIZES: dict[str, Callable[[Any], NDArray[Any]]] = {
    **{f"even {n}": _even(n) for n in (1, 10, 14, 21, 45, 70)},
    "nearly even": lambda rng: rng.integers(28, 32, ROWS),
    "short": lambda rng: rng.integers(0, 24, ROWS),
    "long": lambda rng: rng.integers(0, 90, ROWS),
    "one is most": lambda rng: np.where(np.arange(ROWS) % 50 == 7, 1700, rng.integers(0, 3, ROWS)),
    "few": lambda rng: np.where(rng.random(ROWS) < 0.1, 40, 0),
}


@functools.cache
def module(by: str) -> Module:
    return cuda(SOURCE, "-std=c++17", f"-I{ccc.include()}", f"-DBY={by}")


def expected(kernel: str, rows: NDArray[np.int32]) -> NDArray[Any]:
    found: NDArray[Any] = np.zeros(ROWS, TYPES[kernel])
    for row in range(ROWS):
        items = np.arange(rows[row], rows[row + 1])
        words = np.array([row, 1, 2, 3])[items % 4]
        if kernel == "ordered":
            factor, shift = 1, 0
            for k, word in zip(items.tolist(), words.tolist(), strict=True):
                factor = factor * (2 * k + 3) & 0xFFFFFFFF
                shift = (shift * (2 * k + 3) + word) & 0xFFFFFFFF
            found[row] = factor, shift
        else:
            by = {"fetched": row, "large": words}.get(kernel, 1)
            found[row] = (items % 7 * by).sum()
    return found


@pytest.mark.parametrize(
    ("by", "sizes"), one_in(4, product(["cte::automatic", "cte::warp", "cte::block"], SIZES))
)
def test_lists_of_all_sizes(by: str, sizes: str) -> None:
    lengths = SIZES[sizes](np.random.default_rng(len(sizes)))
    rows = np.r_[0, np.cumsum(lengths)].astype(np.int32)
    for number, kernel in enumerate(TYPES):
        races: list[Race] = []
        out: NDArray[Any] = np.zeros(ROWS, TYPES[kernel])
        schedule = number if number % 2 else "lockstep"
        launch = module(by).get_function(kernel)
        launch((2,), (96,), (rows, out, np.int32(ROWS)), schedule=schedule, races=races)
        assert not races
        assert out.tolist() == expected(kernel, rows).tolist(), kernel
