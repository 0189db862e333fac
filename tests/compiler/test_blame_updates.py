"""Reductions as people write them: the clause is told with which the path is collected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = pytest.mark.usefixtures("few_headers")

KERNEL = """struct Hit { float best; int at; float sum;
    __device__ void add(float x) { sum += x; } };
namespace std { template <class T> __device__ T max(T a, T b) { return a < b ? b : a; } }
__device__ __forceinline__ void add(float &to, float x) { to += x; }
__device__ __forceinline__ void add_to(float *to, float x) { *to += x; }
template <class T> __device__ __forceinline__ void keep(T &r, T x) { if (x < r) r = x; }
__global__ void k(const float *x, float *y, int n) {
    Hit hit = {100, -1, 0};
    int number = 0;
    bool found = false, all = true;
    float least = 100, most = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
#pragma ccc if
        if (v > 3) { for (int t = 0; t < 9; ++t) v = sqrtf(v + t); UPDATE }
    }
    y[threadIdx.x] = least + most + hit.best + hit.at + hit.sum + number + found + all;
}
"""
MOST = "reduction(max: most)"
WAYS = [
    ("most = std::max<float>(most, v);", "reduction(max: most)"),
    ("most = v > most ? v : most;", "reduction(max: most)"),
    ("most = (most < v) ? v : most;", "reduction(max: most)"),
    ("number = (number > i % 7 ? number : i % 7);", "reduction(max: number)"),
    ("hit.best = hit.best > v ? v : hit.best;", "reduction(min: hit.best)"),
    ("hit.sum += v;", "reduction(+: hit.sum)"),
    ("if (v < hit.best) { hit.best = v; hit.at = i; }", "reduction(min: hit.best)"),
    ("add(most, v);", "reduction(+: most)"),
    ("add_to(&hit.sum, v);", "reduction(+: hit.sum)"),
    ("keep<float>(least, v);", "reduction(min: least)"),
    ("hit.sum += v; most += v;", "reduction(+: hit.sum, most)"),
    ("if (v > 80) number = 1;", "reduction(|: number)"),
    ("if (v > 80) found = true;", "reduction(|: found)"),
    ("found = found || v > 80;", "reduction(|: found)"),
    ("all = all && v < 80;", "reduction(&: all)"),
    ("hit.sum += v; number += 1;", "reduction(+: hit.sum)"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("update", "clause"), WAYS)
def test_the_clause_is_named_that_works(update: str, clause: str, tmp_path: Path) -> None:
    text = KERNEL.replace("UPDATE", update)
    (line,) = said(text, tmp_path, Options(strategy=COLLECT))
    assert re.findall(r"reduction\(.*?\)", line) == [clause]
    assert (
        said(text.replace("ccc for", f"ccc for {clause}"), tmp_path, Options(strategy=COLLECT))
        == []
    )


@pytest.mark.slow
def test_what_keeps_neither_is_not_taken_for_it(tmp_path: Path) -> None:
    for update in (
        "most = v > most ? v : least;",
        "most = v > 4 ? v : most;",
    ):
        (line,) = said(KERNEL.replace("UPDATE", update), tmp_path, Options(strategy=COLLECT))
        assert 'have that set another variable, update "most" by that behind' in line


@pytest.mark.slow
def test_what_takes_a_value_that_is_no_number_and_then_any_is_told_so(tmp_path: Path) -> None:
    text = KERNEL.replace("UPDATE", "most = most > v ? most : v;")
    (line,) = said(text, tmp_path, Options(strategy=COLLECT))
    assert '"most" takes a NaN, and then whatever comes next' in line


@pytest.mark.slow
@pytest.mark.parametrize(("clause", "also"), [("", " reduction(max: most)"), (MOST, "")])
def test_of_two_the_one_that_takes_a_nan_is_told_of(clause: str, also: str, tmp_path: Path) -> None:
    update = "least = least < v ? least : v; most = v > most ? v : most;"
    text = KERNEL.replace("UPDATE", update).replace("ccc for", f"ccc for {clause}")
    (line,) = said(text, tmp_path, Options(strategy=COLLECT))
    assert '("least", ' in line
    assert line.endswith(
        f"fminf, and say so on the loop of line 12: reduction(min: least){also} [in k]"
    )


@pytest.mark.slow
@pytest.mark.parametrize("clause", ["", MOST])
def test_what_takes_a_nan_in_a_functor_is_told_so_too(clause: str, tmp_path: Path) -> None:
    most = "struct Most { template <class T> __device__ T operator()(T a, T b) { return GIVEN; } };"
    text = f"{most}\n{KERNEL}".replace("UPDATE", "most = Most{}(most, v);")
    taking = text.replace("GIVEN", "a > b ? a : b").replace("ccc for", f"ccc for {clause}")
    (line,) = said(taking, tmp_path, Options(strategy=COLLECT))
    assert 'whatever comes next: put the new value first, "new > old ? new : old", or use f' in line
    assert line.endswith(("; else remove the annotation" if clause else f": {MOST}") + " [in k]")
    followed = text.replace("GIVEN", "b > a ? b : a").replace("ccc for", f"ccc for {MOST}")
    assert said(followed, tmp_path, Options(strategy=COLLECT)) == []


@pytest.mark.slow
def test_beside_a_sum_that_is_named_what_takes_a_nan_is_told_so(tmp_path: Path) -> None:
    least = "__device__ float least_of(float a, float b) { return a < b ? a : b; }\n"
    text = least + KERNEL.replace("UPDATE", "least = least_of(least, v); hit.sum += v;")
    text = text.replace("ccc for", "ccc for reduction(+: hit.sum)")
    (line,) = said(text, tmp_path, Options(strategy=COLLECT))
    assert 'put the new value first, "new < old ? new : old", or use fminf, and if the loop' in line
    assert line.endswith("say so on the loop of line 13: reduction(min: least) [in k]")
    assert "variable of a reduction (" not in line


@pytest.mark.slow
def test_an_atomic_on_a_variable_of_the_thread_is_no_jump(tmp_path: Path) -> None:
    body = "int own = 0; atomicAdd(&own, i); y[i] = own;"
    (line,) = said(KERNEL.replace("UPDATE", body), tmp_path, Options(strategy=COLLECT))
    assert (
        "comes to a trap, which nvcc puts in the place of what cannot be done, as an atomic" in line
    )
    assert "write s += x in the place of atomicAdd(&s, x)" in line


OWN_SLOT = """struct S { double m; int n; };
__global__ void __launch_bounds__(64) k(const double *x, S *o, int n) {
    __shared__ S s[64];
    S &me = s[threadIdx.x]; me.m = 0; me.n = 0; double m = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) {
            double v = x[i]; for (int k = 0; k < 20; k++) v = sqrt(v + k);
            UPDATE
        }
    }
    me.m += m;
    o[threadIdx.x] = me;
}
"""


@pytest.mark.parametrize("clause", ["", "reduction(+: me.m)"])
def test_memory_that_is_added_up_is_told_to_be_a_variable(clause: str, tmp_path: Path) -> None:
    source = OWN_SLOT.replace("CLAUSE", clause).replace("UPDATE", "me.m += v; me.n++;")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'use the same memory, and are not independent ("me", k.cu:10, PTX line ' in line
    way_out = (
        "keep each in a variable, with a reduction on the loop, and write these back behind the"
    )
    assert "and the same may hold of other parts of it; " in line
    assert line.endswith(f"; {way_out} loop, or use atomics [in k]")
    source = OWN_SLOT.replace("CLAUSE", "reduction(+: m)").replace("UPDATE", "m += v;")
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []


def test_all_memory_that_is_added_up_is_told_at_once(tmp_path: Path) -> None:
    source = ROW.replace("#pragma ccc while", "#pragma ccc if").replace(
        "for (int k = 0; k < many[i]; k++) { v *= 0.9f; row[thread * w + k] += v; }",
        """if (v > 0.5f) {
            v = expf(v);
            row[thread] += v;
            row[n + thread] += v * x[i + n];
            last[thread] += v * many[i];
        }""",
    )
    source = source.replace("float *row", "float *row, float *last")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert '("row", k.cu:9, PTX line ' in line
    assert ';), and the same holds of "last"; keep each in a variable, with a ' in line
    one_line = source.replace("\n            row[n", "row[n").replace("\n            last", "last")
    (line,) = said(one_line, tmp_path, Options(strategy=COLLECT))
    assert '("row" or "last", k.cu:9, PTX line ' in line
    assert ";); keep each in a variable, with a reduction on the loop, and write these " in line


ROW = """__global__ void k(const float *x, const int *many, float *row, int w, int n) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
#pragma ccc for
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
#pragma ccc while
        for (int k = 0; k < many[i]; k++) { v *= 0.9f; row[thread * w + k] += v; }
    }
}
"""


def test_a_row_that_is_added_up_is_no_variable(tmp_path: Path) -> None:
    (line,) = said(ROW, tmp_path, Options(strategy=COLLECT))
    assert 'use the same memory, and are not independent ("row", k.cu:7, PTX line ' in line
    assert "; use an atomic, or remove the annotation; or ask for strategy(flatten)" in line
    source = ROW.replace("row[thread * w + k] += v", "atomicAdd(&row[thread * w + k], v)")
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []


def test_a_counter_in_memory_is_one_though_nvcc_counts_in_the_number_of_the_thread(
    tmp_path: Path,
) -> None:
    source = ROW.replace("const int *many", "int *many").partition("#pragma ccc while")[0]
    source = source.replace("int thread =", "int t =").replace("i = thread", "i = t")
    source += "#pragma ccc if\nif (v > 0.9f) row[t * 64 + many[t]++] = expf(v);\n    }\n}\n"
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert line.endswith("; keep it in a variable, and write that back behind the loop [in k]")


CHOSEN = """template <class T> __device__ T larger(T a, T b) { return a > b ? a : b; }
__device__ float smaller(float a, float b) { if (a < b) return a; return b; }
__device__ float lowest(float a, float b) { return smaller(a, b); }
__device__ float both(float a, float b) { return a * b + 1; }
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("update", "clause"),
    [
        ("number = larger(number, (int)v);", "reduction(max: number)"),
        ("least = smaller(v, least);", "reduction(min: least)"),
        ("least = ::lowest(v, least);", "reduction(min: least)"),
        ("most = top(v, most);", "reduction(max: most)"),
    ],
)
def test_what_functions_choose_is_a_minimum_or_a_maximum(
    update: str, clause: str, tmp_path: Path
) -> None:
    kept = "auto top = [](auto a, auto b) { return a > b ? a : b; };\n#pragma ccc for"
    text = CHOSEN + KERNEL.replace("UPDATE", update).replace("#pragma ccc for", kept)
    (line,) = said(text, tmp_path, Options(strategy=COLLECT))
    assert re.findall(r"reduction\(.*?\)", line) == [clause]
    named = text.replace("ccc for", f"ccc for {clause}")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []


@pytest.mark.slow
def test_what_functions_make_otherwise_is_none(tmp_path: Path) -> None:
    text = CHOSEN + KERNEL.replace("UPDATE", "most = both(v, most);")
    (line,) = said(text, tmp_path, Options(strategy=COLLECT))
    assert "reduction(" not in line
    text = CHOSEN + KERNEL.replace("UPDATE", "most = larger(most, v);")
    (line,) = said(text, tmp_path, Options(strategy=COLLECT))
    assert "as it is, a NaN is taken" in line
