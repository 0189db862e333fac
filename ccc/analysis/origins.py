"""What addresses are made from: variables, and pointers that were handed to the function.

An address leads into the object whose address it was made from, as C++ has it. What is narrower
than an address is an index, and so may a number be that is as wide (:mod:`ccc.analysis.indices`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from ccc.analysis.indices import ADDRESS, Indices
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Immediate, Operand, Register, Special, Symbol, Vector
from ccc.ptx.opcodes import RENAMES
from ccc.ptx.operations import COMPUTES_ADDRESSES, SCALES

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts

_ALIGNED = 1 << 16
"""Addresses are rounded down to multiples of less."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of a variable, or with an ``offset`` what lies there in a parameter.

    One that has ``loads`` lay in memory, at the place that ``name`` and ``offset`` tell; the last
    of them has found it there, at the end of a chain that the others have followed.
    """

    name: str
    offset: int | None = None
    loads: tuple[Instruction, ...] = ()

    @property
    def is_loaded(self) -> bool:
        """Whether it lay in memory."""
        return bool(self.loads)

    @property
    def root(self) -> str:
        """What it is called where it did not lie in memory: members of a structure that is handed
        over are pointers as parameters are."""
        return f"{self.name}+{self.offset}" if self.offset else self.name

    @property
    def place(self) -> tuple[str, int | None, bool]:
        """Where it comes from. What lies in memory may be another one at another time."""
        return self.name, self.offset, self.is_loaded


Pointers: TypeAlias = frozenset[Pointer] | None
"""All that an address may be made from; None if that is not known."""


class Origins:
    """What the addresses of a function are made from.

    With ``through_memory``, a pointer that was loaded is known by the place that it was loaded
    from, which may hold others at other times.
    """

    def __init__(self, facts: Facts, *, through_memory: bool = False):
        self.facts = facts
        self.through_memory = through_memory
        self._parameters = [parameter.name for parameter in facts.function.parameters]
        self._own = {v.name for v in facts.function.variables if v.space == "local"}
        self._place_of = facts.callees.place_of
        self._indices = Indices(facts)
        self._known: dict[tuple[Operand, ...], Pointers] = {}

    def of_access(self, access: Instruction) -> Pointers:
        """What the only address of a load, a store or an atomic operation is made from."""
        addresses = [operand for operand, role in access.roles() if role == "addr"]
        if len(addresses) != 1 or not isinstance(addresses[0], Address):
            return None
        return self.of(addresses[0].base)

    def of(self, *values: Operand) -> Pointers:
        """What some values are made from, if they are addresses."""
        if values not in self._known:
            self._known[values] = self._find(values)
        return self._known[values]

    def is_own(self, pointer: Pointer) -> bool:
        """Whether it is the address of a variable in the thread's own memory."""
        return pointer.offset is None and pointer.name in self._own

    def number(self, pointer: Pointer) -> int | None:
        """The number of the parameter in which it was handed to a function that is called."""
        if self.facts.function.kind == "entry" or pointer.name not in self._parameters:
            return None
        return self._parameters.index(pointer.name)

    def exactly(self, value: Operand) -> Pointer | None:
        """The pointer of which a value is a copy, not stepped and not chosen; None of others."""
        while isinstance(value, Register):
            maker = self.facts.maker(value)
            if maker is None:
                return None
            pointer = self._parameter(maker, value) or self._loaded(maker, value)
            if pointer is not None:
                return pointer
            if maker.name not in RENAMES or len(maker.operands) != 2:
                return None
            value = maker.operands[1]
        if isinstance(value, Symbol) and value.name not in self._parameters and not value.offset:
            return Pointer(self._place_of(value.name))
        return None

    def _find(self, values: Iterable[Operand]) -> Pointers:
        found: set[Pointer] = set()
        seen: set[Operand] = set()
        worklist = list(values)
        while worklist:
            value = worklist.pop()
            if value in seen:
                continue
            seen.add(value)
            if isinstance(value, Symbol) and value.name not in self._parameters:
                found.add(Pointer(self._place_of(value.name)))
            elif isinstance(value, Register) and (made := self.facts.makers.get(value)):
                for maker in made:
                    pointer = self._parameter(maker, value) or self._loaded(maker, value)
                    if pointer is not None:
                        found.add(pointer)
                    elif (base := self._indices.base(maker)) is not None:
                        worklist.append(base)
                    elif (parts := _parts(maker, value)) is not None:
                        worklist += parts
                    else:
                        return None
            elif not isinstance(value, (Immediate, Special)):
                return None
        return frozenset(found) or None

    def _parameter(self, load: Instruction, made: Register) -> Pointer | None:
        """What lies in a parameter, if that is what is loaded."""
        if load.name != "ld" or load.space != "param":
            return None
        target, source = load.operands[:2]
        match source:
            case Address(Symbol(name, start), offset) if name in self._parameters:
                element = target.elements.index(made) if isinstance(target, Vector) else 0
                return Pointer(name, start + offset + element * made.bits // 8)
        return None

    def _loaded(self, load: Instruction, made: Register) -> Pointer | None:
        """What lies at a known distance behind another pointer, if that is what is loaded."""
        if not self.through_memory or load.name != "ld" or load.guard is not None:
            return None
        target, address = load.operands[:2]
        if target != made or not isinstance(address, Address):
            return None
        found = self._at_distance(address.base, address.offset)
        return replace(found, loads=(*found.loads, load)) if found else None

    def _at_distance(self, base: Operand, distance: int) -> Pointer | None:
        """The pointer from which a base was made by constant steps, at so many bytes from it."""
        while isinstance(base, Register):
            maker = self.facts.maker(base)
            if maker is None:
                return None
            pointer = self._parameter(maker, base) or self._loaded(maker, base)
            if pointer is not None:
                return Pointer(f"[{pointer.name}+{pointer.offset}]", distance, pointer.loads)
            step = maker.operands[2] if maker.name == "add" else Immediate("0")
            if maker.name not in RENAMES | {"add"} or not isinstance(step, Immediate):
                return None
            distance += step.integer or 0
            base = maker.operands[1]
        if isinstance(base, Symbol) and base.name not in self._parameters:
            return Pointer(self._place_of(base.name), base.offset + distance)
        return None


def _parts(maker: Instruction, made: Register) -> list[Operand] | None:
    """What a register that is as wide as an address was made from, but for narrower ones.

    None if it is not known, as of a pointer that was read from memory.
    """
    sources = maker.operands[1:]
    if maker.name not in COMPUTES_ADDRESSES or any(
        isinstance(one, Vector) for one in maker.operands
    ):
        return None
    if made.bits >= ADDRESS and _joins_halves(maker.name, sources):
        return None
    # An index is multiplied, unless it is as wide as an address: then it may choose one, as in
    # ``z + c * (x - z)``.
    if maker.name in SCALES and made.bits < ADDRESS:
        sources = sources[2:]
    return [s for s in sources if not isinstance(s, Register) or s.bits >= made.bits]


def _joins_halves(name: str, sources: Sequence[Operand]) -> bool:
    """Whether an address may be put together there from parts of several."""
    if name == "or":
        return all(isinstance(source, Register) for source in sources)
    masks = [source.integer for source in sources if isinstance(source, Immediate)]
    return name == "and" and any(not (mask or 0) % _ALIGNED for mask in masks)
