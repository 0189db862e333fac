"""A variable that is set behind the path is told of where it is set, and an array by its size."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

BEHIND = """__global__ void k(const int *x, int *y, int *z, int n) {
    int last = 0, all = 1, sum = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = -1;
#pragma ccc if
        if (x[i] > 3) {
            v = x[i];
            for (int k = 0; k < x[i + 1]; k++) v = v * 3 + (v >> 4);
        }
        y[i] = v;
        UPDATE
    }
    z[threadIdx.x] = last + all + sum;
}
"""


@pytest.mark.parametrize(
    ("clause", "update"),
    [
        ("", "if (v > last) last = v;"),
        ("reduction(&: all)", "all &= v > 7;\nlast = max(last, v);"),
        ("reduction(+: sum)", "sum += v;\nlast = last * 2 + v;"),
    ],
)
def test_what_is_set_behind_the_path_is_blamed_there(
    clause: str, update: str, tmp_path: Path
) -> None:
    source = BEHIND.replace("CLAUSE", clause).replace("UPDATE", update)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    where = 1 + next(n for n, text in enumerate(source.split("\n")) if "last = " in text and n > 3)
    assert f'needs a value that the path computes ("last", k.cu:{where}, PTX line' in line


def test_the_clause_of_what_is_kept_behind_the_path_is_offered(tmp_path: Path) -> None:
    source = BEHIND.replace("CLAUSE", "").replace("UPDATE", "if (v > last) last = v;")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert (
        "the loop only keeps the most, say so on the loop of line 3: reduction(max: last)" in line
    )


FLAG = """__global__ void k(const int *x, int *z, int n) {
    bool all = true; int count = 0;
#pragma ccc for reduction(&: all) reduction(+: count)
    for (int i = threadIdx.x; i < n; i += 64) {
        bool in = false;
#pragma ccc while
        for (int j = 0; j < x[i]; ++j) if (x[i + j] > x[j]) in = !in;
        all = all && in;
        if (in) ++count;
    }
    z[threadIdx.x] = all + count;
}
"""


def test_of_several_clauses_the_flag_by_branches_is_told_how_to_be_written(
    tmp_path: Path,
) -> None:
    (line,) = said(FLAG, tmp_path, Options(strategy=COLLECT))
    assert 'nvcc makes branches of "&&" and "||": write "all &= in"' in line
    assert (
        said(FLAG.replace("all = all && in", "all &= in"), tmp_path, Options(strategy=COLLECT))
        == []
    )


LAST = """__global__ void k(const int *x, int *y, int *z, int n) {
    int first = -1;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int set = 1;
#pragma ccc if
        if (x[i] > 4) {
            for (int k = 0; k < x[i]; ++k) { set = set * 3 + x[set & 7]; if (!set) break; }
            if (set >> 31) { if (first < 0) first = i; }
        }
        y[i] = set;
    }
    z[threadIdx.x] = first;
}
"""


def test_what_goes_on_is_blamed_and_not_what_the_rest_needs(tmp_path: Path) -> None:
    (line,) = said(LAST, tmp_path, Options(strategy=COLLECT))
    assert '("first", k.cu:9, PTX line ' in line


TOP = """__global__ void k(const float *x, float *y, float *z, const int *at, int n) {
    int i, k, j; float t, mx = 0;
#pragma ccc for
    for (i = threadIdx.x; i < n; i += blockDim.x) {
        t = x[i];
#pragma ccc if
        if (t > 0.5f) {
            for (k = 0; k < 20; ++k) t = 0.5f * (t + 1 / t);
            j = at[i];
            if (t > mx) mx = t;
        }
        y[i] = t + j;
    }
    z[threadIdx.x] = mx;
}
"""


def test_a_variable_without_a_value_is_named_and_no_other(tmp_path: Path) -> None:
    (line,) = said(TOP, tmp_path, Options(strategy=COLLECT))
    assert 'computes ("j", k.cu:9, PTX line' in line
    assert "it may be uninitialised" in line
    (line,) = said(TOP.replace("k, j;", "k, j = 0;"), tmp_path, Options(strategy=COLLECT))
    assert "mx" in line


ARRAY = """__global__ void __launch_bounds__(128) k(const int *x, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        TYPE a[SIZE]; int at = 0;
        for (int k = 0; k < SIZE; ++k) a[k] = x[i + k];
BEFORE
        while (at >= 0 && at < SIZE) { a[at] += 1 + a[(at * 3) % SIZE]; at += a[at] > 9 ? -2 : 1; }
        for (int k = 0; k < SIZE; ++k) y[i + k] = a[k];
    }
}
"""


@pytest.mark.parametrize(
    ("kind", "size", "before", "told"),
    [
        ("char", "81", "#pragma ccc while", "let the array take a multiple of 4 bytes"),
        ("int", "64", "#pragma ccc while", "at most 128 bytes of arrays (32 ints, say) go with"),
        ("int", "64", "#pragma ccc if\nif (x[i] > 3)", "and here it takes 256"),
    ],
)
def test_how_large_an_array_may_be(
    kind: str, size: str, before: str, told: str, tmp_path: Path
) -> None:
    source = ARRAY.replace("TYPE", kind).replace("BEFORE", before)
    (line,) = said(source.replace("SIZE", size), tmp_path, Options(strategy=COLLECT))
    assert told in line
    fits = source.replace("SIZE", "84" if kind == "char" else "16")
    assert said(fits, tmp_path, Options(strategy=COLLECT)) == []


DELAYED = """__global__ void k(const float *x, float *y, int n) {
    float last = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i], before = v;
#pragma ccc if
        if (v > 0.7f) for (int k = 0; k < 30; k++) v = sqrtf(v) + last;
        y[i] = v - last; last = v;
    }
}
"""


def test_tiles_are_not_offered_where_the_branch_needs_what_the_rest_sets(tmp_path: Path) -> None:
    (line,) = said(DELAYED, tmp_path, Options(strategy=COLLECT))
    assert "tile(3)" not in line
    assert '; or, if that serves as well, set "last" behind the branch to what is known' in line
    known = DELAYED.replace("last = v;", "last = before;")
    assert said(known, tmp_path, Options(strategy=COLLECT)) == []


MOVED_ON = """__global__ void k(const unsigned char *s, const int *off, int *out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned o = 0, sum = 1;
#pragma ccc for
        for (int p = off[i]; p < off[i + 1]; ++p) {
            int c = s[p];
#pragma ccc if
            if (c > 127) { c = s[p + 1] + (c & 127) * 256; p += 1; }
            UPDATE
            o++;
        }
        out[i] = o + sum;
    }
}
"""


@pytest.mark.parametrize("update", ["sum = (sum + c) % 65521;", "sum ^= c; sum *= 31;"])
def test_what_is_updated_behind_by_what_a_path_makes_is_none_that_the_path_moves_on(
    update: str, tmp_path: Path
) -> None:
    (line,) = said(MOVED_ON.replace("UPDATE", update), tmp_path, Options(strategy=COLLECT))
    assert 'needs a value that the path computes ("p", k.cu:8, PTX line' in line
    assert 'each begins where the one before has left "p": count it up outside of the' in line
