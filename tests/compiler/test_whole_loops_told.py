"""What is said of an inner loop in loops that all lanes go round as often, so that none is a path:
all of them are to be marked, since nvcc unrolls those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

CELLS = """__global__ void __launch_bounds__(64)
k(const int *__restrict__ begin, const float *__restrict__ x, float *__restrict__ y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        float s = 0;
OUTER
        for (int u = -1; u <= 1; u++)
MIDDLE
        for (int v = -1; v <= 1; v++) {
            int c = i + u * 100 + v;
#pragma ccc while
            for (int j = begin[c]; j < begin[c + 1]; j++) s += x[j] * expf(x[j]);
        }
        y[i] = s;
    }
}
"""
ASKED = Options(strategy=COLLECT)


def told(folder: Path, outer: str = "", middle: str = "") -> list[str]:
    return said(CELLS.replace("OUTER", outer).replace("MIDDLE", middle), folder, ASKED)


def test_loops_that_nvcc_unrolls_are_to_be_marked_too(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "#pragma unroll 1")
    assert (
        'go round as often: mark it "ccc for", and so each loop in it that nvcc has unrolled, if '
        'their turns are independent; else mark them "ccc while", or remove this annotation' in line
    )
    (line,) = told(tmp_path, "#pragma ccc for", "#pragma ccc for")
    assert "say so on the loop of line 8: reduction(+: s)" in line
    assert told(tmp_path, "#pragma ccc for", "#pragma ccc for reduction(+: s)") == []


def test_loops_between_are_to_be_marked_too(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "#pragma unroll 1", "#pragma unroll 1")
    assert (
        'mark it "ccc for", and so the loop between it and the annotated one, if their turns are '
        "independent; else remove this annotation; or" in line
    )


def test_a_copy_by_unrolling_is_none_where_the_loop_around_is_marked(tmp_path: Path) -> None:
    """``#pragma unroll 1`` alone would leave a loop that is to be marked all the same."""
    (line,) = told(tmp_path, "#pragma ccc for")
    assert (
        "a copy of this one, since nvcc has unrolled the loop around it (k.cu:12, PTX line " in line
    )
    assert (
        '; mark each loop around it that nvcc has unrolled "ccc for", if its turns are independent,'
        ' or else "ccc while"; ' in line
    )


WINDOWS = """__global__ void __launch_bounds__(128) k(const int *x, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 128) {
LOOP
        for (int d = 0; d < 4; ++d) {
            int v = x[4 * i + d], w[6];
            for (int k = 0; k < 6; ++k) w[k] = x[i + k];
#pragma ccc if
            if (v > 3) {
                for (int k = 0; k < 50; ++k) { v = v * 5 + w[v & 3]; w[v & 1] += k; }
                y[4 * i + d] = v + w[1];
            }
        }
    }
}
"""


def test_copies_of_a_path_with_an_array_are_one_where_the_loop_is_marked(tmp_path: Path) -> None:
    """And the array is each iteration's own: no other place is to be found for it."""
    (line,) = said(WINDOWS.replace("LOOP", ""), tmp_path, ASKED)
    assert 'made copies of this one: mark each loop around it that nvcc has unrolled "ccc' in line
    (line,) = said(WINDOWS.replace("LOOP", "#pragma ccc for"), tmp_path, ASKED)
    assert "copies" not in line
    assert "; declare the array in the path" in line
    assert "__shared__" not in line
