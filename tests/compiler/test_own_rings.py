"""Users are told where tasks fill or change a ring that only their thread came to."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

RINGS = {
    "filled_by_a_counter": ("mine[0] + mine[1]", "mine[head++ & 3] = t;"),
    "by_the_iteration": ("mine[0] + mine[1]", "mine[i & 3] = t;"),
    "that_wraps": ("mine[0] + mine[1]", "mine[head] = t; head = (head + 1) & 7;"),
    "of_many": ("of(mine, 8)", "mine[i & 7] = t;"),
    "by_what_is_read": ("of(mine, 3)", "mine[key[i]] = t;"),
    "beside_what_is_read": ("mine[i + 1 & 7]", "mine[i & 7] = t;"),
    "that_is_shared_and_goes_round": ("h[i + 3 & 7][threadIdx.x]", "h[i & 7][threadIdx.x] = t;"),
    "shared_ring": ("h[3][threadIdx.x]", "h[i % 10][threadIdx.x] = t;"),
}
ONLY_FILLED = {
    "behind_what_is_read": ("mine[0]", "mine[1 + i % 15] = t;"),
    "in_the_other_half": ("mine[(i & 7) + 8]", "mine[i & 7] = t;"),
    "of_other_memory": ("key[thread]", "mine[i & 3] = t;"),
}
NO_RINGS = {
    "of_each_iteration": ("mine[0]", "mine[16 * stride * (i + 1)] = t;"),
    "of_the_next_iteration": ("mine[64 * stride * (i + 1)]", "mine[64 * stride * i] = t;"),
    "that_seldom_begins_anew": (
        "mine[0]",
        "if (t < 0.3f) head = 0; mine[head] = t; head += stride;",
    ),
}


def test_who_reads_all_of_a_ring_that_tasks_fill_is_told(tmp_path: Path) -> None:
    kernel = """__device__ __forceinline__ float of(const float *read, int many) {
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < many; ++k) sum += read[k];
    return sum;
}
__global__ void __launch_bounds__(64)
NAME(const float *__restrict__ x, const int *__restrict__ key, float *y, float *out, int n) {
    __shared__ float h[16][64];
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    float *mine = y + 64 * thread;
    int head = 0;
#pragma ccc for
    for (int i = 0; i < n; ++i) {
#pragma ccc if
        if (x[i * stride + thread] > 0.9f) {
            float t = READ;
            for (int k = 0; k < 6; ++k) t = expf(-t) + 0.1f;
            out[i * stride + thread] = t;
            CHANGE
        }
    }
    __syncthreads();
    atomicAdd(&y[threadIdx.x], h[threadIdx.x & 15][threadIdx.x]);
}
"""
    head, _, body = kernel.partition("__global__")
    source = head + "".join(
        f"__global__{body}".replace("NAME", name).replace("READ", read).replace("CHANGE", code)
        for name, (read, code) in {**RINGS, **ONLY_FILLED, **NO_RINGS}.items()
    )
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [line for line in lines if "may lose" in line]
    assert [line.rpartition("[in ")[2] for line in told] == [
        f"{name}]" for name in (*RINGS, *ONLY_FILLED)
    ]
    assert all("atomic" not in line for line in told)
    of_order = [line for line in told if "in another order" in line]
    assert of_order == told[len(RINGS) :]


OF_RINGS = {
    **{f"update_of_{n}": f"mine[i & {n - 1}] += t;" for n in (8, 16, 64, 128)},
    "by_a_remainder": "mine[i % 16] += t;",
    "column": "y[(i & 15) * stride + thread] += t;",
    "stored": "mine[i & 15] = x[i * stride + thread];",
}


def test_a_ring_of_the_threads_own_is_told_of_however_large_it_is(tmp_path: Path) -> None:
    kernel = """__global__ void NAME(const float *x, float *y, float *out, int n) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    float *mine = y + 512 * thread;
#pragma ccc for
    for (int i = 0; i < LIMIT; ++i) {
#pragma ccc if
        if (x[i * stride + thread] > 0.9f) {
            float t = x[i];
            for (int k = 0; k < 6; ++k) t = expf(-t) + 0.1f;
            CHANGE
        }
    }
}
"""
    one_by_one = {name: ("n", code) for name, code in OF_RINGS.items()}
    fits = {
        "that_is_not_full": ("16", "mine[i & 15] += t;"),
        "stored_once": ("min(n, 64)", "mine[i & 63] = t;"),
        "a_flag": ("n", "mine[i & 15] = 1;"),
        "a_row_by_bits": ("n", "y[thread << 4 | i] += t;"),
    }
    source = "".join(
        kernel.replace("NAME", name).replace("LIMIT", limit).replace("CHANGE", code)
        for name, (limit, code) in {**one_by_one, **fits}.items()
    )  # fmt: skip
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [line.rpartition("[in ")[2] for line in lines if "may lose" in line]
    assert told == [f"{name}]" for name in OF_RINGS]
