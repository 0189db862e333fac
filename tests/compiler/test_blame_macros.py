"""Macros have parentheses around what they are given, which hide no minimum, maximum or member."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

SOURCE = """#define LOWER(m, v) if ((v) < (m)) m = (v)
struct S { float sum, most; };
__global__ void k(const float *x, float *o, int n) {
    float m = 0; S st = {0, 0};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
#pragma ccc if
        if (v > 0.5f) { v = expf(v) * sinf(v); UPDATE }
    }
    o[3 * threadIdx.x] = m; o[3 * threadIdx.x + 1] = st.sum; o[3 * threadIdx.x + 2] = st.most;
}
"""


@pytest.mark.parametrize(
    ("update", "clause"),
    [
        ("do { if ((v) > (m)) (m) = (v); } while (0);", "reduction(max: m)"),
        ("do { if ((v + 1) > (m)) (m) = (v + 1); } while (0);", "reduction(max: m)"),
        ("if ((v) < (m)) m = (v);", "reduction(min: m)"),
        ("m = (v) < m ? (v) : m;", "reduction(min: m)"),
        ("m = ((v) > (m) ? (v) : (m));", "reduction(max: m)"),
        (
            "{ (st).sum += (v); if ((v) > (st).most) (st).most = (v); }",
            "reduction(+: st.sum) reduction(max: st.most)",
        ),
    ],
)
def test_it_is_offered_a_clause_that_serves(update: str, clause: str, tmp_path: Path) -> None:
    source = SOURCE.replace("UPDATE", update)
    (line,) = said(source.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert f": {clause} [in k]" in line
    assert said(source.replace(" CLAUSE", f" {clause}"), tmp_path, Options(strategy=COLLECT)) == []


ONE_LINE = """__global__ void k(float *x, float *y, int n) {
    float t = 0;
# 5 "k.cu"
#pragma ccc for
# 5 "k.cu"
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
# 5 "k.cu"
#pragma ccc if
# 5 "k.cu"
    if (x[i] < 0) { x[i] = expf(sqrtf(sinf(x[i]))); t += x[i]; } }
    y[threadIdx.x] = t;
}
"""


def test_of_a_loop_and_a_branch_of_one_line_it_is_the_branch_that_is_spoken_of(
    tmp_path: Path,
) -> None:
    """So it is where a macro has the pragma of each; the loop is none of another function."""
    (line,) = said(ONE_LINE, tmp_path, Options(strategy=COLLECT))
    assert line.endswith("if the loop only adds it up, say so on the loop: reduction(+: t) [in k]")
