"""Memory that every iteration of a loop stores to: then the iterations are not independent.

    __shared__ float column[8][128];
    for (...) if (...) { column[0][threadIdx.x] = x[i]; ... }     // st.shared.f32 [%r9], %f1;

No value goes from one iteration to the next, but while the task of one waits, that of the next
overwrites what it needs. Iterations are promised to be independent, and in general nobody can check
that; but where a store goes to memory of the thread's own, and its address comes from nothing that
differs between iterations, they certainly are not. What all iterations store alike does no harm,
nor what all threads store to one place: which of them comes last is open in any case.
"""

from __future__ import annotations

from collections.abc import Iterable

from ccc.analysis.defuse import trace
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Operand, Register, Special, Symbol, Vector, registers
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import LANE, SPECIAL_REGISTERS

_DIFFERS = Effect.READ | Effect.CALL | Effect.OPAQUE | Effect.COLLECTIVE
"""What gives another result in every iteration, for all that is known."""

Origin = frozenset[str]
"""The variables, parameters and special registers that an address is made from."""


class InvariantStores:
    """The stores of a loop whose addresses are the same in all its iterations."""

    def __init__(self, loop: Loop, facts: Facts):
        self.facts = facts
        self._parameters = {parameter.name for parameter in facts.function.parameters}
        self._origins: dict[Register, Origin] = {}
        self._overwritten: set[Origin] = set()
        stores = [i for i in self._accesses(loop.blocks) if i.name == "st"]
        if stores:
            self._inside = {i for label in loop.blocks for i in facts.blocks[label].instructions}
            self._differing = self._find_differing(loop)
            self._find_overwritten(stores)

    def find(self, labels: Iterable[str]) -> Instruction | None:
        """An instruction in these blocks that uses memory which every iteration stores to."""
        accesses = self._accesses(labels) if self._overwritten else ()
        return next(filter(self._may_meet, accesses), None)

    def _may_meet(self, instruction: Instruction) -> bool:
        """Whether it uses such a place, or reads one somewhere in the same shared variable."""
        origin = self._origin(instruction)
        if self._is_same(instruction):
            return origin in self._overwritten
        named = frozenset[str]().union(*self._overwritten)
        variables = named - self._parameters - SPECIAL_REGISTERS.keys()
        reads_shared = instruction.name == "ld" and instruction.space == "shared"
        return reads_shared and not variables.isdisjoint(origin)

    def _accesses(self, labels: Iterable[str]) -> list[Instruction]:
        """The loads and stores, but for those of the thread's own memory."""
        return [
            instruction
            for label in sorted(labels)
            for instruction in self.facts.blocks[label].instructions
            if instruction.name in ("ld", "st")
            and instruction.effects & (Effect.READ | Effect.WRITE)
            and not self.facts.local.touches(instruction)
        ]

    def _find_differing(self, loop: Loop) -> set[Register]:
        """The registers that may hold something else in another iteration, as far as data says."""
        written = {r for i in self._inside for r in i.defined()}
        differing = written & self.facts.liveness.live_in(loop.header)
        differing.update(r for i in filter(_differs, self._inside) for r in i.defined())
        grown = True
        while grown:
            found = {
                register
                for instruction in self._inside
                if not differing.isdisjoint(instruction.used())
                for register in instruction.defined()
            }
            grown = not found <= differing
            differing |= found
        return differing

    def _find_overwritten(self, stores: Iterable[Instruction]) -> None:
        values: dict[Origin, set[object]] = {}
        for store in filter(self._is_same, stores):
            values.setdefault(self._origin(store), set()).add(self._value(_operand(store, "use")))
        self._overwritten = {
            origin for origin, stored in values.items() if None in stored or len(stored) > 1
        }

    def _is_same(self, instruction: Instruction) -> bool:
        """Whether all iterations of a thread, but not all threads, use one address, or a few."""
        return self._differing.isdisjoint(registers(_operand(instruction, "addr"))) and any(
            name in SPECIAL_REGISTERS and SPECIAL_REGISTERS[name].varies == LANE
            for name in self._origin(instruction)
        )

    def _origin(self, instruction: Instruction) -> Origin:
        named = frozenset(symbol.name for symbol in instruction.symbols())
        return named.union(*map(self._origin_of, registers(_operand(instruction, "addr"))))

    def _origin_of(self, register: Register) -> Origin:
        if register not in self._origins:
            found = trace([register], self.facts.makers, _computed_from) or ()
            names = (one.name for one in found if isinstance(one, (Symbol, Special)))
            self._origins[register] = frozenset(names)
        return self._origins[register]

    def _value(self, operand: Operand) -> object:
        """What is stored, if that is the same in all iterations; else None."""
        if isinstance(operand, Vector):
            values = tuple(map(self._value, operand.elements))
            return None if None in values else values
        if not isinstance(operand, Register):
            return str(operand)
        definitions = self.facts.makers.get(operand, [])
        if self._inside.isdisjoint(definitions):
            return operand.name
        literal = self.facts.literal(operand)
        return literal and literal.text


def _computed_from(maker: Instruction, _: Register) -> list[Operand]:
    """What a value is made from; of what is read, an index or a pointer, nothing is known."""
    if maker.effects & Effect.READ:
        return []
    return [*maker.used(), *maker.symbols(), *maker.specials()]


def _operand(instruction: Instruction, wanted: str) -> Operand:
    """Its first operand of a role: ``addr`` where it goes, ``use`` what a store writes there."""
    return next(operand for operand, role in instruction.roles() if role == wanted)


def _differs(instruction: Instruction) -> bool:
    """Whether its result differs from one time to the next, though its operands do not."""
    return instruction.reads_time or bool(instruction.effects & _DIFFERS)
