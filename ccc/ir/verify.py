"""The invariants of the IR, checked after every pass.

1. Labels and branch tables have different names; a branch names a label, ``brx.idx`` a table.
2. Only the last instructions of a block transfer control: guarded ones, then at most one that is
   not.
3. Every register that an instruction names is declared, with that type, and what it writes is one.
4. Every instruction has as many operands as its row in the opcode table allows.
5. Control does not run past the last block.
"""

from __future__ import annotations

from ccc.errors import CccError
from ccc.garbage import without_looking
from ccc.ir.edit import falls_off_the_end
from ccc.ir.nodes import Block, Function, Instruction, decode, to_verify
from ccc.ir.operands import (
    CARRY,
    Discard,
    Immediate,
    Register,
    Special,
    Symbol,
    leaves,
    registers,
)

_WITHOUT_REGISTERS = frozenset((Immediate, Special, Symbol, Discard))
_forms: dict[tuple[object, ...], bool] = {}
"""Opcodes with the kinds of their operands, of which there are as many as the opcode takes; and
whether what they write are registers, whatever these operands are."""


class InvalidIR(CccError):
    """A pass, or the parser, broke an invariant; a defect of ccc, not of the user's code."""


@without_looking
def verify(function: Function) -> None:
    """Check the invariants.

    Raises:
        InvalidIR: naming the first one that does not hold.
    """
    if not function.blocks:
        raise InvalidIR(f"{function.name}: there are no blocks")
    labels = [block.label for block in function.blocks]
    if len(set(labels) | set(function.targets)) != len(labels) + len(function.targets):
        raise InvalidIR(f"{function.name}: a label is defined twice")
    known, declared, named = set(labels), {id(CARRY)}, set[str]()
    for block, instruction in to_verify(function):
        decoded = decode(instruction.opcode)
        if not instruction.is_verified(function.registers):
            _check_operands(function, instruction, declared)
            instruction.set_verified(function.registers, decoded.is_control)
        if decoded.is_terminator and instruction is not block.statements[-1]:
            _check_behind(block, instruction)
        if decoded.is_branch:
            named.add(_check_branch(function, instruction, known))
    if falls_off_the_end(function, named):
        raise InvalidIR(f"{function.name}: control falls off the end of the function")


def _check_behind(block: Block, left: Instruction) -> None:
    """Check what follows an instruction that may transfer control."""
    behind = block.statements[block.statements.index(left) + 1 :]
    following = next((one for one in behind if isinstance(one, Instruction)), None)
    if following is not None and (left.guard is None or not following.is_terminator):
        raise InvalidIR(
            f"an instruction follows a branch in block {block.label}: {following}", following.span
        )


def _check_operands(function: Function, instruction: Instruction, declared: set[int]) -> None:
    """Check one instruction; ``declared`` are registers of the function that are known to be, by
    identity, and grows."""
    operands = instruction.operands
    form = (instruction.opcode, *map(type, operands))
    writes_registers = _forms.get(form)
    if writes_registers is None:
        writes_registers = _forms[form] = _check_form(instruction)
    if instruction.guard is not None:
        operands = (*operands, instruction.guard.register)
    for operand in operands:
        if isinstance(operand, Register):
            if id(operand) not in declared:
                _check_declared(function, instruction, operand, declared)
        elif type(operand) not in _WITHOUT_REGISTERS:
            for register in registers(operand):
                if id(register) not in declared:
                    _check_declared(function, instruction, register, declared)
    if not writes_registers:
        _check_written(instruction)


def _check_form(instruction: Instruction) -> bool:
    """Check the number of operands; whether their kinds alone tell that what it writes are
    registers."""
    row = instruction.row
    if row is not None and not row.accepts(len(instruction.operands)):
        raise InvalidIR(f"wrong number of operands: {instruction}", instruction.span)
    written = (one for one, role in instruction.roles() if role in ("def", "both"))
    return instruction.name == "call" or all(type(one) in (Register, Discard) for one in written)


def _check_declared(
    function: Function, instruction: Instruction, register: Register, declared: set[int]
) -> None:
    found = function.registers.find(register.name)
    if found is not register and register not in (CARRY, found):
        raise InvalidIR(f"{register} is not declared: {instruction}", instruction.span)
    declared.add(id(register))


def _check_written(instruction: Instruction) -> None:
    """Check that what it writes are registers."""
    for operand, role in instruction.roles():
        if role not in ("def", "both") or isinstance(operand, Register):
            continue
        wrong = next((n for n in leaves(operand) if not isinstance(n, (Register, Discard))), None)
        if wrong is not None:
            raise InvalidIR(f"{wrong} is no register: {instruction}", instruction.span)


def _check_branch(function: Function, instruction: Instruction, labels: set[str]) -> str:
    """Check where a branch goes; the name that it gives."""
    target = instruction.target
    if target is None:
        raise InvalidIR(f"a branch names no label: {instruction}", instruction.span)
    if instruction.name == "brx":
        missing = set(function.targets.get(target, (target,))) - labels
    else:
        missing = {target} - labels
    if missing:
        raise InvalidIR(f"there is no label {min(missing)}: {instruction}", instruction.span)
    return target
