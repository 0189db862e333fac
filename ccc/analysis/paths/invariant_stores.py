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

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from ccc.analysis.callees import callee
from ccc.analysis.defuse import trace
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Arguments, Operand, Register, Special, Symbol, Vector, registers
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
        calls = [call for call in _calls(loop, facts) if facts.callees.load(call.name)]
        if stores or calls:
            self._inside = {i for label in loop.blocks for i in facts.blocks[label].instructions}
            self._differing = self._find_differing(loop)
            self._find_overwritten(stores)
            self._overwritten.update(*map(self._overwritten_by, calls))

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

    def _overwritten_by(self, call: _Call) -> set[Origin]:
        """Memory that a function stores to in every iteration, of its own accord or as it is told.

        What it stores counts as different each time.
        """
        callees, found = self.facts.callees, set[Origin]()
        for function in filter(None, callees.reachable(call.name)):
            found |= _own_stores(Facts(function, callees))
        called = callees.load(call.name)
        written = _written_behind(Facts(called, callees)) if called else set()
        for number, value in call.handed.items():
            told = self._origin_of(value)
            is_place = _is_of_a_thread(told) and not told <= SPECIAL_REGISTERS.keys()
            if is_place and number in written and value not in self._differing:
                found.add(told)
        return found

    def _is_same(self, instruction: Instruction) -> bool:
        """Whether all iterations of a thread, but not all threads, use one address, or a few."""
        is_same = self._differing.isdisjoint(registers(_operand(instruction, "addr")))
        return is_same and _is_of_a_thread(self._origin(instruction))

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


@dataclass(frozen=True)
class _Call:
    """A call: of what, and the registers that it hands over, by the number of the parameter."""

    name: str
    handed: dict[int, Register]


def _calls(loop: Loop, facts: Facts) -> Iterator[_Call]:
    """The calls in a loop."""
    for label in sorted(loop.blocks):
        stored: dict[str, Register] = {}  # to what is handed over next
        for instruction in facts.blocks[label].instructions:
            if instruction.name == "st" and instruction.space == "param":
                value = _operand(instruction, "use")
                if isinstance(value, Register):
                    stored |= {symbol.name: value for symbol in instruction.symbols()}
            elif instruction.effects & Effect.CALL:
                given = [one for one in instruction.operands if isinstance(one, Arguments)]
                names = enumerate(map(str, given[-1].elements if given else ()))
                handed = {number: stored[name] for number, name in names if name in stored}
                yield _Call(callee(instruction), handed)


def _stores(facts: Facts) -> Iterator[Instruction]:
    """The stores of a function to memory that is not the thread's alone."""
    for store in facts.function.instructions:
        if store.name == "st" and store.effects & Effect.WRITE and not facts.local.touches(store):
            yield store


def _own_stores(facts: Facts) -> set[Origin]:
    """Where a function stores to memory of the thread that its caller does not choose."""
    parameters = {parameter.name for parameter in facts.function.parameters}
    found = set()
    for store in _stores(facts):
        address: list[Operand] = [*registers(_operand(store, "addr")), *store.symbols()]
        made = trace(address, facts.makers, _made_from) or ()
        origin = frozenset(one.name for one in made if isinstance(one, (Symbol, Special)))
        if _is_of_a_thread(origin) and parameters.isdisjoint(origin):
            found.add(origin)
    return found


def _written_behind(facts: Facts) -> set[int]:
    """The parameters that a function stores behind, or may have others do so, by their numbers."""
    calls = any(i.effects & Effect.CALL for i in facts.function.instructions)
    addresses = [r for store in _stores(facts) for r in registers(_operand(store, "addr"))]
    made = trace(addresses, facts.makers, _computed_from) or ()
    named = {one.name for one in made if isinstance(one, Symbol)}
    parameters = facts.function.parameters
    return {n for n, parameter in enumerate(parameters) if calls or parameter.name in named}


def _made_from(maker: Instruction, _: Register) -> list[Operand] | None:
    """What a value is made from; None where it may differ from one time to the next."""
    if _differs(maker):
        return None
    return [*maker.used(), *maker.symbols(), *maker.specials()]


def _is_of_a_thread(origin: Collection[str]) -> bool:
    """Whether an address is another one in each thread, as far as it is made from the thread."""
    known = (SPECIAL_REGISTERS[name] for name in origin if name in SPECIAL_REGISTERS)
    return any(register.varies == LANE for register in known)
