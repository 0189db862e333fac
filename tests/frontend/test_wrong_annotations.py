"""What is said of annotations that are wrong, or have no effect, and what is taken for none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from annotated import complaint, loop, markers

from ccc.frontend.marking import SourceError, mark, strip


def test_a_line_that_a_backslash_makes_a_part_of_the_pragma() -> None:
    told = complaint(loop("#pragma ccc if \\\nif (x[i]) { for (;;) ; }"))
    assert "is not expected here; remove the backslash at the end of the line" in told
    told = complaint(loop("#pragma ccc if \\\n prbo(1)\nif (x[i]) { for (;;) ; }"))
    assert "backslash" not in told


def test_broken_code_elsewhere_does_not_matter() -> None:
    text = loop("#pragma ccc if\nif (a) b();")
    for broken in ("@@ ( { [ ;\n", "int f( {{{ <<< ;\n", "} } )\n"):
        assert [m.kind for m in markers(mark(broken + text, "k.cu"))] == ["loop", "for", "then"]
        assert [m.kind for m in markers(mark(text + broken, "k.cu"))] == ["loop", "for", "then"]


def test_what_looks_like_a_pragma_and_is_none() -> None:
    for text in (
        "/*\n#pragma ccc fro\n*/\n",
        'auto s = R"(\n#pragma ccc fro\n)";\n',
        "#pragma cccfor\n",
    ):
        assert not mark(text, "k.cu").annotations


@pytest.mark.parametrize(
    "pragma",
    [
        "CCC FOR", "cc for", "cccc for", "Ccc  for", "xcc\tfor", "ccxc for", "cxc For", "cccfor",
        "ccc_for", "CCC_FOR",
    ],
)  # fmt: skip
def test_what_is_nearly_a_pragma_of_ours(pragma: str) -> None:
    """It is told at its word, alone in a file, and where a path misses its loop for that."""
    text = loop("#pragma ccc if\nif (a) b();").replace("#pragma ccc for", f"  #pragma {pragma}")
    (warning,) = mark(text.replace("ccc if", "omp if"), "k.cu").warnings
    assert warning.span == ("k.cu", 2, 11)
    first, shown, *rest = complaint(text).split("\n")
    assert first.endswith('is no annotation; write "#pragma ccc for"')
    assert shown.strip() == f"#pragma {pragma}".expandtabs(1)
    assert not [line for line in rest if "error" in line]  # that the path misses its loop follows
    unread = complaint(text.replace("ccc if", "ccc iff"))
    assert [line.split()[1] for line in unread.split("\n") if "k.cu" in line] == ["error:"] * 2


def test_all_that_is_wrong_with_one_pragma_is_told_at_once() -> None:
    said = complaint(loop("#pragma ccc if prbo(0.1) strategy(queu) prob(10)\nif (a) b();"))
    assert said.count("error: ") == 3
    assert 'unknown clause "prbo"; did you mean "prob"?' in said
    assert "10 is no probability" in said
    unclosed = complaint(loop("#pragma ccc if strategy queue prbo(1)\nif (a) b();"))
    assert unclosed.count("error: ") == 1
    assert "write strategy(queue)" in unclosed


@pytest.mark.parametrize("word", ["grid-stride", "gridstride"])
def test_who_has_written_a_grid_stride_loop_is_told_how_it_is_marked(word: str) -> None:
    said = complaint(loop("").replace("ccc for", f"ccc {word}"))
    assert f'unknown directive "{word}"; did you mean "grid_stride"?' in said
    assert 'before a kernel without such a loop; before one, write "ccc for"' in said


@pytest.mark.parametrize(
    "pragma", ["GCC unroll 4", "omp for", "acc loop", "acc parallel", "gcc ivdep", "cc", "c for"]
)
def test_pragmas_of_others(pragma: str) -> None:
    assert mark(f"#pragma {pragma}\nfor (;;) b();", "k.cu").warnings == []
    assert mark(f"/*\n#pragma cc {pragma}\n*/\n#pragma ccc for\nfor (;;) b();", "k.cu").text


@pytest.mark.parametrize(
    ("pragma", "expected"),
    [
        ("fro", '4:13: error: unknown directive "fro"; did you mean "for"?'),
        ("for_variable", 'unknown directive "for_variable"; did you mean "for variable"?'),
        ("do", 'unknown directive "do"; did you mean "while"?'),
        ("if prob(0,1)", '"0,1" is no number; write prob(0.1)'),
        ("parallel for", '4:13: error: unknown directive "parallel"; did you mean "for"?'),
        ("grid-stride", 'unknown directive "grid-stride"; did you mean "grid_stride"?'),
        ("case", '"case"; remove it: "ccc switch", before the switch, speaks of all its cases'),
        (
            "else",
            '4:13: error: unknown directive "else"; '
            'remove it: "ccc if", before the if, speaks of all its arms',
        ),
        ("for reduction(-: a)", '4:27: error: unknown reduction "-"; did you mean "+"?'),
        ("for reduction(sum: a)", '4:27: error: unknown reduction "sum"; did you mean "+"?'),
        ("for reduction(||: a)", 'unknown reduction "||"; did you mean "|"?'),
        ("for reduction(MAX: a)", 'unknown reduction "MAX"; did you mean "max"?'),
        ("for reduction(mn: a)", 'unknown reduction "mn"; did you mean "min"?'),
        ("for reduction(maxx: a)", 'unknown reduction "maxx"; did you mean "max"?'),
        ("for reduction(minimum: a)", 'unknown reduction "minimum"; did you mean "min"?'),
        ("if prob(0.1, 0.2)", 'clause "prob" takes one number; write prob(0.1)'),
        ("if priority(3 , 4)", 'clause "priority" takes one number; write priority(3)'),
        ("if prob(max(0.1, 0.2))", "only numbers"),
        ("if strategy queue", '4:25: error: "queue" is not expected here; write strategy(queue)'),
        ("if strategy bins(8)", '"bins" is not expected here; write strategy(bins(8))'),
        ("if prob 0.1", '4:21: error: "0.1" is not expected here; write prob(0.1)'),
        ("if prob=0.1", '4:20: error: "=0.1" is not expected here; write prob(0.1)'),
        ("if prob(10%)", '"10%" is not a C expression; write prob(0.1)'),
        ("if (a < b)", '4:16: error: "(" is not expected here; write no condition, and clauses'),
        ("if prb(.5)", '4:16: error: unknown clause "prb"; did you mean "prob"?'),
        ("if SELDOM", '4:16: error: unknown clause "SELDOM", and macros are not expanded here;'),
        ("for RED", "write the clause, or _Pragma(STR(ccc ...)) in a macro, with #define STR(x)"),
        ("if PROB(.5)", 'unknown clause "PROB"; did you mean "prob"?'),
        ("if zzz(1)", '4:16: error: unknown clause "zzz"; known are prob, priority'),
        ("zzz", 'unknown directive "zzz"; known are for, if, for variable, while, switch,'),
        ("for const variable", '4:23: error: "variable" stands right after "for"'),
        ("for variable const", '"const" stands right after "for"'),
        ("for reduction(+: a) const", '"const" stands right after "for"'),
        ("for reduction(+: a) reduction(max: a)", '4:48: error: "a" is a reduction by + and by'),
        ("for reduction(+: a, b, a)", '4:36: error: reduction names "a" twice; name it once'),
        ("for reduction(+: a) reduction(+: a)", '4:46: error: reduction names "a" twice'),
        ("if prob(.5) prob(.5)", '4:25: error: clause "prob" is given twice'),
        (
            "if reduction(+: s)",
            'clause "reduction" does not belong to "ccc if", but to "ccc for" and '
            '"ccc for variable"; put it at the loop around this, if what it names is declared '
            "before that, or else remove it",
        ),
        (
            "for prob(.5)",
            'does not belong to "ccc for", but to "ccc if", "ccc for variable", "ccc while", '
            '"ccc switch" and "ccc recursion"; remove it',
        ),
        ("if prob(1.5)", "4:21: error: 1.5 is no probability; write a number between 0 and 1"),
        ("if prob(-0.1)", "-0.1 is no probability"),
        ("if prob(1/8)", "write 1.0/8"),
        ("if prob(N)", "or _Pragma(STR(ccc ...)) in a macro, with #define STR(x) #x"),
        ("if prob(f(1))", "only numbers"),
        ("if prob(1.0/0)", "division by zero"),
        ("if prob()", "needs a value: prob(...)"),
        ("if prob(.5", "4:22: error: a closing parenthesis is missing"),
        ("if prob(1;2)", "is not a C expression"),
        ("if priority(1.5)", "1.5 is no priority; write a whole number"),
        ("for reduction(%: a)", 'unknown reduction "%"'),
        ("for reduction(*: a)", 'unknown reduction "*"; the operations are + min max & | ^'),
        ("for reduction(+: a*2)", "a reduction names variables: reduction(op: variable, ...)"),
        ("for reduction(+: a, s.m[0])", "; name one for each element, and have these in place"),
        ("for reduction(+: s.p->sum)", "; name one that keeps what the pointer leads to, and"),
        ("for reduction(max: *high)", "; name one that keeps what the pointer leads to, and"),
        (
            "for reduction(min: a, max: s.m)",
            "4:27: error: a reduction is by one operation; write reduction(min: a) "
            "reduction(max: s.m)\n",
        ),
        ("for reduction(max: a min: b, c)", "; write reduction(max: a) reduction(min: b, c)\n"),
        ("for reduction(+: a; b |: c)", "; write reduction(+: a, b) reduction(|: c)\n"),
        ("for reduction(+: a; b)", "variables are listed with commas; write reduction(+: a, b)\n"),
        ("for reduction(+: a, min b)", "by one operation; write reduction(op: variable, ...) for"),
        ("for reduction(+: 3 a)", "is not a C expression"),
        ("for reduction(+: a, *: b)", 'unknown reduction "*"; the operations are + min max & | ^'),
        ("for reduction(+: a; ||: b)", 'unknown reduction "||"; did you mean "|"?'),
        (
            "reduction(+: a)",
            '4:13: error: "reduction" is a clause; write it behind the directive, in the same '
            'line, as in "ccc for reduction(...)"\n',
        ),
        ("reduction", '4:13: error: "reduction" is a clause; write it'),
        (
            "prob(.1)",
            '"prob" is a clause; write it behind the directive, in the same line, as in "'
            'ccc if prob(...)"',
        ),
        ("schedule(static)", 'as in "ccc grid_stride schedule(...)"'),
        ("for noalias(a)", "noalias names pointers"),
        (
            "callable",
            "put it on the line before the declaration of a __device__ function of another",
        ),
        ("for noalias(a, b + 1)", "noalias names pointers"),
        ("if noalias(a, b)", 'clause "noalias" does not belong to "ccc if"'),
        ("", "the directive is missing; known are for, "),
        ("7", '"7" is not expected here'),
    ],
)
def test_wrong_words(pragma: str, expected: str) -> None:
    said = complaint(loop(f"#pragma ccc {pragma}\nif (a) b();"))
    assert said.startswith("k.cu:4:")
    assert expected in said
    assert said.split("\n")[1] == f"    #pragma ccc {pragma}".rstrip() + " " * (not pragma)


@pytest.mark.parametrize(
    ("pragma", "expected"),
    [
        ("for reduction(+: a \\\n b)", "are listed with commas; write reduction(+: a, b)"),
        ("\\\nprob(.1)", 'write it behind the directive, in the same line, as in "ccc if prob('),
    ],
)
def test_wrong_words_in_lines_that_go_on(pragma: str, expected: str) -> None:
    assert expected in complaint(loop(f"#pragma ccc {pragma}\nif (a) b();"))


def test_the_caret_is_under_the_word() -> None:
    lines = complaint(loop("\t#pragma   ccc if  prb( .5 )\nif (a) b();")).split("\n")
    assert lines[1].index("prb") == lines[2].index("^")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("#pragma ccc if\nx[i]++;", '"ccc if" stands before "x[i]++;"'),
        ("#pragma ccc for\nif (a) b();", '"ccc for" stands before "if (a) b();"'),
        ("#pragma ccc if\nx[i] = a ? b() : c();", '; write the "?:" as an "if", or put it on the'),
        ("#pragma ccc switch\nswitch (a) case 3: b();", "whose cases are in no braces"),
        ("#pragma ccc if\nif constexpr (A) b();", '"if constexpr" is no branch at run time'),
        (
            "#pragma ccc while\nif (a) b();",
            '; write "ccc if", or put it on the line before a loop',
        ),
        ("#pragma ccc if\nwhile (a) b();", 'write "ccc while", or put it on the line before an if'),
        ("#pragma ccc if\nswitch (a) { case 1: b(); }", 'write "ccc switch", or put it'),
        ("#pragma ccc if\nx[i]++;", "; put it on the line before an if"),
        (
            "#pragma ccc if\nthe_first_element[index_of_it] = 7; // and no more",
            'stands before "the_first_element[index_of_it] = 7;"; put',
        ),
        (
            "#pragma ccc if\nthe_first_element[index_of_it] = another_element;",
            'stands before "the_first_element[index_of_it] =..."; put',
        ),
        ("if (a) b();\n#pragma ccc if\nelse c();", 'stands before "else c();"'),
        ("#pragma ccc if\n#pragma ccc if\nif (a) b();", "is given twice for one statement"),
        ("b();\n#pragma ccc if", 'stands before "}"'),
    ],
)
def test_wrong_places(body: str, expected: str) -> None:
    assert expected in complaint(loop(body))


@pytest.mark.parametrize("directive", ["if", "switch", "grid_stride"])
def test_a_loop_in_no_other_is_one_to_mark(directive: str) -> None:
    inner = '"ccc while", in a loop marked "ccc for" or in a kernel marked "ccc grid_stride"'
    instead = '"ccc for", or' if directive == "grid_stride" else inner
    said = complaint(f"__global__ void f() {{\n#pragma ccc {directive}\nwhile (a) b();\n}}\n")
    assert f"; write {instead}" in said


def test_a_kernel_is_made_a_loop() -> None:
    said = complaint("#pragma ccc for\n__global__ void f() {\n#pragma ccc if\nif (a) b();\n}\n")
    assert 'write "ccc grid_stride", or put it on the line before a for, while or do loop' in said


def test_the_line_is_shown_as_the_user_wrote_it(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text("void f(int *x) {\n  #pragma ccc if\n  x[0] = NAME;\n}\n")
    text = f'# 1 "{file}"\nvoid f(int *x) {{\n#pragma ccc if\n  x[0] = 4711;\n}}\n'
    assert 'stands before "x[0] = NAME;"' in complaint(text)


def test_a_path_outside_of_any_loop() -> None:
    said = complaint("__global__ void f() {\n  #pragma ccc if\n  if (a) b();\n}\n")
    assert said.startswith('k.cu:2:3: error: "ccc if" must stand inside a loop')


def test_all_errors_are_told_at_once() -> None:
    wrong = "#pragma ccc iff\nif (a) b();\n#pragma ccc if prop(1)\nif (a) b();\n"
    said = complaint(loop(f"{wrong}#pragma ccc while\nif (a) b();"))
    assert [text for text in said.split("\n") if text.startswith("k.cu")] == [
        'k.cu:4:13: error: unknown directive "iff"; did you mean "if"?',
        'k.cu:6:16: error: unknown clause "prop"; did you mean "prob"?',
        'k.cu:8:1: error: "ccc while" stands before "if (a) b();"; write "ccc if", or put it on '
        "the line before a loop",
    ]


@pytest.mark.parametrize(
    ("head", "is_wrong"),
    [
        ("for (int *a = x, *e = y; a < e; a++)", True),
        ("for (auto a : x)", True),
        ("while (int *a = next())", True),
        ("for (int i = 0; i < a[0]; i++)", False),
        ("while (a[0])", False),
    ],
)
def test_noalias_speaks_of_what_is_declared_before_the_loop(head: str, is_wrong: bool) -> None:
    body = "{ int *c; if (a[0]) { int *a = b; } \n#pragma ccc if\nif (x) y();\n }"
    text = f"void k(int *a, int *b) {{\n  #pragma ccc for noalias(a->x, b)\n{head} {body}}}\n"
    if is_wrong:
        said = complaint(text)
        assert said.startswith('k.cu:2:27: error: noalias speaks of "a->x", and the loop itself')
    else:
        assert mark(text, "k.cu").annotations[0].directive == "for"


POINTED = """struct Chain { int *step, *seen; };
int *table;
__global__ void k(Chain chain, Chain *c, const int *next, int *marked, int n) {
    float sum = 0;
    struct { float mean; } found = {};
#pragma ccc for CLAUSE
    for (int i = 0; i < next[i]; i++) {
        int *own = marked, *table = own;
#pragma ccc if
        if (i) { marked[i] = c->step[0] + chain.seen[i]; sum += i; found.mean += i; }
    }
}
__global__ void other(int *nest) {}
"""


@pytest.mark.parametrize(
    ("clause", "told"),
    [
        ("noalias(nxt, marked)", 'speaks of "nxt", and there is no such variable here; did you'),
        ("noalias(nxt, marked)", 'did you mean "next"?'),
        ("noalias(nest, marked)", 'speaks of "nest", and there is no such variable here'),
        ("noalias(zzzzzz, marked)", "here; name pointers that are declared before the loop"),
        ("noalias(chain.stp, marked)", '"chain.stp", and there is no such variable here; did you'),
        ("noalias(chain.stp, marked)", 'did you mean "chain.step"?'),
        (
            "noalias(next, seen)",
            '"seen", and there is no such variable here; did you mean "chain.seen',
        ),
        ("noalias(next, step)", 'there is no such variable here; did you mean "c->step"?'),
        (
            "noalias(next, c.step)",
            'speaks of "c.step", and there is no such variable here; did you',
        ),
        ("noalias(next, c.step)", 'did you mean "c->step"?'),
        ("noalias(next, chain -> seen)", 'did you mean "chain.seen"?'),
        ("noalias(next, chan.step)", 'did you mean "chain.step"?'),
        ("noalias(next, d->step)", 'speaks of "d->step", and there is no such variable here'),
        ("noalias(next, own)", 'speaks of "own", and the loop itself declares what is called so'),
        ("noalias(next, n)", 'noalias speaks of "n", which is no pointer; name pointers'),
        ("noalias(next, chain)", 'noalias speaks of "chain", which is no pointer; name pointers'),
        ("reduction(+: smu)", '"smu", and there is no such variable here; did you mean "sum"?'),
        ("reduction(+: found.men)", 'variable here; did you mean "found.mean"?'),
        ("reduction(+: SUM)", 'variable here; did you mean "sum"?'),
    ],
)
def test_a_misspelt_name_in_a_clause_is_told_in_one_line(clause: str, told: str) -> None:
    first, *source = complaint(POINTED.replace("CLAUSE", clause)).splitlines()
    assert told in first
    (name,) = re.findall(r'(?:speaks of|is of) "(.*?)"', first)
    pragma = f"#pragma ccc for {clause}"
    at = re.sub(r"\s*->\s*", "->", pragma).rindex(name)
    assert first.startswith(f"k.cu:6:{at + 1}: error: ")
    assert source == [f"    {pragma}", " " * (4 + at) + "^"]


def test_all_misspelt_names_of_an_annotation_are_told_at_once() -> None:
    clauses = "noalias(nxt, makred, zzzzzz) reduction(+: smu, found.men, sum)"
    said = complaint(POINTED.replace("CLAUSE", clauses))
    names = re.findall(r'(?:speaks of|is of) "(.*?)", and there is no such variable', said)
    assert sorted(names) == ["found.men", "makred", "nxt", "smu", "zzzzzz"]


@pytest.mark.parametrize(
    ("clause", "named"),
    [
        ("noalias(marked, next, marked)", 'noalias names "marked" twice; name different pointers'),
        ("noalias(chain.step, chain . step)", 'noalias names "chain.step" twice'),
    ],
)
def test_a_pointer_that_is_named_twice(clause: str, named: str) -> None:
    first, source, caret = complaint(POINTED.replace("CLAUSE", clause)).splitlines()
    assert named in first
    assert source[caret.index("^") :] == clause[clause.rindex(clause[8:13]) :]


def test_members_that_a_function_of_their_class_uses_are_names() -> None:
    text = POINTED.replace("CLAUSE", "noalias(step, seen)").replace("__global__", "__device__")
    inside = "struct Walk { int *step, *seen;\n" + text.partition("int *table;")[2] + "};"
    assert mark(inside, "k.cu").warnings == []
    through_this = inside.replace("noalias(step, seen)", "noalias(this->step, this->seen)")
    assert mark(through_this, "k.cu").warnings == []


@pytest.mark.parametrize(
    "clause",
    [
        "noalias(next, marked)",
        "noalias(chain.step, c->seen, c, table)",
        "reduction(+: sum) reduction(+: found.mean)",
    ],
)
def test_names_that_are_there_are_fine(clause: str) -> None:
    assert mark(POINTED.replace("CLAUSE", clause), "k.cu").warnings == []


@pytest.mark.parametrize(
    ("clause", "complaint"),
    [
        ("strategy(merg)", 'error: strategy(merg): did you mean "merge"?'),
        ("strategy(fast)", "error: strategy(fast): it is auto or leave or collect or "),
        ("strategy(queue, merge)", "error: strategy(queue, merge): there is one only; name that"),
        ("strategy(none)", 'error: strategy(none): did you mean "leave"?'),
        ("strategy(zzz)", "or refill(1..32) or counter(1..32)\n"),
        ("strategy", "error: strategy(): it is auto or leave or"),
        ("strategy(queue(2))", "error: strategy(queue(2)): queue takes no number"),
    ],
)
def test_what_cannot_be_asked_for(clause: str, complaint: str) -> None:
    with pytest.raises(SourceError, match=re.escape(complaint)):
        mark(loop(f"#pragma ccc if {clause}\nif (a) b();"), "k.cu")


@pytest.mark.parametrize(
    ("statement", "instead"),
    [
        ("while (a) b();", 'write "ccc while", or '),
        ("do b(); while (a);", 'write "ccc while", or '),
        ("for (;a;) b();", 'write "ccc while", or '),
        ("if (a) b();", 'write "ccc if", or '),
        ("switch (a) { case 1: b(); }", 'write "ccc switch", or '),
        ("b();", ""),
        ("int c = b();", ""),
    ],
)
def test_what_recursion_is_for_is_told_where_it_does_not_fit(statement: str, instead: str) -> None:
    told = complaint(loop(f"#pragma ccc recursion\n{statement}"))
    assert '"ccc recursion" stands before "' in told
    assert f'"; {instead}put it on the line before a __device__ function that calls itself' in told


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("grid_stride\n__device__ void f() {}", "a function that is no kernel"),
        ("grid_stride\n__global__ void f();", "put it on the line before a kernel with its body"),
        ("grid_stride\n#pragma ccc grid_stride\n__global__ void f() {}", "given twice"),
        ("recursion\n__global__ void f() {}", "put it on the line before a __device__ function"),
        ("grid_stride schedule(dynamc)\n__global__ void f() {}", "known are static and dynamic"),
        ("grid_stride schedule(static, 2)\n__global__ void f() {}", "takes no chunk"),
        (
            "grid_stride schedule(dynamic, 0)\n__global__ void f() {}",
            "0 is no chunk; write a number of blocks from 1 to 65536",
        ),
        ("grid_stride prob(1)\n__global__ void f() {}", "does not belong to"),
    ],
)
def test_wrong_annotations_of_kernels(text: str, complaint: str) -> None:
    with pytest.raises(SourceError, match=re.escape(complaint)):
        mark(f"#pragma ccc {text}\n", "k.cu")


def test_a_loop_without_paths_is_left_alone() -> None:
    marked = mark(loop("x[i]++;"), "k.cu")
    assert "nothing to collect" in marked.warnings[0].message
    assert marked.text == strip(loop("x[i]++;"))


OF_A_BASE = """BASE
struct Walk : Base {
    const float *from;
    __device__ void go(int n) {
        #pragma ccc for noalias(to, from)
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            #pragma ccc if
            if (from[i] > 0) put(i, from[i]);
        }
    }
};
"""


def test_a_member_of_a_base_may_be_declared_in_a_header_that_is_not_read_yet() -> None:
    """As in CuPy's sources, which NVRTC preprocesses as it compiles them."""
    unread = OF_A_BASE.replace("BASE", '#include "base.cuh"')
    assert '"l"(to)' in mark(unread, "k.cu", macros={}).text
    for text, macros in ((unread, None), (OF_A_BASE.replace("BASE", "struct Base {};"), {})):
        with pytest.raises(SourceError, match='noalias speaks of "to", and there is no such'):
            mark(text, "k.cu", macros=macros)


@pytest.mark.parametrize("kinds", [("for", "while"), ("while", "for variable")])
def test_a_loop_of_two_kinds(kinds: tuple[str, str]) -> None:
    marked = "".join(f"#pragma ccc {kind}\n" for kind in kinds)
    inner = complaint(loop(f"{marked}for (;;) {{ f(); }}"))
    said = f'this loop is marked "ccc {kinds[0]}" and "ccc {kinds[1]}"; remove one of them'
    assert said in inner
    outer = complaint(f"__global__ void k(int *x) {{\n{marked}for (;;) {{ f(); }}\n}}\n")
    assert said in outer
    assert ("must stand inside" in outer) == (kinds[0] != "for")
