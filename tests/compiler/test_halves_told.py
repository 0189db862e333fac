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


MEMBERS = """struct __half { unsigned short bits; };
__device__ __half operator+(__half a, __half b)
{ asm("add.f16 %0, %0, %1;" : "+h"(a.bits) : "h"(b.bits)); return a; }
struct Sums { KIND h; float s; unsigned hits BITS, any BITS; };
__global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    Sums a{};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.5f) UPDATE
    }
    y[threadIdx.x] = a.s + *(unsigned short *)&a.h + a.hits + a.any;
}
"""
SUM = "{ float v = expf(x[i]); a.h = a.h + HALF; a.s += v; }"
HITS = "{ if (expf(x[i]) > 3) a.hits++; a.any = 1; }"


@pytest.mark.parametrize("clause", ["", "reduction(+: a.h, a.s)"])
def test_a_member_of_half_precision(clause: str, tmp_path: Path) -> None:
    """A clause for the other member alone was told, or the clause for both was blamed."""
    source = MEMBERS.replace(" BITS", "").replace("UPDATE", SUM)
    half = source.replace("KIND", "__half").replace("HALF", "__half{(unsigned short)v}")
    (line,) = said(half.replace("CLAUSE", clause), tmp_path, Options(strategy=COLLECT))
    assert '; a reduction is of integers, float and double: make "a.h" a float' in line
    assert ("say so on the loop: reduction(+: a.h, a.s); else" in line) == (not clause)
    plain = source.replace("KIND", "float").replace("HALF", "v")
    plain = plain.replace("CLAUSE", "reduction(+: a.h, a.s)")
    assert said(plain, tmp_path, Options(strategy=COLLECT)) == []


@pytest.mark.parametrize("clause", ["", "reduction(+: a.hits) reduction(|: a.any)"])
def test_a_bit_field(clause: str, tmp_path: Path) -> None:
    source = MEMBERS.replace("KIND", "float").replace("UPDATE", HITS)
    fields = source.replace("BITS", ": 12").replace("CLAUSE", clause)
    (line,) = said(fields, tmp_path, Options(strategy=COLLECT))
    told = '; no reduction serves bit-fields: declare "a.hits" and "a.any" without a number of bits'
    assert told in line
    clauses = "reduction(+: a.hits) reduction(|: a.any)"
    assert (f", and say so on the loop: {clauses}; else remove" in line) == (not clause)
    plain = source.replace(" BITS", "").replace("CLAUSE", clauses)
    assert said(plain, tmp_path, Options(strategy=COLLECT)) == []


WIDE = """__global__ void k(const unsigned long long *x, unsigned long long *y, int n) {
    unsigned __int128 sum = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned __int128 d = 0;
#pragma ccc if STRATEGY
        if (x[i] > 5) { unsigned long long v = x[i];
            for (int j = 0; j < 6; j++) v = v * v % 1000007; PATH }
        BEHIND
    }
    y[threadIdx.x] = sum >> 64 ^ sum;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("clause", ["", "reduction(+: sum)"])
def test_integers_of_128_bits_are_none(clause: str, tmp_path: Path) -> None:
    """The clause for one was told, and who obeyed was blamed."""
    wide = WIDE.replace("STRATEGY", "").replace("PATH", "sum += (unsigned __int128)v * x[i];")
    source = wide.replace("CLAUSE", clause).replace("BEHIND", "")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert '; no reduction serves "sum", which has 128 bits: if the branch can do without' in line
    assert "reduction(" not in line
    followed = WIDE.replace("STRATEGY", "strategy(tile(3))").replace("CLAUSE", "")
    followed = followed.replace("PATH", "d = (unsigned __int128)v * x[i];")
    followed = followed.replace("BEHIND", "sum += d;")
    assert said(followed, tmp_path, Options(strategy=COLLECT)) == []
