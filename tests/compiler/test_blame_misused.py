"""What is blamed where a loop does more with a variable than to update it, or copies it."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

LOOP = """__global__ void __launch_bounds__(64) k(const float *__restrict__ x, float *y, int n) {
    unsigned s = threadIdx.x;
    float sum = 0, prev = 0, b0 = -9, b1 = -9;
    int last = -1;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i];
        BEFORE
#pragma ccc if
        if (IF) { for (int k = 0; k < 9; ++k) v = expf(-v) + 0.1f; PATH }
        BEHIND
    }
    y[threadIdx.x] = s + sum + prev + b0 + b1 + last;
}
"""


def told(folder: Path, path: str, **parts: str) -> str:
    """What is said of a path, with more around it."""
    text = LOOP.replace("PATH", path)
    for key in ("CLAUSES", "BEFORE", "BEHIND"):
        text = text.replace(key, parts.get(key.lower(), ""))
    text = text.replace("IF", parts.get("test", "v > 0.5f"))
    *_, line = said(text, folder, Options(strategy=COLLECT))  # behind what clauses are told
    return line


STEP = "s = s * 1664525u + 1013904223u;"
NONE = "no reduction serves a variable with which the loop does more than to update it"


@pytest.mark.parametrize(
    ("clauses", "path"),
    [
        ("", "s ^= (unsigned)v;"),
        ("", "s ^= (unsigned)v; sum += v;"),
        ("reduction(+: sum)", "s ^= (unsigned)v; sum += v;"),
    ],
)
def test_no_reduction_is_offered_of_what_is_also_set_otherwise(
    clauses: str, path: str, tmp_path: Path
) -> None:
    """Nor of others beside it: they would not serve as long as there is this one."""
    line = told(tmp_path, path, clauses=clauses, before=STEP, test="s >> 28 == 3")
    assert 'computes ("s", k.cu:10, ' in line
    assert line.endswith(f"; {NONE} (k.cu:8); remove the annotation [in k]")
    assert "reduction(" not in line


@pytest.mark.parametrize(
    ("clause", "path", "parts", "place"),
    [
        ("+: sum", "sum += v;", {"behind": "y[i] = sum;"}, "k.cu:11"),
        ("^: s", "s ^= (unsigned)v;", {"before": STEP}, "k.cu:8"),
        ("+: sum", "sum += v; if (sum > 9) sum = 0;", {}, "k.cu:10"),
    ],
)
def test_where_a_reduction_is_read_or_set_is_told(
    clause: str, path: str, parts: dict[str, str], place: str, tmp_path: Path
) -> None:
    line = told(tmp_path, path, clauses=f"reduction({clause})", **parts)
    told_so = f"; in the way is what it does in {place}; keep that out of the loop, or remove the"
    assert line.endswith(f", by that operation{told_so} annotation [in k]")


@pytest.mark.parametrize(
    ("path", "line"),
    [("sum += v;\nif (v > 3) sum *= 3;", 11), ("sum = 1;\nif (v > 3) sum += v;", 10)],
)
def test_of_two_updates_that_is_named_which_is_none_of_a_reduction(
    path: str, line: int, tmp_path: Path
) -> None:
    assert f"; {NONE} (k.cu:{line});" in told(tmp_path, path)


def test_the_clause_of_what_is_kept_where_another_is_declared_is_told(tmp_path: Path) -> None:
    source = LOOP.replace("PATH", "if (v > sum) { sum = v; last = i; }").replace("IF", "v > 0.5f")
    source = source.replace("CLAUSES", "reduction(+: sum)").replace("BEFORE", "")
    every = said(source.replace("BEHIND", ""), tmp_path, Options(strategy=COLLECT))
    path = next(line for line in every if "path left" in line)
    assert path.endswith('; the loop updates "sum" by max: write reduction(max: sum) [in k]')


def test_the_two_greatest_in_order_are_no_maxima(tmp_path: Path) -> None:
    """The second gets the first, which is read there."""
    line = told(tmp_path, "if (v > b1) { if (v > b0) { b1 = b0; b0 = v; } else b1 = v; }")
    assert "reduction(" not in line
    assert '"b0" or "b1", k.cu:' in line
    assert f"; {NONE}" in line


def test_a_sum_by_a_fused_multiplication_is_one(tmp_path: Path) -> None:
    path = "sum = fmaf(v, v, sum); sum += 1;"
    line = told(tmp_path, path)
    assert "say so on the loop of line 5: reduction(+: sum)" in line
    source = LOOP.replace("PATH", path).replace("CLAUSES", "reduction(+: sum)")
    source = source.replace("BEFORE", "").replace("BEHIND", "").replace("IF", "v > 0.5f")
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("y[i] = v;", '"prev"'),
        ("y[i] = v; last = i;", '"prev"'),  # no int, which this instruction makes no value of
        ("y[i] = v; b0 = v;", '"b0" or "prev"'),
    ],
)
def test_what_is_set_from_what_the_path_makes_is_named(
    path: str, names: str, tmp_path: Path
) -> None:
    line = told(tmp_path, path, test="v > prev * 1.5f", behind="prev = v;")
    assert f"computes ({names}, k.cu:10, PTX line " in line
    known = '; if that serves as well, set "prev" behind the branch to what is known before it'
    assert (known in line) == ("or" not in names)


HIT = """struct Hit { double t; double3 p; };
__global__ void __launch_bounds__(64) k(const double3 *q, Hit *o, int n) {
    Hit h; h.t = 1e30; h.p = make_double3(0, 0, 0);
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (q[i].x > 0) {
            double t = q[i].x; for (int k = 0; k < 20; k++) t = sqrt(t + q[i].y);
            if (t < h.t) { h.t = t; h.p = q[i]; }
        }
    }
    o[threadIdx.x] = h;
}
"""


def test_who_reads_what_goes_with_a_minimum_is_told_to_read_it_behind(tmp_path: Path) -> None:
    """Before the branch would not do: nvcc reads where the value is needed."""
    (line,) = said(HIT.replace("CLAUSES", ""), tmp_path, Options(strategy=COLLECT))
    assert (
        "reduction(min: h.t), and in place of what is read where that is set (k.cu:9, PTX" in line
    )
    assert line.endswith(";) set an index, to read by that behind it [in k]")
    clause = "reduction(min: h.t)"
    (line,) = said(HIT.replace("CLAUSES", clause), tmp_path, Options(strategy=COLLECT))
    assert "; in the way is (k.cu:9, PTX line " in line
    way_out = "set an index there in its place, and read by that behind the loop [in k]"
    assert line.endswith(f", which reads memory where that is set; {way_out}")
    index = (
        HIT.replace("CLAUSES", clause)
        .replace("double3 p;", "int p;")
        .replace("= q[i]; }", "= i; }")
    )
    index = index.replace("make_double3(0, 0, 0)", "-1")
    assert said(index, tmp_path, Options(strategy=COLLECT)) == []


BESIDE = """struct Mat { unsigned a[2][2]; };
struct Turn { float w, x; };
__device__ Mat operator*(const Mat &x, const Mat &y) {
    Mat r;
    for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) {
        unsigned s = 0; for (int k = 0; k < 2; k++) s += x.a[i][k] * y.a[k][j] % 1000003u;
        r.a[i][j] = s % 1000003u;
    }
    return r;
}
__device__ Turn operator+(Turn a, Turn b) { return {a.w + b.w, a.x + b.x}; }
__device__ Turn operator*(float s, Turn a) { return {s * a.w, s * a.x}; }
template <class T> __global__ void __launch_bounds__(64) k(const T *x, T *y, unsigned *z, int n) {
    unsigned sum = 0; Mat all = {{{1, 0}, {0, 1}}}; Turn t = {0, 0}; float total = 0;
#pragma ccc for reduction(+: CLAUSE)
    for (int i = threadIdx.x; i < n; i += 64) {
        Mat r = {{{1, 0}, {0, 1}}}; float v = x[i].w;
#pragma ccc if
        if (x[i].w > 0.5f) { for (int k = 0; k < 9; k++) v = sqrtf(v + k); PATH }
        BEHIND
    }
    z[threadIdx.x] = sum ^ all.a[0][0]; y[threadIdx.x] = (1 / total) * t;
}
template __global__ void k<Turn>(const Turn *, Turn *, unsigned *, int);
"""
SQUARED = "r.a[0][0] = (unsigned)v; r = r * r;"


@pytest.mark.parametrize(
    ("clause", "path", "behind", "name", "way_out"),
    [
        ("sum", SQUARED, "sum += r.a[0][1]; all = all * r;", "all", "have a branch set a variable"),
        ("t.w, t.x", "t = t + v * x[i]; total += v;", "", "total", "if the loop only adds it up"),
    ],
)
def test_a_clause_is_not_blamed_where_another_variable_is_meant(
    clause: str, path: str, behind: str, name: str, way_out: str, tmp_path: Path
) -> None:
    """Though the loop seems to do more with its variable than to update it, of which it adds up
    a whole."""
    source = BESIDE.replace("CLAUSE", clause).replace("PATH", path).replace("BEHIND", behind)
    line, *_ = said(source, tmp_path, Options(strategy=COLLECT))
    assert f'computes ("{name}", k.cu:' in line
    assert f";); {way_out}" in line
    assert "may only be updated" not in line


def test_the_clause_of_what_goes_with_a_maximum_is_of_that(tmp_path: Path) -> None:
    path = "if (v > b0) { b0 = v; last = i; }"
    line = told(tmp_path, path, clauses="reduction(max: last)")
    assert (
        '; "last" is only set where "b0" is, and goes with that: write reduction(max: b0) in its'
    ) in line
    source = LOOP.replace("PATH", path).replace("CLAUSES", "reduction(max: b0)")
    for part, text in (("BEFORE", ""), ("BEHIND", ""), ("IF", "v > 0.5f")):
        source = source.replace(part, text)
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []


DRAWDOWN = """__global__ void k(const float *px, const int *off, float *worst) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    float peak = px[off[s]], dd = 0;
#pragma ccc for CLAUSE
    for (int i = off[s]; i < off[s + 1]; i++) {
#pragma ccc if
        if (px[i] > peak) peak = px[i];
        else { float d = logf(peak / px[i]); if (d > dd) dd = d; }
    }
    worst[s] = dd;
}
"""


def test_of_another_arm_no_clause_is_blamed_that_serves_its_own(tmp_path: Path) -> None:
    """Where it is long; one that is short needs nothing."""
    source = DRAWDOWN.replace("CLAUSE", "reduction(max: dd)")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert "remark: path left as it was: too short to gain" in line
    source = source.replace("peak = px[i]", "for (int k = 0; k < 9; k++) peak += px[k] * peak")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'if no iteration needs "peak" of another, declare it in the loop; else leave it' in line
    assert "the variable of a reduction" not in line
    assert "variable of a reduction (" not in line
