"""Issue slots: what instructions of PTX take, about, and what is gained by running two as one."""

from __future__ import annotations

from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand
from ccc.passes.melding.arms import Branch
from ccc.ptx.opcodes import Unit
from ccc.ptx.throughput import Pipe, machine_code
from ccc.ptx.types import TYPES

_LITERALS = 5 / 2
"""Issue slots of a selection between two literals, for each word."""
_WAITING = {Pipe.MEMORY: 4, Pipe.SPECIAL: 2}
"""Issue slots of an instruction of pipes that serve few lanes in a cycle."""
_BRANCH = 2


def slots(instruction: Instruction) -> int:
    """The issue slots of an instruction, about, on sm_70 and later, with those of its literals."""
    if instruction.name == "selp":
        return _bare(instruction)
    return _bare(instruction) + sum(map(_literal, instruction.operands))


def _literal(operand: Operand) -> int:
    """A literal of double precision is put together from two halves, unless the low one is 0."""
    text = operand.text if isinstance(operand, Immediate) else ""
    return 2 if text[:2].lower() == "0d" and int(text[10:], 16) else 0


def around(branch: Branch, facts: Facts) -> int:
    """The issue slots of what lanes do besides the branch: once through the loop around it."""
    own = frozenset().union(*(arm.blocks for arm in branch.arms))
    loops = (loop.blocks for loop in facts.loops if branch.head in loop.blocks)
    labels = next(loops, frozenset(facts.blocks)) - own
    return sum(slots(i) for label in labels for i in facts.blocks[label].instructions)


def _bare(instruction: Instruction) -> int:
    i = instruction
    pipe, count = machine_code(i.name, i.unit, i.modifiers, i.types, i.space)
    if i.unit == Unit.BRANCH:
        return _BRANCH
    if i.name == "selp":
        words = max(1, TYPES[i.types[-1]].bits // 32)
        literals = all(isinstance(one, Immediate) for one in i.operands[1:3])
        return int(_LITERALS * words) if literals else words
    return count * _WAITING.get(pipe, 1)
