"""Of a short arm beside one that is served nothing has to be done: its annotation serves both."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

ARMS = """__global__ void k(const float *x, float *y, int *r, int n) {
    bool on = false; int run = 0; float s = 1;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
#pragma ccc if
        if (v > 1.5f && !on) { for (int k = 0; k < 40; k++) v = sqrtf(v + k); y[i] = v; }
        else SHORT
        run++;
    }
    r[threadIdx.x] = run + on + (int) s;
}
"""
CASES = """__global__ void k(const char *op, const float *x, float *y, int *r, int n) {
    int mode = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float s = x[i];
#pragma ccc switch
        switch (op[i]) {
            case 0: mode = 1; break;
            case 1: for (int k = 0; k < 40; k++) s = sqrtf(s * s + k); y[i] = s; break;
            case 2: for (int k = 0; k < 30; k++) s = expf(-s) + k; y[i] = s; break;
        }
    }
    r[threadIdx.x] = mode;
}
"""
STRICT = Options(strategy=COLLECT, strict=True)
NOTHING = "left as it was: too short to gain, so that nothing has to be done about it [in k]"


@pytest.mark.parametrize("short", ["run = 0;", "if (v < 0.5f) on = !on || v < 0;"])
def test_a_short_arm_needs_nothing(short: str, tmp_path: Path) -> None:
    (line,) = said(ARMS.replace("SHORT", short), tmp_path, STRICT)
    assert line == f"k.cu:6:1: remark: path (else) {NOTHING}"


def test_a_short_case_needs_nothing(tmp_path: Path) -> None:
    (line,) = said(CASES, tmp_path, STRICT)
    assert line == f"k.cu:6:1: remark: path (case 0, line 8) {NOTHING}"


def test_an_annotation_that_serves_others_is_not_to_be_removed(tmp_path: Path) -> None:
    long = "for (int k = 0; k < 40; k++) s = 1 / sqrtf(s + k + v);"
    (line,) = said(ARMS.replace("SHORT", long), tmp_path, Options(strategy=COLLECT))
    assert "warning: path (else) left" in line
    assert "remove" not in line
    assert "; leave it as it is, since the annotation serves the other arm [in k]" in line
