"""A variable that lies in memory since a function gets its address is called no array."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

STEPS = """struct Sum { float value; int count; };
__device__ KEPT bool step(float x, float *s) { *s += sqrtf(x) * *s; return *s < 50; }
__device__ KEPT void count(float x, Sum &s) { s.value += sqrtf(x) * s.value; s.count++; }
__device__ KEPT void begin(float x, float *s, int *n) { *s = sqrtf(x); *n = (int)(x * 9); }
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Sum both = {1, 0};
        float sum = 1;
        int turns = 0;
        BEFORE
#pragma ccc PATH
        BODY
        y[i] = sum + both.value + turns;
    }
}
"""


@pytest.mark.parametrize(
    ("path", "before", "body", "names", "function"),
    [
        ("if", "", "if (x[i] > 0.5f) step(x[i], &sum);", '"sum"', "step"),
        ("if", "", "if (x[i] > 0.5f) count(x[i], both);", '"both"', "count"),
        ("while", "", "while (step(x[i], &sum)) sum *= 1.5f;", '"sum"', "step"),
        (
            "if",
            "begin(x[i], &sum, &turns);",
            "if (turns > 4) { for (int k = 0; k < turns; k++) sum += sqrtf(sum + k); turns = 1; }",
            '"sum" or "turns"',
            "begin",
        ),
    ],
)
def test_what_a_function_gets_by_its_address_is_a_variable(
    path: str, before: str, body: str, names: str, function: str, tmp_path: Path
) -> None:
    source = STEPS.replace("PATH", path).replace("BEFORE", before).replace("BODY", body)
    kept = source.replace("KEPT", "__noinline__")
    line = said(kept, tmp_path, Options(strategy=COLLECT))[0]
    assert f"local memory (a variable of the thread's own, whose address {function} gets)" in line
    assert f"({names}, k.cu:" in line
    assert f"; declare {function} __forceinline__, or let it return what it makes of it" in line
    assert "array" not in line
    inlined = source.replace("KEPT", "__forceinline__")
    assert said(inlined, tmp_path, Options(strategy=COLLECT)) == []
