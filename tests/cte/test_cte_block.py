"""``cte::block`` again and again, and where the block is not as it was told."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from emulating import cuda, needs_nvcc

import ccc
from ccc.emulator import Module, Race

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]

SOURCE = """\
#include <cte.cuh>

extern "C" __global__ void sums(const int *sizes, const int *here, int *sums)
{
    const int thread = threadIdx.x;
    if (!here[thread]) return;
    const auto map = [](int k, int by) { return k + by; };
    sums[thread] =
        cte::for_each_index<cte::block, 64>(0, sizes[thread], map, cte::plus(), 0, thread);
}

// Two calls a round, each with what the other one made, in rounds that all threads take.
extern "C" __global__ void rounds(const int *sizes, int count, int *sums)
{
    __shared__ int own[64];
    const int thread = threadIdx.x;
    int sum = thread;
    for (int round = 0; round < count; ++round) {
        if (round == 1) continue;
        own[thread] = sum;
        __syncthreads();
        sum = cte::for_each_index<cte::block, 64>(
            0, sizes[(thread + round) % 64], [](int k, int by) { return k % 3 * by; }, cte::plus(),
            own[63 - thread], round);
        cte::for_each<cte::block, 64>(
            0, sizes[thread], [=](int k, int to) { atomicAdd(sums + to, k % 2); }, thread);
        __syncthreads();
    }
    atomicAdd(sums + thread, sum);
}
"""


@functools.cache
def module() -> Module:
    return cuda(SOURCE, "-std=c++17", f"-I{ccc.include()}")


@pytest.mark.parametrize("threads", [33, 64, 65, 96, 130])
@pytest.mark.parametrize("gone", ["none", "first", "last", "some"])
def test_another_block_than_was_told(threads: int, gone: str) -> None:
    """As many threads as were told may be left of a larger block."""
    rng = np.random.default_rng(threads)
    more = max(0, threads - 64)
    here = np.ones(threads, np.int32)
    if gone != "none":
        here[{"first": np.s_[:more], "last": np.s_[threads - more :]}.get(gone, ())] = 0
    if gone == "some":
        here[:] = 1
        here[rng.permutation(threads)[:more]] = 0
    few = rng.integers(0, 9, threads).astype(np.int32)
    for schedule, long in (("lockstep", 0), (1, threads // 2), (2, threads - 1)):
        sizes = np.where(np.arange(threads) == long, 9000, few).astype(np.int32)
        sums = np.full(threads, -1, np.int32)
        module().get_function("sums")((1,), (threads,), (sizes, here, sums), schedule=schedule)
        each = sizes * (sizes - 1) // 2 + sizes * np.arange(threads)
        assert sums.tolist() == np.where(here, each, -1).tolist()


@pytest.mark.parametrize("schedule", ["lockstep", 1, 2, 3])
def test_calls_in_a_loop(schedule: str | int) -> None:
    sizes = (np.arange(64) % 5).astype(np.int32)
    sizes[[3, 40]] = 9000, 5000
    rows = np.arange(64)
    expected, own = np.zeros(64, np.int64), rows.astype(np.int64)
    for number in (0, 2, 3):
        thirds = np.array([(np.arange(n) % 3).sum() for n in sizes[(rows + number) % 64]])
        own = own[::-1] + thirds * number
        expected += sizes // 2
    races: list[Race] = []
    sums = np.zeros(64, np.int32)
    launch = module().get_function("rounds")
    launch((1,), (64,), (sizes, np.int32(4), sums), schedule=schedule, races=races)
    assert not races
    assert sums.tolist() == (expected + own).tolist()
