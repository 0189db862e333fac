"""What users are told of members that only methods may name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.errors import CccError
from ccc.frontend.marking import mark
from ccc.frontend.structures import structure_of
from ccc.options import COLLECT, Options

pytestmark = pytest.mark.usefixtures("few_headers")

SOURCE = """struct Plain { float s = 0; int c = 0; float m[2] = {};
    __device__ float &sum() { return s; } __device__ int &count() { return this->c; }
    __device__ float &at(int i) { return m[i]; } };
class Hidden { float s = 0; int c = 0; public: __device__ void add(float v) { s += v; c++; }
    __device__ float &sum() { return s; } __device__ int &count() { return c; } };
template <class T> class Base { protected: T s{}; int c = 0;
    __device__ void note(T v) { s += v; ++c; } };
template <class T> class Made : Base<T> { public:
    __device__ void add(T v) { this->note(v); }
    __device__ T &sum() { return this->s; } __device__ int &count() { return this->c; } };
struct Open : Base<float> { __device__ void add(float v) { note(v); }
    __device__ float &sum() { return s; } __device__ int &count() { return c; } };
__global__ void k(const float *x, float *y, int n) {
    KIND t;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.5f) { float v = logf(x[i]); UPDATE }
    }
    y[threadIdx.x] = t.sum() + t.count() MORE;
}
"""
HIDDEN = (
    'if the loop only updates members of "t", update plain variables in their place, or make them '
    "public, and name these on the loop: reduction(+: variables); else remove the annotation [in k]"
)


def of(kind: str, update: str, clause: str = "") -> str:
    text = SOURCE.replace("KIND", kind).replace("UPDATE", update).replace("CLAUSE", clause)
    return text.replace("MORE", "+ t.at(0) + t.at(1)" if kind == "Plain" else "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "update"),
    [
        ("Hidden", "t.add(v);"),
        ("Hidden", "t.sum() += v; ++t.count();"),
        ("Made<float>", "t.add(v);"),
        ("Made<float>", "t.sum() += v;"),
        ("Open", "t.add(v);"),
    ],
)
def test_no_member_is_to_be_named_that_nvcc_lets_nobody_name(
    kind: str, update: str, tmp_path: Path
) -> None:
    (line,) = said(of(kind, update), tmp_path, Options(strategy=COLLECT))
    assert line.endswith(f"; {HIDDEN}")


@pytest.mark.slow
def test_what_an_accessor_gives_the_place_of_is_named(tmp_path: Path) -> None:
    update = "t.sum() += v; ++t.count();"
    (line,) = said(of("Plain", update), tmp_path, Options(strategy=COLLECT))
    assert '("t.s", k.cu:' in line
    assert re.findall(r"reduction\(.*?\)", line) == ["reduction(+: t.s)"]
    named = of("Plain", update, "reduction(+: t.s)")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []
    (line,) = said(
        of("Plain", "t.at(0) += v; t.at(1) += x[i];"), tmp_path, Options(strategy=COLLECT)
    )
    assert 'no reduction names elements of "t.m"' in line


@pytest.mark.parametrize("kind", ["Hidden", "Made<float>", "Open"])
def test_a_clause_that_names_one_is_an_error_of_ours(kind: str) -> None:
    told = 'the reduction is of "t.s", which only methods may name; update plain variables in its'
    with pytest.raises(CccError, match=re.escape(told)):
        mark(of(kind, "t.add(v);", "reduction(+: t.s)"), "k.cu")
    assert mark(of("Plain", "t.sum() += v;", "reduction(+: t.s)"), "k.cu").annotations
    source, knows = of(kind, "t.add(v);", "reduction(+: t.s)"), "friend void k(const float *)"
    assert mark(f"struct S {{ {knows}; }};\n{source}", "k.cu").annotations  # who knows of whom


OF_OTHERS = """template <class T> struct Pair { T x; };
template <> struct Pair<float> { float x = 0, y = 0; __device__ Pair operator+=(const Pair &o) {
    x += o.x; y += o.y; return *this; } };
__global__ void k(const float *x, float *y, int n) {
    Pair<float> z; float w = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.5f) { Pair<float> v; v.x = logf(x[i]); z += v; w -= v.x; }
    }
    y[threadIdx.x] = z.x + z.y + w;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("clause", ["", "reduction(+: z, w)"])
def test_of_a_class_of_which_nobody_knows_the_members_none_is_named(
    clause: str, tmp_path: Path
) -> None:
    source = OF_OTHERS.replace("CLAUSE", clause)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'no reduction names "z", which is a Pair<float>: update plain variables in its' in line
    assert "(+: z)" not in line


@pytest.mark.slow
@pytest.mark.usefixtures("all_headers")
def test_of_one_that_methods_nobody_knows_change_none_is_named(tmp_path: Path) -> None:
    source = OF_OTHERS.partition("__global__")
    text = "#include <cuda/std/array>\n" + "".join(source[1:]).replace("CLAUSE", "")
    text = text.replace("Pair<float> z", "cuda::std::array<float, 2> z{}").replace("w -= v.x", "")
    text = text.replace("Pair<float> v; v.x = logf(x[i]); z += v", "z.front() += logf(x[i])")
    (line,) = said(text.replace("z.x + z.y", "z[0]"), tmp_path, Options(strategy=COLLECT))
    assert '; no reduction names "z", which is a cuda::std::array<float, 2>: update plain' in line
    assert "(+: z)" not in line


@pytest.mark.slow
def test_elements_beside_one_of_such_a_class_are_told_of_with_it(tmp_path: Path) -> None:
    source = OF_OTHERS.replace("CLAUSE", "").replace("w = 0;", "w[2] = {0, 0};")
    source = source.replace("w -=", "w[0] +=").replace("+ w;", "+ w[0] + w[1];")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'no reduction names "z", which is a Pair<float>, or elements of "w": update' in line
    assert "in their place, and name these on the loop: reduction(+: variables); else" in line


KEPT = """template <class A, class B> struct Both { A first; B second; };
template <class A, class B> __device__ bool operator<(const Both<A, B> &x, const Both<A, B> &y) {
    return x.first < y.first; }
struct Far { float d; int i; __device__ bool operator>(const Far &o) const { return d > o.d; } };
struct Tie { float d; int i;
    __device__ bool operator<(const Tie &o) const { return d < o.d || (d == o.d && i < o.i); } };
__global__ void k(const float *x, KIND *y, int n) {
    KIND best{9.0f, -1};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.5f) { KIND v{logf(x[i]), i}; if (v SIGN best) best = v; }
    }
    y[threadIdx.x] = best;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "sign", "clause"),
    [
        ("Both<float, int>", "<", "reduction(min: best.first)"),
        ("Far", ">", "reduction(max: best.d)"),
        ("Tie", "<", ""),
    ],
)
def test_of_what_is_kept_the_member_is_named_that_is_compared(
    kind: str, sign: str, clause: str, tmp_path: Path
) -> None:
    source = KEPT.replace("KIND", kind).replace("SIGN", sign)
    (line,) = said(source.replace("CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    several = 'no reduction serves "best", of which "d" and "i" decide what is kept; if the branch'
    assert (f"; {several} can do without it" in line) == (not clause)
    assert re.findall(r"reduction\(.*?\)", line) == ([clause] if clause else [])
    if clause:
        assert said(source.replace("CLAUSE", clause), tmp_path, Options(strategy=COLLECT)) == []


def test_members_of_a_template_are_what_that_is_made_of() -> None:
    code = b"template <typename T, class U = int> struct V { T x, y; U n; T e[2]; };"
    found = structure_of(b"V<float, int>", code)
    assert found is not None
    assert found.open == ["x", "y", "n"]
