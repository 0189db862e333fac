"""Instructions that are split at their commas come out as the grammar reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from folders import GOLDEN
from goldens import Golden

from ccc.errors import CccError
from ccc.ir.nodes import Function, FunctionText
from ccc.parse import body, parse_function, parse_module
from ccc.parse.plain import read_plain

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


@pytest.mark.parametrize("path", GOLDENS[::6], ids=lambda path: path.stem)
def test_both_ways_lead_to_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = list(parse_module(Golden.read(path).after).functions)
    fast = [parts(parse_function(piece)) for piece in pieces]
    monkeypatch.setattr(body, "read_plain", lambda _text, _find: None)
    assert fast == [parts(parse_function(piece)) for piece in pieces]


@pytest.mark.parametrize(
    "text",
    [
        "add.s32 %r1, %r2, 5",
        "@!%p1 add.s32 %r1, %r2, -5",
        "ld.global.u32 %r1, [%rd1]",
        "ld.global.f32\t%f1, [%rd1+16]",
        "fma.rn.f32 %f1, %f2, 0f3F800000, %f1",
    ],
)
def test_a_form_is_learnt_once(text: str) -> None:
    declared = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<3>;\n"
    function = parse_function(one(f"{declared}{text};\nret;"))
    instruction = next(function.instructions)
    plain = read_plain(text, function.registers.find)
    assert plain is not None
    assert plain.is_known
    assert (plain.opcode, plain.operands) == (instruction.opcode, instruction.operands)
    assert plain.guard == instruction.guard


@pytest.mark.parametrize(
    "text",
    [
        "mov.u32 %r1, %tid.x",
        "st.shared.u32 [place], %r1",
        "mov.b64 {%r1, %r2}, %rd1",
        "setp.lt.s32 %p1|%p2, %r1, %r2",
        "add.s32 %r1, %r2, %r9",
        "add.s32 %r1 , %r2, 5",
        "ret",
    ],
)
def test_the_rest_is_left_to_the_grammar(text: str) -> None:
    declared = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;"
    known = parse_function(one(f"{declared}\nret;")).registers.find
    assert read_plain(text, known) is None


def test_a_known_form_of_registers_that_are_not_declared_is_an_error() -> None:
    declared = ".reg .b32 %r<3>;\nadd.s32 %r1, %r2, 5;\n"
    with pytest.raises(CccError, match="%r3 is not declared"):
        parse_function(one(f"{declared}add.s32 %r1, %r3, 5;\nret;"))


@pytest.mark.parametrize("text", ["add.s32 %r1, %r2", "add.s32 5, %r1, %r2"])
def test_what_is_wrong_is_not_learnt(text: str) -> None:
    for _ in range(2):
        with pytest.raises(CccError):
            parse_function(one(f".reg .b32 %r<3>;\n{text};\nret;"))
