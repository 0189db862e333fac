"""What users are told of calls that nobody can look into."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = pytest.mark.usefixtures("few_headers")

VIRTUAL = """struct Shape { int kind; __device__ virtual float far(float) const = 0; };
struct Ball : Shape {
    __device__ __forceinline__ float far(float x) const override { return sinf(x) * 3; }
};
struct Cube : Shape {
    __device__ __forceinline__ float far(float x) const override { return sqrtf(x) * 3; }
};
__global__ void __launch_bounds__(64)
k(const Shape *const *shape, const float *x, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) {
            const Shape *one = shape[i & 3];
            y[i] = CALL;
        }
    }
}
"""


@pytest.mark.slow
def test_a_virtual_function_is_to_be_called_by_its_name(tmp_path: Path) -> None:
    (line,) = said(VIRTUAL.replace("CALL", "one->far(x[i])"), tmp_path, Options(strategy=COLLECT))
    assert "call that by its name, as object->T::f() where it is virtual" in line
    ball, cube = (f"((const {name} *)one)->{name}::far(x[i])" for name in ("Ball", "Cube"))
    named = VIRTUAL.replace("CALL", f"one->kind ? {ball} : {cube}")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []


TABLE = """typedef float (*Kernel)(float);
__device__ float root(float a) { return sqrtf(a) + 1; }
__device__ float half(float a) { return a * 0.5f; }
__device__ Kernel table[2] = {root, half};
__device__ __noinline__ float applied(int k, float a, int n) {
    for (int i = 0; i < n; i++)
        a = CALL;
    return a;
}
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) y[i] = applied(i & 1, x[i], n);
    }
}
"""


@pytest.mark.slow
def test_a_pointer_by_which_another_function_calls_is_told_of(tmp_path: Path) -> None:
    """To call that function inline would not do."""
    (line,) = said(TABLE.replace("CALL", "table[k](a)"), tmp_path, Options(strategy=COLLECT))
    assert "left as it was: the annotated loop calls a function through a pointer, which" in line
    assert "(k.cu:7, PTX line " in line
    assert "; find out by a branch which function it is, and call that by its name" in line
    named = TABLE.replace("CALL", "k ? half(a) : root(a)")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []
