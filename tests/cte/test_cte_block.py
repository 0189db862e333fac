"""``cte::block`` where the block is not as it was told: those who are here get the right result."""

from __future__ import annotations

import functools
import subprocess

import numpy as np
import pytest
from emulating import needs_nvcc

import ccc
from ccc.emulator import Module

pytestmark = needs_nvcc

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
"""


@functools.cache
def module() -> Module:
    command = ["nvcc", "-std=c++17", f"-I{ccc.include()}", "-ptx", "-arch=sm_80", "-x=cu", "-"]
    done = subprocess.run(
        [*command, "-o", "-"], input=SOURCE, capture_output=True, text=True, check=True
    )
    return Module(done.stdout)


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
