"""Most instructions of real PTX: registers, numbers and addresses, and nothing to be found out.

    @%p1 ld.global.u32  %r12, [%rd3+16];

They are split at their commas. What each *form* of them, an opcode with the kinds of its operands,
means was learnt from the grammar when it came for the first time, and checked then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ccc.ir.nodes import Guard, Instruction
from ccc.ir.operands import Address, Immediate, Operand, Register

_ADDRESS = re.compile(r"\[(%[\w$]+)(?:\+([1-9][0-9]{0,8}))?\]")
_NUMBER = re.compile(
    r"(?P<number>0|[1-9][0-9]{0,17})|(?P<minus>-[1-9][0-9]{0,17})"
    r"|(?P<float>0[fF][0-9a-fA-F]{8})|(?P<double>0[dD][0-9a-fA-F]{16})"
)
_MOST_KEPT = 10_000

Form = tuple[str, ...]

_forms: set[Form] = set()
_numbers: dict[str, tuple[Operand, str]] = {}


@dataclass(slots=True)
class PlainInstruction:
    """What stands in an instruction, if its form means what it seems to."""

    form: Form
    opcode: str
    operands: tuple[Operand, ...]
    guard: Guard | None

    @property
    def is_known(self) -> bool:
        """Whether the form was learnt."""
        return self.form in _forms

    def learn(self, instruction: Instruction) -> None:
        """Remember the form, if the grammar says the same of it."""
        if (
            instruction.opcode == self.opcode
            and instruction.operands == self.operands
            and instruction.guard == self.guard
            and not instruction.is_terminator
        ):
            _forms.add(self.form)


def read_plain(text: str, find: Callable[[str], Operand | None]) -> PlainInstruction | None:
    """What a statement seems to mean; None of one that needs the grammar.

    Args:
        text: the statement, without its semicolon.
        find: what a name stands for, if it is declared.
    """
    words = text.split(None, 1)
    guard = None
    if words[0].startswith("@"):
        register = find(words[0].lstrip("@!"))
        if not isinstance(register, Register):
            return None
        guard = Guard(register, negated=words[0].startswith("@!"))
        words = words[-1].split(None, 1)
    if len(words) < 2:
        return None
    form = [words[0]]
    operands: list[Operand] = []
    for part in words[1].split(", "):
        found = find(part) if part.startswith("%") else None
        if isinstance(found, Register):
            operands.append(found)
            form.append("")
            continue
        known = _numbers.get(part) or _number(part) or _address(part, find)
        if known is None:
            return None
        operands.append(known[0])
        form.append(known[1])
    return PlainInstruction(tuple(form), words[0], tuple(operands), guard)


def _number(text: str) -> tuple[Operand, str] | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if len(_numbers) > _MOST_KEPT:
        _numbers.clear()
    _numbers[text] = made = Immediate(text), match.lastgroup or ""
    return made


def _address(text: str, find: Callable[[str], Operand | None]) -> tuple[Operand, str] | None:
    match = _ADDRESS.fullmatch(text)
    base = find(match[1]) if match else None
    if match is None or not isinstance(base, Register):
        return None
    return Address(base, int(match[2] or 0)), "offset" if match[2] else "address"
