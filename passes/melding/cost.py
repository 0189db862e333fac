"""Issue slots: what instructions of PTX take, about, and what is gained by running two as one."""

from __future__ import annotations

from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand
from ccc.passes.melding.arms import Branch
from ccc.ptx.opcodes import Unit
from ccc.ptx.types import TYPES

_LONG = frozenset({"div", "rem", "sqrt", "rcp", "rsqrt"})
"""Those that are many instructions on a GPU, unless they are approximate."""


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
    name, unit = instruction.name, instruction.unit
    kinds = [TYPES[one] for one in instruction.types]
    words = max([1, *(kind.bits // 32 for kind in kinds if kind.kind != "f" or name in _LONG)])
    if name == "mov" or unit == Unit.NOTHING:
        return 0
    if unit == Unit.BRANCH:
        return 2
    if unit in (Unit.LSU, Unit.TEX):
        return 4
    if name in _LONG and "approx" not in instruction.modifiers:
        return 10 * words
    if unit == Unit.SFU:
        return 2 * words
    if name == "selp":
        words = max(1, kinds[-1].bits // 32)
        literals = all(isinstance(one, Immediate) for one in instruction.operands[1:3])
        return 5 * words // 2 if literals else words
    return words
