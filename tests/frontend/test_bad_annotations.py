"""Annotations out of all proportion, and those that nothing comes of."""

from __future__ import annotations

from contextlib import suppress

import pytest
from annotated import complaint, loop
from hypothesis import given, settings
from hypothesis import strategies as st

from ccc.compiler.said import DevicePass
from ccc.compiler.unit import translate
from ccc.frontend.marking import Annotated, SourceError, mark
from ccc.frontend.pragmas import PragmaError, parse
from ccc.options import Options

DEEP = 20000


@pytest.mark.parametrize(
    "clause",
    [
        "prob(" + "(" * DEEP + "0.5" + ")" * DEEP + ")",
        "prob(" + "-" * DEEP + "0.5)",
        "prob(" + "+".join(["0.00001"] * DEEP) + ")",
        "prob(" + "x" * 100000 + ")",
        "priority(" + "9" * 5000 + ")",
        "priority(0x" + "f" * 5000 + ")",
        "priority(" + "*".join(["99999999999999999"] * 9) + ")",
        "priority(1<<20000000000)",
        "priority(1<<-1)",
        "priority(1>>64)",
        "prob(1e999)",
        "prob('a')",
        'priority("a")',
        "x" * 100000,
        "strategy(" + "x" * 100000 + ")",
        "prob(.5) " + "x" * 1000 + "(1)",
    ],
    ids=lambda clause: clause[:12],
)
def test_arguments_of_any_size_are_refused_in_few_words(clause: str) -> None:
    said = complaint(loop(f"#pragma ccc if {clause}\nif (a) b();"))
    assert said.startswith("k.cu:4:")
    assert len(said) < 1000
    assert said.split("\n")[-1].strip() == "^"


@pytest.mark.parametrize(
    "clause",
    ["noalias(" + "(" * DEEP + "a" + ")" * DEEP + ", b)", "noalias(a" + ".b" * DEEP + ", b)",
     "reduction(+: " + "(" * DEEP + "a" + ")" * DEEP + ")", "reduction(" + "x" * DEEP + ": a)"],
    ids=["brackets", "members", "reduced", "operation"],
)  # fmt: skip
def test_lists_of_any_size_are_refused_in_few_words(clause: str) -> None:
    said = complaint(loop("#pragma ccc if\nif (a) b();").replace("ccc for", f"ccc for {clause}"))
    assert len(said) < 1000


@pytest.mark.parametrize(
    "body",
    [
        "if (a) " + "{" * DEEP + "b();" + "}" * DEEP,
        "if (" + "(" * DEEP + "a" + ")" * DEEP + ") b();",
        "if (a) " * 5000 + "b();",
        "if (a) b();" + "else if (a) b();" * 2000,
    ],
    ids=["blocks", "parentheses", "ifs", "elses"],
)
def test_code_of_any_depth_is_marked(body: str) -> None:
    assert len(mark(loop(f"#pragma ccc if\n{body}"), "k.cu").annotations) == 2


@pytest.mark.parametrize(
    "pragma",
    [
        "if prob(.5) prb(1)",
        "if /* a */ prb(1)",
        "if /* größer */ prb(1)",
        "if /* ü */ prob(.5) prb(1)",
    ],
)
def test_the_caret_is_under_the_word_behind_comments(pragma: str) -> None:
    shown, caret = complaint(loop(f"#pragma ccc {pragma}\nif (a) b();")).split("\n")[1:3]
    assert shown.index("prb") == caret.index("^")


def test_a_reduction_of_what_the_loop_only_reads() -> None:
    text = loop("total += y * n; x = n + 1;\n#pragma ccc if\nif (a) { b(); }")
    for name, is_idle in (("y", True), ("n", True), ("total", False), ("x", False)):
        marked = mark(text.replace("ccc for", f"ccc for reduction(+: {name})")
                      .replace("int n)", "int n, int y, int total, int x)"), "k.cu")  # fmt: skip
        told = [str(warning) for warning in marked.warnings]
        assert (
            any(f'no effect on "{name}", which the loop only reads' in t for t in told) == is_idle
        )
    handed = text.replace("ccc for", "ccc for reduction(+: n)").replace("total += y * n", "f(&n)")
    assert not mark(handed.replace("x = n + 1", "g(n)"), "k.cu").warnings


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("i", '"i", which counts the iterations'),
        ("j", '"j", which counts the iterations'),
        ("own", '"own", which each iteration declares anew'),
        ("shift", '"shift", which the loop only reads'),
        ("limit", '"limit", which the loop only reads'),
        ("x", '"x", which the loop uses as a pointer or an array; name variables, one'),
        ("total", None),
        ("steps", None),
        ("handed", None),
        ("bound", None),
        ("shadowed", None),
    ],
)
def test_a_reduction_of_what_is_none(name: str, told: str | None) -> None:
    text = f"""void k(int *x, int j, int shift, bool limit, int total, int steps, int handed) {{
int shadowed = 0, bound = 0;
#pragma ccc for reduction(+: {name})
for (int i = 0; i < 9 && j < 90; i++, j += 2, steps++) {{
    int own = x[shift], &other = bound;
    {{ int shadowed = 1; }}
    if (limit && j < 9) own = shift;
    while (limit) {{ own++; f(handed); other += (shift); shadowed++; }}
#pragma ccc if
    if (own) total += own;
}} }}
"""
    said = [str(warning) for warning in mark(text, "k.cu").warnings]
    assert len(said) == (told is not None)
    assert all(f"the reduction has no effect on {told}" in one for one in said)


@pytest.mark.parametrize(
    ("operation", "updates", "told"),
    [
        ("max", "++s;", "+"),
        ("max", "s += x[i]; s -= 3; (s)++;", "+"),
        ("+", "s |= x[i];", "|"),
        ("&", "s ^= x[i];", "^"),
        ("+", "s -= x[i]; s++;", None),
        ("max", "s = max(s, x[i]);", None),
        ("max", "s += x[i]; UPDATE;", None),
        ("min", "s = max(s, x[i]);", "max"),
        ("max", "s = x[i] + s;", "+"),
        ("+", "if (x[i] > s) { s = x[i]; n = i; }", "max"),
        ("max", "if (x[i] < s) s = x[i];", "min"),
        ("+", "if (x[i] > s) s = x[i]; f(s);", None),
        ("max", "if (x[i] > s) s = x[i];", None),
        ("&", "s = true;", "|"),
        ("|", "if (x[i] > 3) s = 0;", "&"),
        ("&", "s = true; f(s);", None),
        ("|", "s = 1;", None),
    ],
)
def test_a_reduction_by_another_operation(operation: str, updates: str, told: str | None) -> None:
    text = loop(f"#pragma ccc if\nif (x[i]) {{ {updates} }}").replace("int n)", "int n, int s)")
    text = text.replace("ccc for", f"ccc for reduction({operation}: s)")
    said = [warning.message for warning in mark(text, "k.cu", macros={"UPDATE": ""}).warnings]
    expected = f'the loop updates "s" by {told}, and not by {operation}; write reduction({told}: s)'
    assert said == ([expected] if told else [])


REMOVED = "remove it from the clause"


@pytest.mark.parametrize(
    ("clauses", "branch", "told", "instead"),
    [
        ("reduction(max: s) reduction(max: m)", "s = x[i]; m = i;", "max", REMOVED),
        ("reduction(max: s) reduction(+: m)", "{ m = x[0]; s = x[i]; }", "+", REMOVED),
        ("reduction(max: s, m)", "m = max(m, i); s = x[i];", None, ""),
        ("reduction(max: s)", "m = i; s = x[i];", None, ""),
        ("reduction(max: m)", "m = i; s = x[i];", "max", "write reduction(max: s) in its place"),
    ],
)
def test_a_reduction_of_what_goes_with_another(
    clauses: str, branch: str, told: str | None, instead: str
) -> None:
    text = loop(f"#pragma ccc if\nif (x[i] > s) {{ {branch} }}")
    text = text.replace("int n)", "int n, int s, int m)").replace("ccc for", f"ccc for {clauses}")
    said = [warning.message for warning in mark(text, "k.cu").warnings]
    expected = f'"m" is only set where "s" is, and is not updated by {told}: it goes with that'
    assert (f"{expected}; {instead}" in said) == (told is not None)


def test_all_members_are_told_that_another_operation_updates() -> None:
    branch = (
        "{ a.sum += x[i]; a.hi = fmaxf(a.hi, x[i]); if (x[i] < a.lo) { a.lo = x[i]; a.at = i; } }"
    )
    text = loop(f"#pragma ccc if\nif (x[i] > 0) {branch}").replace("int n)", "int n, All a)")
    text = text.replace("ccc for", "ccc for reduction(+: a.sum, a.lo, a.hi, a.at)")
    text = f"struct All {{ double sum; float lo, hi; int at; }};\n{text}"
    assert [warning.message for warning in mark(text, "k.cu").warnings] == [
        'the loop updates "a.lo" by min, and not by +; write reduction(min: a.lo)',
        'the loop updates "a.hi" by max, and not by +; write reduction(max: a.hi)',
        '"a.at" is only set where "a.lo" is, and is not updated by +: it goes with that; '
        "write reduction(min: a.lo) in its place",
    ]


@pytest.mark.parametrize(
    ("operation", "updates", "told"),
    [
        ("max", "s += x[i]; s = max(s, 3);", "s += x[i]"),
        ("max", "s += x[i]; f(s);", "s += x[i]"),
        ("max", "s = x[i] - s;", "s = x[i] - s"),
        ("max", "if (s > m) s = 0;", "s = 0"),
        ("min", "if (x[i] < m) { s = m; m = x[i]; } else if (x[i] < s) s = x[i];", "s = m"),
        ("+", "s += x[i]; s *= 3;", "s *= 3"),
        ("+", "s += x[i]; s = s * 3 + x[i];", "s = s * 3 + x[i]"),
        ("+", "s = x[s];", "s = x[s]"),
        ("^", "s ^= x[i]; s = s & 1 ? s >> 1 ^ 9 : s >> 1;", "s = s & 1 ? s >> 1 ^ 9 : s >> 1"),
        ("+", "s = (x[i] + s) - (i + 3);", None),
        ("+", "s = i > 3 ? s + x[i] : s;", None),
        ("+", "int t = s + x[i]; s = t;", None),
        ("+", "s = f(s);", None),
        ("&", "s = s && x[i] && x[i + 1];", None),
        ("|", "s = 255;", None),
        ("min", "if (!(m >= s)) s = m;", None),
        ("min", "if (0 < s) s = 0;", None),
        ("min", "s = x[i] < s ? x[i] : s;", None),
        ("+", "int s = 0; s = 1;", None),
    ],
)
def test_a_reduction_of_what_is_set_otherwise(
    operation: str, updates: str, told: str | None
) -> None:
    """Which the PTX tells, too, but then nobody hears of the clause."""
    text = loop(f"#pragma ccc if\nif (x[i]) {{ {updates} }}").replace(
        "int n)", "int n, int s, int m)"
    )
    text = text.replace("ccc for", f"ccc for reduction({operation}: s)")
    said = [warning.message for warning in mark(text, "k.cu").warnings]
    expected = (
        f'the reduction has no effect on "s", which is not only updated by {operation}: "{told}"; '
        "remove it from the clause"
    )
    assert said == ([expected] if told else [])


@pytest.mark.parametrize(
    ("operation", "body", "how"),
    [
        ("+", "x[s++] = m;", "as an index"),
        ("+", "if (m <= s) s -= m;", "in a condition"),
        ("+", "while (s > m) s -= x[i];", "in a condition"),
        ("^", "m = s ? 1 : 2; s ^= m;", "in a condition"),
        ("min", "if (x[i] < s) { m = s; s = x[i]; }", 'in "m = s"'),
        ("|", "m = s; s |= x[i];", 'in "m = s"'),
        ("+", "if (x[i] > m) s += x[i];", None),
        ("max", "int old = 0; old = s; s = max(s, x[i]);", None),
        ("+", "int s = 0; x[s] = 1;", None),
        ("min", "if (x[i] < s) s = x[i];", None),
        ("|", "if (!s) s |= x[i];", None),
    ],
)
def test_a_sum_that_the_loop_reads(operation: str, body: str, how: str | None) -> None:
    """The clause is taken, and alters nothing: what is read is needed in each iteration."""
    text = loop(f"#pragma ccc if\nif (x[i]) {{ {body} }}").replace("int n)", "int n, int s, int m)")
    text = text.replace("ccc for", f"ccc for reduction({operation}: s)")
    said = [warning.message for warning in mark(text, "k.cu").warnings]
    told = f'the loop also reads "s" {how}, which a reduction does not allow; remove it from the'
    assert [told in one for one in said if "also reads" in one] == [True] * (how is not None)


def test_all_that_does_not_fit_in_a_clause_is_told() -> None:
    body = "if (x[i] < s) { m = s; s = x[i]; } else if (x[i] < m) m = x[i];"
    text = loop(f"#pragma ccc if\nif (x[i]) {{ {body} }}").replace("int n)", "int n, int s, int m)")
    said = mark(text.replace("ccc for", "ccc for reduction(min: s, m)"), "k.cu").warnings
    assert ['"m"' in said[0].message, '"s"' in said[1].message] == [True, True]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("m, i", '"m", which the loop only reads|"i", which counts the iterations'),
        ("s, i", '"i", which counts the iterations|"s", which is not only updated by +'),
        (
            "k, i, j",
            '"k", which is not in the loop|"j", which is not in the loop|"i", which counts',
        ),
        ("n, m, t", '"n", which the loop only reads|"m", which the loop only reads'),
    ],
)
def test_each_name_in_a_clause_that_is_of_no_use_is_told(names: str, told: str) -> None:
    text = loop("#pragma ccc if\nif (x[i]) { s += m; s *= 3; t += n; }")
    text = text.replace("int n)", "int n, int s, int m, int t, int k, int j)")
    marked = mark(text.replace("ccc for", f"ccc for reduction(+: {names})"), "k.cu")
    said = sorted(warning.message for warning in marked.warnings)
    expected = sorted(f"the reduction has no effect on {one}" for one in told.split("|"))
    assert len(said) == len(expected)
    assert all(map(str.startswith, said, expected))


@pytest.mark.parametrize("update", ["s *= x[i];", "s = x[i] * s;", "s = s * x[i]; (s) *= 2;"])
def test_an_operation_that_no_reduction_is_by(update: str) -> None:
    text = loop(f"#pragma ccc if\nif (x[i]) {{ {update} }}").replace("int n)", "int n, int s)")
    (warning,) = mark(text.replace("ccc for", "ccc for reduction(+: s)"), "k.cu").warnings
    assert warning.message.startswith('the loop updates "s" by *, which no reduction is by; have')
    assert "strategy(tile(3))" in warning.message
    told = complaint(text.replace("ccc for", "ccc for reduction(*: s)"))
    unknown = 'unknown reduction "*"; the operations are + min max & | ^; for others,'
    assert f"{unknown} have" in told
    inner = text.replace(
        "#pragma ccc if", "#pragma ccc for variable reduction(*: s)\nwhile (s > 1)"
    )
    assert f"{unknown} remove it" in complaint(inner)


def cases(*each: str, prob: str = "0.9") -> str:
    """A switch with some cases, each of which begins with its label."""
    return loop(f"#pragma ccc switch prob({prob})\nswitch (x[i]) {{\n" + "\n".join(each) + "\n}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (cases("case 0: a(); break;", "case 1: b(); break;", prob="0.9"), "2 cases have 1.8"),
        (cases(*(f"case {n}: a(); break;" for n in range(4))), "4 cases have 3.6 together"),
        (cases("case 0: { a(); return; }", "default: b();"), "2 cases have 1.8"),
        (cases("case 0: case 1: a(); break;", "default: b();"), "2 cases have 1.8"),
        (cases("case 0: case 1: a(); break;"), None),
        (cases("case 0: a();", "case 1: b(); break;"), None),  # lanes of both come to the second
        (cases("case 0: if (n) break;", "case 1: b(); break;"), None),
        (cases("case 0: {}", "case 1: b(); break;"), None),
        (cases("case 0: { /* nothing */ }", "case 1: { {} }", "default: b();"), None),
        (cases(*(f"case {n}: a(); break;" for n in range(3)), prob="0.34"), None),  # it is rounded
        (cases(*(f"case {n}: a(); break;" for n in range(4)), prob="1.0/4"), None),
        (cases(), None),
    ],
)
def test_a_lane_comes_to_one_case(text: str, told: str | None) -> None:
    said = [str(warning) for warning in mark(text, "k.cu").warnings]
    assert len(said) == (told is not None)
    for one in said:
        assert one.startswith("k.cu:4:")
        assert "prob(0.9) is the share of the lanes that come to each case, and " in one
        assert f"{told}" in one


def test_the_share_of_an_else_is_what_the_if_leaves() -> None:
    chain = "#pragma ccc if prob(.9)\nif (a) b();\nelse {\n#pragma ccc if prob(.9)\nif (b) c();\n}"
    assert mark(loop(chain), "k.cu").warnings == []


def test_annotations_of_which_no_code_is_left_are_told() -> None:
    body = "for (;;) {\n#pragma ccc if\nif (a) b();\n}"
    text = (
        f"void host() {{\n#pragma ccc for\n{body}\n}}\n"
        f"template <class T> __global__ void never() {{\n#pragma ccc for\n{body}\n}}\n"
        f"template <class T> __device__ void callee() {{\n#pragma ccc for\n{body}\n}}\n"
        f"auto closure = [] {{\n#pragma ccc for\n{body}\n}};\n"
    )
    done = DevicePass()
    translate(Annotated(text, "k.cu"), lambda _text, _again: ".version 9.0\n", Options(), done)
    told = [line.partition("warning: ")[2] for line in done.diagnostics]
    told = [line.splitlines()[0] for line in told]
    assert len(told) == 4
    for said, wanted in zip(
        told, ("for the host", "this kernel", "calls this", "runs it"), strict=True
    ):
        assert wanted in said


WORDS = st.sampled_from(
    ["for", "if", "const", "variable", "while", "switch", "recursion", "grid_stride", "prob", "(",
     ")", "reduction", "noalias", "strategy", "schedule", "priority", "+", ":", ",", "1", "0.5",
     "<<", "99", "-", "/", "a", "s.b", "t->c", "é", '"', "'", "{", "}", "[", "]", "sub_warp", "\\",
     "dynamic", "~", "0x", "1e9", "9" * 30, "?", "*", "&", "\0", "sizeof", "(int)", ";", "#"]
)  # fmt: skip


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(WORDS, max_size=12), st.sampled_from(["", " "]))
def test_any_words_are_a_pragma_or_refused(words: list[str], between: str) -> None:
    with suppress(PragmaError):
        assert parse(between.join(words)).directive
    with suppress(SourceError):
        mark(loop(f"#pragma ccc {' '.join(words)}\nif (a) b();"), "k.cu")


def test_a_sum_that_each_iteration_declares_is_not_looked_for_before_it() -> None:
    text = loop("float own = y;\n#pragma ccc if\nif (a) { total += own; }")
    text = text.replace("ccc for", "ccc for reduction(+: total, own)")
    marked = mark(text.replace("int n)", "int n, float y, float total)"), "k.cu")
    assert '"f"(total)' in marked.text
    assert "(own)" not in marked.text


@pytest.mark.parametrize("is_number", [True, False])
def test_a_reduction_of_a_structure_names_its_members(is_number: bool) -> None:
    text = loop("#pragma ccc if\nif (a) { acc += t; }")
    text = text.replace("ccc for", "ccc for reduction(+: acc)")
    kind = "double" if is_number else "C"
    head = "struct C { double re, im; unsigned char hits; C *next; int at[3]; void f(int n) {} };\n"
    marked = mark(head + text.replace("int n)", f"int n, {kind} acc, {kind} t)"), "k.cu")
    told = [str(warning).partition("\n")[0] for warning in marked.warnings]
    wanted = "members that the loop updates: reduction(+: acc.re, acc.im, acc.hits)"
    assert [wanted in one for one in told] == [True] * (not is_number)
    assert not told or '"acc", which is a structure' in told[0]


@pytest.mark.parametrize(
    "text", ["else if (b) c();", "} else if (b) c();", "else  if (b) { c(); }", "else c();"]
)
def test_an_arm_is_not_annotated_by_itself(text: str) -> None:
    brace = "{ " * text.startswith("}")
    said = complaint(loop(f"#pragma ccc if\nif (a) {brace}b();\n#pragma ccc if\n{text}"))
    assert 'which is an arm of a branch; remove it, and put one before the first "if"' in said


def test_a_component_of_a_built_in_variable_is_no_variable() -> None:
    text = loop("total += threadIdx.y;\n#pragma ccc if\nif (a) { b(); }")
    said = complaint(text.replace("ccc for", "ccc for reduction(+: y)"))
    assert 'the reduction is of "y", and there is no such variable here' in said
    assert "threadIdx.y" not in said.splitlines()[0]


@pytest.mark.parametrize("kinds", [("for", "grid_stride"), ("grid_stride", "for")])
def test_one_mistake_is_told_once_where_two_annotations_stand(kinds: tuple[str, str]) -> None:
    """That of the other would be followed by one that goes, too."""
    marked = "".join(f"#pragma ccc {kind}\n" for kind in kinds)
    said = complaint(f"__global__ void k(int *x) {{\n{marked}for (;;) {{ f(); }}\n}}\n")
    told = 'stands before "for (;;) { f(); }"; remove it, since "ccc for" stands there, too, or put'
    assert f'"ccc grid_stride" {told} it on the line before a kernel' in said
    assert said.count("error:") == 1
