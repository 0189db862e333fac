"""Instructions that are split at their commas come out as the grammar reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import GOLDEN
from goldens import Golden

from ccc.errors import CccError
from ccc.ir.nodes import Function, FunctionText, Guard, Instruction
from ccc.ir.operands import Operand, Register
from ccc.parse import body, parse_function, parse_module
from ccc.parse.items import ITEM
from ccc.parse.plain import known_forms, read_operands
from ccc.parse.words import Unknown, Words

GOLDENS = sorted((GOLDEN / "context-collection").glob("*.ptx"))
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def parts(function: Function) -> list[object]:
    """All that is in a function."""
    return [
        (i.opcode, i.operands, str(i), i.guard, i.span, i.location, block.label)
        for block in function.blocks
        for i in block.instructions
    ]


def one(text: str) -> FunctionText:
    (function,) = parse_module(f"{HEAD}.entry k()\n{{\n{text}\n}}\n").functions
    return function


DECLARED = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<3>;\n"


def read(text: str, function: Function) -> tuple[tuple[Operand, ...], Guard | None]:
    """What a statement of a function seems to mean.

    Raises:
        Unknown: it needs the grammar.
    """
    match = ITEM.match(f"{text};")
    assert match is not None
    if match.lastgroup != "plain":
        raise Unknown(text)
    words = Words(function.registers)
    for prefix in function.registers.ranges:
        words.declare_range(prefix, (prefix,))
    operands = read_operands(match["opcode"], match["words"], words)
    return operands, words.guard(match["guard"]) if match["guard"] else None


@pytest.mark.parametrize("path", GOLDENS[::6], ids=lambda path: path.stem)
def test_both_ways_lead_to_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = list(parse_module(Golden.read(path).after).functions)
    fast = [parts(parse_function(piece)) for piece in pieces]
    monkeypatch.setattr(body, "known_forms", {})
    assert fast == [parts(parse_function(piece)) for piece in pieces]


@pytest.mark.parametrize(
    "text",
    [
        "add.s32 %r1, %r2, 5",
        "@!%p1 add.s32 %r1, %r2, -5",
        "ld.global.u32 %r1, [%rd1]",
        "ld.global.f32\t%f1, [%rd1+16]",
        "fma.rn.f32 %f1, %f2, 0f3F800000, %f1",
        "mov.u32 %r1, %tid.x",
        "st.shared.u32 [place+4], %r1",
        "ld.shared.u32 %r1, [%r2+-8]",
        "mov.b64 {%r1, %r2}, %rd1",
        "mov.b64 %rd1, {%r1,%r2}",
        "shfl.sync.idx.b32 %r1|%p2, %r1, 0, 0x1F, -1",
        "add.s32 %r1 , %r2, 5",
        "bar.sync 0",
        "membar.gl",
        "ld.global.u32 %r1, [%rd1+0]",
        "call (%r1), f, (%r2, %rd1)",
        "call f, (\n)",
        "and.b64 %rd1, %rd2, -9223372036854775808",
    ],
)
def test_a_form_is_learnt_once(text: str) -> None:
    function = parse_function(one(f"{DECLARED}{text};\nret;"))
    instruction = next(function.instructions)
    operands, guard = read(text, function)
    assert (instruction.opcode, *map(type, operands)) in known_forms
    assert operands == instruction.operands
    assert [str(operand) for operand in operands] == list(map(str, instruction.operands))
    assert guard == instruction.guard


@pytest.mark.parametrize(
    "text",
    [
        "add.s32 %r1, %r2, %r9",
        "add.s32 %r1, %r2, 4+1",
        "add.s32 %r1, %r2, 0777",
        "mov.u32 %r1, %nothing.x",
        "mov.u32 %r1, WARP_SZ",
        "ld.u32 %r1, [%rd1+]",
        "ld.u32 %r1, [%rd1",
        "mov.u32 %r1, {{%r1}}",
        "mov.b64 %rd1, {%r1, 5}",
        "brx.idx %r1, table",
    ],
)
def test_the_rest_is_left_to_the_grammar(text: str) -> None:
    function = parse_function(one(f"{DECLARED}ret;"))
    with pytest.raises(Unknown):
        read(text, function)


def test_what_is_declared_anew_means_something_else() -> None:
    add = "add.s32 a, a, 1;\n"
    text = f".reg .b32 a;\n{add}{{\n{add}.reg .b32 a;\n{add}}}\n{add}ret;"
    function = parse_function(one(text))
    inner, outer = [name for name in function.registers.singles if name != "a"], "a"
    used = [str(i.operands[0]) for i in function.instructions if i.operands]
    assert used == [outer, outer, *inner, outer]


@pytest.mark.parametrize(
    ("words", "read"), [("%r1 , %r2", "%r2"), ("%r1|%p1, %r2", "%p1"), ("%r3, {%r1,%r2}", "%r2")]
)
def test_an_inner_scope_has_its_own_registers(words: str, read: str) -> None:
    opcode = "shfl.sync.idx.b32" if "|" in words else "mov.b64" if "{" in words else "not.b32"
    line = f"{opcode} {words}{', 0, 31, -1' if '|' in words else ''};\n"
    declared = ".reg .b32 %r<3>; .reg .b64 %r3; .reg .pred %p1;\n"
    inner = f"{{\n.reg .b32 %r1, %r2;\n.reg .b64 %r3;\n.reg .pred %p1;\n{line * 2}}}\n"
    function = parse_function(one(f"{declared}{line}{inner}{line}ret;"))
    first, second, third, last = list(function.instructions)[:4]
    assert first.operands == last.operands != second.operands == third.operands
    assert read in map(str, registers(first))
    assert {*map(str, registers(second))}.isdisjoint(map(str, registers(first)))


def registers(instruction: Instruction) -> list[Register]:
    """The registers that it names."""
    return [*instruction.used(), *instruction.defined()]


def test_a_label_of_the_name_of_a_variable_around() -> None:
    head = f"{HEAD}.shared .b32 same;\n.entry k()\n{{\n.reg .u32 %r<2>;\nmov.u32 %r1, same;\n"
    (piece,) = parse_module(f"{head}mov.u32 %r1, same;\nbra same;\nsame: ret;\n}}\n").functions
    function = parse_function(piece)
    first, second, branch, *_ = function.instructions
    assert str(first) == str(second) == "mov.u32 %r1, same;"
    assert branch.target == function.blocks[-1].label != "same"


def test_a_variable_of_the_name_of_one_outside_that_an_earlier_scope_names() -> None:
    named = "mov.u64 %rd1, same;"
    declared = "{ .shared .align 8 .b8 same[16]; mov.u64 %rd1, same; }"
    text = f".shared .b32 same;\n.entry k()\n{{\n.reg .b64 %rd<2>;\n{{ {named} }}\n{declared}\n"
    (piece,) = parse_module(f"{HEAD}{text}{{ {named} }}\nret;\n}}\n").functions
    function = parse_function(piece)
    (own,) = function.variables
    named_by = [str(one.operands[1]) for one in function.instructions if one.operands]
    assert own.name != "same"
    assert named_by == ["same", own.name, "same"]


def test_functions_have_as_many_registers_as_each_declares() -> None:
    add = "{{ .reg .b32 %r<{}>; add.s32 %r1, %r{}, 5; ret; }}\n"
    text = f"{HEAD}.entry a()\n{add.format(60, 59)}.entry b()\n{add.format(50, 50)}"
    # As long as functions are that have so many, of which the registers are found beforehand.
    first, second = parse_module(text.replace("ret;", "ret;\n" + " " * 600)).functions
    assert "%r59" in str(next(parse_function(first).instructions))
    with pytest.raises(CccError, match="%r50 is not declared"):
        parse_function(second)


def test_a_known_form_of_registers_that_are_not_declared_is_an_error() -> None:
    declared = ".reg .b32 %r<3>;\nadd.s32 %r1, %r2, 5;\n"
    with pytest.raises(CccError, match="%r3 is not declared"):
        parse_function(one(f"{declared}add.s32 %r1, %r3, 5;\nret;"))


@pytest.mark.parametrize("text", ["add.s32 %r1, %r2", "add.s32 5, %r1, %r2"])
def test_what_is_wrong_is_not_learnt(text: str) -> None:
    for _ in range(2):
        with pytest.raises(CccError):
            parse_function(one(f".reg .b32 %r<3>;\n{text};\nret;"))
