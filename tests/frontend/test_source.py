"""Annotations -> markers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from annotated import complaint, in_assembly, loop, markers
from hypothesis import given
from hypothesis import strategies as st

from ccc.errors import Span
from ccc.frontend.marking import SourceError, mark, strip
from ccc.ir.markers import Marker, parse_marker


def kinds(body: str) -> list[str]:
    return [marker.kind for marker in markers(mark(loop(body), "k.cu"))]


def line(body: str, number: int) -> str:
    """One line of ``loop(body)``, marked, with ``@kind`` for each marker."""
    text = in_assembly(mark(loop(body), "k.cu").text).split("\n")[number - 1]
    text = re.sub(r'asm volatile\("// ccc\.(\w+)[^"]*"\);', r"@\1", text)
    return " ".join(text.split())


def test_a_loop_and_its_path() -> None:
    marked = mark(loop("#pragma ccc if prob(1.0/8)\nif (x[i]) { x[i]++; }"), "k.cu")
    assert [a.directive for a in marked.annotations] == ["for", "if"]
    assert [a.loop for a in marked.annotations] == [None, 1]
    assert markers(marked) == [
        Marker("loop", 1, Span("k.cu", 2, 1)),
        Marker("for", 1, Span("k.cu", 2, 1)),
        Marker("then", 2, Span("k.cu", 4, 1), {"prob": "0.125"}),
    ]
    assert '_Pragma("unroll 1")\nfor (int i' in marked.text
    assert "#pragma ccc" not in marked.text


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("if (a) b();", "if (a) { @then b(); }"),
        ("if (a) ;", "if (a) { @then ; }"),
        ("if (a) { b(); }", "if (a) { @then b(); }"),
        ("if (a) b(); else c();", "if (a) { @then b(); } else { @else c(); }"),
        ("if (a) {} else {}", "if (a) { @then} else { @else}"),
        ("if (a) b(); else if (c) d();", "if (a) { @then b(); } else { @else if (c) d(); }"),
        ("if (a) if (b) c(); else d();", "if (a) { @then if (b) c(); else d(); }"),
        ("if (int q = f(); q > 1) g();", "if (int q = f(); q > 1) { @then g(); }"),
        ("if (a) int q = 3;", "if (a) { @then int q = 3; }"),
        ("if (a) [[likely]] b();", "if (a) { @then [[likely]] b(); }"),
        ("if (f(1, (2))) /* c */ b();", "if (f(1, (2))) { @then /* c */ b(); }"),
        ("here: if (a) b();", "here: if (a) { @then b(); }"),
    ],
)
def test_arms(statement: str, expected: str) -> None:
    assert line(f"#pragma ccc if\n{statement}", 5) == expected


def test_the_inner_of_two_dangling_ifs() -> None:
    assert line("if (a)\n#pragma ccc if\nif (b) c(); else d();", 6) == (
        "if (b) { @then c(); } else { @else d(); }"
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("for (int i = 0; i < (n); i++)", "for (int i = 0; i < (n); i++) { @for"),
        ("for (int v : list)", "for (int v : list) { @for"),
        ("while (n--)", "while (n--) { @for"),
    ],
)
def test_a_pragma_between_a_loop_and_its_body(head: str, expected: str) -> None:
    text = f"void f() {{\n#pragma ccc for\n{head}\n#pragma ccc if\nif (a) b();\n}}\n"
    lines = re.sub(r"asm[^;]*ccc\.(\w+)[^;]*;", r"@\1", in_assembly(mark(text, "k.cu").text)).split(
        "\n"
    )
    assert [" ".join(x.split()) for x in lines[2:5]] == [expected, "", "if (a) { @then b(); } } }"]


@pytest.mark.parametrize("declared", ["int a = 0;", "int a = 0; long b = f(a);"])
def test_a_loop_behind_declarations_in_its_line(declared: str) -> None:
    body = "for (;;) {\n#pragma ccc if\nif (a) b();\n}"
    text = f"void f() {{\n#pragma ccc for\n{declared} {body} }}"
    marked = in_assembly(mark(text, "k.cu").text).split("\n")
    begin, _, head = re.sub(r"asm[^;]*ccc\.(\w+)[^;]*;", r"@\1", marked[2]).partition("{")
    assert begin.strip() == declared  # which are known behind the loop, too
    assert " ".join(head.split()) == '@loop _Pragma("unroll 1")for (;;) { @for'
    assert marked[5] == "} } }"


def test_a_loop_in_the_line_behind_declarations_is_another_statement() -> None:
    text = "void f() {\n#pragma ccc for\nint a = 0;\nfor (;;) b();\n}"
    assert '"ccc for" stands before "int a = 0;"' in complaint(text)


def test_a_do_loop() -> None:
    text = "void f() {\n#pragma ccc for\ndo\n#pragma ccc if\nif (a) b();\nwhile (c);\n}\n"
    marked = mark(text, "k.cu").text.split("\n")
    assert marked[2].startswith("do { asm")
    assert marked[4].endswith("b(); } }")
    assert marked[5] == "while (c); }"


@pytest.mark.parametrize("order", ["ccc for\n#pragma unroll 4", "unroll 4\n#pragma ccc for"])
def test_a_users_own_unroll_pragma_stands(order: str) -> None:
    text = f"void f() {{\n#pragma {order}\nfor (;;) {{\n#pragma ccc if\nif (a) b();\n}}\n}}\n"
    marked = mark(text, "k.cu").text
    assert "#pragma" not in marked
    assert re.findall(r"_Pragma[^\n]*\n+for", marked) in (
        ['_Pragma("unroll 4")\n\nfor'],
        ['_Pragma("unroll 4")\nfor'],
    )
    (told,) = re.findall(r"// ccc\.for \S+ \S+(.*?)\"", marked)
    assert told == " unroll=own"


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ("#pragma unroll 4", "unroll 4"),
        ("#  pragma\tunroll 4 \r", "unroll 4"),
        ('#pragma unroll 4 // "four"', "unroll 4"),
        ('#pragma unroll /* "few" */ 4 // or \\\nmore', "unroll  4"),
        ("#pragma unroll 4 /* four\nor more */", "unroll 4"),
        ("#pragma unroll \\\n 4", "unroll  4"),
        ('#pragma unroll (sizeof("a//\\n"))', r"unroll (sizeof(\"a//\\n\"))"),
    ],
)
def test_a_users_unroll_pragma_says_the_same_in_text_that_is_not_preprocessed(
    own: str, words: str
) -> None:
    text = (
        f"void f() {{\n#pragma ccc for\n{own}\nfor (;;) {{\n#pragma ccc if\nif (a) b();\n}}\n}}\n"
    )
    marked = mark(text, "k.cu").text
    (found,) = re.findall(r'_Pragma\("(.*)"\)\s*for \(', marked)
    assert found.split() == words.split()
    assert marked.count("\n") == text.count("\n")
    assert '_Pragma("unroll 1")' not in marked


def flattened(around: str, within: str = "", asked: str = "flatten") -> str:
    """A kernel with an inner loop that is to be flattened; ``around`` stands before the outer."""
    inner = f"#pragma ccc while strategy({asked})\nwhile (a) b();\n"
    return f"__global__ void f() {{\n{around}for (;;) {{\n{inner}{within}}}\n}}\n"


@pytest.mark.parametrize(
    ("around", "within", "expected"),
    [
        ("", "", ["unroll 1", "unroll 1"]),
        ("#pragma unroll 2\n", "", ["unroll 1"]),  # and the user's own one before it
        ("", "#pragma ccc while strategy(flatten)\nwhile (c) d();\n", ["unroll 1"] * 3),
    ],
)
def test_the_loop_around_a_flattened_one_is_not_unrolled(
    around: str, within: str, expected: list[str]
) -> None:
    marked = mark(flattened(around, within), "k.cu")
    assert re.findall(r'_Pragma\("(.*?)"\)', marked.text) == expected
    assert (around == "") == ('_Pragma("unroll 1") for' in marked.text)
    assert {a.directive for a in marked.annotations} == {"while"}


def test_an_inner_loop_needs_an_annotated_one_around_it_unless_it_is_flattened() -> None:
    mark(flattened("", asked="refill(4)"), "k.cu")
    said = complaint(flattened("", asked="merge"))
    assert "must stand inside a loop" in said
    assert 'write "ccc while strategy(flatten)" if they depend on one another' in said


@pytest.mark.parametrize(
    "code",
    [
        "#pragma ccc while\nwhile (a) b();",  # which begins once
        "for (;;) {\n#pragma ccc if\nif (a) b();\n}",
    ],
)
def test_what_flattening_does_not_serve_is_not_told_of_it(code: str) -> None:
    said = complaint(f"__global__ void f() {{\n{code}\n}}\n")
    assert "must stand inside a loop" in said
    assert "flatten" not in said


def test_an_unroll_pragma_of_an_arm_stays_with_its_loop() -> None:
    body = "#pragma ccc if\nif (a)\n#pragma unroll\nfor (;;) b();"
    assert line(body, 5) == "if (a) { @then"
    assert line(body, 6) == "#pragma unroll"


def test_templates_and_lambdas() -> None:
    text = (
        "template <class T, int N> __global__ void k(T *x) {\n#pragma ccc for\nwhile (next<N>(x)) {"
        "\nauto f = [&](int i) {\n#pragma ccc if\nif (x[i] < T(0)) x[i] = 0;\n};\nf(1);\n}\n}\n"
    )
    assert [m.kind for m in markers(mark(text, "k.cu"))] == ["loop", "for", "then"]


PREPROCESSED = """\
# 1 "k.cu"
# 1 "<built-in>"
# 1 "k.cu"
# 1 "/opt/cuda/include/cuda_runtime.h" 1
int if_ = ) { for;
# 1 "/usr/include/stdio.h" 1 3 4
} ) if (
# 2 "/opt/cuda/include/cuda_runtime.h" 2
{ {
# 2 "k.cu" 2

__attribute__((global)) void k(int *x, int n) {
#pragma ccc for
 for (int i = 0; i < n; i++) {

# 6 "k.cu"
#pragma ccc if
# 6 "k.cu"
 if (x !=
# 6 "k.cu" 3 4
 __null
# 6 "k.cu"
 ) x[i]++;
#pragma ccc if prob(.5)
 if (x[0]) x[i]++;
 }
}
"""


def test_preprocessed_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(
        "#include <x>\n\n__global__ void k(int *x, int n) {\n   #pragma ccc for // all\n"
        "for (...) {\n  MACRO\n\t#  pragma ccc  if prob(.5)\n"
    )
    # The macro's pragma is at the place of its use.
    marked = mark(PREPROCESSED, "ignored")
    assert [str(a.span) for a in marked.annotations] == ["k.cu:4:4", "k.cu:6:3", "k.cu:7:2"]
    assert in_assembly(marked.text).count("\n") == PREPROCESSED.count("\n")
    assert ") { asm volatile(" in marked.text


def test_a_file_may_have_no_name() -> None:
    marked = mark('#line 5 ""\n' + loop("#pragma ccc if\nif (a) b();"), "k.cu")
    assert [str(m.span) for m in markers(marked)] == ["<unnamed>:6:1"] * 2 + ["<unnamed>:8:1"]


def test_continued_and_commented_pragmas() -> None:
    body = "#pragma ccc if \\\n  prob(.5) /* half */\nif (a) b();"
    marked = mark(loop(body), "k.cu")
    assert marked.annotations[1].clauses == {"prob": "0.5"}
    assert marked.text.count("\n") == loop(body).count("\n")


@pytest.mark.parametrize("gap", ["\\\n", " \\\r\n\t", " /* now */ ", "/* and\n */"])
def test_the_first_words_of_a_pragma_may_stand_in_several_lines(gap: str) -> None:
    body = f"#{gap}pragma{gap}ccc{gap} if{gap} prob(.5)\nif (a) b();"
    marked = mark(loop(body), "k.cu")
    assert marked.annotations[1].clauses == {"prob": "0.5"}
    assert str(marked.annotations[1].span) == "k.cu:4:1"
    assert marked.text.count("\n") == loop(body).count("\n")
    assert strip(loop(body)).split() == strip(loop("if (a) b();")).split()


def test_a_comment_may_end_in_another_line_than_its_pragma() -> None:
    body = "#pragma ccc if /* not\n often */\nif (a) b();"
    marked = mark(loop(body), "k.cu").text
    assert "often" not in marked
    assert marked.count("\n") == loop(body).count("\n")


def test_several_reductions() -> None:
    pragma = "#pragma ccc for reduction(+: a, b) reduction(min: c)"
    body = "#pragma ccc if\nif (x) y(a += 1, b += 2, c = min(c, 3));"
    marked = mark(f"void k() {{\n{pragma}\nfor (;;) {{\n{body}\n}}\n}}\n", "k.cu")
    assert marked.annotations[0].clauses == {"reduction": "add:a,b;min:c"}


def test_a_path_of_a_device_function_may_be_inlined_into_a_loop() -> None:
    function = "__device__ void f() {\n#pragma ccc if\nif (a) b();\n}\n"
    marked = mark(function + loop("f();"), "k.cu")
    assert [m.kind for m in markers(marked)] == ["then", "loop", "for"]
    assert marked.warnings == []


@pytest.mark.parametrize(
    ("directive", "statement", "expected"),
    [
        ("for variable", "for (;;) b();", ["loop", "variable"]),
        ("while", "while (a) b();", ["loop", "while"]),
        ("while", "do b(); while (a);", ["loop", "while"]),
        (
            "switch",
            "switch (a) { case 1: b(); case 2: case 3: { c(); } break; default: d(); }",
            ["case", "case", "case"],
        ),
    ],
)
def test_other_paths(directive: str, statement: str, expected: list[str]) -> None:
    marked = mark(loop(f"#pragma ccc {directive}\n{statement}"), "k.cu")
    assert [m.kind for m in markers(marked)] == ["loop", "for", *expected]
    assert marked.warnings == []


def test_cases_on_one_line_are_told_by_their_labels() -> None:
    cases = "switch (a) { case 1: b(); case 2: case N + 3: c();\ndefault: d(); }"
    marked = mark(loop(f"#pragma ccc switch\n{cases}"), "k.cu")
    labels = [m.clauses.get("label") for m in markers(marked) if m.kind == "case"]
    assert labels == ["case 1", "case N + 3", None]


def test_what_is_asked_for_comes_along() -> None:
    marked = mark(loop("#pragma ccc if strategy( queue )\nif (a) b();"), "k.cu")
    assert [m.clauses for m in markers(marked) if m.kind == "then"] == [{"strategy": "queue"}]


def test_a_recursive_function() -> None:
    function = "template <int N>\n__device__ int f(int a) { return a ? f<N>(a - N) : 0; }\n"
    marked = mark("#pragma ccc recursion\n" + function + loop("f<1>(x[i]);"), "k.cu")
    assert [m.kind for m in markers(marked)] == ["recursion", "loop", "for"]
    assert '{ asm volatile("// ccc.recursion 1 k.cu:1:1");' in marked.text


@pytest.mark.parametrize(
    ("pragma", "kernel", "clauses"),
    [
        ("grid_stride", "__global__ void f() { g(); }", {}),
        (
            "grid_stride schedule(static)",
            'extern "C" __global__ void f() {}',
            {"schedule": "static"},
        ),
        (
            "grid_stride schedule(dynamic)",
            "template <int N>\n__attribute__((global)) void __attribute__((bounds(64))) f() {}",
            {"schedule": "dynamic"},
        ),
        (
            "grid_stride schedule(dynamic, 2 * 8)",
            "static __global__ void f(int n)\n{}",
            {"schedule": "dynamic:16"},
        ),
    ],
)
def test_a_kernel(pragma: str, kernel: str, clauses: dict[str, str]) -> None:
    marked = mark(f"#pragma ccc {pragma}\n{kernel}\n", "k.cu")
    (marker,) = markers(marked)
    assert (marker.kind, marker.clauses) == ("grid_stride", clauses)
    (warning,) = marked.warnings
    assert warning.message.startswith("no annotated path stands inside this kernel, so that there")
    assert re.sub(r' asm volatile\("[^"]*"\);', "", marked.text) == f"\n{kernel}\n"


def test_paths_directly_in_a_kernel() -> None:
    text = "#pragma ccc grid_stride\n__global__ void f() {\n#pragma ccc if\nif (a) b();\n}\n"
    marked = mark(text, "k.cu")
    assert [m.kind for m in markers(marked)] == ["grid_stride", "then"]
    for head in ("__global__", "__attribute__((global))"):
        alone = text.replace("#pragma ccc grid_stride", "").replace("__global__", head)
        with pytest.raises(SourceError, match='the kernel, if its threads are, "#pragma ccc grid'):
            mark(alone, "k.cu")


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        ("int f(int a) { return a ? f(a - 1) : 0; }", True),
        ("int &f(int a) { return f(a - 1); }", True),
        ("int &f(int a) { return g(a); }", False),
        ("int f(int a) { return even(a); }\nint even(int a) { return f(a); }", True),
        ("int f(int a) { return STEP(a); }", True),
        ("int f(int a) { return a ? g(a - 1) : 0; }", False),
        ("int C::f(int a) { while (a) a = g(a); return 0; }", False),
    ],
)
def test_a_function_that_does_not_call_itself(function: str, calls: bool) -> None:
    text = f"#pragma ccc recursion\n__device__ {function}\n"
    marked = mark(text, "k.cu", macros={"STEP": ""})
    assert bool(markers(marked)) == calls
    said = [w.message for w in marked.warnings]
    assert [s.startswith("this function does not call itself") for s in said] == [True] * (
        not calls
    )


def test_leaving_annotations_out() -> None:
    text = loop("#pragma ccc if\nif (a) b();\n#pragma ccc if\nif (c) d();")
    marked = mark(text, "k.cu", without={2})
    assert [a.id for a in marked.annotations] == [1, 3]
    assert [m.identifier for m in markers(marked)] == [1, 1, 3]
    assert mark(text, "k.cu", without={1, 2, 3}).text == strip(text)


def test_text_without_annotations_costs_nothing() -> None:
    code = (
        "import sys; from ccc.frontend.marking import mark; text = 'int ccc; // #pragma ccc\\n'\n"
        "assert mark(text, 'k.cu').text is text\n"
        "assert not {'lark', 'pycparser', 'tree_sitter'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_passes_are_not_loaded_before_cicc_runs() -> None:
    text = loop("#pragma ccc if\nif (x[i]) { x[i]++; }\n#pragma ccc while\nwhile (x[i]) x[i]--;")
    code = (
        f"import sys; from ccc.frontend.marking import mark; mark({text!r}, 'k.cu')\n"
        "assert not {'ccc.passes', 'networkx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


@given(
    st.sampled_from(["for", "then", "else"]),
    st.integers(0, 10**6),
    st.builds(Span, names | st.just(""), st.integers(0, 10**6), st.integers(0, 10**4)),
    st.dictionaries(st.sampled_from(["prob", "priority", "reduction"]), names),
)
def test_markers_are_read_as_they_were_written(
    kind: str, identifier: int, span: Span, clauses: dict[str, str]
) -> None:
    marker = Marker(kind, identifier, span, clauses)
    assert parse_marker(marker.text()) == marker
    assert '"' not in marker.text()


def block(statements: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return statements | st.lists(statements, max_size=2).map(lambda s: "{\n" + "".join(s) + "}\n")


def branches(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pragma = st.sampled_from(["", "\n#pragma ccc if\n", "\n  #pragma ccc if prob(0.25)\n"])
    plain = st.builds("{}if (p(a, b)) {}".format, pragma, block(inner))
    full = st.builds("{}if (p) {{ {} }} else {}".format, pragma, inner, block(inner))
    return plain | full | st.builds("for (;;) {}".format, block(inner))


statements = st.recursive(st.sampled_from(["f(x);\n", ";\n", "g<1>(2), h();\n"]), branches)


@given(statements)
def test_marking_adds_only_markers_and_braces(body: str) -> None:
    text = loop(body)
    marked = mark(text, "k.cu")
    assert marked.text.count("\n") == text.count("\n")
    wanted = text.count("#pragma ccc if")
    assert [m.kind for m in markers(marked)].count("then") == wanted
    pragmas = {n for n, row in enumerate(text.split("\n"), 1) if "ccc if" in row}
    assert {m.span.line for m in markers(marked) if m.kind == "then"} == pragmas
    plain = re.sub(
        r'asm volatile\("[^"]*"\);|_Pragma\("unroll 1"\)|[{}\s]', "", in_assembly(marked.text)
    )
    assert plain == re.sub(r"[{}\s]", "", strip(loop(body)))


@pytest.mark.parametrize(
    "said",
    [
        "__cluster_dims__(2, 1, 1)",
        "__maxnreg__(64)",
        "__block_size__((64, 1, 1), (2, 1, 1))",
        "__launch_bounds__(64) __cluster_dims__(1)",
    ],
)
@pytest.mark.parametrize("head", ["void {} k", "{} void k"])
def test_what_cuda_says_of_a_kernel_may_stand_anywhere_in_its_head(head: str, said: str) -> None:
    kernel = f"__global__ {head.format(said)}(int *x, int n)"
    text = f"#pragma ccc grid_stride\n{kernel} {{\n#pragma ccc if\n    if (x[0]) x[1] = n;\n}}\n"
    marked = mark(text, "k.cu", macros={})
    assert "ccc.grid_stride" in marked.text
    assert kernel in marked.text
