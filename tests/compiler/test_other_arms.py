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


SHORT_ONES = """__global__ void k(const float *x, const int *kind, int *y, int n) {
    int run = 0;
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#pragma ccc ANNOTATED
        y[i] = run;
    }
}
"""


@pytest.mark.parametrize(
    "annotated",
    [
        "if\nif (kind[i] > 3) run = y[0]; else run += 3;",
        "if prob(.2)\nif (kind[i] > 3) run = y[0]; else y[i + n] = 4;",
        "switch\nswitch (kind[i]) { case 0: run = 1; break; case 2: run = y[0]; break; "
        "default: run ^= i; }",
    ],
)
def test_an_annotation_all_of_whose_arms_are_short_is_to_be_removed(
    annotated: str, tmp_path: Path
) -> None:
    source = SHORT_ONES.replace("ANNOTATED", annotated)
    every = said(source, tmp_path, Options(strict=True))
    told = [line for line in every if "it is too short to gain anything: remove the ann" in line]
    assert len(told) == 1
    assert not any("leave it as it is" in line or "nothing has to" in line for line in every)


def test_an_annotation_that_serves_others_is_not_to_be_removed(tmp_path: Path) -> None:
    long = "for (int k = 0; k < 40; k++) s = 1 / sqrtf(s + k + v);"
    (line,) = said(ARMS.replace("SHORT", long), tmp_path, Options(strategy=COLLECT))
    assert "remove" not in line
    assert "; leave it as it is, since the annotation serves the other arm [in k]" in line
    strict = said(ARMS.replace("SHORT", long), tmp_path, STRICT)
    assert strict == [line]
    assert "remark: path (else) left" in line


LONG_IN_A_LOOP = """__global__ void k(const int *__restrict__ a, const int *__restrict__ b,
                  int *__restrict__ out, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int v = b[i];
        const int e = a[i];
#pragma ccc for variable strategy(merge)
        for (int k = 0; k < e; ++k) {
#pragma ccc if prob(0.1)
            if ((v & 7) == 2) {
                for (int j = 0; j < 20; ++j) v = v * 9 + ((v >> 2) ^ k);
                v -= b[(v * k) & 1023];
            }
            v += k;
        }
        out[i] = v;
    }
}
"""


def test_a_long_branch_of_a_loop_that_is_transformed_is_not_too_short(tmp_path: Path) -> None:
    (line,) = said(LONG_IN_A_LOOP, tmp_path, Options())
    assert ": warning: path left" in line
    assert "too short" not in line


PEELED = """__global__ void k(const int *s, int *y, int n, int m) {
    int h[16] = {}, t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma ccc for
    for (int r = t; r < n; r += gridDim.x * blockDim.x) {
        int run = 1;
        for (int i = 1; i < m; i++) {
#pragma ccc if
            if (s[r * m + i] != s[r * m + i - 1]) { h[min(run, 15)]++; run = 1; } else run++;
        }
    }
    for (int j = 0; j < 16; j++) y[t * 16 + j] = h[j];
}
"""


def test_an_arm_of_which_copies_are_refused_serves_nobody(tmp_path: Path) -> None:
    """Whatever could be done with what unrolling left over."""
    told = said(PEELED, tmp_path, Options())
    assert len(told) == 2
    assert not any("leave it as it is" in line for line in told)


def test_elements_that_are_read_elsewhere_may_be_left_as_they_are(tmp_path: Path) -> None:
    """A variable for each of them would not help."""
    source = ARMS.replace("float s = 1;", "int m[4] = {3, 4, 5, n};")
    source = source.replace("(int) s", "m[0] + m[1] * m[2] - m[3]").replace("!on", "m[1] > m[0]")
    (line, *_) = said(
        source.replace("SHORT", "for (int k = 0; k < 4; k++) m[k] += (int) sinf(v * k);"),
        tmp_path,
        STRICT,
    )
    assert "have a variable for each of them" in line
    assert "reduction(+: variables); else leave it as it is" in line


WALKS = """__device__ __noinline__ int walk(const int *mem, int at) {
    for (int level = 0; level < 4; level++) at = mem[at];
    return at;
}
__global__ void k(const int *mem, const int *x, int *y, int *hits, int n) {
    int tag = -1, frame = 0, hit = 0;
#pragma ccc for reduction(+: hit)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int v = x[i];
#pragma ccc if prob(0.3)
        if (v >> 12 != tag) { frame = walk(mem, v); tag = v >> 12; } else ++hit;
        y[i] = frame << 12 | (v & 4095);
    }
    atomicAdd(hits, hit);
}
"""


def test_an_arm_that_is_left_since_nothing_is_gained_is_not_served(tmp_path: Path) -> None:
    told = said(WALKS, tmp_path, Options())
    assert any("expected 1.00 times as fast, since" in line for line in told)
    assert not any("leave it as it is" in line for line in told)
    assert any("; remove the annotation: at best it would be 1.00 " in line for line in told)
