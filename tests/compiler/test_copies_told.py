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
