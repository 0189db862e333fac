"""Most instructions of real PTX: names, numbers, addresses, and nothing to be found out.

    @%p1 ld.global.u32  %r12, [%rd3+16];

They are split at their commas. What each *form* of them, an opcode with the kinds of its operands,
means was learnt from the grammar when it came for the first time, and checked then.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from ccc.ir.nodes import Guard, Instruction
from ccc.ir.operands import Operand
from ccc.parse.words import Unknown, Words

_COMMA = re.compile(r",\s*(?![^{}()]*[})])")
_LONGEST = 1_000
"""Characters of operands; what is longer means no good."""
_TO_LABELS = frozenset(("bra", "bra.uni"))
_TO_TABLES = frozenset(("brx.idx", "brx.idx.uni"))

Form: TypeAlias = tuple[str, tuple[type, ...]]
"""An opcode, and the kinds of its operands."""
Plain: TypeAlias = tuple[Form, tuple[Operand, ...], Guard | None]
"""What stands in an instruction, if its form means what it seems to."""

known_forms: set[Form] = set()


def read_plain(match: re.Match[str], words: Words) -> Plain | None:
    """What an instruction seems to mean; None of one that needs the grammar.

    Args:
        match: of an ``ITEM`` that is plain.
        words: what stands for what.
    """
    before, opcode, text = match.group("guard", "opcode", "words")
    operands: tuple[Operand, ...] = ()
    try:
        if opcode in _TO_LABELS:
            operands = (words.target((text or "").rstrip()),)
        elif text and len(text) < _LONGEST and opcode not in _TO_TABLES:
            parts = text.split(", ") if "{" not in text and "(" not in text else _COMMA.split(text)
            operands = tuple([words[part] for part in parts])
        elif text:
            return None
        guard = words.guard(before) if before else None
    except Unknown:
        return None
    return (opcode, tuple(map(type, operands))), operands, guard


def learn(plain: Plain, instruction: Instruction) -> None:
    """Remember a form, if the grammar says the same of it."""
    form, operands, guard = plain
    if (instruction.opcode, instruction.operands, instruction.guard) == (form[0], operands, guard):
        known_forms.add(form)
