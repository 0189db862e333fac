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


BOX = """struct Point { float x, y; };
struct Box { float low, high; Point a; };
template <class F> class Hidden { float v = 0; public: F f;
    __device__ void add(float x) { v = f(v, x); } __device__ float get() { return v; } };
struct Sum { __device__ float operator()(float a, float b) { return a + b; } };
__device__ Box joined(Box b, float x) {
    return {fminf(b.low, x), fmaxf(b.high, x), {b.a.x, b.a.y}};
}
__device__ Point moved(Point p, float x) { return {p.x + x, p.y + x * 2}; }
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    Box b{1e30f, 0, {0, 0}}; Point p{0, 0}; Hidden<Sum> h;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) {
            float v = x[i];
            for (int k = 0; k < 20; k++) v = sqrtf(v + k);
            UPDATE
        }
    }
    y[threadIdx.x] = b.low + b.high + p.x * p.y + h.get();
}
"""


@pytest.mark.parametrize(
    ("update", "advice", "clause"),
    [
        (
            "b = joined(b, v);",
            'members of "b", name those on the loop of line 12, as "b.low", but for what goes '
            "with the least or the most: reduction(",
            "reduction(min: b.low) reduction(max: b.high)",
        ),
        (
            "p = moved(p, v);",
            'members of "p", name those on the loop of line 12: reduction(+: p.x, p.y); else ',
            "reduction(+: p.x, p.y)",
        ),
        ("h.add(v);", 'members of "h", update plain variables in their place, or make them', ""),
    ],
)
def test_members_are_asked_for_of_structures_that_functions_give(
    update: str, advice: str, clause: str, tmp_path: Path
) -> None:
    source = BOX.replace("UPDATE", update)
    (line,) = said(source.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert f"if the loop only updates {advice}" in line, line
    if clause:
        assert said(source.replace("CLAUSE", clause), tmp_path, Options(strategy=COLLECT)) == []


POWERS = """#pragma ccc recursion
__device__ long power(long b, int e, long made, int &steps) {
    ++steps;
    return e == 0 ? made : power(b * b % 1000003, e / 2, e & 1 ? made * b % 1000003 : made, steps);
}
__global__ void __launch_bounds__(64) k(const int *x, const int *e, long *y, int n) {
    long total = 0; int steps = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        long a = power(x[i], e[i], 1, steps), b = TWICE;
        y[i] = a * b; total += a ^ b;
    }
    y[n + threadIdx.x] = total + steps;
}
"""


def test_what_a_recursion_counts_by_reference_is_offered_its_clause(tmp_path: Path) -> None:
    source = POWERS.replace(" + steps;", " ^ steps;").replace("TWICE", "i")
    source = source.replace("total += a ^ b;", "")
    (line,) = said(source.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert '("steps", k.cu:3' in line
    assert line.endswith("say so on the loop of line 8: reduction(+: steps) [in k]")
    named = source.replace("CLAUSE", "reduction(+: steps)")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []


def test_calls_of_a_recursion_in_a_row_are_not_said_to_be_unrolled(tmp_path: Path) -> None:
    source = POWERS.replace("TWICE", "power(x[i] + 1, e[i] / 2, 1, steps)")
    (line,) = said(source.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert "unrolled" not in line
    assert "a copy of this one, of another call, that is not collected" in line
    assert "; do first what is said of that; copy 2: " in line
    named = source.replace("CLAUSE", "reduction(+: total, steps)")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []
