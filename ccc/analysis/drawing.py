"""Numbers that lanes draw by an atomic addition, which ends the loop when they are all drawn.

    NEXT:   atom.global.add.u32 %r1, [%rd1], 1;
            setp.lt.s32 %p1, %r1, %r2;                  // is there one left?
            @%p1 bra NEXT;

Who draws waits for nobody, unless something takes back what has been moved on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.analysis.callees import callee
from ccc.analysis.fields import are_other_fields
from ccc.analysis.polled import roots
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.opcodes import Effect
from ccc.ptx.operations import INVERSE, SWAPPED, UNSIGNED

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts
    from ccc.analysis.loop_conditions import LoopConditions

_FOLLOWING = frozenset({"add", "mov", "shl", "cvt", "shfl"})
"""What may be made of a number so that it grows as that does."""


def draws_numbers(atomic: Instruction, slices: LoopConditions) -> bool:
    """Whether a loop ends when what an atomic addition moves on has come past some bound; others
    begin anew where their type, or their operand, says."""
    step = _step(atomic) if atomic.name == "atom" else 0
    beyond = ("gt", "ge") if step > 0 else ("lt", "le")
    return step != 0 and any(
        slices.leaves_if(source, one, value) and _relation(one, value, atomic, slices) in beyond
        for source in filter(slices.always, slices.leaving)
        for one in slices.of(source)
        if one.name == "setp" and len(one.operands) == 3 and one.types[-1][0] in "sub"
        for value in (False, True)
    )


def _relation(
    comparison: Instruction, value: bool, atomic: Instruction, slices: LoopConditions
) -> str | None:
    """That of what an atomic has found to what is the same in all trips, if a comparison of these
    has a value."""
    word = comparison.modifiers[0]
    relation = UNSIGNED.get(word, word)
    one, other = comparison.operands[1:]
    if not slices.is_same(other):
        one, other, relation = other, one, SWAPPED[relation]
    if not slices.is_same(other):
        return None
    if slices.read_by(comparison, one) != {atomic} and not _follows(one, atomic, slices):
        return None
    return relation if value else INVERSE[relation]


def _follows(operand: Operand, atomic: Instruction, slices: LoopConditions) -> bool:
    """Whether a value is what an atomic has found, perhaps with more added, or that of another
    lane."""
    made = slices.behind([operand]) if isinstance(operand, Register) else set()
    return atomic in made and all(one is atomic or one.name in _FOLLOWING for one in made)


def is_taken_back(atomic: Instruction, slices: LoopConditions, facts: Facts) -> bool:
    """Whether something else writes what an atomic has moved on: in the loop, or under the same
    name in one around it."""
    mine = roots(atomic, facts)
    for instruction in slices.body:
        if (
            instruction.effects & Effect.CALL
            and facts.callees.of_system(callee(instruction)) is None
        ):
            return True
        if instruction is not atomic and _may_write_it(instruction, atomic, facts):
            others = roots(instruction, facts)
            if mine is None or others is None or not mine.isdisjoint(others):
                return True
    around = {
        label for loop in facts.loops if slices.loop.blocks < loop.blocks for label in loop.blocks
    }
    return mine is not None and any(
        _may_write_it(one, atomic, facts)
        and not mine.isdisjoint(roots(one, facts) or ())
        and _step(one) * _step(atomic) <= 0
        for label in around - slices.loop.blocks
        for one in facts.blocks[label].instructions
    )


def _may_write_it(one: Instruction, atomic: Instruction, facts: Facts) -> bool:
    """Whether an instruction writes, and not to another member of what an atomic moves on."""
    is_write = one.effects & Effect.WRITE and one.name in ("st", "red", "atom")
    return bool(is_write) and not are_other_fields(atomic, one, facts)


def _step(one: Instruction) -> int:
    """By how much an atomic addition moves on; 0 of all else."""
    by = one.operands[-1] if "add" in one.modifiers else None
    return by.integer or 0 if isinstance(by, Immediate) else 0
