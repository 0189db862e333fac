"""Reductions of variables that the loop does not name, or that are not there."""

from __future__ import annotations

import pytest
from annotated import complaint, loop

from ccc.frontend.marking import mark


def test_a_reduction_of_what_is_not_there() -> None:
    body = "total += x[i];\n#pragma ccc if\nif (a) { b(); }"
    text = loop(body).replace("ccc for", "ccc for reduction(+: sum)")
    assert 'the reduction is of "sum", and there is no such variable here' in complaint(text)
    known = text.replace("int n) {", "int n, int sum) {")
    (warning,) = mark(known, "k.cu").warnings
    assert 'the reduction has no effect on "sum", which is not in the loop' in str(warning)
    assert mark(text.replace("sum", "total"), "k.cu").warnings == []
    assert mark(text, "k.cu", macros={"b": ""}).warnings == []
    inner = "#pragma ccc for variable reduction(+: nosuch)\nfor (int j = 0; j < i; ++j) total += j;"
    said = complaint(loop(inner))
    assert 'the reduction is of "nosuch", and there is no such variable here' in said
    line = loop(inner).splitlines().index(inner.splitlines()[0]) + 1
    assert said.startswith(f"k.cu:{line}:39: error: ")


@pytest.mark.parametrize(
    ("before", "update", "clause"),
    [
        ("int *to = &sum;", "*to += x[i];", "sum"),
        ("int &to = sum;", "to += x[i];", "sum"),
        ("auto add = [&](int one) { sum += one; };", "add(x[i]);", "sum"),
        ("auto both = cuda::std::tie(sum, b);", "get<0>(both) += x[i];", "sum"),
        ("std::tuple<int &> both = (std::tie(sum));", "get<0>(both) += x[i];", "sum"),
        ("int *to = &sum;", "*to += x[i] * (sum > 3);", "sum"),
        ("Found found;", "found.add(x[i]);", "found.sum"),
        ("Found found;", "found += x[i];", "found.sum"),
        ("All found;", "found.even.add(x[i]);", "found.even.sum"),
        ("All found;", "add(found.even);", "found.even.sum"),
    ],
)
def test_a_reduction_of_what_the_loop_does_not_name(before: str, update: str, clause: str) -> None:
    text = loop(f"{update}\n#pragma ccc if\nif (a) {{ b(); }}")
    text = text.replace("ccc for", f"ccc for reduction(+: {clause})")
    text = text.replace(
        "#pragma ccc for",
        f"int sum = 0; {before}\nuse(found.sum, found.even.sum);\n#pragma ccc for",
    )
    assert mark(text, "k.cu").warnings == []
    other = f"x[i] = {clause.rpartition('.')[0] or 'found'}.other;"
    others = text.replace(update, other).replace(before, "Found found; f(sum);")
    (warning,) = mark(others, "k.cu").warnings
    assert f'no effect on "{clause}", which is not in the loop' in str(warning)


def test_a_reduction_of_what_a_number_is_made_of_before_the_loop() -> None:
    text = loop("x[i] = most;\n#pragma ccc if\nif (a) { b(); }")
    text = text.replace("ccc for", "ccc for reduction(+: sum)")
    text = text.replace("#pragma", "int sum = 0, most = f(sum);\n#pragma", 1)
    (warning,) = mark(text, "k.cu").warnings
    assert 'no effect on "sum", which is not in the loop' in str(warning)


@pytest.mark.parametrize(
    ("kind", "instead"),
    [
        (
            "template <class T> struct Acc { T v; int n; };",
            "name those of acc.v, acc.n that the loop updates by +, in its place",
        ),
        (
            "template <class T> struct Acc { T v; };",
            "name the members that the loop updates: reduction(+: acc.v)",
        ),
    ],
)
def test_a_reduction_of_all_of_what_a_template_makes(kind: str, instead: str) -> None:
    text = loop("acc.feed(x[i]);\n#pragma ccc if\nif (a) { b(); }")
    text = text.replace("ccc for", "ccc for reduction(+: acc)")
    text = text.replace("#pragma", "Acc<float> acc;\n#pragma", 1)
    (warning,) = mark(kind + text, "k.cu").warnings
    assert f"which is a structure; {instead}" in str(warning)


def test_a_reduction_of_a_member_that_is_a_structure_names_the_numbers_in_it() -> None:
    text = loop("s.f += v;\n#pragma ccc if\nif (a) { b(); }")
    text = text.replace("ccc for", "ccc for reduction(+: s.f)").replace("#", "S s;\n#", 1)
    kinds = "struct V { float x, y; V &operator+=(V); }; struct S { V f; int e; };\n"
    (warning,) = mark(kinds + text, "k.cu").warnings
    told = "which is a structure; name the members that the loop updates: reduction(+: s.f.x, s.f.y"
    assert f'the reduction has no effect on "s.f", {told})' in str(warning)


def test_an_enumeration_is_no_structure() -> None:
    text = loop("acc = (A)((int)acc | i);\n#pragma ccc if\nif (a) { b(); }")
    text = text.replace("ccc for", "ccc for reduction(|: acc)")
    kind = "enum class A : int { U, V };"
    assert mark(kind + text.replace("#pragma", "A acc;\n#pragma", 1), "k.cu").warnings == []


def test_members_that_nobody_may_name_are_no_way_out() -> None:
    text = loop("acc += x[i];\n#pragma ccc if\nif (a) { b(); }")
    text = text.replace("ccc for", "ccc for reduction(+: acc)")
    kind = "class A { float v; public: A &operator+=(float x) { v += x; return *this; } };"
    (warning,) = mark(kind + text.replace("#pragma", "A acc;\n#pragma", 1), "k.cu").warnings
    assert "structure; update plain variables in place of its members, or make" in str(warning)


@pytest.mark.parametrize(
    ("updates", "clauses"),
    [
        (
            "acc.v += x[i]; acc.n++; if (x[i] < acc.lo) { acc.lo = x[i]; acc.at = i; }",
            "reduction(+: acc.v, acc.n) reduction(min: acc.lo)",
        ),
        ("acc.offer(x[i], i);", "reduction(min: acc.lo)"),
        ("acc.n ^= i; acc.n += 1; acc.at |= i;", "reduction(|: acc.at)"),
    ],
)
def test_members_of_a_structure_are_named_by_their_own_operations(
    updates: str, clauses: str
) -> None:
    kind = "struct A { float v, lo; int n, at; void offer(float x, int i) "
    kind += "{ if (x < lo) { lo = x; at = i; } } };"
    text = loop(f"{updates}\n#pragma ccc if\nif (a) {{ b(); }}")
    text = text.replace("ccc for", "ccc for reduction(+: acc)")
    (warning,) = mark(kind + text.replace("#pragma", "A acc;\n#pragma", 1), "k.cu").warnings
    told = str(warning).partition("\n")[0]
    assert told.endswith(f"structure; name the members that the loop updates: {clauses}")


@pytest.mark.parametrize("call", ["step(x[i]);", "this->step(x[i]);", "Base::step(x[i]);"])
def test_a_reduction_of_a_member_that_another_method_updates(call: str) -> None:
    text = loop(f"{call}\n#pragma ccc if\nif (a) {{ b(); }}").replace(
        "ccc for", "ccc for reduction(+: sum)"
    )
    text = text.replace("#pragma ccc for", "sum = 0;\n#pragma ccc for")
    text = f"struct Sim : Base {{\nfloat sum;\n{text.replace('__global__', '__device__')}}};"
    assert mark(text, "k.cu").warnings == []
    (warning,) = mark(text.replace("sum = 0;", "float sum = 0;"), "k.cu").warnings
    assert 'no effect on "sum", which is not in the loop' in str(warning)


@pytest.mark.parametrize(
    "kept", ["[s = 0](int v) mutable { s += v; }", "[&](int v) { int s = v; }"]
)
def test_a_reduction_of_what_a_lambda_declares(kept: str) -> None:
    """Around the lambda there is none of that name."""
    text = loop("add(x[i]);").replace("#pragma", f"auto add = {kept};\n#pragma", 1)
    said = complaint(text.replace("ccc for", "ccc for reduction(+: s)"))
    assert 'the reduction is of "s", and there is no such variable here' in said
    assert said.splitlines()[0].endswith("here; name one that the loop updates")


@pytest.mark.parametrize(
    "around",
    [
        "struct S { int s; void k(int *x, int n) { LAMBDAS LOOP } };",
        "struct S : B { int s; void k(int *x, int n) { LAMBDAS LOOP } };",
        "int s; void k(int *x, int n) { LAMBDAS LOOP }",
        "void k(int *x, int n) { int s = 0; auto go = [&] { LAMBDAS LOOP }; }",
        "void k(int *x, int n) { int s = 0; LAMBDAS auto go = [&] { LOOP }; }",
    ],
)
def test_a_reduction_of_what_lambdas_only_have_besides(around: str) -> None:
    lambdas = "auto add = [&](int v) { s += v; }; auto other = [](int s) { return s; };"
    path = "add(x[i]);\n#pragma ccc if\nif (a) { b(); }"
    text = f"\n#pragma ccc for reduction(+: s)\nfor (int i = 0; i < n; i++) {{\n{path}\n}}\n"
    marked = mark(around.replace("LAMBDAS", lambdas).replace("LOOP", text), "k.cu")
    assert len(marked.annotations) == 2


@pytest.mark.parametrize(
    "declared",
    [
        "struct It { int a; }; template <class It> void k(It x, It y, int n) { LOOP }",
        "struct It { int a; }; using It = const int *; void k(It x, It y, int n) { LOOP }",
        "struct It { int a; }; struct T { typedef int *It; void k(It x, It y, int n) { LOOP } };",
    ],
)
def test_noalias_of_what_may_be_a_pointer(declared: str) -> None:
    path = "#pragma ccc if\nif (x[i]) { y[i] = 1; }"
    text = f"\n#pragma ccc for noalias(x, y)\nfor (int i = 0; i < n; i++) {{\n{path}\n}}\n"
    assert len(mark(declared.replace("LOOP", text), "k.cu").annotations) == 2


@pytest.mark.parametrize(
    ("text", "inside", "is_told"),
    [
        ("__device__ int sum;", "", True),
        ("", "__shared__ int sum;", True),
        ("", "int sum;", False),
        ("__device__ int sum;", "int sum;", False),
        ("__device__ int sum;", "int sum; auto f = [&](int *x, int n) {", False),
        ("__global__ void other() { __shared__ int sum; }", "int sum;", False),
    ],
)
def test_a_reduction_of_what_is_not_of_the_thread(text: str, inside: str, is_told: bool) -> None:
    """None serves it: other threads update it at the same time."""
    source = loop("sum += x[i];\n#pragma ccc if\nif (a) { b(); }")
    source = source.replace("#pragma ccc for", f"{inside}\n#pragma ccc for reduction(+: sum)")
    source += "; }" * inside.count("{")
    told = [str(one) for one in mark(f"{text}\n{source}", "k.cu").warnings]
    assert bool(told) is is_told
    assert all('no effect on "sum", which other threads update, too; ' in one for one in told)
