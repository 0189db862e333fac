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

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from ccc.analysis.defuse import Definition, trace
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.callee_accesses import (
    Accesses,
    CalleeAccess,
    Handover,
    calls,
    differs,
    is_access,
    operand_of,
)
from ccc.analysis.paths.reductions import updates_any
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Operand, Register, Special, Symbol, Vector, registers
from ccc.ptx.opcodes import ATOMICS, Effect
from ccc.ptx.types import LANE, SPECIAL_REGISTERS

Origin = frozenset[str]
"""The variables, parameters and special registers that an address is made from."""


class InvariantStores:
    """The stores of a loop whose addresses are the same in all its iterations."""

    def __init__(self, loop: Loop, facts: Facts):
        self.facts = facts
        self._loop = loop
        self._parameters = {parameter.name for parameter in facts.function.parameters}
        self._origins: dict[Operand, Origin] = {}
        self._overwritten: set[Origin] = set()
        self._functions = Accesses(facts.callees)
        stores = [i for i in self._accesses(loop.blocks) if i.name == "st"]
        called = list(calls(facts.blocks[label] for label in sorted(loop.blocks)))
        if stores or called:
            self._find_overwritten(stores)
            self._overwritten.update(*map(self._overwritten_by, called))

    def find(self, labels: Iterable[str]) -> Instruction | None:
        """An instruction in these blocks that uses memory which every iteration stores to."""
        if not self._overwritten:
            return None
        found = next(filter(self._may_meet, self._accesses(labels)), None)
        if found is not None:
            return found
        called = calls(self.facts.blocks[label] for label in sorted(labels))
        return next((call.instruction for call in called if self._may_meet_in(call)), None)

    def others(self, labels: Iterable[str], shared: Instruction) -> list[Instruction]:
        """What uses other such places than one, an instruction for each."""
        places: dict[tuple[Operand, ...], Instruction] = {}
        for one in filter(self._may_meet, [shared, *self._accesses(labels)]):
            places.setdefault((*one.symbols(), operand_of(one, "addr")), one)
        return [one for one in places.values() if one is not shared]

    def is_updated(self, shared: Instruction) -> bool:
        """Whether the loop also writes there what it makes of what it reads there."""
        if self._updates(shared):
            return True
        here = self._at_the_same(shared)
        loads = {operand_of(i, "addr"): i for i in here if i.name == "ld"}
        for store in (i for i in here if i.name == "st" and operand_of(i, "addr") in loads):
            stored = registers(operand_of(store, "use"))
            made = trace(stored, self.facts.makers, lambda maker, _: maker.used()) or frozenset()
            if not made.isdisjoint(loads[operand_of(store, "addr")].defined()):
                return True
        return False

    def is_only_updated(self, shared: Instruction) -> bool:
        """Whether that is as a reduction does, and all that it does with what it reads there: no
        element is made of another one."""
        updates = self._updates(shared)
        here = self._at_the_same(shared)
        passed = {r for i in here if i.name == "ld" for r in i.defined()}
        passed.update(r for i in updates for r in i.defined())
        return not self._reads_others(shared) and all(
            i in updates or i in here for i in self._inside if not passed.isdisjoint(i.used())
        )

    def _reads_others(self, shared: Instruction) -> bool:
        """Whether another element is read of what a pointer leads to than is written."""
        every = self._accesses(self._loop.blocks)
        led = self._leading_to(shared)
        mine = [i for i in every if self._leading_to(i) == led]
        stored = {operand_of(i, "addr") for i in mine if i.name == "st"}
        return any(operand_of(i, "addr") not in stored for i in mine if i.name == "ld")

    def _leading_to(self, access: Instruction) -> set[Operand]:
        """What its address is made from, of a structure that the function is given its members."""
        begun: list[Operand] = [*access.symbols(), *registers(operand_of(access, "addr"))]
        found = trace(begun, self.facts.makers, _by_members) or frozenset()
        return {one for one in found if isinstance(one, (Symbol, Special, Address))}

    def is_counted(self, shared: Instruction, path: str) -> bool:
        """Whether it adds the same there each time that it comes to a path, whatever that does."""
        updates = self._updates(shared)
        always = self.facts.post_dominators
        stores = [i for i in self._at_the_same(shared) if i.name == "st"]
        read = {r for i in self._at_the_same(shared) if i.name == "ld" for r in i.defined()}
        made = {r for i in self._inside for r in i.defined()} - read
        return (
            len(updates) == len(stores) == 1
            and all(one.name in ("add", "sub") and one.types[0][0] in "us" for one in updates)
            and all(made.isdisjoint(one.used()) for one in updates)
            and all(always.dominates(self.facts.homes[one], path) for one in stores)
        )

    def _at_the_same(self, shared: Instruction) -> list[Instruction]:
        """The accesses of the loop of which nothing tells that they are to another place."""
        same = [i for i in self._accesses(self._loop.blocks) if self._is_same(i)]
        return [i for i in same if self._origin(i) == self._origin(shared)]

    def _updates(self, shared: Instruction) -> set[Instruction]:
        """What makes a new value of what is read there as a reduction does, which is written
        there."""
        here = self._at_the_same(shared)
        read = {r for i in here if i.name == "ld" for r in i.defined()}
        stored = (r for i in here if i.name == "st" for r in registers(operand_of(i, "use")))
        makers = (maker for one in stored for maker in self.facts.makers.get(one, ()))
        return {maker for maker in makers if updates_any(maker, read)}

    def is_at_one_place(self, instruction: Instruction) -> bool:
        """Whether all iterations of a thread use one address there, or a few."""
        return self._is_alike(instruction, registers(operand_of(instruction, "addr")))

    def goes_over_many(self, instruction: Instruction) -> bool:
        """Whether each iteration does that anew at several places, in a loop inside."""
        made = trace(
            registers(operand_of(instruction, "addr")),
            self.facts.makers,
            lambda maker, _: maker.used() if maker in self._inside else (),
        )
        every = (self.facts.makers.get(one, []) for one in made or () if isinstance(one, Register))
        return any(len(self._inside.intersection(each)) > 1 for each in every)

    def stored_by(self, call: Handover) -> Iterator[tuple[Origin, list[Operand]]]:
        """Where a function stores whose address all iterations of a thread use: the names that this
        is made from, and the values of the caller."""
        for access in self._functions.of(call.name):
            told = call.told(access)
            if access.stores and self._is_handed_alike(call, access):
                yield access.names, told

    def _may_meet(self, instruction: Instruction) -> bool:
        """Whether it uses such a place, or reads one somewhere in the same shared variable."""
        origin = self._origin(instruction)
        if self._is_same(instruction):
            return origin in self._overwritten
        reads_shared = instruction.name == "ld" and instruction.space == "shared"
        return reads_shared and not self._variables.isdisjoint(origin)

    def _may_meet_in(self, call: Handover) -> bool:
        """The same of the function that is called."""
        return any(
            origin in self._overwritten
            if is_same
            else access.space == "shared" and not self._variables.isdisjoint(origin)
            for access, origin, is_same in self._places(call)
        )

    @property
    def _variables(self) -> frozenset[str]:
        """The variables that hold such a place."""
        named = frozenset[str]().union(*self._overwritten)
        return named - self._parameters - SPECIAL_REGISTERS.keys()

    def _accesses(self, labels: Iterable[str]) -> list[Instruction]:
        """The loads and stores, but for those of the thread's own memory."""
        return [
            instruction
            for label in sorted(labels)
            for instruction in self.facts.blocks[label].instructions
            if is_access(instruction, self.facts)
        ]

    @cached_property
    def _inside(self) -> set[Instruction]:
        """The instructions of the loop."""
        blocks = self.facts.blocks
        return {i for label in self._loop.blocks for i in blocks[label].instructions}

    def _gives_another(self, instruction: Instruction) -> bool:
        """Whether its result differs each time, for all that is known, as that of a function."""
        is_handed = instruction.name == "ld" and instruction.space == "param"
        of_caller = {each.name for each in instruction.symbols()} <= self._parameters
        return differs(instruction) or (is_handed and not of_caller)

    def _is_alike(self, user: Instruction, read: Iterable[Register]) -> bool:
        """Whether registers hold the same in all iterations where an instruction reads them, or a
        few values."""
        made = self.facts.reaching.of_uses(self.facts.homes[user])
        return all(self._differing.isdisjoint(made[user, one]) for one in read)

    @cached_property
    def _differing(self) -> set[Definition]:
        """What makes such values: nvcc takes the 0 of one variable, which an iteration changes
        later, for that with which another begins."""
        reaching, header = self.facts.reaching, self._loop.header
        differing = {
            each
            for one in self.facts.liveness.live_in(header)
            if any(each.label in self._loop.blocks for each in reaching.at_top(header, one))
            for each in reaching.at_top(header, one)
        }
        made_from: dict[Definition, set[Definition]] = defaultdict(set)
        for label in self._loop.blocks:
            every = {
                i: [Definition(r, i, label) for r in i.defined()]
                for i in self.facts.blocks[label].instructions
            }
            differing.update(d for i, made in every.items() if self._gives_another(i) for d in made)
            for (instruction, _), definitions in reaching.of_uses(label).items():
                for one in definitions:
                    made_from[one].update(every[instruction])
        worklist = list(differing)
        while worklist:
            found = made_from[worklist.pop()] - differing
            differing |= found
            worklist += found
        return differing

    def _find_overwritten(self, stores: Iterable[Instruction]) -> None:
        values: dict[Origin, set[object]] = {}
        for store in filter(self._is_same, stores):
            values.setdefault(self._origin(store), set()).add(self._value(operand_of(store, "use")))
        self._overwritten = {
            origin for origin, stored in values.items() if None in stored or len(stored) > 1
        }

    def _overwritten_by(self, call: Handover) -> Iterator[Origin]:
        """Memory of the thread that a function stores to in every iteration.

        What it stores counts as different each time. Without the name of a variable or of a
        parameter it may be anywhere.
        """
        for access, origin, is_same in self._places(call):
            if access.stores and is_same and not origin <= SPECIAL_REGISTERS.keys():
                yield origin

    def _places(self, call: Handover) -> Iterator[tuple[CalleeAccess, Origin, bool]]:
        """What a call uses; and whether that is the same in all iterations of a thread."""
        for access in self._functions.of(call.name):
            told = call.told(access)
            origin = access.names.union(*map(self._origin_of, told))
            is_same = self._is_handed_alike(call, access) and _is_of_a_thread(origin)
            yield access, origin, is_same

    def _is_handed_alike(self, call: Handover, access: CalleeAccess) -> bool:
        """Whether all iterations hand over the same, or a few values, for an address."""
        return all(
            self._is_alike(user, registers(value)) for user, value in call.handed_for(access)
        )

    def _is_same(self, instruction: Instruction) -> bool:
        """Whether all iterations of a thread, but not all threads, use one address, or a few."""
        is_same = self.is_at_one_place(instruction)
        return is_same and (
            _is_of_a_thread(self._origin(instruction)) or self._is_given_to_each(instruction)
        )

    def _is_given_to_each(self, access: Instruction) -> bool:
        """Whether an address is made from what each thread has read for itself before the loop, as
        from a table, or from a counter of tickets."""
        read = registers(operand_of(access, "addr"))
        found = trace(read, self.facts.makers, lambda maker, _: maker.used()) or ()
        every = (self.facts.makers.get(one, []) for one in found if isinstance(one, Register))
        before = {maker for makers in every for maker in makers} - self._inside
        return any(
            one.name in ATOMICS
            or (one.name == "ld" and one.space != "param" and _is_of_a_thread(self._origin(one)))
            for one in before
        )

    def _origin(self, instruction: Instruction) -> Origin:
        named = frozenset(symbol.name for symbol in instruction.symbols())
        return named.union(*map(self._origin_of, registers(operand_of(instruction, "addr"))))

    def _origin_of(self, value: Operand) -> Origin:
        if value not in self._origins:
            found = trace([value], self.facts.makers, _computed_from) or ()
            names = (one.name for one in found if isinstance(one, (Symbol, Special)))
            self._origins[value] = frozenset(names)
        return self._origins[value]

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


def _by_members(maker: Instruction, register: Register) -> list[Operand]:
    """The same, of a parameter where in it."""
    if maker.space == "param":
        return [operand_of(maker, "addr")]
    return _computed_from(maker, register)


def _is_of_a_thread(origin: Collection[str]) -> bool:
    """Whether an address is another one in each thread, as far as it is made from the thread."""
    known = (SPECIAL_REGISTERS[name] for name in origin if name in SPECIAL_REGISTERS)
    return any(register.varies == LANE for register in known)
