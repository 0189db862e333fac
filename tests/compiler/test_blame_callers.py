"""Of a path in a function the variables are named of the function that calls it in its loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

SEARCH = """__device__ int find(const int *a, int n, int key) {
    int k = 0;
#pragma ccc while
    while (k < n && a[k] != key) k++;
    return k;
}
__global__ void look(const int *a, int m, const int *q, int *y, int n) {
    int miss = 0; long sum = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int p = find(a, m, q[i]);
        COUNT
        y[i] = p;
    }
    atomicAdd(&y[n], miss + (int)sum);
}
"""


@pytest.mark.parametrize(
    ("count", "clause"),
    [
        ("if (p == m) miss++;", "reduction(+: miss)"),
        ("if (p == m) miss++; else sum += p;", "reduction(+: miss, sum)"),
    ],
)
def test_what_the_loop_itself_counts_is_named(count: str, clause: str, tmp_path: Path) -> None:
    source, options = SEARCH.replace("COUNT", count), Options(strategy=COLLECT)
    (line,) = said(source.replace(" CLAUSE", ""), tmp_path, options)
    assert line.startswith("k.cu:3:1: warning: path left as it was: ")
    assert '("miss"' in line
    assert f"say so on the loop of line 9: {clause}; or ask for strategy(flatten)" in line
    assert said(source.replace("CLAUSE", clause), tmp_path, options) == []
