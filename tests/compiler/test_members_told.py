"""What users are told of a structure that the loop adds up: a reduction is of members."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.frontend.elements import changed
from ccc.frontend.structures import structure_of
from ccc.frontend.syntax import parse_cuda
from ccc.options import COLLECT, Options

pytestmark = pytest.mark.usefixtures("few_headers")

KERNEL = """KIND
__global__ void k(const float *x, float *y, int n) {
    Sums s{};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) UPDATE;
    }
    y[threadIdx.x] = s.get();
}
"""
OPEN = """struct Sums { float a, b;
    __device__ float get() const { return a + b; } };
__device__ Sums operator+(Sums s, Sums t) { return {s.a + t.a, s.b + t.b}; }"""
CLASS = """class Sums { ACCESS float a = 0; public:
    __device__ Sums &operator+=(float v) { a += v; return *this; }
    __device__ void add(float v) { a += v; }
    __device__ float get() const { return a; } };"""
NAMED = (
    '; if the loop only updates members of "s", name those on the loop: reduction(+: s.a, s.b); '
)
HIDDEN = (
    '; if the loop only updates members of "s", update plain variables in their place, or make '
    "them public, and name these on the loop: reduction(+: variables); "
)


def told(folder: Path, kind: str, update: str, clause: str = "") -> list[str]:
    source = KERNEL.replace("KIND", kind).replace("UPDATE", update).replace("CLAUSE", clause)
    return said(source, folder, Options(strategy=COLLECT))


WHOLE = (
    OPEN + " __device__ Sums &operator+=(Sums &s, Sums t) { s = {s.a + t.a, s.b + t.b}; return s; }"
)


@pytest.mark.slow
@pytest.mark.parametrize("clause", ["", "reduction(+: s)"])
@pytest.mark.parametrize(
    ("kind", "update"),
    [(OPEN, "s = s + Sums{expf(x[i]), 1.0f}"), (WHOLE, "s += Sums{expf(x[i]), 1.0f}")],
)
def test_the_members_of_a_structure_are_named(
    kind: str, update: str, clause: str, tmp_path: Path
) -> None:
    *_, line = told(tmp_path, kind, update, clause)
    assert f"{NAMED}else remove the annotation [in k]" in line
    assert told(tmp_path, kind, update, "reduction(+: s.a, s.b)") == []


@pytest.mark.slow
@pytest.mark.parametrize("update", ["s += expf(x[i])", "s.add(expf(x[i]))"])
def test_a_member_that_only_methods_may_name_is_not(update: str, tmp_path: Path) -> None:
    (line,) = told(tmp_path, CLASS.replace("ACCESS", ""), update)
    assert f"{HIDDEN}else remove the annotation [in k]" in line
    public = CLASS.replace("ACCESS", "public:")
    (line,) = told(tmp_path, public, update)
    assert "reduction(+: s.a)" in line
    assert told(tmp_path, public, update, "reduction(+: s.a)") == []


@pytest.mark.parametrize(
    ("code", "numbers", "hidden"),
    [
        (b"struct S { float a; int b; };", ["a", "b"], ""),
        (b"class S { float a; public: int b; };", ["b"], "a"),
        (b"struct S : T { float a; private: int b; protected: int c; };", ["a"], "bc"),
        (b"struct T { float a; }; struct S : public T { int b; };", ["b", "a"], ""),
        (b"struct T { float a; }; struct S : private T { int b; };", ["b"], "a"),
        (b"struct T { float a; }; class S : T { public: int b; };", ["b"], "a"),
        (b"template <class T> class S { T a{}; public: void f() { T b; } };", [], "a"),
    ],
)
def test_what_others_may_name(code: bytes, numbers: list[str], hidden: str) -> None:
    found = structure_of(b"S<int>" if b"template" in code else b"const S", code)
    assert found is not None
    assert found.open == numbers
    assert [one for one in "abc" if found.hides(one)] == [*hidden]


def test_what_is_no_structure_of_the_code() -> None:
    assert structure_of(b"float", b"struct S { float a; };") is None
    assert structure_of(b"S", b"struct S;") is None
    assert (
        structure_of(b"S", b"struct S { int a; }; namespace n { struct S { float a; }; }") is None
    )


@pytest.mark.parametrize("kind", [b"cuda::std::pair<float, int>", b"const std::pair<int,int>"])
def test_a_pair_of_a_library_has_two_members(kind: bytes) -> None:
    for code in (b"using P = %s;" % kind, b"typedef %s P;" % kind):
        found = structure_of(b"P", code)
        assert found is not None
        assert (found.open, found.private) == (["first", "second"], b"")
    found = structure_of(kind.replace(b"int>", b"S>"), b"struct S { int pair; };")
    assert found is not None
    assert found.open == ["first"]
    assert structure_of(kind.replace(b"std", b"mine"), b"") is None


OF_LIBRARY = """#include <cuda/std/utility>
using Best = cuda::std::pair<float, int>;
__device__ Best better(Best a, Best b) { return b.first < a.first ? b : a; }
__global__ void k(const float *x, float *y, int n) {
    Best b(99, -1);
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) b = better(b, Best{cbrtf(x[i]), i});
    }
    y[threadIdx.x] = b.first + b.second;
}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("all_headers")
def test_the_members_of_a_pair_are_told_of(tmp_path: Path) -> None:
    (line,) = said(OF_LIBRARY.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert 'members of "b", name those on the loop, as "b.first", but for what goes' in line
    assert line.endswith(": reduction(min: members); else remove the annotation [in k]")
    whole, _ = said(OF_LIBRARY.replace("CLAUSE", "reduction(min: b)"), tmp_path, Options())
    assert 'no effect on "b", which is a structure' in whole
    named = OF_LIBRARY.replace("CLAUSE", "reduction(min: b.first)")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []


@pytest.mark.slow
@pytest.mark.usefixtures("all_headers")
@pytest.mark.parametrize("clause", ["", "reduction(min: b.first)"])
def test_of_a_pair_that_is_compared_by_both_no_reduction_is_told(
    clause: str, tmp_path: Path
) -> None:
    update = "{ Best c{cbrtf(x[i]), i}; if (c < b) b = c; }"
    text = OF_LIBRARY.replace("b = better(b, Best{cbrtf(x[i]), i});", update)
    (line,) = said(text.replace("CLAUSE", clause), tmp_path, Options(strategy=COLLECT))
    assert 'no reduction serves "b", of which "first" and "second" decide what is kept; ' in line
    assert line.endswith("ask there for strategy(tile(3)); else remove the annotation [in k]")


WIDENED = """struct Range { int low, high; };
__device__ Range widen(Range r, int v) { return {v < r.low ? v : r.low, v > r.high ? v : r.high}; }
__global__ void k(const int *x, const unsigned char *ok, int *y, int n) {
    Range r{1 << 30, -(1 << 30)};
#pragma ccc for CLAUSE
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#pragma ccc if
        if (ok[i]) r = widen(r, x[i] * x[i] % 1009);
    }
    y[threadIdx.x] = r.high - r.low;
}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("all_headers")
@pytest.mark.parametrize(
    ("clause", "told"),
    [
        ("reduction(max: r.low, r.high)", "min"),
        ("reduction(min: r.low, r.high)", "max"),
        ("reduction(max: r.high)", "min"),
    ],
)
def test_that_a_member_is_updated_by_another_operation_is_told_of_functions_too(
    clause: str, told: str, tmp_path: Path
) -> None:
    """Of which members these are it is not."""
    (line,) = said(WIDENED.replace("CLAUSE", clause), tmp_path, Options(strategy=COLLECT))
    assert line.endswith(
        f'; the loop updates a member of "r" by {told}, and no clause says so: write '
        f"reduction({told}: r.member) for that; else remove the annotation [in k]"
    )
    right = WIDENED.replace("CLAUSE", "reduction(min: r.low) reduction(max: r.high)")
    assert said(right, tmp_path, Options(strategy=COLLECT)) == []


KEPT = """struct Best { float d; int id;
__device__ void offer(float x, int k) { if (x < d) { d = x; id = k; } } };
__global__ void k(const float *x, float *y, int n) {
    Best b{1e30f, -1};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) b.offer(cbrtf(x[i]), i);
    }
    y[threadIdx.x] = b.d + b.id;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("source", [KEPT, OF_LIBRARY])
@pytest.mark.usefixtures("all_headers")
def test_who_names_a_structure_is_told_as_who_names_nothing(source: str, tmp_path: Path) -> None:
    (without,) = said(source.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    named = source.replace("CLAUSE", "reduction(min: b)")
    _, line = said(named, tmp_path, Options(strategy=COLLECT))
    assert line == without


VECTOR = """__device__ float2 operator+(float2 s, float2 t)
{ return make_float2(s.x + t.x, s.y + t.y); }
__global__ void k(const float *x, float *y, int n) {
    float2 s = make_float2(0, 0);
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) s = s + make_float2(expf(x[i]), 1);
    }
    y[threadIdx.x] = s.x + s.y;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["float2", "Pair"])
def test_the_members_of_a_vector_of_cuda_are_named(name: str, tmp_path: Path) -> None:
    vector = VECTOR.replace("float2 ", f"{name} ")
    vector = "typedef float2 Pair;\n" * (name != "float2") + vector
    (line,) = said(vector.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert "name those on the loop: reduction(+: s.x, s.y); else remove" in line
    whole = vector.replace("CLAUSE", "reduction(+: s)")
    told, line = said(whole, tmp_path, Options(strategy=COLLECT))
    assert 'no effect on "s", which is a structure; name the members that the loop updates' in told
    assert "may only be updated" not in line
    members = vector.replace("CLAUSE", "reduction(+: s.x, s.y)")
    assert said(members, tmp_path, Options(strategy=COLLECT)) == []


FORCES = """__global__ void k(const float3 *x, const int *end, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float2 f = make_float2(0, 0);
#pragma ccc for variable reduction(+: f)
        for (int j = 0; j < end[i]; j++) {
            float r = x[i * 20 + j].x;
#pragma ccc if
            if (r < 9) { float s = expf(r) / r; f.x += s * x[j].y; f.y += s; }
        }
        y[i] = f.x + f.y;
    }
}
"""


@pytest.mark.slow
def test_members_that_paths_inside_update_are_of_no_clause(tmp_path: Path) -> None:
    """The reduction of the loop around does not serve them: that is told, and nothing else."""
    every = said(FORCES, tmp_path, Options(strategy=COLLECT))
    assert not any("which is a structure" in line for line in every)
    assert any('mark that loop "ccc while", without the reduction' in line for line in every)


@pytest.mark.parametrize(
    ("kind", "members"),
    [(b"float3", "xyz"), (b"const uint2", "xy"), (b"longlong4", "xyzw"), (b"double1", "x")],
)
def test_a_vector_of_cuda_has_members(kind: bytes, members: str) -> None:
    found = structure_of(kind, b"struct S { float a; };")
    assert found is not None
    assert found.open == [*members]


COMPLEX = b"struct C { double x, y; }; "


@pytest.mark.parametrize(
    "code",
    [
        COMPLEX + b"typedef C T;",
        COMPLEX + b"using T = C;",
        COMPLEX + b"typedef struct C U; using T = U;",
        b"typedef struct { double x, y; } T;",
        b"typedef struct C { double x, y; void f() { int z; } } T, *P;",
        b"typedef cuDoubleComplex T;",
    ],
)
def test_a_structure_may_have_another_name(code: bytes) -> None:
    found = structure_of(b"const T", code)
    assert found is not None
    assert found.open == ["x", "y"]


@pytest.mark.parametrize(
    "code",
    [
        b"typedef float T;",
        b"typedef float2 *T;",
        COMPLEX + b"typedef C T; namespace n { typedef float T; }",
        COMPLEX + b"typedef C T; template <class T> __global__ void k(T *t);",
    ],
)
def test_another_name_may_be_of_no_structure_that_is_known(code: bytes) -> None:
    assert structure_of(b"T", code) is None


def test_a_parameter_of_another_template_is_no_structure() -> None:
    code = b"template <class T> struct Pair { T v; int i; };"
    assert structure_of(b"T", code) is None
    assert structure_of(b"Pair<float>", code) is not None


@pytest.mark.slow
def test_what_else_is_added_up_is_named_with_the_members(tmp_path: Path) -> None:
    whole = VECTOR.replace("float2 s =", "float sum = 0; float2 s =")
    whole = whole.replace("= s.x +", "= sum + s.x +")
    whole = whole.replace("if (x[i] > 0.5f) s =", "if (x[i] > 0.5f) sum += x[i], s =")
    (line,) = said(whole.replace("CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert 'computes ("sum" or "s", k.cu:' in line
    clause = "reduction(+: s.x, s.y, sum)"
    assert f'members of "s", name those on the loop: {clause}; else remove' in line
    assert said(whole.replace("CLAUSE", clause), tmp_path, Options(strategy=COLLECT)) == []


ELEMENTS = """struct Sums { float e[3];
    __device__ Sums &operator+=(float v) { e[0] += v; e[1] += 1; e[2] += v * v; return *this; }
    __device__ float get() const { return e[0] + e[1] + e[2]; } };"""


@pytest.mark.slow
def test_elements_of_a_structure_are_no_members_that_can_be_named(tmp_path: Path) -> None:
    for clause in ("", "reduction(+: s)"):
        *_, line = told(tmp_path, ELEMENTS, "s += expf(x[i])", clause)
        assert (
            '; no reduction names elements of "s.e": if the loop only updates these, update plain '
            "variables in their place, and say so on the loop: reduction(+: variables); else remove"
        ) in line


@pytest.mark.slow
def test_to_remove_the_annotation_is_no_more_advised_where_something_else_is(
    tmp_path: Path,
) -> None:
    come = "float v = x[i];\n#pragma ccc while\n        while (v > 0.5f) { v = sqrtf(v) - 0.1f; "
    source = VECTOR.replace("#pragma ccc if\n        if (x[i] > 0.5f) ", come).replace(
        "1);", "1); }"
    )
    line, *_ = said(source.replace("CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    told = "name those on the loop of line 5: reduction(+: s.x, s.y); or ask for strategy(flatten)"
    assert told in line, line


BESIDE = """struct Sums { float e[2]; float s; int n;
    __device__ void add(float v) { e[0] += v; e[1] += v * v; s += v; n++; }
    __device__ void grow(float v) { for (int k = 0; k < 2; k++) e[k] = fminf(e[k], v * k); } };
struct One { float s; int n; __device__ void put(float v) { s += v; n++; } };
struct More { One of[2]; float t; };
__global__ void k(const float *x, float *y, int n) {
    Sums a{}; More m{}; float2 p[2] = {}; float tot = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) { float v = expf(x[i]); UPDATE }
    }
    y[threadIdx.x] = a.e[0] + a.e[1] + a.s + a.n + p[0].x + p[1].y + tot
        + m.of[0].s + m.of[1].s + m.of[0].n + m.of[1].n + m.t;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("update", "array", "clause", "variables"),
    [
        ("a.e[0] += v; a.e[1] += v * v; tot += v;", "a.e", "", "+: tot, variables"),
        ("a.e[0] += v; a.e[1] += v * v; tot += v;", "a.e", "reduction(+: tot)", "+: variables"),
        ("a.add(v);", "a.e", "", "+: a.s, a.n, variables"),
        ("p[0].x += v; p[1].y += v * v; tot += v;", "p", "", "+: tot, variables"),
        (
            "a.e[0] = fmaxf(a.e[0], v); a.e[1] += v;",
            "a.e",
            "",
            "+: variables) reduction(max: variables",
        ),
        ("a.grow(v);", "a.e", "", "min: variables"),
        ("m.of[0].put(v); m.of[1].put(v * v); m.t += v;", "m.of", "", "+: m.t, variables"),
    ],
)
def test_elements_beside_a_sum_are_named(
    update: str, array: str, clause: str, variables: str, tmp_path: Path
) -> None:
    """They were not, and the clause for the sum was blamed."""
    source = BESIDE.replace("UPDATE", update).replace("CLAUSE", clause)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert f'"{array}", k.cu:' in line or f'("{array}"' in line or f'or "{array}"' in line
    told = f'no reduction names elements of "{array}": if the loop only updates these, update'
    assert f"; {told} plain variables in their place, and say so on the loop" in line
    assert line.endswith(f": reduction({variables}); else remove the annotation [in k]")


def test_what_a_member_that_is_a_pointer_leads_to_is_no_element_of_a_variable() -> None:
    code = b"struct S { float *e; float f[2]; }; void k(S a, S *b) { a.e[0] += 1; a.f[0] += 1; }"
    found = [one.array for one in changed(parse_cuda(code, []).root_node)]
    assert found == [b"a.f"]


@pytest.mark.slow
def test_what_is_told_of_one_member_is_of_that(tmp_path: Path) -> None:
    """Others may have to stay: the structure is not to be declared in the loop."""
    update = "if (x[i] > a.s) { a.s = x[i]; y[i] = expf(a.s) + a.n; }"
    source = BESIDE.replace("UPDATE", update).replace("CLAUSE", "")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert '; if the branch can do without it, have that set another variable, update "a.s"' in line


@pytest.mark.slow
def test_no_other_member_is_named_in_the_place_of_what_a_pointer_leads_to(tmp_path: Path) -> None:
    """An instruction that adds numbers of floating point updates no int."""
    source = BESIDE.replace("UPDATE", "*to += v; a.n++;").replace("CLAUSE", "")
    source = source.replace("float tot = 0;", "float tot = 0, *to = &a.s;")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert 'computes ("a.s", k.cu:' in line
    assert line.endswith(": reduction(+: a.s) [in k]")


INHERITED = """struct Base { float s; __device__ void add(float v) { s += v; } };
struct Sums : Base { int n; float e; __device__ void take(float v) { CALL(v); n++; e += v; } };
__global__ void k(const float *x, float *y, int n) {
    Sums a; a.s = 0; a.n = 0; a.e = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) a.take(expf(x[i]));
    }
    y[threadIdx.x] = a.s + a.n + a.e;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("call", ["add", "this->add", "Base::add"])
def test_members_of_a_base_class_are_named(call: str, tmp_path: Path) -> None:
    source = INHERITED.replace("CALL", call)
    (line,) = said(source.replace("CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    found = re.search(r"reduction\(\+: ([\w., ]*)\)", line)
    assert found is not None
    assert {*found[1].split(", ")} == {"a.s", "a.e"}
    assert said(source.replace("CLAUSE", found[0]), tmp_path, Options(strategy=COLLECT)) == []


SCOPED = """namespace la { template <class T, int N> struct Vec { T v[N];
    __device__ Vec &operator+=(const Vec &o) {
        for (int i = 0; i < N; i++) v[i] += o.v[i]; return *this; } }; }
__global__ void k(const la::Vec<float, 3> *x, la::Vec<float, 3> *y, int n) {
    la::Vec<float, 3> s{};
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i].v[0] > 0) s += x[i];
    }
    y[threadIdx.x] = s;
}
"""
PAIR = """template <class A, class B> struct pair { A first; B second; };
template <class A, class B> __device__ bool operator<(const pair<A, B> &x, const pair<A, B> &y) {
    const A one = x.first; return one < y.first; }
__global__ void k(const float *x, pair<float, int> *y, int n) {
    pair<float, int> best{1e9f, -1};
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) { pair<float, int> c{cosf(x[i]) * x[i], i}; if (c < best) best = c; }
    }
    y[threadIdx.x] = best;
}
"""


@pytest.mark.slow
def test_an_array_in_a_structure_of_a_namespace_is_no_reduction(tmp_path: Path) -> None:
    (line,) = said(SCOPED, tmp_path, Options(strategy=COLLECT))
    assert '; no reduction names elements of "s.v": if the loop only updates members of "s"' in line


@pytest.mark.slow
def test_of_a_structure_that_is_compared_the_member_is_asked_for(tmp_path: Path) -> None:
    (line,) = said(PAIR.replace(" CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert 'least, name on the loop the member of "best" that is compared: ' in line
    assert "reduction(min: best.member)" in line
    clause = " reduction(min: best.first)"
    assert said(PAIR.replace(" CLAUSE", clause), tmp_path, Options(strategy=COLLECT)) == []
