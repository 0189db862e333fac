"""How an instruction computes: the shape of ``semantics``, and NumPy's names for PTX types.

A register holds untyped bits: ``uint8`` to ``uint64`` by its width, ``bool`` for a predicate. An
instruction views them as the types that it names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ccc.emulator.base.errors import EmulatorError
from ccc.ir.nodes import Instruction
from ccc.ptx.types import TYPES

Array: TypeAlias = NDArray[Any]
"""An array; where nothing else is said, it has one entry for each lane of a group: shape (n,)."""
Compute: TypeAlias = Callable[..., Any]

_KINDS = {"b": "uint", "u": "uint", "s": "int", "f": "float", "x": "uint"}

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(f"{_KINDS[scalar.kind]}{scalar.bits}")
    for name, scalar in TYPES.items()
    if scalar.kind != "p" and scalar.bits <= 64
}
"""The dtype that an operand of a PTX type is computed in; packed types are plain bits."""
DTYPES["pred"] = np.dtype(bool)
DTYPES["b128"] = np.dtype([("low", "u8"), ("high", "u8")])


def register_dtype(bits: int) -> np.dtype[Any]:
    """What a register of that width holds."""
    return DTYPES["pred" if bits == 1 else f"b{bits}"]


def pair(low: Any, high: Any, n: int) -> Array:
    """128 bits from their halves, uint64 each: (n,)."""
    whole = np.empty(n, DTYPES["b128"])
    whole["low"], whole["high"] = low, high
    return whole


def spread(value: Any, n: int) -> Array:
    """An operand as an array (n,): the array that it is, or one of a scalar for all lanes."""
    return value if value.ndim else np.full(n, value)


@dataclass(frozen=True, slots=True)
class Operation:
    """What an instruction computes, apart from where its operands are.

    ``compute`` gets one array of shape (n,), or a NumPy scalar that holds for all n lanes, for each
    of ``sources``, of their dtypes (:data:`DTYPES`), and returns one of the dtype of ``results``; a
    tuple where there are several. ``group`` says that it gets the group of active lanes first.
    ``carry`` says that CC.CF is one more source (``"in"`` is in it) or one more result (``"out"``).
    ``machine`` says that it works on more than registers: it gets the wave, and then the group. An
    operand in brackets is a source of the type ADDRESS: uint64, (n,); one in braces is as many as
    it has elements.
    """

    compute: Compute
    sources: tuple[str, ...]
    results: tuple[str, ...]
    group: bool = False
    carry: frozenset[str] = frozenset()
    may_alias: bool = False
    machine: bool = False


ADDRESS = "address"
"""The type of a source that is an address."""


@dataclass(frozen=True, slots=True)
class Form:
    """An instruction as its semantics see it."""

    instruction: Instruction
    slot: int = 0
    """Its place in the counters."""

    @property
    def types(self) -> tuple[str, ...]:
        """Its type modifiers."""
        return self.instruction.types

    @property
    def type(self) -> str:
        """Its last type modifier: that of its operands."""
        if not self.types:
            self.refuse("names no type")
        return self.types[-1]

    @property
    def kind(self) -> str:
        """The kind of :attr:`type`: b, u, s, f, p or x."""
        return TYPES[self.type].kind

    @property
    def bits(self) -> int:
        """The width of :attr:`type`."""
        return TYPES[self.type].bits

    def has(self, *words: str) -> bool:
        """Whether one of these modifiers is there."""
        return not set(words).isdisjoint(self.instruction.modifiers)

    def choose(self, *words: str) -> str | None:
        """The first of the modifiers that is one of these words."""
        return next((word for word in self.instruction.modifiers if word in words), None)

    def refuse(self, why: str) -> NoReturn:
        """Say that this form is not emulated."""
        text = f"{self.instruction.opcode} is not emulated: it {why}"
        raise EmulatorError(text, self.instruction.span)


SEMANTICS: dict[str, Callable[[Form], Operation]] = {}
"""For each emulated row of the opcode table that computes: its operation, by form."""


def emulates(
    *rows: str,
) -> Callable[[Callable[[Form], Operation]], Callable[[Form], Operation]]:
    """Register the semantics of opcode-table rows."""

    def register(function: Callable[[Form], Operation]) -> Callable[[Form], Operation]:
        for row in rows:
            SEMANTICS[row] = function
        return function

    return register


def same(compute: Compute, type_name: str, count: int) -> Operation:
    """An operation whose operands and result are all of one type."""
    return Operation(compute, (type_name,) * count, (type_name,))
