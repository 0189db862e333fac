"""Forms of PTX that nvcc does not write, and people and other compilers do."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from corpus import printed
from emulating import needs_nvcc
from folders import TESTS
from machine_code import assemble, code_of, sections

from ccc.errors import CccError
from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Immediate, Minus, Register, Selected, Special, Symbol, Vector
from ccc.ir.printer import print_function, replace
from ccc.ir.verify import verify
from ccc.parse import NotRepresentable, parse_function, parse_module, parse_variables
from ccc.ptx.types import parse_integer

FORMS = sorted((TESTS / "parse" / "forms").glob("*.ptx"))
REGISTERS = ".reg .b32 %r<9>, a; .reg .b64 %rd<9>; .reg .pred %p<4>; .reg .f32 f;"


def function_of(body: str, module: str = "", header: str = ".entry k(.param .u64 x)") -> Function:
    text = f".version 9.0\n{module}\n{header}\n{{ {REGISTERS} {body} }}"
    *_, piece = parse_module(text, "k.ptx").functions
    return parse_function(piece)


def first(body: str, module: str = "") -> Instruction:
    return next(function_of(body, module).instructions)


@needs_nvcc
@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_become_the_same_machine_code(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    again = printed(text)
    assert printed(again) == again
    outcome = code_of(assemble(again, "sm_90", tmp_path))
    assert outcome == code_of(assemble(text, "sm_90", tmp_path))


# ---- constant expressions ------------------------------------------------------------------------


OPERATORS = ("+", "-", "*", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||")


def expression(choose: random.Random, depth: int) -> str:
    """A random constant expression; none divides by zero."""
    if not depth or choose.random() < 0.15:
        literals = ("0", "1", "7", "1U", "0x8000000000000000", "63", "-1", "-9", "WARP_SZ", "017")
        return choose.choice(literals)
    inner = [expression(choose, depth - 1) for _ in range(3)]
    kind = choose.randrange(6)
    if kind == 0:
        return f"{choose.choice(('-', '~', '!', '+', '(.s64)', '(.u64)'))} {inner[0]}"
    if kind == 1:
        return f"({inner[0]} ? {inner[1]} : {inner[2]})"
    if kind == 2:
        return f"({inner[0]} {choose.choice('/%')} (({inner[1]}) | 3))"
    text = f"{inner[0]} {choose.choice(OPERATORS)} {inner[1]}"
    return f"({text})" if choose.random() < 0.7 else text


@needs_nvcc
def test_constant_expressions_have_the_values_that_ptxas_gives_them(tmp_path: Path) -> None:
    choose = random.Random(3)
    texts = [f"({expression(choose, 4)})" for _ in range(600)]
    module = f".version 9.0\n.target sm_90\n.global .u64 t[] = {{{', '.join(texts)}}};\n"
    kernel = ".entry k(.param .u64 x) { .reg .b64 %rd; mov.u64 %rd, t; st.global.u64 [%rd], 1; }"
    cubin = sections(assemble(module + kernel, "sm_90", tmp_path))
    expected = struct.unpack(f"<{len(texts)}Q", cubin[".nv.global.init"])
    (variable,) = parse_variables(parse_module(module + kernel))
    found = [(parse_integer(one) or 0) % 2**64 for one in (variable.initializer or "").split(", ")]
    wrong = [(t, a, b) for t, a, b in zip(texts, found, expected, strict=True) if a != b]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("((128>>4)<<16)", "524288"),
        ("1 ? -2 : 3", "-2"),
        ("-1U >> 1", "9223372036854775807"),
        ("1.0 / 4.0", "0d3FD0000000000000"),
        ("-7", "-7"),
        ("- 0x1F", "-0x1F"),
        ("1.5", "1.5"),
    ],
)  # fmt: skip
def test_constants(text: str, value: str) -> None:
    assert first(f"mov.b64 %rd1, {text};").operands[1] == Immediate(value)


@pytest.mark.parametrize(
    "text",
    ["1/0", "1%0", "1.5 % 2.0", "1 + 1.5", "~1.5", "(.f32)1", "1e400", "1.0/0.0", "089",
     "99999999999999999999999", "9" * 5000, "1 ? 1.5 : 2.5"],
)  # fmt: skip
def test_constants_without_a_value(text: str) -> None:
    with pytest.raises(CccError) as caught:
        first(f"mov.b64 %rd1, {text};")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "text",
    ["(" * 10000 + "1" + ")" * 10000, "-" * 10001 + "1", "+".join(["1"] * 10000),
     "1?" * 8000 + "1" + ":2" * 8000, "~(" * 8000 + "1" + ")" * 8000],
    ids=["parentheses", "signs", "terms", "choices", "complements"],
)  # fmt: skip
def test_constants_of_any_depth(text: str) -> None:
    assert isinstance(first(f"mov.b64 %rd1, {text};").operands[1], Immediate)


def test_shifts_by_any_amount() -> None:
    assert first("mov.b64 %rd1, 1<<20000000000;").operands[1] == Immediate("1")  # modulo 64


# ---- operands ------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["[%rd1+-8]", "[x+0]", "[%rd1]", "[g+4]", "[%rd1+0x10]"])
def test_addresses_come_out_as_they_went_in(address: str) -> None:
    assert str(first(f"ld.global.u32 %r1, {address};").operands[1]) == address
    name = address.strip("[]")
    if name.startswith("g"):
        assert str(first(f"mov.u64 %rd1, {name};").operands[1]) == name


def test_a_sum_as_an_operand_is_an_instruction_of_its_own() -> None:
    add, move = list(function_of("@%p1 mov.u32 %r1, %r2+(4*8);").instructions)[:2]
    assert (add.opcode, str(add.operands[2]), add.guard) == ("add.s32", "32", None)
    assert move.operands[1] == add.operands[0]
    with pytest.raises(CccError, match="is no integer to add 1 to"):
        first("mov.f32 f, f+1;")


def test_parts_of_registers_in_video_instructions() -> None:
    _, a, b, c = first("vmad.s32.u32.u32 %r1, -%r2.b0, %r3.h1, -%r4;").operands
    two, three, four = (Register(f"%r{n}", "b32") for n in (2, 3, 4))
    assert (a, b, c) == (Minus(Selected(two, "b0")), Selected(three, "h1"), Minus(four))


def test_vectors_are_registers_of_their_own() -> None:
    function = function_of(
        ".reg .v2 .b32 v, w<3>; mov.b32 v.x, 1; { .reg .v2 .b32 v; mov.b32 v.y, v.g; }"
        "mov.b64 %rd1, v; mov.b64 %rd2, w2; mov.v4.u32 {%r1, %r2, %r3, _}, %tid; ret;"
    )
    one, inner, whole, numbered, special = list(function.instructions)[:5]
    assert whole.operands[1] == Vector((one.operands[0], Register("v_y", "b32")))
    assert inner.operands[0] == inner.operands[1] != whole.operands[1]
    assert str(numbered.operands[1]) == "{w_x2, w_y2}"
    assert special.operands[1] == Vector(tuple(Special(f"%tid.{axis}") for axis in "xyzw"))
    with pytest.raises(CccError, match=r"v\.z is not declared"):
        function_of(".reg .v2 .b32 v; mov.b32 v.z, 1;")


def test_one_register_has_one_name() -> None:
    a, b = list(function_of("mov.u32 %r3, 1; mov.u32 %r03, 2;").instructions)[:2]
    assert a.operands[0] == b.operands[0]


def test_inner_names_do_not_hide_those_of_the_module() -> None:
    function = function_of(
        "{ .reg .b64 g; mov.u64 g, 1; } ld.global.u32 %r1, [g]; ret;", ".global .u32 g;"
    )
    move, load = list(function.instructions)[:2]
    assert load.operands[1].base == Symbol("g")  # type: ignore[union-attr]
    assert str(move.operands[0]) != "g"


def test_results_in_registers_are_declared_once() -> None:
    function = function_of("mov.u32 o, i; ret;", header=".func (.reg .b32 o) f (.reg .b32 i)")
    assert ".reg .b32 \to" not in print_function(function)


TURN = "(.reg .v2 .u32 o, .reg .b16 t) turn (.reg .b32 n, .reg .v4 .b16 i)"
VECTORS = f""".version 8.0
.target sm_90
.address_size 64
.func {TURN};
.visible .entry k(.param .u64 x)
{{
	.reg .v4 .u16 v; .reg .v2 .u32 w; .reg .b16 h; .reg .b64 d; .reg .pred p;
	ld.param.u64 d, [x];
	ld.global.v4.u16 v, [d];
	setp.ne.u64 p, d, 0;
	call (w, h), turn, (3, v);
	st.global.v2.u32 [d+8], w;
	st.global.u16 [d+16], h;
	ret;
}}
.func {TURN}
{{
	.reg .pred p;
	mov.b32 o.y, {{i.x, i.y}};
	setp.eq.u32 p, n, 3;
	@p bra END;
	mov.b32 o.x, n;
	mov.b16 t, i.w;
	ret;
END:
	mov.b32 o.x, {{i.z, i.w}};
	mov.b16 t, i.x;
}}
"""


def test_vectors_as_parameters_arguments_and_results() -> None:
    module = parse_module(VECTORS)
    kernel, function = (parse_function(piece) for piece in module.functions)
    assert [str(i) for i in kernel.instructions][3:6] == [
        "st.param.v4.b16 [vector_s1], {v_x, v_y, v_z, v_w};",
        "call (vector, h), turn, (3, vector_s1);",
        "ld.param.v2.b32 {w_x, w_y}, [vector];",
    ]
    moved = [str(i) for i in function.instructions if i.space == "param"]
    assert moved == ["ld.param.v4.b16 {i_x, i_y, i_z, i_w}, [i];"] + 2 * [
        "st.param.v2.b32 [o], {o_x, o_y};"
    ]


@needs_nvcc
def test_vectors_that_are_passed_become_the_same_machine_code(tmp_path: Path) -> None:
    module = parse_module(VECTORS)
    for piece in module.functions:
        function = parse_function(piece)
        verify(function)
        replace(piece, function)
    assert "mov.v4.b16 {i_x, i_y, i_z, i_w}, i;" in module.text
    found = code_of(assemble(module.text, "sm_90", tmp_path))
    assert found == code_of(assemble(VECTORS, "sm_90", tmp_path))


@pytest.mark.parametrize(
    ("code", "header", "message"),
    [
        (".reg .v2 .u32 v; @%p1 call (v), f;", ".entry k()", "a guarded call whose result"),
        ("ret;", ".func f (.reg .v4 .u8 i)", "has parts of 16, 32 or 64 bits"),
    ],
)
def test_vectors_that_are_not_passed(code: str, header: str, message: str) -> None:
    with pytest.raises(NotRepresentable, match=message):
        function_of(code, header=header)


# ---- declarations --------------------------------------------------------------------------------


def test_declarations_of_functions_without_a_semicolon() -> None:
    text = (TESTS / "parse" / "forms" / "declarations.ptx").read_text()
    module = parse_module(text)
    assert [piece.name for piece in module.functions] == ["f", "g", "k"]
    found = {v.name: v for v in parse_variables(module)}
    assert list(found) == ["after", "c", "one", "two", "three", "four0", "four1", "last"]
    assert (found["after"].initializer, found["two"].initializer) == ("1, 2", "2")
    assert found["three"].bytes == 8
    assert module.text == text


def test_rows_that_are_short_are_filled_with_zeros() -> None:
    many = ", ".join(["{1, 2}"] * 400)
    text = (
        ".version 9.0\n.global .u32 a[2][2][2] = {{{1}}, {{2, 3}, {4}}};"
        f".global .v2 .u32 b[402] = {{{{1}}, {{2, 3}}, {many}}}; .global .u32 c[2] = {{1}};"
    )
    a, b, c = (v.initializer for v in parse_variables(parse_module(text)))
    assert a == "1, 0, 0, 0, 2, 3, 4, 0"
    assert (b or "").startswith("1, 0, 2, 3, 1, 2, 1, 2")
    assert c == "1"


@pytest.mark.parametrize("text", ["x<70000>", "x[0-1]", "x[1/0]", "x = 1/0"])
def test_variables_that_cannot_be(text: str) -> None:
    with pytest.raises(CccError, match="declaration is not understood: "):
        parse_variables(parse_module(f".version 9.0\n.global .u32 {text};"))
