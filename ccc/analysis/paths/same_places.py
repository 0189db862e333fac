"""Accesses that go to one place, also where what their addresses are made from is read twice.

    ld.global.u32 %r8, [%rd4];          // if (!seen[t * 8 + kind[i]])
    ...
    st.global.f32 [%rd6], %f1;          // y[i] = s, which may be kind for all that nvcc knows
    ld.global.u32 %r9, [%rd4];          // seen[t * 8 + kind[i]] = 1

Where nothing is written by that very pointer, users mean one value. This is no proof, and serves
for what they are told.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import TypeAlias

from ccc.analysis.facts import Facts
from ccc.analysis.paths.callee_accesses import differs, operand_of
from ccc.analysis.paths.model import instructions_of
from ccc.analysis.polled import roots
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Immediate, Operand, Register, Special, Symbol
from ccc.ptx.opcodes import ATOMICS, Effect
from ccc.ptx.types import STRONG

SamePlace: TypeAlias = tuple[str, Hashable, int]
"""A space, what stands for the value of a base, and an offset."""
_DEPTH = 40
"""So many instructions in a row are looked through."""


class SamePlaces:
    """The places of accesses in some blocks."""

    def __init__(self, labels: Collection[str], facts: Facts):
        self._facts = facts
        self._values: dict[Hashable, int] = {}
        self._made: dict[Instruction, Hashable] = {}
        writes = (i for i in instructions_of(labels, facts) if i.name in ("st", *ATOMICS))
        places = [roots(i, facts) for i in writes]
        self._written = frozenset[str]().union(*(one for one in places if one is not None))

    def of(self, access: Instruction, depth: int = 0) -> SamePlace | None:
        """Where an access goes."""
        address = operand_of(access, "addr")
        if not isinstance(address, Address):
            return None
        return access.space, self._value(address.base, access, depth), address.offset

    def met_by(self, access: Instruction, others: Iterable[Instruction]) -> list[Instruction]:
        """Those of some accesses that go where another one does, or by a register that holds this
        where several ways meet."""
        place, address = self.of(access), operand_of(access, "addr")
        return [
            one
            for one in others
            if (place is not None and self.of(one) == place)
            or (one.space == access.space and operand_of(one, "addr") == address)
        ]

    def _value(self, operand: Operand, reader: Instruction, depth: int) -> Hashable:
        """What stands for the value of an operand where an instruction reads it."""
        if not isinstance(operand, Register):
            return operand
        made = self._facts.reaching.of_uses(self._facts.homes[reader]).get((reader, operand), ())
        maker = made[0].instruction if len(made) == 1 else None
        if maker is None or maker.guard is not None or maker.defined() != (operand,):
            return operand
        if maker not in self._made:
            key = self._key(maker, depth + 1)
            number = self._values.setdefault(maker if key is None else key, len(self._values))
            self._made[maker] = number
        return self._made[maker]

    def _key(self, maker: Instruction, depth: int) -> Hashable | None:
        """What two instructions have alike that make one value; None if that cannot be told."""
        opcode = str(maker.opcode)
        if depth > _DEPTH or not STRONG.isdisjoint(maker.modifiers):
            return None
        if maker.name == "ld":
            read = roots(maker, self._facts) if maker.space != "param" else frozenset()
            is_known = read is not None and read.isdisjoint(self._written)
            return (opcode, self.of(maker, depth)) if is_known else None
        sources = maker.operands[1:]
        is_plain = all(isinstance(one, (Register, Immediate, Special, Symbol)) for one in sources)
        if maker.effects != Effect.NONE or differs(maker) or not is_plain:
            return None
        return opcode, tuple(self._value(one, maker, depth) for one in sources)


def same_places(labels: frozenset[str], facts: Facts) -> SamePlaces:
    """The places of accesses in some blocks, looked at once."""
    return facts.once(SamePlaces, labels)
