"""Comparisons that write two predicates become two that write one each.

    setp.lt.and.f32 %p1|%p2, %f1, %f2, %p3;

The second predicate is what the opposite comparison makes, here that of numbers that are not less,
or no numbers. Who asks what a predicate tells would have to ask each time which of both it is, so
functions are analysed without such pairs:

    setp.lt.and.f32 %p1, %f1, %f2, %p3;
    setp.geu.and.f32 %p2, %f1, %f2, %p3;

A predicate that both read is written last. Of packed halves the second predicate tells the same of
the other half: those stay as they are.
"""

from __future__ import annotations

from ccc.ir.nodes import Function, Instruction, Statement
from ccc.ir.operands import Discard, Operand, Pair, map_leaves, registers
from ccc.ir.registers import RegisterFile
from ccc.ptx.operations import OPPOSITE_OF_FLOATS, OPPOSITE_OF_INTEGERS
from ccc.ptx.types import TYPES


def separate_comparisons(function: Function) -> None:
    """Have each comparison of a function write one predicate."""
    for block in function.blocks:
        if any(map(_writes_two, block.statements)):
            block.statements = [
                one
                for statement in block.statements
                for one in _separated(statement, function.registers)
            ]


def _writes_two(statement: Statement) -> bool:
    """Whether it is a comparison with a predicate for its opposite."""
    if not isinstance(statement, Instruction) or statement.name != "setp":
        return False
    return (
        isinstance(statement.operands[0], Pair)
        and bool(statement.types)
        and not statement.types[-1].endswith("x2")
    )


def _separated(statement: Statement, file: RegisterFile) -> list[Statement]:
    """The same in comparisons of one predicate each."""
    if not (isinstance(statement, Instruction) and _writes_two(statement)):
        return [statement]
    pair, one, other, *condition = statement.operands
    assert isinstance(pair, Pair)
    opcodes = {pair.first: statement.opcode}
    opcodes.setdefault(pair.second, _opposite(statement))  # of one predicate a GPU writes the first
    opcodes.pop(Discard(), None)
    asked = {register for operand in condition for register in registers(operand)}
    read = asked | ({statement.guard.register} if statement.guard else set())
    made: list[Statement] = []
    if len(opcodes) == 2 and opcodes.keys() == read:  # whichever is written first
        kept = file.fresh("pred", "condition")
        made.append(_like(statement, "mov.pred", (kept, *asked), guarded=False))
        condition = [map_leaves(operand, lambda _: kept) for operand in condition]
        read -= asked
    for target in sorted(opcodes, key=lambda target: target in read):
        made.append(_like(statement, opcodes[target], (target, one, other, *condition)))
    return made


def _opposite(comparison: Instruction) -> str:
    """The opcode of the opposite comparison, combined with as much."""
    is_of_integers = TYPES[comparison.types[-1]].kind in "bsu"
    opposite = OPPOSITE_OF_INTEGERS if is_of_integers else OPPOSITE_OF_FLOATS
    return ".".join(opposite.get(word, word) for word in comparison.opcode.split("."))


def _like(
    one: Instruction, opcode: str, operands: tuple[Operand, ...], guarded: bool = True
) -> Instruction:
    """An instruction in the place of another one."""
    return Instruction(opcode, operands, one.guard if guarded else None, one.span, one.location)
