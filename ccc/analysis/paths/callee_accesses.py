"""Where functions that are called load and store, as far as that is the same in each call.

    __device__ void put(int at, float v) { column[at] = v; }      // st.shared.f32 [%r9], %f1;
    for (...) { put(threadIdx.x, x[i]); ... }

An address is made from names: variables, special registers, and parameters, of which the caller
knows more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ccc.analysis.callees import Callees, callee
from ccc.analysis.defuse import trace
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Arguments, Operand, Register, Special, Symbol, registers
from ccc.ptx.opcodes import ATOMIC, Effect
from ccc.ptx.types import GENERIC

_DIFFERS = Effect.READ | Effect.CALL | Effect.OPAQUE | Effect.COLLECTIVE
"""What gives another result in every iteration, for all that is known."""

_MOST = 64
"""Parameters of a function that cannot be looked into of which it is asked what they point to."""


@dataclass(frozen=True, slots=True)
class CalleeAccess:
    """An access of a function: ``names`` that its address is made from, and ``parameters``."""

    stores: bool
    space: str
    names: frozenset[str]
    parameters: frozenset[int]


@dataclass(frozen=True, slots=True)
class Handover:
    """A call: of what, and the values that it hands over, each with what does, by the number of the
    parameter."""

    instruction: Instruction
    handed: Mapping[int, Collection[tuple[Instruction, Operand]]]

    @property
    def name(self) -> str:
        """The function that is called; empty if a register names it."""
        return callee(self.instruction)

    def told(self, access: CalleeAccess) -> list[Operand]:
        """The values that it hands over from which the address of an access is made."""
        return [value for _, value in self.handed_for(access)]

    def handed_for(self, access: CalleeAccess) -> list[tuple[Instruction, Operand]]:
        """The same, each with the instruction that hands it over."""
        return [one for number in access.parameters for one in self.handed.get(number, ())]


def calls(blocks: Iterable[Block]) -> Iterator[Handover]:
    """The calls in some blocks, with what is handed over right before each."""
    for block in blocks:
        stored: dict[str, list[tuple[Instruction, Operand]]] = {}
        for instruction in block.instructions:
            if instruction.name == "st" and instruction.space == "param":
                value = instruction, operand_of(instruction, "use")
                for symbol in instruction.symbols():
                    stored.setdefault(symbol.name, []).append(value)
            elif instruction.effects & Effect.CALL:
                given = [one for one in instruction.operands if isinstance(one, Arguments)]
                names = enumerate(map(str, given[-1].elements if given else ()))
                handed = {number: stored[name] for number, name in names if name in stored}
                yield Handover(instruction, handed)
                stored = {}


class Accesses:
    """The accesses of functions, and of those that they call, found once."""

    def __init__(self, callees: Callees):
        self._callees = callees
        self._known: dict[str, set[CalleeAccess]] = {}

    def of(self, name: str, around: frozenset[str] = frozenset()) -> set[CalleeAccess]:
        """Those of a function; not of the ones ``around``, which have come to it."""
        if name in self._known:
            return self._known[name]
        if self._callees.is_promised(name):  # it may store wherever it is told to
            told = (frozenset({number}) for number in range(_MOST))
            return {CalleeAccess(True, GENERIC, frozenset(), number) for number in told}
        function = self._callees.load(name)
        if function is None or name in around:
            return set()
        facts = Facts(function, self._callees)
        parameters = [parameter.name for parameter in function.parameters]
        found: set[CalleeAccess] = set()
        for instruction in function.instructions:
            if is_access(instruction, facts):
                kind = (instruction.name == "st", instruction.space)
                address: list[Operand] = [*registers(operand_of(instruction, "addr"))]
                made = _made_of([*address, *instruction.symbols()], facts)
                found |= _access(*kind, made, parameters)
        for call in calls(function.blocks):
            for access in self.of(call.name, around | {name}):
                kind = (access.stores, access.space)
                made = _made_of(call.told(access), facts)
                found |= _access(*kind, None if made is None else made | access.names, parameters)
        if not self._callees.reaches(name, name):
            self._known[name] = found
        return found


def is_access(instruction: Instruction, facts: Facts) -> bool:
    """Whether it is a load or store, but for those of the thread's own memory."""
    return (
        instruction.name in ("ld", "st")
        and bool(instruction.effects & ATOMIC)
        and not facts.local.touches(instruction)
    )


def operand_of(instruction: Instruction, wanted: str) -> Operand:
    """Its first operand of a role: ``addr`` where it goes, ``use`` what a store writes there."""
    return next(operand for operand, role in instruction.roles() if role == wanted)


def differs(instruction: Instruction) -> bool:
    """Whether its result differs from one time to the next, though its operands do not."""
    return instruction.reads_time or bool(instruction.effects & _DIFFERS)


def _access(
    stores: bool, space: str, names: frozenset[str] | None, parameters: list[str]
) -> set[CalleeAccess]:
    """An access, if it is known what its address is made from."""
    if names is None:
        return set()
    numbers = frozenset(number for number, name in enumerate(parameters) if name in names)
    return {CalleeAccess(stores, space, names.difference(parameters), numbers)}


def _made_of(values: Iterable[Operand], facts: Facts) -> frozenset[str] | None:
    """The names that values are made from; None where they may differ from one time to the next."""
    made = trace(values, facts.makers, _parts)
    if made is None:
        return None
    return frozenset(one.name for one in made if isinstance(one, (Symbol, Special)))


def _parts(maker: Instruction, _: Register) -> list[Operand] | None:
    """What a value is made from; None where it may differ from one time to the next."""
    if differs(maker):
        return None
    return [*maker.used(), *maker.symbols(), *maker.specials()]
