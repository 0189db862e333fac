"""Most instructions of real PTX: names, numbers, addresses, and nothing to be found out.

    @%p1 ld.global.u32  %r12, [%rd3+16];

They are split at their commas. What each *form* of them, an opcode with the kinds of its operands,
means was learnt from the grammar when it came for the first time, and checked then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ccc.ir.nodes import Guard, Instruction
from ccc.ir.operands import (
    Address,
    Discard,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Special,
    Symbol,
    Vector,
)

STATEMENT = re.compile(
    r"\s*((?:(@!?%?[\w$]+)\s+)?([a-z]\w*(?:(?:\.|::)\w+)*)(?:\s+([^;:\"]*))?);", re.ASCII
)
"""A statement: all of it, its guard, its opcode, its operands."""
_COMMA = re.compile(r",\s*(?![^{}]*\})")
_NUMBER = re.compile(
    r"(?P<number>0|[1-9][0-9]{0,17})|(?P<minus>-[1-9][0-9]{0,17})|(?P<hex>0x[0-9a-fA-F]{1,16})"
    r"|(?P<float>0[fF][0-9a-fA-F]{8})|(?P<double>0[dD][0-9a-fA-F]{16})"
)
_NAME = re.compile(r"%?[a-zA-Z_$][\w$]*(?:\.[a-z]\w*)?", re.ASCII)
_ADDRESS = re.compile(
    r"\[(?P<base>%?[a-zA-Z_$][\w$]*)(?:\+(?P<offset>-?[1-9][0-9]{0,8}))?\]", re.ASCII
)
_MOST_KEPT = 10_000
_LONGEST = 1_000
"""Characters of operands; what is longer means no good."""
_KINDS: dict[type, str] = {Register: "", Special: "special", Symbol: "symbol", Discard: "_"}
"""What stands for a name."""
_IN_VECTORS = ("", "_", "number", "minus", "hex", "float", "double")
_OF_LISTS = ("call", "brx")
"""Instructions with lists in parentheses, or tables of labels."""

Form: TypeAlias = tuple[str, ...]
Word: TypeAlias = tuple[Operand, str]
"""What stands between two commas: an operand, and its kind."""

_forms: set[Form] = set()
_numbers: dict[str, Word] = {}


class Unknown(KeyError):
    """A word that needs the grammar."""


class Words(dict[str, Word]):
    """What words mean in a scope, and guards, found once as long as nothing else is declared.

    Args:
        find: what a name stands for, if it is declared in the function.
        foreign: takes the names of things outside of it.
    """

    def __init__(self, find: Callable[[str], Operand | None], foreign: set[str]):
        super().__init__()
        self.guards: dict[str, Guard] = {}
        self._find = find
        self._foreign = foreign

    def clear(self) -> None:
        """Forget all, since something is declared."""
        super().clear()
        self.guards.clear()

    def __missing__(self, text: str) -> Word:
        self[text] = word = self._read(text.strip())
        return word

    def guard(self, text: str) -> Guard:
        """What stands before an opcode."""
        found = self.guards.get(text)
        if found is None:
            register = self._register(text.lstrip("@!"))
            found = self.guards[text] = Guard(register, negated=text.startswith("@!"))
        return found

    def name(self, text: str, *, is_label: bool = False) -> Word:
        """A name; of a thing outside of the function where it is not declared in it."""
        if not _NAME.fullmatch(text) or text == "WARP_SZ":
            raise Unknown(text)
        found = self._find(text)
        if found is None:
            if text.startswith("%") or "." in text:
                raise Unknown(text)
            if not is_label:
                self._foreign.add(text)
            found = Symbol(text)
        kind = _KINDS.get(type(found))
        if kind is None:
            raise Unknown(text)
        return found, kind

    def _read(self, text: str) -> Word:
        if text.startswith("%"):  # nearly always, so first
            found = self._find(text)
            if type(found) is Register:
                return found, ""
        match text[:1]:
            case "[":
                return self._address(text)
            case "{":
                return self._vector(text)
            case "!":
                return Negated(self._register(text[1:])), "!"
        first, bar, second = text.partition("|")
        if bar:
            return Pair(self._register(first), self._register(second)), "|"
        return _numbers.get(text) or _number(text) or self.name(text)

    def _register(self, text: str) -> Register:
        found = self._find(text)
        if not isinstance(found, Register):
            raise Unknown(text)
        return found

    def _address(self, text: str) -> Word:
        match = _ADDRESS.fullmatch(text)
        base, kind = self.name(match["base"]) if match else (None, "")
        if match is None or not isinstance(base, (Register, Symbol)):
            raise Unknown(text)
        offset = match["offset"]
        return Address(base, int(offset or 0)), f"[{kind}{'+' if offset else ''}]"

    def _vector(self, text: str) -> Word:
        if "{" in text[1:] or not text.endswith("}"):
            raise Unknown(text)
        words = [self[part] for part in text[1:-1].split(",")]
        if not all(kind in _IN_VECTORS for _, kind in words):
            raise Unknown(text)
        kinds = ",".join(kind for _, kind in words)
        return Vector(tuple(operand for operand, _ in words)), f"{{{kinds}}}"


class PlainInstruction(NamedTuple):
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
        ):
            _forms.add(self.form)


def read_plain(match: re.Match[str], words: Words) -> PlainInstruction | None:
    """What a statement seems to mean; None of one that needs the grammar.

    Args:
        match: of ``STATEMENT``.
        words: what stands for what.
    """
    _, before, opcode, text = match.groups()
    if opcode.startswith(_OF_LISTS) or (text and len(text) > _LONGEST):
        return None
    try:
        guard = words.guard(before) if before else None
        if text is None:
            found = []
        elif opcode.startswith("bra"):
            found = [words.name(text.rstrip(), is_label=True)]
        else:
            found = [
                words[one] for one in (_COMMA.split(text) if "{" in text else text.split(", "))
            ]
    except Unknown:
        return None
    operands = tuple([operand for operand, _ in found])
    return PlainInstruction((opcode, *[kind for _, kind in found]), opcode, operands, guard)


def _number(text: str) -> Word | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if len(_numbers) > _MOST_KEPT:
        _numbers.clear()
    _numbers[text] = made = Immediate(text), match.lastgroup or ""
    return made
