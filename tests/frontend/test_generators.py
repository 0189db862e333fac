"""Which states are those of random numbers, as far as the text of their functions tells."""

from __future__ import annotations

import pytest

from ccc.frontend.handed import handed_over
from ccc.frontend.syntax import function_name, functions_in, parse_cuda

BY_METHOD = "struct R { uint64_t s, inc; METHODS }; void k(R r, float x) { CALL; }"
PCG = "unsigned next() { uint64_t old = s; s = old * 6364136223846793005ULL + inc; return old; }"
BY_FUNCTION = "struct R { unsigned a, b, v[4]; }; FUNCTIONS void k(R r, float x) { CALL; }"
SHIFTED = "unsigned step(R &r) { unsigned t = r.b; r.b = r.a; t ^= t << 11; return r.a = t ^ r.b; }"


def is_stepped(code: str) -> list[bool]:
    """What is told of the last function's calls."""
    *every, kernel = functions_in(parse_cuda(code.encode(), []).root_node)
    found = handed_over(kernel, lambda name: [one for one in every if function_name(one) == name])
    return [one.is_stepped for one in found]


@pytest.mark.parametrize(
    ("methods", "call"),
    [
        (PCG, "x += r.next()"),
        (PCG + " float uni() { return next() * 2.3e-10f; }", "x += r.uni()"),
        ("int operator()() { s ^= s << 13; s ^= s >> 7; return s; }", "x += r()"),
        ("unsigned next() { return (s++) * 0xD2511F53u; }", "x += r.next()"),
    ],
)
def test_a_method_that_makes_a_state_of_that_alone(methods: str, call: str) -> None:
    code = BY_METHOD.replace("METHODS", methods).replace("CALL", call)
    assert is_stepped(code) == [True]


@pytest.mark.parametrize(
    ("functions", "call"),
    [
        (SHIFTED, "x += step(r)"),
        (SHIFTED + "float uni(R &r) { return step(r) * 5.9e-8f; }", "x += uni(r)"),
        ("int step(R *r) { r->v[0] = r->v[1]; r->v[1] ^= r->v[0] << 4; return 1; }", "step(&r)"),
    ],
)
def test_a_function_that_makes_a_state_of_that_alone(functions: str, call: str) -> None:
    code = BY_FUNCTION.replace("FUNCTIONS", functions).replace("CALL", call)
    assert is_stepped(code) == [True]


@pytest.mark.parametrize("name", ["typedef R Mine;", "using Mine = struct R;"])
def test_of_functions_of_one_name_that_of_the_type_of_a_variable_is_meant(name: str) -> None:
    other = "struct O { int at; }; unsigned step(O &o) { return o.at++; }"
    code = BY_FUNCTION.replace("FUNCTIONS", f"{SHIFTED} {other} {name}").replace("R r,", "Mine r,")
    assert is_stepped(code.replace("CALL", "x += step(r)")) == [True]


@pytest.mark.parametrize(
    "methods",
    [
        "void add(float x) { float y = x - inc; float t = s + y; inc = (t - s) - y; s = t; }",
        "void add(float x) { s = s * 31 + x; }",
        "void add(float x) { s += 1; }",
        "void add(float x) { s += 1; int k = s % 10; inc = 3; }",
        "void add(float x) { if (x > 0) s = s * 31 + 1; }",
        "void add(float x) { s = (s ^ atomicAdd(p, 1)) * 31; }",
    ],
)
def test_what_is_made_of_more_is_no_such_state(methods: str) -> None:
    assert is_stepped(BY_METHOD.replace("METHODS", methods).replace("CALL", "r.add(x)")) == [False]


@pytest.mark.parametrize(
    ("functions", "call"),
    [
        ("int f(const R *r) { return r->a; }", "f(&r)"),
        ("int f(const R &r) { return r.a; }", "f(r)"),
    ],
)
def test_what_a_function_only_reads_is_not_handed_over(functions: str, call: str) -> None:
    code = BY_FUNCTION.replace("FUNCTIONS", functions).replace("CALL", call)
    assert is_stepped(code) == []


@pytest.mark.parametrize(
    "method",
    [
        "int f() const { return g(s); }",
        "int f() { return s * 2; }",
        "void f() { int i = s * 2; p[i] = atomicAdd(&q[s], 1); }",
    ],
)
def test_a_method_that_only_reads_changes_nothing(method: str) -> None:
    assert is_stepped(BY_METHOD.replace("METHODS", method).replace("CALL", "x = r.f()")) == []


@pytest.mark.parametrize(
    "method",
    [
        "void f() { s++; }",
        "void f() { this->s = 1; }",
        "void f() { g(&s); }",
        "int &f() { return s; }",
        "void f() { g(*this); }",
        "void f() { v[0] = 1; }",
    ],
)
def test_a_method_that_may_change_its_object(method: str) -> None:
    code = BY_METHOD.replace("METHODS", "int v[2]; " + method).replace("CALL", "r.f()")
    assert is_stepped(code) == [False]
