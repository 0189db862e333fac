"""What users are told where methods are defined outside of their class."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

METHODS = """namespace a { struct Sums { float sum = 0; int n = 0; float top = 0;
    __device__ void add(float v); __device__ void keep(float v);
    __device__ void run(const float *x, int m); }; }
__device__ void a::Sums::add(float v) { sum += v; n++; }
__device__ inline void a::Sums::keep(float v) { if (v > top) top = v; }
template <class T> struct Other { T first = 0; __device__ void add(T v); };
template <class T> __device__ void Other<T>::add(T v) { first += v; }
"""
KERNEL = """__global__ void k(const float *x, float *o, int n) {
    KIND s;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0) { float v = logf(x[i]); PATH }
    }
    o[threadIdx.x] = RESULT;
}
"""
OWN = """__device__ void a::Sums::run(const float *x, int m) {
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < m; i += 64) {
#pragma ccc if
        if (x[i] > 0) { float v = logf(x[i]); add(v); keep(v); }
    }
}
__global__ void k(const float *x, float *o, int n) {
    a::Sums s; s.run(x, n); o[threadIdx.x] = s.sum + s.n + s.top;
}
"""


def of(kind: str, path: str, result: str) -> str:
    return KERNEL.replace("KIND", kind).replace("PATH", path).replace("RESULT", result)


@pytest.mark.parametrize(
    ("kernel", "clauses"),
    [
        (
            of("a::Sums", "s.add(v); s.keep(v);", "s.sum + s.n + s.top"),
            "reduction(+: s.sum, s.n) reduction(max: s.top)",
        ),
        (of("Other<float>", "s.add(v);", "s.first"), "reduction(+: s.first)"),
        (OWN, "reduction(+: sum, n) reduction(max: top)"),
    ],
)
def test_what_they_update_is_named(kernel: str, clauses: str, tmp_path: Path) -> None:
    source = METHODS + kernel
    (line,) = said(source.replace("CLAUSES", ""), tmp_path, Options(strategy=COLLECT))
    assert line.endswith(f": {clauses} [in k]")
    strict = Options(strategy=COLLECT, strict=True)
    assert said(source.replace("CLAUSES", clauses), tmp_path, strict) == []
