"""What users are told of variables of half precision: no reduction is of those."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

KERNEL = """struct __half { unsigned short bits; };
struct __half2 { unsigned bits; };
__device__ __half __hmax(__half a, __half b)
{ asm("max.f16 %0, %0, %1;" : "+h"(a.bits) : "h"(b.bits)); return a; }
__device__ __half2 __hadd2(__half2 a, __half2 b)
{ asm("add.f16x2 %0, %0, %1;" : "+r"(a.bits) : "r"(b.bits)); return a; }
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    SINGLE; __half2 both = {0};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i];
#pragma ccc if
        if (v > 0.5f) {
            for (int j = 0; j < 20; j++) v = sqrtf(v + j);
            PATH
        }
    }
    y[threadIdx.x] = most.bits + both.bits;
}
"""
PAIRS = (
    'no reduction serves "both", which holds two numbers: if no iteration needs "both" of another'
)
FLOAT = 'a reduction is of integers, float and double: make "most" a float'
MOST = "most = __hmax(most, __half{(unsigned short)v});"
BOTH = "both = __hadd2(both, __half2{(unsigned)v});"


@pytest.mark.parametrize(
    ("clause", "path", "first", "last"),
    [
        ("", BOTH, f"{PAIRS}, declare it in the loop; or if", ", without an"),
        ("reduction(max: most)", MOST, FLOAT, "; else remove the annotation [in k]"),
        ("reduction(max: most)", f"{MOST} {BOTH}", f"{FLOAT}; {PAIRS}", ", without an"),
    ],
)
def test_what_is_of_half_precision_is_of_no_reduction(
    clause: str, path: str, first: str, last: str, tmp_path: Path
) -> None:
    """As an int, which is advised of a short one, it would be cut off."""
    source = KERNEL.replace("CLAUSE", clause).replace("PATH", path)
    source = source.replace("SINGLE", "__half most = {0}")
    *_, line = said(source, tmp_path, Options(strategy=COLLECT))  # behind what clauses are told
    assert f";); {first}" in line
    assert last in line
    assert "int" not in line.replace("integers", "").replace("into", "")


def test_a_float_in_its_place_serves(tmp_path: Path) -> None:
    source = KERNEL.replace("CLAUSE", "reduction(max: most)").replace("most.bits", "most")
    source = source.replace("PATH", "most = fmaxf(most, v);").replace("SINGLE", "float most = 0")
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []
