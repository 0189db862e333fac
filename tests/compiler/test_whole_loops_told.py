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
        'loops of lines 7 and 9 go round as often: mark them "ccc for", if their turns are '
        "independent; else remove this annotation" in line
    )
    (line,) = told(tmp_path, "#pragma ccc for", "#pragma ccc for")
    assert "say so on the loop of line 8: reduction(+: s)" in line
    assert told(tmp_path, "#pragma ccc for", "#pragma ccc for reduction(+: s)") == []


def test_loops_between_are_to_be_marked_too(tmp_path: Path) -> None:
    (line,) = told(tmp_path, "#pragma unroll 1", "#pragma unroll 1")
    assert (
        'loops of lines 7 and 9 go round as often: mark them "ccc for", if their turns are '
        "independent; else remove this annotation; or" in line
    )


def test_loops_of_one_line_are_to_be_on_lines_of_their_own(tmp_path: Path) -> None:
    """No annotation could stand between them."""
    before = "OUTER\n        for (int u = -1; u <= 1; u++)\nMIDDLE\n       "
    source = CELLS.replace(before, "#pragma unroll 1\n for (int u = -1; u <= 1; u++)")
    (line,) = said(source, tmp_path, ASKED)
    assert 'mark them, each on a line of its own, "ccc for", if their turns' in line


REDUCED = "#pragma ccc for reduction(|: mask)"
ROWS = """__global__ void __launch_bounds__(64)
k(unsigned *chart, const int *rule, int rules, int span) {
#pragma ccc for
    for (int i = threadIdx.x; i < 999; i += 64) {
        unsigned mask = 0;
        for (int k = 1; k < span; k++) {
            unsigned l = chart[k * 999 + i];
#pragma ccc if
            if (l) for (int q = 0; q < rules; q++) if (l >> rule[q] & 1) mask |= 1u << rule[q];
        }
        chart[span * 999 + i] = mask;
    }
}
"""


def test_one_loop_is_told_of_once_whatever_nvcc_made_of_it(tmp_path: Path) -> None:
    (line,) = said(ROWS, tmp_path, ASKED)
    told = (
        'begin the loop of line 6 go round as often: mark it "ccc for", if its turns are '
        'independent; else mark it "ccc while", or leave it as it is, since the annotation serves '
        "other copies; the other"
    )
    assert told in line
    assert line.count("go round") == 1
    marked = ROWS.replace("        for (int k", f"{REDUCED}\n        for (int k", 1)
    assert said(marked, tmp_path, ASKED) == []


def test_a_copy_by_unrolling_is_none_where_the_loop_around_is_marked(tmp_path: Path) -> None:
    """``#pragma unroll 1`` alone would leave a loop that is to be marked all the same."""
    (line,) = told(tmp_path, "#pragma ccc for")
    assert (
        ": a copy of this loop follows it in the iteration, of another turn of a loop around it or"
        in line
    )
    assert "; do first what is said of the copy that follows; or where its function is" in line
    assert told(tmp_path, "#pragma ccc for reduction(+: s)") == []


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
