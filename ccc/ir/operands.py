"""Operands of instructions: immutable values, compared by content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ccc.ptx.types import SPECIAL_REGISTERS, TYPES, SpecialRegister, parse_integer


class Register(NamedTuple):
    """A virtual register; ``type`` is a key of :data:`ccc.ptx.types.TYPES`.

    A tuple, since there are many, and they go into many sets.
    """

    name: str
    type: str

    def __str__(self) -> str:
        return self.name

    @property
    def bits(self) -> int:
        """Width in bits; 1 for a predicate."""
        return TYPES[self.type].bits


CARRY = Register("%CC.CF", "pred")
"""The condition code that ``add.cc`` and its like write and ``addc`` reads (PTX ISA 9.7.2)."""


@dataclass(frozen=True, slots=True)
class Special:
    """A special register such as ``%tid.x``."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def register(self) -> SpecialRegister:
        """Its type and what it varies with."""
        return SPECIAL_REGISTERS[self.name]


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal, kept as written: ``7``, ``-1``, ``0x1FU``, ``0f3F800000``."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def integer(self) -> int | None:
        """Its value if it is an integer literal."""
        return parse_integer(self.text)

    def unsigned(self, bits: int) -> Immediate:
        """The integer of so many bits without a sign, where nvcc may write it with one."""
        return self if self.integer is None else Immediate(str(self.integer & ((1 << bits) - 1)))


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, parameter, function or label, with a byte offset.

    ``written`` is how the offset stood in the source, with its sign; else it is printed plainly.
    """

    name: str
    offset: int = 0
    written: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name + (self.written or _plus(self.offset))


@dataclass(frozen=True, slots=True)
class Address:
    """``[base+offset]``; the offset is in bytes. ``written`` as in :class:`Symbol`."""

    base: Register | Symbol | Immediate
    offset: int = 0
    written: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"[{self.base}{self.written or _plus(self.offset)}]"


_AXES = "xyzw"


def _plus(offset: int) -> str:
    return f"+{offset}" if offset else ""


@dataclass(frozen=True, slots=True)
class TupleAddress:
    """``[texture, {x, y}]`` and other addresses of several parts."""

    parts: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.parts))}]"


@dataclass(frozen=True, slots=True)
class Vector:
    """``{a, b}``: several scalars as one operand.

    All parts of a special register, such as ``%tid``, are printed by its name.
    """

    elements: tuple[Operand, ...]

    def __str__(self) -> str:
        first = self.elements[0] if self.elements else None
        if isinstance(first, Special) and len(self.elements) == len(_AXES):
            whole = first.name.partition(".")[0]
            if self.elements == tuple(Special(f"{whole}.{axis}") for axis in _AXES):
                return whole
        return "{" + ", ".join(map(str, self.elements)) + "}"


@dataclass(frozen=True, slots=True)
class Pair:
    """``p|q``: two destinations."""

    first: Operand
    second: Operand

    def __str__(self) -> str:
        return f"{self.first}|{self.second}"


@dataclass(frozen=True, slots=True)
class Negated:
    """``!p``: a predicate operand, inverted."""

    operand: Operand

    def __str__(self) -> str:
        return f"!{self.operand}"


@dataclass(frozen=True, slots=True)
class Minus:
    """``-a``: an operand of a video instruction that is subtracted."""

    operand: Operand

    def __str__(self) -> str:
        return f"-{self.operand}"


@dataclass(frozen=True, slots=True)
class Selected:
    """``a.b0`` or ``a.h10``: bytes or halves of a register, in a video instruction."""

    register: Register
    selector: str

    def __str__(self) -> str:
        return f"{self.register}.{self.selector}"


@dataclass(frozen=True, slots=True)
class Discard:
    """``_``: a destination that nobody reads."""

    def __str__(self) -> str:
        return "_"


@dataclass(frozen=True, slots=True)
class Arguments:
    """``(a, b)`` in a call."""

    elements: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


Operand: TypeAlias = (
    Register | Special | Immediate | Symbol | Address | TupleAddress | Vector | Pair | Negated
    | Minus | Selected | Discard | Arguments
)  # fmt: skip


def leaves(operand: Operand) -> Iterator[Operand]:
    """The parts of an operand that have no parts."""
    if isinstance(operand, Address):
        yield operand.base
    elif isinstance(operand, TupleAddress):
        for part in operand.parts:
            yield from leaves(part)
    elif isinstance(operand, (Vector, Arguments)):
        for part in operand.elements:
            yield from leaves(part)
    elif isinstance(operand, Pair):
        yield from leaves(operand.first)
        yield from leaves(operand.second)
    elif isinstance(operand, (Negated, Minus)):
        yield from leaves(operand.operand)
    elif isinstance(operand, Selected):
        yield operand.register
    else:
        yield operand


def registers(operand: Operand) -> Iterator[Register]:
    """The virtual registers in an operand."""
    return (leaf for leaf in leaves(operand) if isinstance(leaf, Register))


def map_leaves(operand: Operand, change: Callable[[Operand], Operand]) -> Operand:
    """The same operand with every leaf replaced by ``change(leaf)``."""
    match operand:
        case Register() | Immediate():
            return change(operand)
        case Address(base, offset, written):
            changed = change(base)
            assert isinstance(changed, (Register, Symbol, Immediate))
            return Address(changed, offset, written)
        case TupleAddress(parts):
            return TupleAddress(tuple(map_leaves(part, change) for part in parts))
        case Vector(elements):
            return Vector(tuple(map_leaves(part, change) for part in elements))
        case Arguments(elements):
            return Arguments(tuple(map_leaves(part, change) for part in elements))
        case Pair(first, second):
            return Pair(map_leaves(first, change), map_leaves(second, change))
        case Negated(inner):
            return Negated(map_leaves(inner, change))
        case Minus(inner):
            return Minus(map_leaves(inner, change))
        case Selected(register, selector):
            changed = change(register)
            assert isinstance(changed, Register)
            return Selected(changed, selector)
        case _:
            return change(operand)
