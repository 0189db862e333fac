"""What is told of memory that the iterations of a thread share, by what they do with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

OWN_SLOT = """struct S { double m; int n; };
__global__ void __launch_bounds__(64) k(const double *x, S *o, int n) {
    __shared__ S s[64];
    S &me = s[threadIdx.x]; me.m = 0; me.n = 0; int c = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) {
            double v = x[i]; for (int k = 0; k < 20; k++) v = sqrt(v + k);
            UPDATE
        }
    }
    me.n += c;
    o[threadIdx.x] = me;
}
"""


@pytest.mark.parametrize(
    ("update", "advice"),
    [
        ("o[me.n++].m = v;", "keep it in a variable, and write that back behind the loop"),
        ("if (v > 3) o[me.n++].m = v;", ""),
        ("me.n = (me.n * 3 + (int)v) / 4;", ""),
        ("double e = v - me.m; me.m += e / 8;", ""),
        ("S *row = o + threadIdx.x * n; for (int c = n; c >= (int)x[i]; --c) "
         "row[c].n = max(row[c].n, row[c - (int)x[i]].n + (int)v);", ""),
    ],
)  # fmt: skip
def test_of_memory_that_is_read_beside_its_update_no_reduction_is_told(
    update: str, advice: str, tmp_path: Path
) -> None:
    in_order = (
        "declare in the loop what only one iteration needs; where one needs what another iteration "
        "has made of it, remove this annotation"
    )
    source = OWN_SLOT.replace("UPDATE", update)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert line.endswith(f";); {advice or in_order} [in k]")
    if advice:
        assert said(source.replace("me.n++", "c++"), tmp_path, Options(strategy=COLLECT)) == []


BY_A_STRUCTURE = """struct Run { const float *x; float *sum; int n; };
__global__ void k(Run c) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma ccc for
    for (int i = t; i < c.n; i += gridDim.x * blockDim.x) {
        float v = c.x[i];
#pragma ccc if
        if (v > 0.9f) {
            for (int k = 0; k < 30; k++) v = sqrtf(v + k);
            c.sum[t] += v * c.x[i];
        }
    }
}
"""


def test_of_a_sum_by_a_pointer_in_a_structure_a_variable_is_told(tmp_path: Path) -> None:
    """Other pointers of it that are read from lead elsewhere."""
    in_a_variable = (
        ";); keep it in a variable, with a reduction on the loop, and write that back behind the "
        "loop, or use an atomic [in k]"
    )
    (line,) = said(BY_A_STRUCTURE, tmp_path, Options())
    assert line.endswith(in_a_variable)
    assert '("c.sum", ' in line
