"""Branches that part the lanes of one warp at most: a bound of what all threads share out."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulating import needs_nvcc
from saying import said

from ccc.options import Options
from ccc.passes.choice.chosen import TOGETHER

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]

SOURCE = """__global__ void __launch_bounds__(128) k(const float *x, float *y, int n, int m) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x, T = gridDim.x * blockDim.x;
#pragma ccc for
    for (int i = t; i < n; i += T) {
        float s = x[i];
#pragma ccc if
        if (TEST) {
#pragma unroll 1
            for (int k = 0; k < 100; ++k) s = sqrtf(s + k);
        }
        y[i] = s;
    }
}
"""


@pytest.mark.parametrize(
    ("test", "is_bound"),
    [
        ("i < m", True),
        ("i > n / 2", True),
        ("i + T >= n", True),
        ("i == m", False),
        ("s < m", False),
        ("threadIdx.x < m", False),
    ],
)
def test_lanes_within_bounds_have_nothing_to_collect(
    test: str, is_bound: bool, tmp_path: Path
) -> None:
    told = said(SOURCE.replace("TEST", test), tmp_path, Options())
    assert any(TOGETHER in one for one in told) == is_bound
