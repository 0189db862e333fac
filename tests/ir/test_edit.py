"""Editing IR: explicit fall-through and back, copies, and new code."""

from __future__ import annotations

import pytest

from ccc.analysis.cfg import control_flow_graph
from ccc.ir.edit import (
    Copy,
    Emitter,
    add_block,
    drop_unreached,
    falls_off_the_end,
    keep_blocks,
    make_explicit,
    remove_jumps_to_next,
    retarget,
    substitute,
)
from ccc.ir.nodes import Function, Guard, Instruction
from ccc.ir.operands import Register, Special
from ccc.ir.printer import print_function
from ccc.ir.verify import verify
from ccc.parse import parse_function, parse_module

TEXT = """.version 8.0
.entry k()
{
	.reg .b32 %r<4>;
	.reg .pred %p<2>;
	mov.u32 %r1, %tid.x;
	// ccc.then 1 k.cu:2:3
	.loc 1 2 3
	@%p1 bra C;
A:
	T: .branchtargets A, B, A;
	brx.idx %r1, T;
B:
	@!%p1 add.u32 %r2, %r1, %r2;
	@%p1 bra.uni A;
	@%p1 bra B;
C:
	ret;
}
"""


@pytest.fixture
def function() -> Function:
    (piece,) = parse_module(TEXT).functions
    return parse_function(piece)


def code(function: Function, label: str) -> list[str]:
    return [str(instruction) for instruction in function.block(label).instructions]


def test_fall_through_made_explicit_and_implicit_again(function: Function) -> None:
    before = print_function(function)
    make_explicit(function)
    verify(function)
    assert [str(i) for i in function.blocks[-2].instructions] == ["@%p1 bra B;", "bra C;"]
    assert code(function, "A")[-1] == "brx.idx %r1, T;"
    assert all(block.terminator and not block.terminator.guard for block in function.blocks)
    remove_jumps_to_next(function)
    assert print_function(function) == before


def test_explicit_blocks_may_stand_in_any_order(function: Function) -> None:
    make_explicit(function)
    first, *rest = function.blocks
    function.blocks = [first, *reversed(rest)]
    verify(function)
    keep_blocks(function, [b.label for b in function.blocks if b.label != "C"])
    assert all(block.label != "C" for block in function.blocks)


UNREACHED = """.version 8.0
.entry k()
{
	.reg .b32 %r;
	mov.u32 %r, %tid.x;
	bra B;
A:
	T: .branchtargets A, B;
	brx.idx %r, T;
	// ccc.then 1 k.cu:2:3
	bra A;
C:
	// ccc.else 1 k.cu:2:3
	mov.u32 %r, 1;
B:
	ret;
END:
}
"""


def test_what_control_never_comes_to_is_dropped_but_for_markers_and_the_last_label() -> None:
    (piece,) = parse_module(UNREACHED).functions
    function = parse_function(piece)
    drop_unreached(function, control_flow_graph(function))
    verify(function)
    left = [[str(one) for one in block.instructions] for block in function.blocks]
    assert left == [["mov.u32 %r, %tid.x;", "bra B;"], ["ret;"], ["ret;"], ["ret;"], []]
    kinds = [[marker.kind for marker in block.markers] for block in function.blocks]
    assert kinds == [[], ["then"], ["else"], [], []]


def test_retarget(function: Function) -> None:
    retarget(function, function.block("B"), "A", "C")
    assert code(function, "B")[1:] == ["@%p1 bra.uni C;"] or "@%p1 bra.uni C;" in code(
        function, "B"
    )
    retarget(function, function.block("A"), "A", "C")
    (brx,) = function.block("A").instructions
    table = str(brx.operands[-1])
    assert table != "T"
    assert function.targets == {"T": ("A", "B", "A"), table: ("C", "B", "C")}
    verify(function)


def test_substitute_leaves_the_original_alone() -> None:
    r, q = Register("%r1", "b32"), Register("%r2", "b32")
    p, o = Register("%p1", "pred"), Register("%p2", "pred")
    original = Instruction("add.u32", (r, q, Special("%tid.x")), Guard(p, negated=True))
    copy = substitute(original, {r: q, p: o}, {Special("%tid.x"): r})
    assert str(copy) == "@!%p2 add.u32 %r2, %r2, %r1;"
    assert str(original) == "@!%p1 add.u32 %r1, %r2, %tid.x;"


def test_copies(function: Function) -> None:
    r1, fresh = Register("%r1", "b32"), function.registers.fresh("b32")
    entry = function.blocks[0].label
    labels = {entry: "N", "A": "NA", "B": "NB", "C": "C"}
    labels |= {b.label: f"N{b.label}" for b in function.blocks if b.label not in labels}
    wanted = set(labels) - {"C"}
    make_explicit(function)
    copies = Copy(labels, {r1: fresh}, {Special("%tid.x"): r1}).blocks(function, wanted)
    function.blocks[-1:-1] = copies
    verify(function)
    assert [block.label for block in copies][:2] == ["N", "NA"]
    assert [str(s) for s in copies[0].statements] == [
        f"mov.u32 {fresh}, %r1;", ".loc 1 2 3", "@%p1 bra C;", "bra NA;",
    ]  # fmt: skip
    (brx,) = copies[1].instructions
    assert function.targets[str(brx.operands[-1])] == ("NA", "NB", "NA")
    assert "bra.uni" not in " ".join(str(s) for block in copies for s in block.statements)


def test_a_copy_may_leave_a_branch_out(function: Function) -> None:
    make_explicit(function)
    entry = function.blocks[0].label
    copy = Copy({entry: "N", "A": "NA", "C": "NC"}, skips={entry: "NC"}, keep=lambda _i: False)
    (block,) = copy.blocks(function, {entry})
    assert [str(i) for i in block.instructions] == ["bra NC;"]


def test_a_copy_may_end_the_thread(function: Function) -> None:
    (block,) = Copy({"C": "NC"}).blocks(function, {"C"})
    assert [str(i) for i in block.instructions] == ["ret;"]


def test_the_emitter(function: Function) -> None:
    block = add_block(function, "new")
    emitter = Emitter(function, block, function.span)
    one = emitter.define("mov.u32", "b32", 1)
    two = emitter.define("add.u32", "b32", one, -1)
    emitter.emit("st.shared.u32", "somewhere", two, guard=Guard(Register("%p1", "pred")))
    emitter.branch(Register("%p1", "pred"), "A", "B", negated=True)
    assert [str(i) for i in block.instructions] == [
        f"mov.u32 {one}, 1;", f"add.u32 {two}, {one}, -1;", f"@%p1 st.shared.u32 somewhere, {two};",
        "@!%p1 bra A;", "bra B;",
    ]  # fmt: skip
    verify(function)
    assert one != two
    assert add_block(function, "new").label != block.label


@pytest.mark.parametrize(
    ("body", "falls"),
    [
        ("", True), ("ret;", False), ("@%p ret;", True), ("trap;", True), ("bra L; L:", True),
        ("ret; L:", False), ("@%p ret; L:", True), ("L: bra L; M:", False),
    ],
)  # fmt: skip
def test_falling_off_the_end(body: str, falls: bool) -> None:
    (piece,) = parse_module(f".version 8.0\n.entry k() {{ .reg .pred %p; {body} }}").functions
    function = parse_function(piece)
    labels = {one.target for one in function.instructions if one.target is not None}
    assert not falls_off_the_end(function, labels)
    last = list(function.instructions)[-1]
    if falls:
        assert str(last) == "ret;"
        function.blocks[-1].statements.remove(last)
        assert falls_off_the_end(function, labels)


def test_a_changed_instruction_reads_and_writes_something_else() -> None:
    first, second, guard = Register("%r1", "b32"), Register("%r2", "b32"), Register("%p1", "pred")
    instruction = Instruction("add.s32", (first, first, first))
    assert (instruction.defined(), instruction.used()) == ((first,), (first, first))
    instruction.operands = (second, first, first)
    assert instruction.defined() == (second,)
    instruction.guard = Guard(guard)
    assert instruction.used() == (first, first, guard, second)
    instruction.opcode = "st.global.u32"
    assert instruction.defined() == ()


@pytest.mark.parametrize(
    ("opcode", "literal"),
    [
        ("mad.wide.s32", 1 << 31), ("mad.wide.u32", -1), ("add.s32", 1 << 31), ("and.b32", 1 << 32),
        ("setp.lt.u32", -1), ("st.shared.b32", -(1 << 31) - 1),
    ],
)  # fmt: skip
def test_a_literal_that_does_not_fit_is_not_emitted(
    function: Function, opcode: str, literal: int
) -> None:
    emit = Emitter(function, add_block(function, "new"), function.span)
    register = Register("%r1", "b32")
    with pytest.raises(ValueError, match=f"{literal} is no number"):
        emit.emit(opcode, register, register, literal)
    emit.emit(opcode, register, register, 7)
    emit.emit("mad.wide.s32", register, register, 7, 1 << 40)
