"""What the methods of one's own object, and functions in variables, update is named, and the clause
that is told serves."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

METHOD = """struct Sim { const float *x; float *o; int n; float e;
  __device__ void run() {
    HELD
    e = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) { CALL }
    }
    o[threadIdx.x] = e; }
  __device__ void step(int i) { float v = x[i]; while (v > 0.1f) { v *= 0.7f; UPDATE } }
  __device__ void show(int i) { o[i] = e; } };
__global__ void k(Sim s) { s.run(); }
"""
FUNCTION = """struct Add { float &e; __device__ void operator()(float v) const { e += v; } };
__global__ void k(const float *x, float *o, int n) {
    float e = 0;
    HELD
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) { CALL }
    }
    o[threadIdx.x] = e; }
"""


def told(source: str, folder: Path, held: str, call: str, clause: str, update: str) -> list[str]:
    parts = {"HELD": held, "CALL": call, " CLAUSE": clause, "UPDATE": update}
    for part, text in parts.items():
        source = source.replace(part, text)
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize(
    ("source", "held", "call", "name"),
    [
        (METHOD, "", "step(i);", "e"),
        (METHOD, "", "this->step(i);", "e"),
        (METHOD, "auto f = [this](float v) { e += v; };", "f(expf(x[i]));", "e"),
        (FUNCTION, "auto f = [](auto &a, auto v) { a += v; };", "f(e, expf(x[i]));", "e"),
        (FUNCTION, "Add f{e};", "f(expf(x[i]));", "f.e"),
    ],
)
def test_it_is_offered_a_clause_that_serves(
    source: str, held: str, call: str, name: str, tmp_path: Path
) -> None:
    (line,) = told(source, tmp_path, held, call, "", "e += v;")
    assert f'computes ("{name}", k.cu:' in line
    assert f"reduction(+: {name})" in line
    clause = f" reduction(+: {name})"
    assert told(source, tmp_path, held, call, clause, "e += v;") == []


@pytest.mark.parametrize(
    ("call", "update"), [("step(i);", "e = e * 0.5f + v;"), ("step(i); show(i);", "e += v;")]
)
def test_no_clause_is_offered_where_none_serves(call: str, update: str, tmp_path: Path) -> None:
    (line,) = told(METHOD, tmp_path, "", call, "", update)
    assert 'computes ("e", k.cu:' in line
    assert "reduction(" not in line


FLAG = """__device__ void set(bool &f, bool v) { f = f SIGN v; }
__global__ void k(const float *x, bool *o, int n) {
    bool flag = FIRST;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
#pragma ccc if
        if (v > 0) { for (int k = 0; k < 20; k++) v = v * 1.1f - v * v; set(flag, v < 5); }
    }
    o[threadIdx.x] = flag; }
"""


@pytest.mark.parametrize(("sign", "by", "first"), [("||", "|", "false"), ("&&", "&", "true")])
def test_a_flag_that_a_function_sets_by_its_condition_is_offered_its_clause(
    sign: str, by: str, first: str, tmp_path: Path
) -> None:
    source = FLAG.replace("SIGN", sign).replace("FIRST", first)
    clause = f" reduction({by}: flag)"
    (line,) = said(source.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert '("flag", k.cu:1, ' in line
    assert clause in line
    assert said(source.replace(" CLAUSE", clause), tmp_path, Options(strategy=COLLECT)) == []
