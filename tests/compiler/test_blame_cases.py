"""Of each case of a switch that is told which it hands on, and not what others do."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

COUNTERS = """__global__ void k(const int *x, int *y, int n) {
    int a = 0, b = 0, c = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = x[i];
#pragma ccc switch
        switch (v) {
            case 0: a++; break;
            case 1: for (int j = 0; j < 40; j++) v = v * 7 + j; b += v; break;
            case 2: for (int j = 0; j < 40; j++) v = v * 9 + j; c ^= v;
            case 3: c = c * 3; break;
        }
    }
    y[threadIdx.x] = a + b + c;
}
"""


def test_cases_that_hand_on_other_variables_are_told_of_these(tmp_path: Path) -> None:
    options = Options(strategy=COLLECT)
    first, second, others = said(COUNTERS.replace(" CLAUSE", ""), tmp_path, options)
    assert "path (case 0, line 8) left" in first
    assert '("a"); if the loop only adds it up, ' in first
    assert "reduction(+: a)" in first
    assert "path (case 1, line 9) left" in second
    assert "reduction(+: b)" in second
    assert "path (case 2, case 3) left" in others
    assert '("c"); if no iteration needs "c" of another' in others
    told = said(COUNTERS.replace("CLAUSE", "reduction(+: a, b)"), tmp_path, options)
    assert [line.partition(" left")[0].partition("path ")[2] for line in told] == [
        "(case 2, case 3)"
    ]


MODES = """__global__ void k(const int *kind, const float *x, float *y, int n) {
    int mode = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
#pragma ccc switch
        switch (kind[i]) {
            case 0: for (int j = 0; j < 40; j++) v = sqrtf(v + DATA); y[i] = v; break;
            case 1: for (int j = 0; j < 30; j++) v = expf(-v); y[i] = v; mode = v > 0.5f; break;
        }
    }
    y[threadIdx.x] = mode;
}
"""


def test_no_case_is_to_do_without_what_others_read(tmp_path: Path) -> None:
    """They need it in the next iteration, in the head of which no path of it has been run."""
    (line,) = said(MODES.replace("DATA", "j"), tmp_path, Options(strategy=COLLECT))
    assert 'update "mode" by that behind the branch' in line
    (line,) = said(MODES.replace("DATA", "mode"), tmp_path, Options(strategy=COLLECT))
    assert "tile" not in line
