"""What the words of instructions stand for: names, numbers, addresses."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable

from ccc.ir.nodes import Guard
from ccc.ir.operands import (
    Address,
    Arguments,
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
from ccc.ir.registers import DIGITS, RegisterFile
from ccc.ptx.types import SPECIAL_REGISTERS

_NUMBER = re.compile(
    r"0|-?[1-9][0-9]{0,18}|0x[0-9a-fA-F]{1,16}|0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}"
)
_NAME = re.compile(r"[a-zA-Z_$][\w$]*", re.ASCII)
_OFFSET = re.compile(r"0|-?[1-9][0-9]{0,8}")
_MOST_KEPT = 10_000
AXES = "xyzw"
"""The parts of a vector, and"""
_COLOURS = "rgba"
"""other names of them."""

_numbers: dict[str, Immediate] = {}


class Unknown(KeyError):
    """A word that needs the grammar."""


class Words(dict[str, Operand]):
    """What words mean in a scope, found once as long as nothing that they name is declared again.

    Args:
        registers: the function's.
        outer: the scope around this one.

    Attributes:
        names: what the scope declares, of symbols the name that they have in the function; and
            ``ranges``, by prefix, with one prefix of the function's registers for each part of
            those that are vectors.
        foreign: what is named, and is declared nowhere in the function.
    """

    def __init__(self, registers: RegisterFile, outer: Words | None = None):
        super().__init__()
        self.outer = outer
        self.names: dict[str, Operand | str] = {}
        self.ranges: dict[str, tuple[str, ...]] = {}
        self.foreign: set[str] = set() if outer is None else outer.foreign
        self._root: Words | None = None if outer is None else outer._root or outer
        self._guards: dict[str, Guard] = {}
        self._registers = registers
        self._given = 0

    def clear(self) -> None:
        """Forget all that was found."""
        super().clear()
        self._guards.clear()
        self._given = 0

    def declare(self, name: str, meaning: Operand | str) -> None:
        """Give a name a meaning, and forget what may have held the name before."""
        self.names[name] = meaning
        if name in self:
            self.clear()

    def declare_range(self, prefix: str, parts: tuple[str, ...]) -> None:
        """The same for all names that a number makes of a prefix."""
        self.ranges[prefix] = parts
        if len(self) > self._given:
            self.clear()

    def give(self, registers: Iterable[tuple[str, Register]]) -> None:
        """Have registers found by their names, while nothing else was."""
        if len(self) == self._given:
            self.update(registers)
            self._given = len(self)

    def find(self, name: str) -> Operand | None:
        """What a name stands for; None if it is not declared in the function."""
        return self._declared(name) or (Discard() if name == "_" else _special(name))

    def label(self, name: str) -> str:
        """The name that a label has in the function."""
        own = self.names.get(name)
        if type(own) is str:
            return own
        return str(self._declared(name) or name)

    def _declared(self, name: str) -> Operand | None:
        prefix = name.rstrip(DIGITS)
        words: Words | None = self
        while words is not None:
            found = words._own(name, prefix)
            if found is not None:
                return found
            words = words.outer
            if words is not None and (known := words.get(name)) is not None:
                return known  # which it forgets when it declares that name
        return None

    def _own(self, name: str, prefix: str) -> Operand | None:
        """What a name stands for that this scope declares."""
        meaning = self.names.get(name)
        if meaning is not None:
            return Symbol(meaning) if isinstance(meaning, str) else meaning
        parts = self.ranges.get(prefix)
        if parts is None:
            return None
        number = name[len(prefix) :]
        if len(parts) == 1:
            return self._registers.numbered(parts[0], number)
        found = [self._registers.numbered(part, number) for part in parts]
        return None if None in found else Vector(tuple(filter(None, found)))

    def __missing__(self, text: str) -> Operand:
        word = text.strip()
        if word != text:
            found = self[word]
        else:
            compound = _COMPOUND.get(text[:1])
            found = compound(self, text) if compound else _numbers.get(text) or self._word(text)
        self[text] = found
        return found

    def guard(self, text: str) -> Guard:
        """What stands before an opcode."""
        found = self._guards.get(text)
        if found is None:
            register = self._register(text.lstrip("@!"))
            found = self._guards[text] = Guard(register, negated=text.startswith("@!"))
        return found

    def target(self, text: str) -> Symbol:
        """A label, which may be declared behind what names it."""
        own = self.names.get(text)
        if type(own) is str:
            return Symbol(own)
        declared = self._declared(text)
        if isinstance(declared, Symbol):
            return declared
        if declared is not None or not _NAME.fullmatch(text):
            raise Unknown(text)
        return Symbol(text)

    def _word(self, text: str) -> Operand:
        found = self._declared(text)
        if type(found) is Register or type(found) is Symbol:  # which it is nearly always
            return found
        first, bar, second = text.partition("|")
        if bar:
            return Pair(self._register(first), self._register(second))
        return _number(text) or self._name(text)

    def _name(self, text: str) -> Operand:
        found = self.find(text)
        if found is None and _NAME.fullmatch(text) and text != "WARP_SZ":
            self.foreign.add(text)
            symbol = Symbol(text)
            if self._root is not None:
                self._root[text] = symbol  # for scopes to come
            return symbol
        if isinstance(found, (Register, Special, Symbol, Discard)):
            return found
        raise Unknown(text)

    def _register(self, text: str) -> Register:
        found = self[text]
        if not isinstance(found, Register):
            raise Unknown(text)
        return found

    def _address(self, text: str) -> Address:
        if text[-1] != "]":
            raise Unknown(text)
        inner, plus, offset = text[1:-1].partition("+")
        base, number = self[inner], _offset(offset) if plus else 0
        if number is None or not isinstance(base, (Register, Symbol)):
            raise Unknown(text)
        return Address(base, number, "+0" if offset == "0" else "")

    def _vector(self, text: str) -> Vector:
        elements = self._list(text, "}")
        if not all(isinstance(one, (Register, Discard)) for one in elements):
            raise Unknown(text)  # what may be written, too, is known by its kind
        return Vector(elements)

    def _arguments(self, text: str) -> Arguments:
        is_empty = text[-1] == ")" and not text[1:-1].strip()
        return Arguments(() if is_empty else self._list(text, ")"))

    def _negated(self, text: str) -> Negated:
        return Negated(self._register(text[1:]))

    def _list(self, text: str, end: str) -> tuple[Operand, ...]:
        """The elements of a vector, or of arguments."""
        if text[-1] != end:
            raise Unknown(text)
        return tuple([self[part.strip()] for part in text[1:-1].split(",")])


_COMPOUND: dict[str, Callable[[Words, str], Operand]] = {
    "[": Words._address,
    "{": Words._vector,
    "(": Words._arguments,
    "!": Words._negated,
}
"""How words are read that begin like that."""


@functools.lru_cache(maxsize=4096)
def _offset(text: str) -> int | None:
    """What stands behind the plus of an address, where that is a plain number."""
    return int(text) if _OFFSET.fullmatch(text) else None


def _number(text: str) -> Immediate | None:
    if not _NUMBER.fullmatch(text):
        return None
    if len(_numbers) > _MOST_KEPT:
        _numbers.clear()
    _numbers[text] = made = Immediate(text)
    return made


def part_of(vector: Vector, selector: str) -> Operand | None:
    """The part of a vector that ``.x`` or ``.r`` and the like name."""
    number = max(AXES.find(selector), _COLOURS.find(selector)) if len(selector) == 1 else -1
    return vector.elements[number] if 0 <= number < len(vector.elements) else None


def _special(name: str) -> Operand | None:
    """A special register, or all parts of one."""
    if name in SPECIAL_REGISTERS:
        return Special(name)
    base, dot, selector = name.partition(".")
    if f"{base}.x" not in SPECIAL_REGISTERS:
        return None
    parts = Vector(tuple(Special(f"{base}.{axis}") for axis in AXES))
    return part_of(parts, selector) if dot else parts
