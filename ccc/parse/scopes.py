"""Names in nested ``{...}`` scopes, made unique in their function."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from ccc.ir.operands import Register, Vector
from ccc.ir.registers import DIGITS, RegisterFile
from ccc.parse.words import AXES, Words
from ccc.ptx.types import VECTORS

_FEW, _MANY = 16, 1 << 12
"""Between these, the registers of a range are kept for functions to come."""


class Scopes:
    """The names that a function declares. Unique ones do not occur in ``text``, the function's, nor
    are they among those to be ``avoided``.

    An inner scope may declare a name again; that gets a new name in the IR. A register that is a
    vector becomes one register for each of its parts. ``words`` is what words mean at the place
    that is read.
    """

    def __init__(self, registers: RegisterFile, text: str, avoided: Iterable[str] = ()):
        self.words = Words(registers)
        self._registers = registers
        self._text = text
        self._taken: set[str] = set(avoided)
        self._taken_prefixes: set[str] = set()
        self._numbered = {name.rstrip(DIGITS) for name in self._taken if name[-1] in DIGITS}
        self._stems: dict[str, tuple[str, int]] = {}

    def open(self) -> None:
        """Enter a scope."""
        self.words = Words(self._registers, self.words)

    def close(self) -> None:
        """Leave a scope: its names mean nothing any more."""
        assert self.words.outer is not None
        self.words = self.words.outer

    def declare(self, name: str) -> str | None:
        """Declare a name; its unique form, or None if this scope has it already."""
        words = self.words
        if name in words.names:
            return None
        unique = self.fresh(name)
        words.declare(name, self._registers.singles.get(unique) or unique)
        return unique

    def declare_register(self, name: str, type_name: str, lanes: str = "") -> bool:
        """Declare a register, of several parts if ``lanes`` says so; whether this scope did not
        have it yet."""
        if name in self.words.names:
            return False
        unique = self.fresh(name)
        parts = [
            self._register(self.fresh(f"{name}_{axis}"), type_name)
            for axis in AXES[: VECTORS.get(lanes, 0)]
        ]
        meaning = Vector(tuple(parts)) if lanes else self._register(unique, type_name)
        self.words.declare(name, meaning)
        return True

    def _register(self, name: str, type_name: str) -> Register:
        self._registers.declare(name, type_name)
        return self._registers.singles[name]

    def declare_range(self, prefix: str, type_name: str, lanes: str, count: int) -> bool:
        """Declare the registers ``prefix0``, ``prefix1``, ...; whether this scope did not have them
        yet."""
        if prefix in self.words.ranges:
            return False
        unique = self._fresh_range(prefix)
        axes = AXES[: VECTORS.get(lanes, 0)]
        parts = [self._fresh_range(f"{prefix}_{axis}") for axis in axes] or [unique]
        for part in parts:
            self._registers.declare(part, type_name, count)
        self.words.declare_range(prefix, tuple(parts))
        if parts == [prefix] and prefix == prefix.rstrip(DIGITS) and count < len(self._text) // 8:
            self.words.give(_numbered(prefix, type_name, count))
        return True

    def _fresh_range(self, prefix: str) -> str:
        unique = prefix
        while unique in self._taken_prefixes or unique in self._numbered:
            unique = f"{self._another(prefix)}_"
        self._taken_prefixes.add(unique)
        return unique

    def holds(self, name: str) -> bool:
        """Whether something in the function has this name."""
        return name in self._taken or self._is_in_range(name)

    def fresh(self, name: str) -> str:
        """``name``, changed if something else in the function has it."""
        unique = name
        prefix = name.rstrip(DIGITS)
        while unique in self._taken or (prefix != unique and prefix in self._taken_prefixes):
            unique = self._another(name)
            prefix = unique.rstrip(DIGITS)
        self._taken.add(unique)
        if prefix != unique:
            self._numbered.add(prefix)
        return unique

    def _is_in_range(self, name: str) -> bool:
        prefix = name.rstrip(DIGITS)
        return prefix != name and prefix in self._taken_prefixes

    def _another(self, name: str) -> str:
        """A name like this one that the function's text does not hold and nobody was given."""
        stem, number = self._stems.get(name, (f"{name}_s", 0))
        while not number and stem in self._text:
            stem += "_"
        self._stems[name] = (stem, number + 1)
        return f"{stem}{number + 1}"


def _numbered(prefix: str, type_name: str, count: int) -> Iterable[tuple[str, Register]]:
    """The first registers of a range by their names; most functions have the same ones."""
    if not _FEW < count < _MANY:
        return _named(prefix, type_name, count)
    return islice(_shared(prefix, type_name, 1 << count.bit_length()), count)


def _named(prefix: str, type_name: str, count: int) -> list[tuple[str, Register]]:
    names = [f"{prefix}{number}" for number in range(count)]
    return [(name, Register(name, type_name)) for name in names]


_shared = lru_cache(maxsize=64)(_named)
