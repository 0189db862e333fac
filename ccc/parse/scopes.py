"""Names in nested ``{...}`` scopes, made unique in their function."""

from __future__ import annotations

from collections.abc import Iterable

from ccc.ir.nodes import DIGITS, RegisterFile
from ccc.ir.operands import Register, Symbol, Vector
from ccc.parse.words import AXES, Words
from ccc.ptx.types import VECTORS


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
        if name in self.words.names:
            return None
        unique = self.fresh(name)
        self.words.declare(name, self._registers.singles.get(unique) or Symbol(unique))
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
            self.words.give([Register(f"{prefix}{n}", type_name) for n in range(count)])
        return True

    def _fresh_range(self, prefix: str) -> str:
        unique = prefix
        while unique in self._taken_prefixes or self._range_clashes(unique):
            unique = f"{self._another(prefix)}_"
        self._taken_prefixes.add(unique)
        return unique

    def holds(self, name: str) -> bool:
        """Whether something in the function has this name."""
        return name in self._taken or self._is_in_range(name)

    def fresh(self, name: str) -> str:
        """``name``, changed if something else in the function has it."""
        unique = name
        while unique in self._taken or self._is_in_range(unique):
            unique = self._another(name)
        self._taken.add(unique)
        return unique

    def _is_in_range(self, name: str) -> bool:
        prefix = name.rstrip(DIGITS)
        return prefix != name and prefix in self._taken_prefixes

    def _range_clashes(self, prefix: str) -> bool:
        return any(name.rstrip(DIGITS) == prefix and name != prefix for name in self._taken)

    def _another(self, name: str) -> str:
        """A name like this one that the function's text does not hold and nobody was given."""
        stem, number = self._stems.get(name, (f"{name}_s", 0))
        while not number and stem in self._text:
            stem += "_"
        self._stems[name] = (stem, number + 1)
        return f"{stem}{number + 1}"
