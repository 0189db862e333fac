"""What users are told of where a path stands: which loop is around it, and how it leaves that."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

LEAVES = """__global__ void k(const int *x, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = x[i];
#pragma ccc if
        if (v > 7) {
            for (int j = 0; j < v; ++j) if (y[j] == v) break;
            y[i] = v * v;
            if (v > 99) JUMP;
        }
    }
    y[n] = 1;
out: y[n + threadIdx.x] = 2;
}
"""
UNMARKED = """__device__ unsigned gcd(unsigned a, unsigned b) {
#pragma ccc while
    while (b) { unsigned t = a % b; a = b; b = t; }
    return a;
}
__global__ void k(const unsigned *a, const unsigned *b, unsigned *c, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = gcd(a[i], b[i]);
}
"""
TILES = """__global__ void k(const float *x, float *y, int n) {
    __shared__ float tile[1024];
#pragma ccc for
    for (int base = 0; base < n; base += 1024) {
        for (int j = threadIdx.x; j < 1024; j += blockDim.x) tile[j] = x[base + j];
        __syncthreads();
        for (int j = threadIdx.x; j < 1024; j += blockDim.x) {
            float v = tile[j ^ 5];
#pragma ccc if
            if (v > 0.8f) v = expf(v) * cosf(v);
            y[base + j] = v;
        }
        __syncthreads();
    }
}
"""


@pytest.mark.parametrize("jump", ["break", "goto out"])
def test_the_line_of_a_jump_is_named(jump: str, tmp_path: Path) -> None:
    (line,) = said(LEAVES.replace("JUMP", jump), tmp_path, Options(strategy=COLLECT))
    assert "the path jumps out of the annotated loop (k.cu:9); decide" in line


def test_where_no_loop_is_annotated_one_is_to_be(tmp_path: Path) -> None:
    (line,) = said(UNMARKED, tmp_path, Options(strategy=COLLECT))
    assert "mark the loop in which the kernel comes to it: #pragma ccc for" in line


def test_a_loop_that_cannot_be_collected_is_told_before_where_the_path_stands(
    tmp_path: Path,
) -> None:
    """The loop in it could not be, either."""
    (line,) = said(TILES, tmp_path, Options(strategy=COLLECT))
    assert "there is a barrier in the annotated loop (k.cu:13, " in line
