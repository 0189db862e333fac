"""Each invariant of the IR, broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from folders import GOLDEN
from goldens import Golden

from ccc.errors import CccError
from ccc.ir.edit import jump
from ccc.ir.nodes import Block, Function, Guard, Instruction
from ccc.ir.operands import Address, Immediate, Register, Symbol
from ccc.ir.registers import RegisterFile
from ccc.ir.verify import InvalidIR, verify
from ccc.parse import parse_function, parse_module

GOLDENS = sorted((GOLDEN / "context-collection").glob("*.ptx"))[::6]
TEXT = """.version 8.0
.entry k()
{
	.reg .b32 %r<4>;
	.reg .pred %p;
	T: .branchtargets A, B;
	brx.idx %r1, T;
A:
	add.cc.u32 %r1, %r2, 1;
	addc.u32 %r2, %r2, 0;
	@%p bra B;
	@!%p bra A;
	exit;
B:
	ret;
}
"""


def function() -> Function:
    (piece,) = parse_module(TEXT).functions
    return parse_function(piece)


def add(f: Function, label: str, opcode: str, *operands: object, at: int = 0) -> None:
    f.block(label).statements.insert(at, Instruction(opcode, operands))  # type: ignore[arg-type]


def same_label_twice(f: Function) -> None:
    f.blocks.insert(1, Block("B", [Instruction("ret")]))


def label_and_table(f: Function) -> None:
    f.targets["A"] = ("B",)


def no_such_label(f: Function) -> None:
    f.block("B").statements = [jump("C")]


def no_such_label_in_a_table(f: Function) -> None:
    f.targets["T"] = ("A", "C")


def branch_to_a_table(f: Function) -> None:
    f.block("B").statements = [jump("T")]


def code_after_a_branch(f: Function) -> None:
    add(f, "B", "trap", at=1)


def code_after_a_guarded_branch(f: Function) -> None:
    add(f, "A", "trap", at=3)


def turned_into_a_return(f: Function) -> None:
    next(f.block("A").instructions).opcode = "ret"


def without_its_guard(f: Function) -> None:
    add(f, "A", "ret", at=3)
    verify(f)
    list(f.block("A").instructions)[2].guard = None


def two_ends(f: Function) -> None:
    add(f, "B", "ret", at=1)


def undeclared_register(f: Function) -> None:
    add(f, "B", "mov.u32", Register("%r7", "b32"), Immediate("1"))


def undeclared_guard(f: Function) -> None:
    f.block("B").statements.insert(0, Instruction("trap", (), Guard(Register("%q", "pred"))))


def undeclared_base(f: Function) -> None:
    add(f, "B", "ld.u32", Register("%r1", "b32"), Address(Register("%x", "b64"), 4))


def register_of_another_type(f: Function) -> None:
    add(f, "B", "mov.u32", Register("%r1", "f32"), Immediate("1"))


def too_few_operands(f: Function) -> None:
    add(f, "B", "add.u32", Register("%r1", "b32"), Immediate("1"))


def too_many_operands(f: Function) -> None:
    add(f, "B", "trap", Immediate("1"))


def branch_to_a_register(f: Function) -> None:
    f.block("B").statements = [Instruction("bra", (Register("%r1", "b32"),))]


def runs_past_the_end(f: Function) -> None:
    f.block("B").statements = [Instruction("trap")]


def may_run_past_the_end(f: Function) -> None:
    f.block("B").statements = [Instruction("ret", (), Guard(Register("%p", "pred")))]


def branch_to_an_empty_end(f: Function) -> None:
    f.blocks.append(Block("C"))
    f.block("B").statements = [jump("C")]


def no_blocks(f: Function) -> None:
    f.blocks.clear()


BROKEN: list[tuple[Callable[[Function], None], str]] = [
    (same_label_twice, "twice"),
    (label_and_table, "twice"),
    (no_such_label, "no label C"),
    (no_such_label_in_a_table, "no label C"),
    (branch_to_a_table, "no label T"),
    (code_after_a_branch, "follows a branch in block B"),
    (code_after_a_guarded_branch, "follows a branch in block A"),
    (turned_into_a_return, "number of operands: ret %r1"),
    (without_its_guard, "follows a branch in block A"),
    (two_ends, "follows a branch"),
    (undeclared_register, "%r7 is not declared"),
    (undeclared_guard, "%q is not declared"),
    (undeclared_base, "%x is not declared"),
    (register_of_another_type, "%r1 is not declared"),
    (too_few_operands, "number of operands"),
    (too_many_operands, "number of operands"),
    (branch_to_a_register, "names no label"),
    (runs_past_the_end, "falls off the end"),
    (may_run_past_the_end, "falls off the end"),
    (branch_to_an_empty_end, "falls off the end"),
    (no_blocks, "no blocks"),
]


def test_valid_ir_passes() -> None:
    verify(function())


def test_an_empty_block_for_debuggers_may_stand_at_the_end() -> None:
    f = function()
    f.blocks.append(Block("$L__func_end0"))
    verify(f)


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_what_the_reader_says_is_valid_is(path: Path) -> None:
    for piece in parse_module(Golden.read(path).after).functions:
        f = parse_function(piece)
        assert sum(i.is_verified(f.registers) for i in f.instructions) > 0
        for instruction in f.instructions:  # as if somebody else had made it
            instruction.set_verified(RegisterFile(), is_control=False)
        verify(f)


@pytest.mark.parametrize(("damage", "message"), BROKEN, ids=lambda x: getattr(x, "__name__", ""))
def test_broken_ir_is_found(damage: Callable[[Function], None], message: str) -> None:
    f = function()
    damage(f)
    with pytest.raises(InvalidIR, match=message):
        verify(f)


def test_the_error_is_a_diagnostic_with_a_position() -> None:
    f = function()
    f.block("A").statements[0].operands = ()  # type: ignore[union-attr]
    with pytest.raises(CccError) as caught:
        verify(f)
    assert caught.value.span is not None
    assert caught.value.span.line == 9


def test_symbols_are_no_registers() -> None:
    f = function()
    add(f, "B", "mov.u64", Symbol("anything"), Immediate("1"))
    with pytest.raises(InvalidIR, match="anything is no register"):
        verify(f)
