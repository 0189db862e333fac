"""Names in nested ``{...}`` scopes, made unique in their function."""

from __future__ import annotations

from ccc.ir.nodes import RegisterFile
from ccc.ir.operands import Discard, Operand, Special, Symbol
from ccc.ptx.types import SPECIAL_REGISTERS

_DIGITS = "0123456789"


class Scopes:
    """Which thing a name means at a place. New names do not occur in ``text``, the function's.

    An inner scope may declare a name again; that gets a new name in the IR.
    """

    def __init__(self, registers: RegisterFile, text: str):
        self._registers = registers
        self._text = text
        self._names: list[dict[str, str]] = [{}]
        self._prefixes: list[dict[str, str]] = [{}]
        self._taken: set[str] = set()
        self._taken_prefixes: set[str] = set()
        self._stems: dict[str, tuple[str, int]] = {}
        self._known: dict[str, Operand] = {}
        self._known_outside: list[dict[str, Operand]] = []

    def open(self) -> None:
        """Enter a scope."""
        self._names.append({})
        self._prefixes.append({})
        self._known_outside.append(self._known)
        self._known = {}

    def close(self) -> None:
        """Leave a scope: its names mean nothing any more."""
        self._names.pop()
        self._prefixes.pop()
        self._known = self._known_outside.pop()

    def label_view(self) -> tuple[dict[str, str], ...]:
        """The scopes around a place, the innermost first; labels declared later will be in them."""
        return tuple(reversed(self._names))

    def declare(self, name: str) -> str | None:
        """Declare a name; its unique form, or None if this scope has it already."""
        if name in self._names[-1]:
            return None
        unique = self.fresh(name)
        self._names[-1][name] = unique
        self._known.pop(name, None)
        return unique

    def declare_range(self, prefix: str) -> str | None:
        """Declare the registers ``prefix0``, ``prefix1``, ...; the unique form of the prefix."""
        if prefix in self._prefixes[-1]:
            return None
        unique = prefix
        while unique in self._taken_prefixes or self._range_clashes(unique):
            unique = f"{self._another(prefix)}_"
        self._taken_prefixes.add(unique)
        self._prefixes[-1][prefix] = unique
        self._known = {}
        return unique

    def fresh(self, name: str) -> str:
        """``name``, changed if something else in the function has it."""
        unique = name
        while unique in self._taken or self._is_in_range(unique):
            unique = self._another(name)
        self._taken.add(unique)
        return unique

    def _is_in_range(self, name: str) -> bool:
        prefix = name.rstrip(_DIGITS)
        return prefix != name and prefix in self._taken_prefixes

    def _range_clashes(self, prefix: str) -> bool:
        return any(name.rstrip(_DIGITS) == prefix and name != prefix for name in self._taken)

    def _another(self, name: str) -> str:
        """A name like this one that the function's text does not hold and nobody was given."""
        stem, number = self._stems.get(name, (f"{name}_s", 0))
        while not number and stem in self._text:
            stem += "_"
        self._stems[name] = (stem, number + 1)
        return f"{stem}{number + 1}"

    def find(self, name: str) -> Operand | None:
        """What a name stands for here; None for a name that is not declared in the function."""
        found = self._known.get(name)
        if found is None:
            found = self._find(name)
            if found is not None:
                self._known[name] = found
        return found

    def _find(self, name: str) -> Operand | None:
        prefix = name.rstrip(_DIGITS)
        for names, prefixes in zip(reversed(self._names), reversed(self._prefixes), strict=True):
            if name in names:
                unique = names[name]
                return self._registers.find(unique) or Symbol(unique)
            if prefix in prefixes and prefix != name:
                register = self._registers.find(prefixes[prefix] + name[len(prefix) :])
                if register is not None:
                    return register
        if name == "_":
            return Discard()
        return Special(name) if name in SPECIAL_REGISTERS else None

    def label(self, name: str, view: tuple[dict[str, str], ...]) -> str:
        """The unique form of a label, looked up from the place of ``view``."""
        return next((names[name] for names in view if name in names), name)
