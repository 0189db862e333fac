"""PTX text to IR: cutting, statements, scopes, and what is said of malformed input."""

from __future__ import annotations

import re
import tracemalloc

import pytest
from breadth import examples
from folders import GOLDEN, TESTS
from hypothesis import given
from hypothesis import strategies as st

from ccc.errors import CccError
from ccc.ir.nodes import Function, Instruction, MarkerNote
from ccc.ir.operands import Address, Discard, Immediate, Negated, Pair, Register, Symbol, Vector
from ccc.parse import NotRepresentable, parse_function, parse_module, parse_variables

ODD = (TESTS / "parse" / "odd.ptx").read_text()
VALID = [
    ODD,
    (GOLDEN / "context-collection" / "if_else.ptx").read_text(),
    (TESTS / "analysis" / "sources.ptx").read_text(),
]
REGISTERS = ".reg .b32 %r<9>, a; .reg .b64 %rd<9>; .reg .pred %p<4>; .reg .f32 f;"


def function_of(body: str, header: str = ".entry k(.param .u64 x)") -> Function:
    text = f".version 8.0\n{header}\n{{ {REGISTERS}\n{body}\n}}"
    (piece,) = parse_module(text, "k.ptx").functions
    return parse_function(piece)


def first(body: str) -> Instruction:
    return next(function_of(body + " ret;").instructions)


def failure(text: str) -> CccError:
    """The error of a module all of whose functions and variables are read."""
    with pytest.raises(CccError) as caught:
        read_all(text)
    return caught.value


def read_all(text: str) -> None:
    module = parse_module(text, "k.ptx")
    assert module.text == text
    parse_variables(module)
    for piece in module.functions:
        parse_function(piece)


# ---- cutting -----------------------------------------------------------------------------------


def test_functions_are_found_with_their_positions() -> None:
    module = parse_module(ODD, "odd.ptx")
    found = [(f.name, f.kind, f.span.line, f.span.column) for f in module.functions]
    lines = ODD.splitlines()
    assert [name for name, *_ in found] == ["k", "f", "g2"]
    for name, kind, line, column in found:
        assert re.match(rf"\.\w+.*\b{name}\b", lines[line - 1][column - 1 :])
        assert kind == ("entry" if name == "k" else "func")


@pytest.mark.parametrize("text", VALID)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_pieces_are_the_file(text: str, ends: str) -> None:
    text = text.replace("\n", ends)
    assert parse_module(text).text == text


FRAGMENTS = st.sampled_from(
    [
        ".entry k() { ret; }", ".visible .func (.param .b32 r) f(.param .b32 a)\n{\n{ } ret; }",
        ".extern .func g(.param .b32 a);", '.file 1 "a{.cu"', "// } {", "/* .entry k() { */",
        ".global .b32 x[2] = {1, 2};", ".section .debug_info\n{\n.b8 1\n}\n", '.pragma "{;";',
        "\r\n", "\0é", ".weak", ".func", ";", ".alias a, b;", ".entry broken", "{ }", '"',
    ]
)  # fmt: skip


@examples(66, 400)
@given(st.lists(FRAGMENTS, max_size=12), st.text(max_size=8))
def test_any_text_goes_through_byte_for_byte(parts: list[str], noise: str) -> None:
    text = "".join([".version 8.0\n", *parts, noise])
    try:
        module = parse_module(text)
    except CccError:
        return
    assert module.text == text
    for piece in module.functions:
        assert re.search(r"\.(entry|func)\b", piece.text)
        assert piece.text.endswith("}")


def test_a_function_that_changes_leaves_the_rest_alone() -> None:
    module = parse_module(ODD)
    text = ODD
    for piece in module.functions:
        text = text.replace(piece.text, "<here>", 1)
        piece.text = "<here>"
    assert module.text == text


def test_a_header_with_a_pragma_and_its_semicolon() -> None:
    header = '.entry k() .maxntid 64, 2 .pragma "nounroll", "other";'
    assert function_of("ret;", header).limits["maxntid"] == (64, 2)


@pytest.mark.parametrize(
    "header",
    [
        ".func f", ".func (.reg .b32 r) f (.reg .b32 b)", ".func .noreturn f()",
        ".func f() .noreturn",
        ".func .attribute(.unified(1, 2)) f()", ".weak .func (.param .align 8 .b8 r[16]) f()",
        ".entry f", ".visible .entry f(.param .u64 .ptr .global .align 1 x, .param .b8 y[])",
        ".entry f() .reqntid 8, 8, 1 .minnctapersm 2 .maxnreg 32 .explicitcluster",
    ],
)  # fmt: skip
def test_headers(header: str) -> None:
    assert function_of("ret;", header).name == "f"


def test_variables() -> None:
    found = {v.name: v for v in parse_variables(parse_module(ODD))}
    assert set(found) == {"g", "t", "h", "p"}
    assert (found["g"].bytes, found["g"].initializer) == (8, "1, 2")
    assert found["p"].initializer == "generic g + 2"
    assert found["h"].bytes is None
    text = (
        ".version 1.4\n.extern .shared .align 16 .b8 s[];.const .v4 .f32 c[3];.shared .f64 d[2][3];"
    )
    sizes = {v.name: (v.space, v.bytes, v.alignment) for v in parse_variables(parse_module(text))}
    assert sizes == {"s": ("shared", None, 16), "c": ("const", 48, 16), "d": ("shared", 48, 8)}


def test_long_tables_are_read_as_short_ones_are() -> None:
    rows = "{1, -2, 0x1F, 0f3F800000}"
    texts = {}
    for count in (2, 100):
        table = ", ".join([rows] * count)
        text = f".version 8.0\n.global .align 4 .b32 t[{count}][4] = {{{table}}};"
        (one,) = parse_variables(parse_module(text))
        assert one.bytes == 16 * count
        texts[count] = one.initializer
    assert texts[100] == ", ".join([texts[2] or ""] * 50)


def test_names_in_long_tables_are_understood() -> None:
    table = ", ".join(["generic(g)", *["0"] * 1000])
    (g, t) = parse_variables(
        parse_module(f".version 8.0\n.global .u64 g;\n.global .u64 t[1001] = {{{table}}};")
    )
    assert g.initializer is None
    assert (t.initializer or "").startswith("generic g, 0, 0")


# ---- statements --------------------------------------------------------------------------------


def test_operands() -> None:
    r1, rd1 = Register("%r1", "b32"), Register("%rd1", "b64")
    cases = {
        "mov.u32 %r1, 0x1FU;": (r1, Immediate("0x1FU")),
        "mov.u32 %r1, - 7;": (r1, Immediate("-7")),
        "ld.u32 %r1, [%rd1-4];": (r1, Address(rd1, -4)),
        "ld.u32 %r1, [%rd1+-4];": (r1, Address(rd1, -4)),
        "ld.u32 %r1, [ %rd1 + 0x10 ];": (r1, Address(rd1, 16)),
        "ld.u32 %r1, [v+4];": (r1, Address(Symbol("v"), 4)),
        "ld.u32 %r1, [64];": (r1, Address(Immediate("64"))),
        "mov.u64 %rd1, v+8;": (rd1, Symbol("v", 8)),
        "ld.v2.u32 {%r1, _}, [%rd1];": (Vector((r1, Discard())), Address(rd1)),
        "add /* { */ .u32 %r1, // ;\n %r1, 1;": (r1, r1, Immediate("1")),
    }
    for text, operands in cases.items():
        assert first(text).operands == operands, text
    p, q = Register("%p1", "pred"), Register("%p2", "pred")
    assert first("setp.eq.and.u32 %p1|%p2, %r1, 3, !%p1;").operands == (
        Pair(p, q), r1, Immediate("3"), Negated(p),
    )  # fmt: skip
    assert first("add .u32 %r1, %r1, 1;").opcode == "add.u32"


def test_guards_and_lines() -> None:
    f = function_of("@ !%p1 bra.uni L; .loc 1 7 3 @%p2 exit; mov.u32 %r1, 1;\nL: ret;")
    bra, leave, move, ret = f.instructions
    assert [str(i.guard) for i in (bra, leave)] == ["@!%p1", "@%p2"]
    assert (bra.location, move.location) == (None, (1, 7))
    assert (ret.span.file, ret.span.line, ret.span.column) == ("k.ptx", 5, 4)
    inlined = (
        ".loc 2 9 1, function_name $L__info_string0 + 4, inlined_at 1 10 5 mov.u32 %r1, 1; ret;"
    )
    assert next(function_of(inlined).instructions).location == (2, 9)


def test_markers_split_nothing() -> None:
    f = function_of("mov.u32 %r1, 1;\n// ccc.for 1 k.cu:7:1\nmov.u32 %r2, 2; // ccc.nothing\nret;")
    assert [type(s) for s in f.blocks[0].statements] == [
        Instruction, MarkerNote, Instruction, Instruction,
    ]  # fmt: skip


def test_inner_scopes_have_names_of_their_own() -> None:
    f = function_of(
        "mov.u32 a, %r1; bra L;\n"
        "{ .reg .f32 a; .reg .f32 %r<2>; mov.f32 a, %r1; bra L; L: { bra L; bra M; } M: }\n"
        "{ .reg .b64 %r1; mov.u64 %r1, 1; }\n"
        "L: mov.u32 a, %r1; ret;"
    )
    moves = [i for i in f.instructions if i.name == "mov"]
    outer, inner, single, last = (i.operands for i in moves)
    assert outer == last == (Register("a", "b32"), Register("%r1", "b32"))
    assert [r.type for r in inner if isinstance(r, Register)] == ["f32", "f32"]
    assert not set(inner) & set(outer)
    assert isinstance(single[0], Register)
    assert single[0].type == "b64"
    assert f.registers.find("%r1") == Register("%r1", "b32")
    far, near, nested, _ = (i.operands[0] for i in f.instructions if i.name == "bra")
    assert near == nested != far
    assert {b.label for b in f.blocks} >= {str(near), str(far)}


def test_new_names_are_not_in_the_text() -> None:
    f = function_of("{ .reg .b32 q; mov.u32 q, 1; } { .reg .b32 q; mov.u32 q, q_s1; } ret;".replace(
        "q_s1", "1; .reg .b32 q_s1; mov.u32 q_s1, 2"))  # fmt: skip
    names = [str(i.operands[0]) for i in f.instructions if i.name == "mov"]
    assert len(set(names)) == 3


def test_parameters_that_are_registers() -> None:
    f = function_of("add.u32 r, b, 1; ret;", ".func (.reg .u32 r) f(.reg .u32 b)")
    assert [r.type for r in next(f.instructions).defined()] == ["u32"]


def test_tables() -> None:
    order = "T: .branchtargets L, M; brx.idx %r1, T;"
    f = function_of(f"{order} L: {{ {order.replace('T', 'U')} L: }} M: ret;")
    tables = list(f.targets.values())
    assert tables[0] == ("L", "M")
    assert tables[1][0] != "L"
    assert tables[1][1] == "M"


def test_prototypes_in_two_scopes() -> None:
    one = "{ P: .callprototype (.param .b32 _) _ (.param .b32 _); call (x), %rd1, (x), P; }"
    f = function_of(one + one + "ret;")
    assert len({str(i.operands[-1]) for i in f.instructions if i.name == "call"}) == 2


# ---- malformed input ---------------------------------------------------------------------------

BODIES = {
    "add.u32 %r1, %r2, %r99;": "%r99 is not declared",
    "add.u32 %r1, b, 1;": "b is no register",
    "add.u32 b, %r1, 1;": "b is no register",
    "@%q bra L; L:": "%q is not declared",
    "@q bra L; L:": "q is not declared",
    "ld.u32 %r1, [%x+4];": "%x is not declared",
    "add.u32 %r1, %r2;": "its form is: add d, a, b",
    "ret 1;": "its form is: ret",
    "bra NOWHERE;": "no label NOWHERE",
    "bra %r1;": "%r1 is no label",
    "T: .branchtargets A; brx.idx %r1, T;": "no label A",
    "brx.idx %r1, T;": "no label T",
    "L: ret; L:": "L is declared twice",
    ".reg .b32 a;": "a is declared twice",
    ".reg .b32 %r<3>;": "%r<...> is declared twice",
    ".reg .b31 z;": ".b31 is no type",
    "mov.u32 %r1, a.x;": "a.x is not declared",
    "ld.global.u32 %r1, x;": "x is no address",
    "mov.u32 %r1 %r2;": "not understood",
    "mov.u32 %r1, 1": "not understood",
    "hello world, this is no PTX;": "not understood",
    "ld.u32 %r1, [%rd1+0f3F800000];": "error: ",
    "ld.u32 %r1, [_];": "is no address",
    '"': "not understood",
    "\0": "not understood",
    "{ ret;": "never closed",
    "} ret;": 'no "{" before it',
    "/* ret;": "never closed",
    ".loc 1;": "line and a column",
}


@pytest.mark.parametrize(("body", "message"), BODIES.items())
def test_malformed_bodies(body: str, message: str) -> None:
    error = failure(f".version 8.0\n.entry k()\n{{\n{REGISTERS}\n  {body}\n}}")
    assert message in str(error)
    assert error.span is not None
    head, *source = str(error).splitlines()
    assert re.match(r"k\.ptx:\d+:\d+: error: ", head)
    assert source
    assert source[-1].strip() == "^"
    assert not isinstance(error, NotRepresentable)


MODULES = {
    "": "no .version",
    "\x7fELF\0\0": "no .version",
    ".version 8.0\n.entry k() {": "never closed",
    ".version 8.0\n.entry k() { ret; } }": 'no "{" before it',
    ".version 8.0\n.entry { ret; }": "gives no name",
    ".version 8.0\n.entry k(.param u64 x) { ret; }": "header is not understood",
    ".version 8.0\n.entry k() !! { ret; }": "header is not understood",
    ".version 8.0\nhello, world;": "declaration is not understood",
    ".version 8.0\n.entry k() { ret; }\n .global .b32 x y;": "declaration is not understood",
    '.version 8.0\n.global .b32 x "': "declaration is not understood",
}


@pytest.mark.parametrize(("text", "message"), MODULES.items())
def test_malformed_modules(text: str, message: str) -> None:
    error = failure(text)
    assert message in str(error)
    assert error.span is not None
    assert error.span.line == max(1, text.rstrip().count("\n") + 1)


def test_the_caret_stands_under_the_place() -> None:
    error = failure(".version 8.0\n.func f() { ret; } .entry k() { ret; bra X; }")
    assert str(error).splitlines()[1:] == [
        "    .func f() { ret; } .entry k() { ret; bra X; }".replace(".func f() { ret; }", " " * 18),
        " " * 41 + "^",
    ]


@examples(133, 800)
@given(st.sampled_from(VALID), st.data())
def test_damaged_files_are_read_or_refused(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.sampled_from([0, 1, 1, 3, 40, 10**6]))
        there = data.draw(
            st.sampled_from(["", "", "{", "}", ";", '"', "//", "/*", "%", "\0", ",", "0f"])
        )
        text = text[:at] + there + text[at + gone :]
    try:
        read_all(text)
    except CccError as error:
        message = str(error)
    else:
        return
    assert re.match(r"k\.ptx:\d+:\d+: error: ", message)


def test_a_long_table_takes_memory_in_proportion() -> None:
    table = ", ".join(["12345678"] * 50_000)
    module = parse_module(f".version 9.0\n.target sm_90\n.global .u32 t[50000] = {{{table}}};\n")
    tracemalloc.start()
    (variable,) = parse_variables(module)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert variable.initializer == table
    assert peak < 30 * len(table)
