"""Which registers hold integer literals, and where.

nvcc gives a register to one value after the other: the mask of a shuffle may stand where a loop
counts afterwards, so that no register is known to hold it everywhere.
"""

from __future__ import annotations

from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.opcodes import EXCHANGES


class Literals:
    """The integer literals that operands are, or that their registers hold: wherever they are read,
    if one ``mov`` defines them and nothing else, or since one in the same block does.

    Args:
        function: the function.
    """

    def __init__(self, function: Function):
        self._everywhere = _everywhere(function)
        self._here: dict[Instruction, dict[Register, int]] = {}
        for block in function.blocks:
            held: dict[Register, int] = {}
            for instruction in block.instructions:
                if instruction.name in EXCHANGES:
                    self._here[instruction] = dict(held)
                made = _made(instruction)
                for register in instruction.defined():
                    held.pop(register, None)
                    if made is not None:
                        held[register] = made

    def of(self, instruction: Instruction, operand: Operand) -> int | None:
        """What an operand is where an exchange between lanes reads it, if that is a literal."""
        if isinstance(operand, Register):
            here = self._here.get(instruction, {})
            return here.get(operand, self._everywhere.get(operand))
        return operand.integer if isinstance(operand, Immediate) else None


def _everywhere(function: Function) -> dict[Register, int]:
    found: dict[Register, int | None] = {}
    for instruction in function.instructions:
        for register in instruction.defined():
            found[register] = None if register in found else _made(instruction)
    return {register: value for register, value in found.items() if value is not None}


def _made(instruction: Instruction) -> int | None:
    """The literal that a ``mov`` sets its only register to, whatever holds."""
    if instruction.name != "mov" or instruction.guard or len(instruction.defined()) != 1:
        return None
    source = instruction.operands[1]
    return source.integer if isinstance(source, Immediate) else None
