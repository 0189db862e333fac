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
