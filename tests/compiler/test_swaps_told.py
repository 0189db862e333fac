"""What users are told of loops that try a compare-and-swap again, which takes no lock."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

LEAST = """__global__ void k(int *out, const float *x, const int *to, const int *off, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int *mine = out + to[i]; const float *row = x + i * 9;
#pragma ccc while
        for (int e = off[i]; e < off[i + 1]; ++e) {
            int old = mine[e], tried;
            do { tried = old; old = atomicCAS(&mine[e], tried, min(tried, int(row[e])));
            } while (tried != old MORE);
        }
        atomicAdd(&out[i], 1);
    }
}
"""


def test_who_swaps_on_after_a_swap_is_told_to_end_there(tmp_path: Path) -> None:
    source, options = LEAST.replace("*off", "*__restrict__ off"), Options(strategy=COLLECT)
    (line,) = said(source.replace("MORE", "|| old > int(row[e])"), tmp_path, options)
    assert ': a lock may still be held when a turn ends ("mine", ' in line
    assert "; if it takes no lock, and all is done once it has succeeded, let the loop" in line
    assert said(source.replace("MORE", ""), tmp_path, options) == []
