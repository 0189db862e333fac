"""What is said of one annotation holds when what is said of the others is followed, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

TRIANGLES = """
__global__ void tri(const int *row, const int *col, int n, unsigned long long *out) {
    unsigned long long c = 0;
    #pragma ccc for reduction(+: c)
    for (int u = blockIdx.x * blockDim.x + threadIdx.x; u < n; u += gridDim.x * blockDim.x)
        #pragma ccc while
        for (int e = row[u]; e < row[u + 1]; ++e) {
            int v = col[e];
            #pragma ccc if
            if (v > u) {
                int a = row[u], b = row[v];
                #pragma ccc while
                while (a < row[u + 1] && b < row[v + 1]) {
                    int d = col[a] - col[b];
                    if (d == 0) { ++c; ++a; ++b; }
                    else if (d < 0) ++a; else ++b;
                }
            }
        }
    atomicAdd(out, c);
}
"""


@pytest.mark.usefixtures("all_headers")
def test_a_loop_is_not_worth_more_than_the_branch_that_it_lies_in(tmp_path: Path) -> None:
    """Its tasks are part of those of the branch."""
    (line,) = (one for one in said(TRIANGLES, tmp_path, Options()) if "take those" in one)
    assert "worth more" not in line
    assert "; remove this annotation; or that one, and this loop can be collected" in line
