"""What users are told of structures in structures: a reduction is of the numbers in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.frontend.structures import structure_of
from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

KERNEL = """struct Vec { float x, y;
    __device__ Vec &operator+=(Vec o) { x += o.x; y += o.y; return *this; } };
struct Sums { Vec f; float e;
    __device__ void add(Vec v, float w) { f += v; e += w; } };
__global__ void k(const float *x, float *out, int n) {
    Sums s = {{0, 0}, 0};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) { float w = expf(x[i]); UPDATE }
    }
    out[threadIdx.x] = s.f.x + s.f.y * s.e;
}
"""
NAMED = 'if the loop only updates members of "s.f", name those on the loop: '


@pytest.mark.parametrize("update", ["s.f += Vec{w, x[i]}; s.e += w;", "s.add(Vec{w, x[i]}, w);"])
def test_the_numbers_in_a_member_are_named_at_once(update: str, tmp_path: Path) -> None:
    source, options = KERNEL.replace("UPDATE", update), Options(strategy=COLLECT)
    (line,) = said(source.replace("CLAUSE", ""), tmp_path, options)
    clause = "reduction(+: s.f.x, s.f.y, s.e)"
    assert f"; {NAMED}{clause}; else remove the annotation [in k]" in line
    _, line = said(source.replace("CLAUSE", "reduction(+: s.f, s.e)"), tmp_path, options)
    assert f"; {NAMED}reduction(+: s.f.x, s.f.y); else remove the annotation [in k]" in line
    assert said(source.replace("CLAUSE", clause), tmp_path, options) == []


def test_a_template_may_be_made_of_another_name_of_a_number() -> None:
    code = b"template <class T> struct Stat { T sum; int n; }; using Real = float;"
    found = structure_of(b"Stat<Real>", code)
    assert found is not None
    assert found.open == ["sum", "n"]


NESTED_LOOPS = """__global__ void k(const float *x, float2 *y, int n, int m) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float2 sum = {0, 0};
#pragma ccc for
        for (int j = 0; j < m; j++) {
#pragma ccc if
            if (x[i * m + j] > 0.5f) for (int q = 0; q < 9; q++) sum.x += sinf(x[i + q]);
        }
        y[i] = sum;
    }
}
"""


def test_of_several_loops_it_is_told_which_members_are_to_be_named_on(tmp_path: Path) -> None:
    (line,) = said(NESTED_LOOPS, tmp_path, Options(strategy=COLLECT))
    assert "on the loop of line 5: reduction(+: sum.x)" in line
