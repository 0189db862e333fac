"""Where the source does not tell how a variable is updated, PTX may."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

FOLDED = """template <class T, class F> __device__ void fold(T &a, T b, F f) { a = f(a, b); }
template <class T, class F> __device__ void taken(T &a, T b, F f) { if (f(b, a)) a = b; }
struct Mixed { template <class T> __device__ T operator()(T a, T b) const { return a ^ b; } };
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    float least = 1e30f, most = 0; int few = 1 << 30, code = 0;
    auto lower = [](auto a, auto b) { return a < b ? a : b; };
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) {
            float v = x[i];
            for (int k = 0; k < 20; k++) v = sqrtf(v + k);
            UPDATE
        }
    }
    y[threadIdx.x] = least + most + few + code;
}
"""


@pytest.mark.parametrize(
    ("update", "advice", "clause"),
    [
        ("fold(few, (int)v, lower);", "only keeps the least, say so", "reduction(min: few)"),
        (
            "fold(code, (int)v, Mixed());",
            "does nothing else with it, say so",
            "reduction(^: code)",
        ),
        (
            "taken(most, v, [](float a, float b) { return a > b; });"
            " taken(least, v, [](float a, float b) { return a < b; });",
            "only updates them, say so on the loop of line 7: reduction(m",
            "reduction(min: least) reduction(max: most)",
        ),
    ],
)
def test_ptx_tells_by_which_operation_a_variable_is_updated(
    update: str, advice: str, clause: str, tmp_path: Path
) -> None:
    source = FOLDED.replace("UPDATE", update)
    (line,) = said(source.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert f"if the loop {advice}" in line
    if "reduction(m" not in advice:
        assert line.endswith(f"on the loop of line 7: {clause} [in k]")
    else:
        assert "reduction(min: variables)" in line
        assert "reduction(max: variables)" in line
    named = source.replace("CLAUSE", clause)
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []
