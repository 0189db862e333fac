"""By default nothing is advised for a path that would gain nothing once that is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

WALK = """
__global__ void k(const int *start, const int *next, float *out, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float x = start[i];
        #pragma ccc while
        for (int j = start[i]; j > 0; j = next[j]) {
            if (j == n) return;
            x += WORK;
        }
        out[i] = x;
    }
}
"""


@pytest.mark.usefixtures("all_headers")
def test_a_loop_that_gains_nothing_at_best_is_to_be_left(tmp_path: Path) -> None:
    """Though what is in its way could be mended."""
    short = WALK.replace("WORK", "1")
    (line,) = said(short, tmp_path, Options())
    assert "jumps out of the annotated loop" in line
    assert "; remove the annotation: at best it would be 0.9" in line
    assert "; or ask for strategy(flatten), in which each lane keeps" in line
    (line,) = said(short, tmp_path, Options(strategy=COLLECT))
    assert "; leave its loop by break" in line
    (line,) = said(WALK.replace("WORK", "sinf(x * j) * expf(x)"), tmp_path, Options())
    assert "; leave its loop by break" in line


ARMS = """
__global__ void k(const float *x, float *y, const unsigned short *kind, int n) {
    float loss = 0;
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        #pragma ccc if
        if (kind[i] == i % 7) { loss -= x[i] >= 1e-10f ? WORK : 2.f; y[i] = x[i] - 1; }
        else if (kind[i] == n) y[i] = 0;
        else y[i] = 3 * y[i];
    }
    atomicAdd(y, loss);
}
"""


@pytest.mark.usefixtures("all_headers")
def test_arms_are_looked_at_together(tmp_path: Path) -> None:
    """Also where one of them could be collected."""
    lines = said(ARMS.replace("WORK", "__logf(x[i])"), tmp_path, Options())
    assert "; remove the annotation: at best it would be " in lines[0]
    lines = said(ARMS.replace("WORK", "expf(sinf(x[i])) * cosf(x[i])"), tmp_path, Options())
    assert "; if the loop only adds it up, say so" in lines[0]


def test_copies_of_which_one_may_gain_are_told_what_to_do(tmp_path: Path) -> None:
    both = WALK.replace("__global__ void k", "template <int N> __device__ void walk")
    both = both.replace("x += WORK;", "if (N) x += sinf(x * j) * expf(x + j); else x += 1;")
    kernel = "__global__ void k(const int *start, const int *next, float *out, int n) {\n"
    both += f"{kernel}    walk<0>(start, next, out, n);\n    walk<1>(start, next, out, n);\n}}\n"
    (line,) = (one for one in said(both, tmp_path, Options()) if "jumps out" in one)
    assert "at best" not in line


BESIDE = """
__global__ void __launch_bounds__(64)
k(const unsigned *__restrict__ a, unsigned *__restrict__ y, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned s = a[i], c = 0;
        #pragma ccc while
        while ((s >> 27) > 5 && c < 10) {
            s = s * 1664525u + 1013904223u;
            ++c;
            #pragma ccc while
            for (unsigned j = 0; j < a[c] % 9; ++j) s ^= a[j];
        }
        c = 0;
        #pragma ccc while strategy(merge)
        while ((s >> 27) > 2 && c < 18) {
            s = s * 1664525u + 1013904223u;
            ++c;
            if (a[(i * 11 + 10) & 255] * 2654435761u >> 29 < 4u) y[i * 3] ^= 7;
        }
        y[i * 3 + 2] += s;
    }
}
"""


def test_what_passes_have_made_is_not_looked_for_in_the_kernel_as_it_was(tmp_path: Path) -> None:
    first, inner = said(BESIDE, tmp_path, Options())
    assert "; remove that on line 11, or split the annotated loop in two" in first
    assert inner.endswith("; remove this annotation [in k]")
