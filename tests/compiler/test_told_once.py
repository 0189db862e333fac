"""What was said of a path, when more was marked, is not said again with other numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

LARGE = """__global__ void k(const double *p, double *q, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double a = p[i], b = p[i + n], c = p[i + 2 * n], d = p[i + 3 * n], e = p[i + 4 * n], s = 0;
        int t = 0;
#pragma ccc while
        while (a > b && t < 999) {
#pragma ccc if
            if (a > c) { s += exp(d - a); a *= 0.7; } else { s -= exp(e - b); a -= 0.1; }
#pragma ccc if
            if (s > e) { s = sqrt(s) + log(c + a); b += 0.1; }
            t++;
        }
        q[i] = s;
    }
}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("few_headers")
def test_how_many_threads_fit_is_told_once_and_for_all_paths(tmp_path: Path) -> None:
    lines = said(LARGE, tmp_path, Options(strategy=COLLECT))
    assert [line.partition(":1: ")[0] for line in lines] == ["k.cu:8", "k.cu:10"]
    assert {*re.findall(r"(\d+) fit for all paths", "\n".join(lines))} == {"64"}
    assert said(LARGE, tmp_path, Options(strategy=COLLECT, max_block=64)) == []


ADDED = """struct Sum { double s = 0; long c[2] = {0, 0};
    __device__ Sum &operator<<(double v) { s += v; return *this; }
    __device__ long &operator[](int k) { return c[k]; } };
__global__ void k(const double *x, double *o, int n) {
    Sum a;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) { a << sqrt(x[i]); a[0]++; }
    }
    o[threadIdx.x] = a.s + a.c[0];
}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("few_headers")
def test_a_member_is_named_once(tmp_path: Path) -> None:
    (line,) = said(ADDED, tmp_path, Options(strategy=COLLECT))
    assert '"a.s" and "a.s"' not in line
    assert 'no reduction names elements of "a.c": if the loop only updates these, update ' in line
    assert "reduction(+: a.s, variables)" in line
