"""What is no code, or need not be understood: literals, comments and tables; and digraphs."""

from __future__ import annotations

import pytest
from annotated import in_assembly, loop

from ccc.errors import CccError
from ccc.frontend.marking import mark, strip
from ccc.frontend.stripping import BOM

ROWS = ", ".join(["{1, 2}"] * 200)


LOOP_TEXT = """\
#pragma ccc for
for (int i = 0; i < n; i++)
#pragma ccc if
if (a[i]) b(i);
"""


def test_strip_keeps_lines_and_other_bytes() -> None:
    text = "  #pragma ccc for\r\n# pragma\tccc if \\\n prob(1)\n#pragma unroll\n\udcff\n"
    assert strip(text) == "\n\n\n#pragma unroll\n\udcff\n"


@pytest.mark.parametrize("behind", ["", "\n"])
def test_a_comment_in_a_directive_ends_where_it_does(behind: str) -> None:
    """Whatever stands in another one behind it, and however many there are in a line."""
    old = f"# /* only */ undef DEBUG\nint f();\n// /* hot */ pragma ccc if{behind}\n"
    many = "#/* a */define X 1\nint t;\n" + "/* 0 */ " * 60 + "\nint b;\n"
    assert strip(old + many) == old + many
    assert strip("#/* a */ pragma /* *b** */ ccc if\nf();\n") == "\nf();\n"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ('auto s = R"(\n', '\n)";'),
        ('auto s = u8R"--(a)" /* "\n', '\n)--";'),
        ('auto s = LR"(\'"\n', '\n)";'),
        ("/* it's\n", "\n*/"),
        ('auto s = "\\"a \\\n', ' \\\n";'),
        ('auto s = "\\"a \\\r\n', '";'),
        ("// it goes on \\\n", ""),
    ],
)
def test_what_is_no_code_stays_as_it_is(before: str, behind: str) -> None:
    text = f"{before}  #pragma ccc if{behind}\n"
    assert strip(text) == mark(text, "k.cu").text == text
    assert mark(text.replace("ccc if", "ccc_if"), "k.cu").warnings == []


@pytest.mark.parametrize(
    "before",
    [
        "int a = 1'000; auto b = \"/*\"; int c = 0x7fU'ff'00 + 1'0; // '",
        """char c = '"', d = u8'"', e = L'"', f = '\\'', g = '\\\\';""",
        """switch (i) { case'"': case'/': return'"'; }""",
        'auto s = "R\\"("; auto t = FOR"("; int a = b / c; /**/ /*/ "*/',
        'auto s = R"a(\n)" ")a" "/*"; auto t = R"(/*)";',
        "#error don't\n#error /* \" */",
    ],
)
def test_pragmas_behind_what_is_no_code(before: str) -> None:
    assert strip(f"{before}\n#pragma ccc for\n") == f"{before}\n\n"


@pytest.mark.parametrize("before", ["", "#include <x>\n"])
def test_a_byte_order_mark_is_left_out(before: str) -> None:
    """For something may be put before it, and inside a text it is no code."""
    text = before + "#pragma ccc grid_stride\n" + loop("#pragma ccc if\nif (a) b();")
    assert mark(BOM + text, "k.cu").text == mark(text, "k.cu").text
    assert strip(BOM + text) == strip(text)


def test_tables_are_not_parsed() -> None:
    """Whatever stands in one, what comes behind it is marked, and the text stays."""
    table = (
        "static __device__ int t[2][400] = {{" + "},\n{".join(["1, 0x2fU, " * 300] * 2) + "}};\n"
    )
    text = table + LOOP_TEXT
    marked = mark(text, "k.cu")
    assert in_assembly(marked.text).startswith(table)
    assert [a.span.line for a in marked.annotations] == [3, 5]
    assert in_assembly(marked.text).count("asm volatile") == 3


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(f"struct R r[] = {{{ROWS}, {{3, n}}}};", id="a row of other than numbers"),
        pytest.param(f"struct R r[] = {{{ROWS}}};", id="rows of numbers"),
        pytest.param(f"struct R r[][200] = {{{{{ROWS}}}, {{{ROWS}}}}};", id="rows of rows"),
        pytest.param(" " * 600 + "{}", id="a block of nothing"),
    ],
)
def test_of_a_table_as_many_braces_are_read_as_are_closed(table: str) -> None:
    inside = f"for (int i = 0; i < n; i++) {{ {table}\n#pragma ccc if\nif (a[i]) {{ b(i); }} }}"
    text = f"void k(int *a, int n) {{\n#pragma ccc for\n{inside}\n}}\n"
    loop_, branch = mark(text, "k.cu", macros={}).annotations
    assert branch.loop == loop_.id
    assert loop_.home is not None
    assert loop_.home.name == "k"


def test_digraphs_are_read() -> None:
    text = loop('#pragma ccc if\nif (x<:i:>) <% f<::T>("%>"); %> else <% y(); %>')
    plain = loop('#pragma ccc if\nif (x[ i] ) {  f<::T>("%>"); }  else {  y(); } ')
    assert mark(text, "k.cu").text == mark(plain, "k.cu").text


def test_a_condition_that_ends_in_a_parenthesis_is_an_error() -> None:
    """As of what the parser does not know: what would be written into it is no code."""
    text = loop("#pragma ccc if\nif ((typename T::U(3), (s = 2, 4)) < 4) { y(i); }")
    with pytest.raises(CccError, match="where the condition of this statement ends cannot be read"):
        mark(text, "k.cu")


def test_a_long_line_is_gone_through_once() -> None:
    """Of a table in one line, with comments or digraphs: for each anew it would take minutes."""
    many = 20_000
    text = f"int t[] = <% {'/* <: */ 1, ' * many}%>; void f() {{ {'a<:1:> = 3; ' * many}}}\n"
    assert len(mark(text + LOOP_TEXT, "k.cu", macros={}).annotations) == 2
    assert strip(text) == text
