"""Most instructions of real PTX: names, numbers, addresses, and nothing to be found out.

    @%p1 ld.global.u32  %r12, [%rd3+16];

They are split at their commas. What each *form* of them, an opcode with the kinds of its operands,
means was learnt from the grammar when it came for the first time, and checked then.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from ccc.ir.nodes import Instruction, decode
from ccc.ir.operands import Operand
from ccc.parse.items import GUARD, OPCODE, WORDS
from ccc.parse.words import Unknown, Words

_COMMA = re.compile(r",\s*(?![^{}()]*[})])")
_LONGEST = 1_000
"""Characters of operands; what is longer means no good."""
_TO_LABELS = frozenset(("bra", "bra.uni"))
_TO_TABLES = frozenset(("brx.idx", "brx.idx.uni"))

Form: TypeAlias = tuple[object, ...]
"""An opcode, and the kinds of its operands."""

known_forms: dict[Form, bool] = {}
"""Forms that were learnt, and whether they may transfer control."""


def read_operands(opcode: str, text: str | None, words: Words) -> tuple[Operand, ...]:
    """What the operands of an instruction seem to mean.

    Args:
        opcode: what it does.
        text: its operands, if any.
        words: what stands for what.

    Raises:
        Unknown: they need the grammar.
    """
    if not text:
        return ()
    if opcode in _TO_LABELS:
        return (words.target(text.rstrip()),)
    if len(text) >= _LONGEST or opcode in _TO_TABLES:
        raise Unknown(text)
    parts = text.split(", ") if "{" not in text and "(" not in text else _COMMA.split(text)
    return tuple(map(words.__getitem__, parts))


def learn(match: re.Match[str], words: Words, instruction: Instruction) -> None:
    """Remember a form, if the grammar says the same of it.

    Args:
        match: of an ``ITEM`` that is plain.
        words: what stands for what.
        instruction: what the grammar has made of the item.
    """
    before, opcode, text = match.group(GUARD, OPCODE, WORDS)
    try:
        operands = read_operands(opcode, text, words)
        guard = words.guard(before) if before else None
    except Unknown:
        return
    if (instruction.opcode, instruction.operands, instruction.guard) == (opcode, operands, guard):
        form = (opcode, *map(type, operands))
        known_forms[form] = decode(opcode).is_control
