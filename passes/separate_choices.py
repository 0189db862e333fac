"""Choices of one value in a row, which nvcc has joined, are made one by one again.

Where a loop keeps in which iteration the least was found, and an inner loop looks for it, all turns
of that take the same number. nvcc writes several turns one behind the other, and makes one choice
of theirs by whether any of them found something. So it is not seen any more that the number is
taken wherever the least is.

Before, of a loop that has ``reduction(min: best)``:

        setp.lt.s32 %p1, %r3, %r1;
        selp.b32 %r4, %r3, %r1, %p1;
        setp.lt.s32 %p2, %r5, %r4;
        selp.b32 %r1, %r5, %r4, %p2;            // best
        or.pred %p3, %p2, %p1;
        selp.b32 %r2, %r6, %r2, %p3;            // at

After:

        setp.lt.s32 %p1, %r3, %r1;
        selp.b32 %r4, %r3, %r1, %p1;
        setp.lt.s32 %p2, %r5, %r4;
        selp.b32 %r1, %r5, %r4, %p2;
        selp.b32 %ccc_chosen_0, %r6, %r2, %p1;
        selp.b32 %r2, %r6, %ccc_chosen_0, %p2;

With ``and.pred`` it is the other way round: what there was stays where none of them found anything.
There are as many instructions as before. Conditions of one turn, which decide nothing by
themselves, stay together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import ClassVar

from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import annotated_loops
from ccc.analysis.paths.reductions import declared_operations
from ccc.ir.nodes import Block, Function, Instruction, Statement
from ccc.ir.operands import Operand, Register
from ccc.pipeline import Kernel, Pass
from ccc.ptx.operations import EXTREMES

_JOINING = {"or": True, "and": False}
"""What joins predicates, and whether what is new is chosen where they hold."""


class SeparateChoices(Pass):
    """Make joined choices one by one, in annotated loops that keep the least or the most."""

    name: ClassVar[str] = "separate-choices"

    def run(self, kernel: Kernel) -> None:
        """Rewrite those whose predicates are made where they are."""
        facts = kernel.facts
        if kernel.function.kind != "entry" or facts.unknown is not None:
            return
        labels = {
            label
            for one in annotated_loops(facts)
            if not declared_operations(one.marker).isdisjoint(EXTREMES)
            for label in one.loop.blocks
        }
        blocks = [facts.blocks[label] for label in sorted(labels)]
        separated = [_separated(block, kernel.function, facts) for block in blocks]
        if separated != [block.statements for block in blocks]:
            for block, statements in zip(blocks, separated, strict=True):
                block.statements = statements
            _remove_idle(blocks, kernel.function)
            kernel.changed()


def _separated(block: Block, function: Function, facts: Facts) -> list[Statement]:
    """What a block does, with its choices one by one."""
    own: dict[Operand, Instruction] = {}
    """The predicates that the block has made so far, which nothing else makes."""
    deciding = _deciding(block)
    written: list[Statement] = []
    for one in block.statements:
        if not isinstance(one, Instruction):
            written.append(one)
            continue
        written += list(_choices(one, own, deciding, function)) or [one]
        for register in one.defined():
            if register.bits == 1 and one.guard is None and len(facts.makers[register]) == 1:
                own[register] = one
    return written


def _choices(
    choice: Instruction,
    own: Mapping[Operand, Instruction],
    deciding: Collection[Operand],
    function: Function,
) -> Iterator[Instruction]:
    """What comes in the place of a choice that was joined; nothing of others."""
    if choice.name != "selp" or choice.guard is not None:
        return
    target, first, second, predicate = choice.operands
    joining = own[predicate].name if predicate in own else ""
    takes_new = _JOINING.get(joining)
    kept = second if takes_new else first
    if takes_new is None or not isinstance(target, Register) or not isinstance(kept, Register):
        return
    joined = set(_joined(predicate, joining, own))
    if not joined <= own.keys() & deciding:
        return
    parts = sorted(joined, key=list(own).index)
    for part in parts:
        made = target if part is parts[-1] else function.registers.fresh(target.type, "chosen")
        sides = (first, kept) if takes_new else (kept, second)
        yield Instruction(choice.opcode, (made, *sides, part), None, choice.span, choice.location)
        kept = made


def _deciding(block: Block) -> set[Operand]:
    """The predicates that decide by themselves what a block chooses: of two values, the less or the
    greater may be chosen without any."""
    instructions = list(block.instructions)
    pairs = [set(i.operands[1:]) for i in instructions if i.name in EXTREMES]
    return {
        *(i.operands[3] for i in instructions if i.name == "selp"),
        *(i.operands[0] for i in instructions if i.name == "setp" and set(i.operands[1:]) in pairs),
    }


def _joined(
    predicate: Operand, joining: str, own: Mapping[Operand, Instruction]
) -> Iterator[Operand]:
    """The predicates that were joined by an operation, in the end."""
    made = own.get(predicate)
    if made is None or made.name != joining:
        yield predicate
        return
    for source in made.operands[1:]:
        yield from _joined(source, joining, own)


def _remove_idle(blocks: Collection[Block], function: Function) -> None:
    """Take out what joins predicates for nobody."""
    used = Counter(register for i in function.instructions for register in i.used())
    for block in blocks:
        left: list[Statement] = []
        for one in reversed(block.statements):
            if isinstance(one, Instruction) and one.name in _JOINING and _is_idle(one, used):
                used.subtract(one.used())
            else:
                left.append(one)
        block.statements = left[::-1]


def _is_idle(one: Instruction, used: Counter[Register]) -> bool:
    """Whether it makes a predicate that nothing uses."""
    return all(register.bits == 1 and not used[register] for register in one.defined())
