"""Of a minimum by a function that takes what is no number the variable is told, with its clause."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

LEAST = """struct Less { __device__ float operator()(float a, float b) const { ORDER } };
struct More { __device__ float operator()(float a, float b) const { return a < b ? b : a; } };
template <class Op> struct Kept { float v; Op op; __device__ void feed(float x) { v = op(v, x); } };
__global__ void k(const float *x, float *y, int n) {
    float best = 9; int sum = 0;
    Kept<Less> low{9}; Kept<More> high{-9};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
#pragma ccc if
        if (v > 0.5f) { for (int k = 0; k < 20; k++) v = expf(-v); UPDATE }
    }
    y[threadIdx.x] = best + sum + low.v + high.v;
}
"""
FIRST = ("ORDER", "return b < a ? b : a;")
NAN = 'as it is, a NaN is taken, and then whatever comes next: put the new value first, "new < old '


def test_of_a_minimum_beside_a_sum_both_clauses_are_told(tmp_path: Path) -> None:
    source = LEAST.replace("UPDATE", "best = Less()(best, v); sum += i;")
    wrong = source.replace("ORDER", "return a < b ? a : b;").replace(" CLAUSE", "")
    (line,) = said(wrong, tmp_path, Options(strategy=COLLECT))
    assert '("best", k.cu:1' in line
    clauses = "reduction(min: best) reduction(+: sum)"
    told = f"if the loop does nothing else with them, say so on the loop of line 7: {clauses}"
    told = f'{NAN}? new : old", or use fminf, and {told} [in k]'
    assert line.endswith(told)
    right = source.replace(*FIRST).replace("CLAUSE", clauses)
    assert said(right, tmp_path, Options(strategy=COLLECT)) == []


def test_of_two_that_one_template_keeps_the_one_that_takes_it_is_named(tmp_path: Path) -> None:
    source = LEAST.replace("UPDATE", "low.feed(v); high.feed(v);")
    source = source.replace("CLAUSE", "reduction(min: low.v) reduction(max: high.v)")
    wrong = source.replace("ORDER", "return a < b ? a : b;")
    (line,) = said(wrong, tmp_path, Options(strategy=COLLECT))
    assert '("low.v", k.cu:' in line
    assert NAN in line
    assert said(source.replace(*FIRST), tmp_path, Options(strategy=COLLECT)) == []


def test_of_an_array_with_a_namesake_elements_are_told(
    tmp_path: Path,
) -> None:
    update = "m[0] = Less()(m[0], v); m[1] = Less()(m[1], v * 2);"
    source = LEAST.replace("UPDATE", update).replace("int sum = 0;", "float m[2] = {9, 9};")
    source = source.replace("best + sum", "m[0] + m[1]").replace(" CLAUSE", "")
    wrong = source.replace("ORDER", "return a < b ? a : b;")
    other = "__global__ void other(float *y) { float *m = y; *m = 1; }\n"
    (line,) = said(wrong + other, tmp_path, Options(strategy=COLLECT))
    told = 'no reduction names elements of "m": if the loop only updates these, update plain '
    told += "variables in their place, and say so on the loop of line 7: reduction(op: variables)"
    assert f'{NAN}? new : old", or use fminf, and {told}; else remove the annotation [in k]' in line


@pytest.mark.parametrize("clause", ["", "reduction(min: least)"])
def test_it_is_none_that_a_function_of_the_library_updates(tmp_path: Path, clause: str) -> None:
    update = "least = fminf(least, v + 1); best = Less()(best, v);"
    source = LEAST.replace("UPDATE", update).replace("int sum = 0", "float least = 9, sum = 0")
    source = source.replace("best + sum", "best + sum + least")
    wrong = source.replace("ORDER", "if (a < b) return a; return b;").replace("CLAUSE", clause)
    (line,) = said(wrong, tmp_path, Options(strategy=COLLECT))
    assert '("best", k.cu:1' in line
    assert f'{NAN}? new : old", or use fminf, and if the loop' in line
    told = line.rpartition("of line 7: ")[2].removesuffix(" [in k]")
    assert told == ("reduction(min: best)" if clause else "reduction(min: best, least)")
    right = source.replace(*FIRST).replace("CLAUSE", f"{clause} {told}")
    assert said(right, tmp_path, Options(strategy=COLLECT)) == []
