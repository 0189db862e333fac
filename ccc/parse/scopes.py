"""Names in nested ``{...}`` scopes, made unique in their function."""

from __future__ import annotations

from collections.abc import Iterable

from ccc.ir.nodes import RegisterFile
from ccc.ir.operands import Discard, Operand, Register, Special, Symbol, Vector
from ccc.ptx.types import SPECIAL_REGISTERS, VECTORS

_DIGITS = "0123456789"
_AXES = "xyzw"
_COLOURS = "rgba"
"""Other names of the same parts."""


class Scopes:
    """Which thing a name means at a place. New names do not occur in ``text``, the function's, nor
    are they among those to be ``avoided``.

    An inner scope may declare a name again; that gets a new name in the IR. A register that is a
    vector becomes one register for each of its parts.
    """

    def __init__(self, registers: RegisterFile, text: str, avoided: Iterable[str] = ()):
        self._registers = registers
        self._text = text
        self._names: list[dict[str, str]] = [{}]
        self._prefixes: list[dict[str, str]] = [{}]
        self._taken: set[str] = set(avoided)
        self._taken_prefixes: set[str] = set()
        self._stems: dict[str, tuple[str, int]] = {}
        self._known: dict[str, Operand] = {}
        self._known_outside: list[dict[str, Operand]] = []
        self._vectors: dict[str, Vector] = {}
        self._vector_ranges: dict[str, tuple[str, ...]] = {}

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
        unique = self._fresh_range(prefix)
        self._prefixes[-1][prefix] = unique
        self._known = {}
        return unique

    def declare_vector(self, name: str, lanes: str, type_name: str) -> bool:
        """Declare a register of several parts; whether this scope did not have it yet."""
        unique = self.declare(name)
        if unique is None:
            return False
        parts = []
        for axis in _AXES[: VECTORS[lanes]]:
            part = self.fresh(f"{name}_{axis}")
            self._registers.declare(part, type_name)
            parts.append(Register(part, type_name))
        self._vectors[unique] = Vector(tuple(parts))
        return True

    def declare_vector_range(self, prefix: str, lanes: str, type_name: str, count: int) -> bool:
        """Declare several such registers; whether this scope did not have them yet."""
        unique = self.declare_range(prefix)
        if unique is None:
            return False
        parts = tuple(self._fresh_range(f"{prefix}_{axis}") for axis in _AXES[: VECTORS[lanes]])
        for part in parts:
            self._registers.declare(part, type_name, count)
        self._vector_ranges[unique] = parts
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
        for depth in range(len(self._names) - 1, -1, -1):
            unique = self._names[depth].get(name)
            if unique is not None:
                return self._vectors.get(unique) or self._registers.find(unique) or Symbol(unique)
            unique = self._prefixes[depth].get(prefix)
            if unique is not None and prefix != name:
                found = self._numbered(unique, name[len(prefix) :])
                if found is not None:
                    return found
        return Discard() if name == "_" else _special(name)

    def _numbered(self, prefix: str, number: str) -> Operand | None:
        """The register of that number in a range."""
        if prefix not in self._vector_ranges:
            return self._registers.find(prefix + number)
        parts = [self._registers.find(part + number) for part in self._vector_ranges[prefix]]
        return None if None in parts else Vector(tuple(filter(None, parts)))

    def label(self, name: str, view: tuple[dict[str, str], ...]) -> str:
        """The unique form of a label, looked up from the place of ``view``."""
        return next((names[name] for names in view if name in names), name)


def part_of(vector: Vector, selector: str) -> Operand | None:
    """The part of a vector that ``.x`` or ``.r`` and the like name."""
    number = max(_AXES.find(selector), _COLOURS.find(selector)) if len(selector) == 1 else -1
    return vector.elements[number] if 0 <= number < len(vector.elements) else None


def _special(name: str) -> Operand | None:
    """A special register, or all parts of one."""
    if name in SPECIAL_REGISTERS:
        return Special(name)
    base, dot, selector = name.partition(".")
    if f"{base}.x" not in SPECIAL_REGISTERS:
        return None
    parts = Vector(tuple(Special(f"{base}.{axis}") for axis in _AXES))
    return part_of(parts, selector) if dot else parts
