"""Issue slots: what instructions of PTX take, about, and what is gained by running two as one."""

from __future__ import annotations

from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand
from ccc.ptx.opcodes import Unit
from ccc.ptx.types import TYPES

_LONG = frozenset({"div", "rem", "sqrt", "rcp", "rsqrt"})
"""Those that are many instructions on a GPU, unless they are approximate."""


def slots(instruction: Instruction) -> int:
    """The issue slots of an instruction, about, on sm_70 and later, with those of its literals."""
    return _bare(instruction) + sum(map(_literal, instruction.operands))


def _literal(operand: Operand) -> int:
    """A literal of double precision is put together from two halves, unless the low one is 0."""
    text = operand.text if isinstance(operand, Immediate) else ""
    return 2 if text[:2].lower() == "0d" and int(text[10:], 16) else 0


def _bare(instruction: Instruction) -> int:
    name, unit = instruction.name, instruction.unit
    bits = max((TYPES[one].bits for one in instruction.types), default=32)
    words = max(1, bits // 32)
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
        return words * (1 + all(isinstance(o, Immediate) for o in instruction.operands[1:3]))
    return words
