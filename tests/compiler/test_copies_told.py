"""What users are told of a template of which copies update a variable otherwise than others do."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

POLICIES = """struct Sum { float v = 0; __device__ void put(float x) { v += x; } };
struct Peak { float v = 0; __device__ void put(float x) { if (x > v) v = x; } };
template <class A> __device__ __forceinline__ void scan(const float *x, float *y, int n) {
    A acc;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.9f) {
            float s = x[i];
            for (int k = 0; k < 30; k++) s = sqrtf(s + k);
            acc.put(s);
        }
    }
    y[threadIdx.x] = acc.v;
}
"""
ONE = "__global__ void k(const float *x, float *y, int n) { scan<KIND>(x, y, n); }"
BOTH = """__global__ void k(const float *x, float *y, int n) {
    scan<Sum>(x, y, n);
    scan<Peak>(x, y + n, n);
}
"""
DIFFER = "; copies of this code want different clauses: give each a loop of its own"


def told(folder: Path, kernels: str, clause: str = "") -> list[str]:
    source = POLICIES.replace("CLAUSE", clause) + kernels
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize("clause", ["", "reduction(BY: acc)"])
@pytest.mark.parametrize(("kind", "by"), [("Sum", "+"), ("Peak", "max")])
def test_the_member_is_told_that_the_method_of_a_copy_updates(
    kind: str, by: str, clause: str, tmp_path: Path
) -> None:
    """Several classes have a method of its name; the instruction lies in one of them."""
    kernel = ONE.replace("KIND", kind)
    (line,) = told(tmp_path, kernel, clause.replace("BY", by))
    assert line.endswith(f"say so on the loop of line 5: reduction({by}: acc.v) [in k]")
    assert told(tmp_path, kernel, f"reduction({by}: acc.v)") == []


def test_that_copies_want_different_clauses_is_told(tmp_path: Path) -> None:
    """Who writes one is refused for the others, and who writes both is refused at once."""
    (line,) = told(tmp_path, BOTH)
    assert f"reduction(+: acc.v){DIFFER}; copy 2: " in line
    assert line.endswith("reduction(max: acc.v); else as copy 1 [in k]")


def test_a_copy_that_a_written_clause_does_not_serve_is_told_of_its_own(tmp_path: Path) -> None:
    (line,) = told(tmp_path, BOTH, "reduction(+: acc.v)")
    own = f'; the loop updates "acc.v" by max: write reduction(max: acc.v){DIFFER}; '
    assert own in line
    assert line.endswith("the other copy is applied (batch3) [in k]")


FUNCTORS = """template <class Op> __device__ float most(const float *x, int n, Op op) {
    float best = 0;
#pragma ccc for reduction(max: best)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.9f) best = op(best, x[i] * expf(x[i]));
    }
    return best;
}
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
__global__ void k(const float *x, float *y, int n) { y[threadIdx.x] = most(x, n, Max()); }
__global__ void sums(const float *x, float *y, int n) { y[threadIdx.x] = most(x, n, Add()); }
"""


def test_an_annotation_that_serves_another_kernel_is_not_to_be_removed(tmp_path: Path) -> None:
    (line,) = said(FUNCTORS, tmp_path, Options(strategy=COLLECT))
    assert line.endswith("or leave it as it is, since the annotation serves other copies [in sums]")


DESCRIPTOR = """template <bool D>
#pragma ccc grid_stride
__global__ void __launch_bounds__(512) k(const float *__restrict__ x, const int *__restrict__ deg,
                                         float4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float des[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) des[k] = 0;
#pragma ccc while
    for (int a = 0; a < deg[i]; ++a) {
#pragma ccc while
        for (int b = 0; b < deg[i + a]; ++b) {
            const float v = x[(i + a * 7 + b) & 1023];
            int f = (int)(v * 8) & 7;
            if (D) { des[f] += v * expf(v); des[f + 1] += v; continue; }
#pragma unroll
            for (int k = 0; k < 8; ++k) if (k == f) { des[k] += v * expf(v); des[k + 1] += v; }
        }
    }
    out[i] = make_float4(des[0], des[1], des[2], des[3] + des[8]);
}
template __global__ void k<true>(const float *, const int *, float4 *, int);
template __global__ void k<false>(const float *, const int *, float4 *, int);
"""


@pytest.mark.slow
def test_what_is_applied_once_others_are_gone_is_not_warned_of(tmp_path: Path) -> None:
    lines = said(DESCRIPTOR, tmp_path, Options(strategy=COLLECT))
    assert any(line.startswith("k.cu:12:") for line in lines)
    assert not any(line.startswith("k.cu:10:") for line in lines)
