"""What lambdas and objects that are called do to variables is told, and the clauses serve."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

LAMBDA = """struct Sums {
    float &s; int &n;
    __device__ void operator()(float v) { s += v; n++; }
};
__global__ void k(const float *x, float *y, int n) {
    float most = -1e9f, sum = 0; int count = 0;
    auto put = CAPTURED(float v) { UPDATES };
    Sums sums{sum, count};
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 1) {
            float v = x[i];
            for (int j = 0; j < 30; ++j) v = sqrtf(v + j);
            CALL
        }
    }
    y[3 * threadIdx.x] = most; y[3 * threadIdx.x + 1] = sum; y[3 * threadIdx.x + 2] = count;
}
"""
MOST = "most = v > most ? v : most;"
NESTED = "auto add = [&](float w) { sum += w; }; add(v);"


def told(
    folder: Path, updates: str, clauses: str = "", captured: str = "[&]", call: str = "put(v);"
) -> list[str]:
    parts = {"UPDATES": updates, "CLAUSES": clauses, "CAPTURED": captured, "CALL": call}
    source = re.sub("|".join(parts), lambda found: parts[found[0]], LAMBDA)
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize(
    ("updates", "clauses", "captured"),
    [
        ("sum += v; count++;", "reduction(+: sum)", "[&]"),
        ("sum += v;", "reduction(+: sum)", "[&sum]"),
        (f"{MOST} sum += v;", "reduction(max: most) reduction(+: sum)", "[&]"),
        ("if (v > most) most = v;", "reduction(max: most)", "[&, y]"),
        (NESTED, "reduction(+: sum)", "[&]"),
    ],
)
def test_what_a_lambda_adds_up_is_offered_clauses_that_serve(
    updates: str, clauses: str, captured: str, tmp_path: Path
) -> None:
    (line,) = told(tmp_path, updates, captured=captured)
    found = re.search(r"say so on the loop of line \d+: (reduction.*?)(?: \[in k\]|;)", line)
    assert found
    assert found[1] == clauses
    assert told(tmp_path, updates, clauses, captured) == []


def test_of_what_a_lambda_updates_the_clause_that_is_lacking_is_told(tmp_path: Path) -> None:
    (line,) = told(tmp_path, f"{MOST} sum += v;", "reduction(+: sum)")
    assert '("most", k.cu:7, ' in line
    assert "reduction(max: most) [in k]" in line
    assert "may only be updated" not in line


def test_what_a_lambda_does_otherwise_with_a_variable_of_a_clause_is_told(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "sum += v; if (sum > 9) count++;", "reduction(+: sum)")
    assert "the variable of a reduction (sum) may only be updated" in line
    assert "in the way is what it does in k.cu:7" in line


def test_an_object_that_is_called_updates_its_members(tmp_path: Path) -> None:
    """A clause may name them, or what they refer to."""
    (line,) = told(tmp_path, "", call="sums(v);")
    assert '("sums.s" or "sums.n", k.cu:3, ' in line
    assert "reduction(+: sums.s, sums.n)" in line
    for clauses in ("reduction(+: sums.s, sums.n)", "reduction(+: sum, count)"):
        assert told(tmp_path, "", clauses, call="sums(v);") == []


WALK = """struct Shifts {
    unsigned long long s;
    __device__ double operator()() { s ^= s << 13; s ^= s >> 7; return (s >> 11) * 1e-16; }
};
__device__ double walk(Shifts &r, int m) {
    double x = 0;
#pragma ccc while
    for (int k = 0; k < m && fabs(x) < 3; ++k) x += r() - 0.5;
    return x;
}
__global__ void k(double *y, int n, int m) {
    Shifts rng{1234567ull + threadIdx.x};
    double sum = 0;
#pragma ccc for reduction(+: sum)
    for (int i = 0; i < n; ++i) sum += walk(rng, m);
    y[threadIdx.x] = sum;
}
"""


def test_a_state_is_named_and_not_what_is_added_up_of_it(tmp_path: Path) -> None:
    (line,) = said(WALK, tmp_path, Options(strategy=COLLECT))
    assert 'computes ("rng", k.cu:3, ' in line
    own = 'as of random numbers, declare it in the loop of line 14, and seed it there from "i" and'
    assert f'; if no iteration needs "rng" of another, {own} the number of the thread' in line
    assert "no reduction serves" not in line


HANDED = """template <class F> __device__ void each(int n, F f) {
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) f(i);
}
__global__ void k(const float *x, float *y, int n) {
    float sum = 0, most = 0;
    each(n, [&](int i) {
#pragma ccc if
        if (x[i] > 0.5f) { float v = expf(x[i]); sum += v; most = fmaxf(most, v); }
    });
    y[2 * threadIdx.x] = sum; y[2 * threadIdx.x + 1] = most;
}
"""
WRITTEN_OUT = (
    '; write the loop in the function that declares "sum" and "most", where a reduction may name '
    "them, or let the branch update memory by an atomic; else remove the annotation [in k]"
)


@pytest.mark.parametrize("clause", ["", "reduction(+: f)"])
def test_no_clause_is_offered_where_no_name_is_known(clause: str, tmp_path: Path) -> None:
    source = HANDED.replace(" CLAUSE", f" {clause}")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert line.endswith(f";){WRITTEN_OUT}")
    plain = HANDED[HANDED.index("__global__") :]
    loop = "#pragma ccc for reduction(+: sum) reduction(max: most)\nfor (int i = 0; i < n; ++i) {"
    plain = plain.replace("each(n, [&](int i) {", loop).replace("});", "}")
    assert said(plain, tmp_path, Options(strategy=COLLECT)) == []


GIVEN = """template <class F> __device__ void each(const float *x, int n, F f) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 1) { float v = x[i]; for (int j = 0; j < 30; j++) v = sqrtf(v + j); f(v); }
    }
}
__global__ void k(const float *x, float *y, int n) {
    float sum = 0, most = 0, last = 1;
    each(x, n, [&](float v) { sum += v; });
    each(x, n + 1, [&](float v) { SECOND });
    y[2 * threadIdx.x] = sum; y[2 * threadIdx.x + 1] = most + last;
}
"""
FIRST_COPY = (
    ': add.f32 {}; write the loop in the function that declares "sum", where a reduction may name '
    "it, or let the branch update memory by an atomic; else remove the annotation; copy 2: "
)


def test_of_lambdas_that_a_function_is_given_in_several_places_each_is_told(
    tmp_path: Path,
) -> None:
    source = GIVEN.replace("SECOND", "most = fmaxf(most, v);")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    parts = re.sub(r"add\.f32 [^;]*;\)", "add.f32 {}", line)
    assert '("sum", k.cu:10, ' in line
    assert FIRST_COPY in parts
    assert '("most", k.cu:11, ' in line
    assert 'function that declares "most", where a reduction may name it, or let the br' in line


def test_what_a_lambda_hands_on_otherwise_is_offered_no_clause_for_it(tmp_path: Path) -> None:
    source = GIVEN.replace("SECOND", "last = last * v + 1;")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'declares "sum", where' in line
    assert '("last", k.cu:11, ' in line
    assert line.count("reduction") == 1


INSIDE = """template <class F> __device__ void each(const int *row, const int *at, int v, F f) {
#pragma ccc for variable
    for (int e = row[v]; e < row[v + 1]; e++) f(at[e]);
}
__global__ void k(const int *row, const int *at, const float *x, float *y, int n) {
    int count = 0;
#pragma ccc for reduction(+: count)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float most = 0;
        each(row, at, i, [&](int u) {
#pragma ccc if
            if (x[u] > 0.7f) { most = fmaxf(most, expf(x[u])); count++; }
        });
        y[i] = most;
    }
    y[n + threadIdx.x] = count;
}
"""


def test_what_turns_of_a_loop_hand_on_that_calls_a_lambda_is_named(tmp_path: Path) -> None:
    """What all iterations hand on is an int, and has its clause."""
    line = said(INSIDE, tmp_path, Options(strategy=COLLECT))[-1]
    assert 'the path computes ("most", k.cu:12, PTX line' in line
    assert ": max.f32 " in line


def test_what_is_changed_through_a_pointer_that_it_makes_for_itself(tmp_path: Path) -> None:
    updates, captured = "*p += v; if (v > *q) *q = v; c += 1;", "[p = &sum, q = &most, &c = count]"
    (line,) = told(tmp_path, updates, captured=captured)
    clauses = "reduction(+: sum) reduction(max: most)"
    assert line.endswith(f": {clauses} [in k]")
    assert told(tmp_path, updates, clauses, captured=captured) == []
