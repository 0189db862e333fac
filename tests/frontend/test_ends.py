"""Statements without braces that end elsewhere than the parser has it."""

from __future__ import annotations

import pytest
from annotated import complaint, loop

from ccc.frontend.ends import end_of
from ccc.frontend.marking import SourceError, mark

HIDDEN = "it has no braces, and what follows it may be a part of it; use braces"


@pytest.mark.parametrize(
    "statement",
    [
        "if (a) switch (b) case 0: c();",
        "if (a) { } else switch (b) default: c();",
        "if (a) switch (b) while (c) case 1: d();",
    ],
)
def test_cases_without_braces_end_where_they_do(statement: str) -> None:
    text = f"#pragma ccc if\n{statement}\ne();"
    assert "where this statement ends cannot be read; put what it does in braces" in complaint(
        loop(text)
    )
    assert mark(loop(f"#pragma ccc if\nif (a) {{ {statement} }}\ne();"), "k.cu").annotations


@pytest.mark.parametrize(
    "behind",
    [
        "ELSE c();",
        "\n#define Z 3\nelse c();",
        "\n#include <other.h>\nc();",
        '_Pragma("once") else c();',
        "el\\\nse c();",
    ],
)
@pytest.mark.parametrize(
    "annotated",
    [
        "#pragma ccc if\nif (a) if (b) v++;",
        "#pragma ccc if\nif (a) v++; else if (b) v++;",
        "if (a)\n#pragma ccc while\nwhile (z--) if (b) v++;",
    ],
)
def test_an_else_that_no_preprocessor_has_shown(annotated: str, behind: str) -> None:
    with pytest.raises(SourceError) as error:
        mark(loop(f"{annotated} {behind}"), "k.cu", macros={"ELSE": "else"})
    assert HIDDEN in str(error.value)


@pytest.mark.parametrize("behind", ["c();", "// else\nc();", "\n#endif\nc();", "}}"])
def test_what_is_no_else_is_none(behind: str) -> None:
    text = loop(f"#pragma ccc if\nif (a) if (b) v++; {behind}")
    assert mark(text, "k.cu", macros={"ELSE": "else"}).annotations


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("do if (a) b(); else c(); while (x); y();", "do if (a) b(); else c(); while (x);"),
        ("struct Q : B { int a; } q = {1}; z;", "struct Q : B { int a; } q = {1};"),
        ("here: [[likely]] if (a) b(); z;", "here: [[likely]] if (a) b();"),
        ("if constexpr (A) b(); else if (c) { } else d(); e();",
         "if constexpr (A) b(); else if (c) { } else d();"),
        ('asm volatile("a;b" : "=r"(x)); z;', 'asm volatile("a;b" : "=r"(x));'),
        ("auto f = [&](int a) { return a ? 1 : 2; }; z;",
         "auto f = [&](int a) { return a ? 1 : 2; };"),
        ("case X::Y: case a ? 1 : 2: f(); z;", "case X::Y: case a ? 1 : 2: f();"),
        ("c = ';' + 1'000; z;", "c = ';' + 1'000;"),
        ("for (auto x : list) ; z;", "for (auto x : list) ;"),
    ],
)  # fmt: skip
def test_a_statement_ends_where_its_tokens_say(text: str, first: str) -> None:
    code = text.encode()
    assert code[: end_of(code, 0) or 0].decode() == first


@pytest.mark.parametrize("text", ["f()", "if (a", "{ f(); ", "b()); c();"])
def test_of_what_has_no_end_none_is_told(text: str) -> None:
    assert end_of(text.encode(), 0) is None


def test_a_chain_of_many_branches_has_an_end() -> None:
    code = b"if (a) b(); " + b"else if (c) d(); " * 5000
    assert end_of(code, 0) == len(code) - 1
