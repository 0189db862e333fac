"""What the functions that a kernel calls may do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Arguments, Immediate, Symbol
from ccc.ptx.barriers import brings_the_warp_together, counts_threads
from ccc.ptx.opcodes import ALL_LANES_MASKS, STACK_OPERATIONS, Effect
from ccc.ptx.system_calls import SYSTEM_CALLS
from ccc.ptx.types import LANE

if TYPE_CHECKING:
    from ccc.analysis.memory import MemoryUse


def callee(call: Instruction) -> str:
    """The name of the function that a ``call`` enters; empty if a register names it."""
    operands = [operand for operand in call.operands if not isinstance(operand, Arguments)]
    return operands[0].name if operands and isinstance(operands[0], Symbol) else ""


def called(call: Instruction) -> str:
    """What a ``call`` enters, for a message."""
    return callee(call) or "a function through a pointer"


def allocates(instruction: Instruction) -> bool:
    """Whether it changes what the stack holds, or where that ends."""
    return instruction.name in STACK_OPERATIONS


def waits_elsewhere(instruction: Instruction) -> bool:
    """Whether a lane may wait in it for others that are not there, and do not come there."""
    return counts_threads(instruction.name, instruction.modifiers)


def all_meet_at(instruction: Instruction) -> bool:
    """Whether a lane passes it only when all lanes of its warp are there, or have ended."""
    name, modifiers, operands = instruction.name, instruction.modifiers, instruction.operands
    if instruction.guard is not None:
        return False
    if brings_the_warp_together(name, modifiers, operands):
        return True
    if "sync" not in modifiers or not instruction.effects & Effect.COLLECTIVE:
        return False
    if "aligned" in modifiers:  # such as wgmma.fence.sync.aligned, which names nobody
        return True
    mask = operands[-1] if operands else None
    return isinstance(mask, Immediate) and mask.integer in ALL_LANES_MASKS


@dataclass(frozen=True, slots=True)
class Handed:
    """What a function may do with what a parameter of it points to."""

    reads: bool
    writes: bool
    keeps: bool
    returns: bool


class Callees:
    """Looks into called functions; ``load`` gives the IR of one, None if the file lacks it.

    Those of other files that are ``promised`` wait for nobody, do not ask which thread calls, and
    use no memory but their own stack, and what they are given pointers to. ``texts`` are the
    strings of the module that nobody writes, by the names of their variables. ``unsized`` are its
    arrays of shared memory without a size.

    ``manners`` remembers what :mod:`ccc.analysis.points_to` found out about their parameters,
    ``spinning`` what :mod:`ccc.analysis.spinning` did about their loops, ``touches`` what
    :mod:`ccc.analysis.memory` did about the memory that they use.
    """

    def __init__(
        self,
        load: Callable[[str], Function | None],
        promised: Collection[str] = frozenset(),
        texts: Mapping[str, str] = MappingProxyType({}),
        unsized: Collection[str] = (),
    ):
        self.load = load
        self.promised = frozenset(promised)
        self.texts = texts
        self.unsized = sorted(unsized)
        self.manners: dict[tuple[str, int], Handed] = {}
        self.spinning: dict[str, bool] = {}
        self.touches: dict[str, MemoryUse] = {}
        self._waits: dict[str, bool] = {}
        self._waits_elsewhere: dict[str, bool] = {}
        self._fences: dict[str, bool] = {}
        self._knows_lane: dict[str, bool] = {}
        self._allocates: dict[str, bool] = {}

    def place_of(self, variable: str) -> str:
        """The name of what lies where a variable of the module does: arrays without a size are all
        dynamic shared memory, and begin at one place."""
        return self.unsized[0] if variable in self.unsized else variable

    def is_promised(self, name: str) -> bool:
        """Whether a function cannot be looked into, and something is promised of it."""
        return name in self.promised and self.load(name) is None

    def waits(self, instruction: Instruction) -> bool:
        """Whether it is a call that may come to a barrier or a warp-collective, or end the thread.

        A function that cannot be looked into may do so.
        """
        waiting = Effect.BARRIER | Effect.COLLECTIVE | Effect.EXIT
        return self._any(instruction, lambda i: bool(i.effects & waiting), self._waits)

    def waits_elsewhere(self, instruction: Instruction) -> bool:
        """Whether it is a call that may come to where a lane waits for others that are elsewhere.

        A function that cannot be looked into may do so.
        """
        return self._any(instruction, waits_elsewhere, self._waits_elsewhere)

    def fences(self, instruction: Instruction) -> bool:
        """Whether it is a call that may come to a fence."""
        return self._any(instruction, lambda i: bool(i.effects & Effect.FENCE), self._fences)

    def knows_its_lane(self, instruction: Instruction) -> bool:
        """Whether it is a call whose outcome may depend on which lane makes it."""
        return self._any(
            instruction,
            lambda i: any(special.register.varies == LANE for special in i.specials()),
            self._knows_lane,
        )

    def allocates(self, instruction: Instruction) -> bool:
        """Whether it is a call that may come to where a function allocates on the stack.

        ptxas 13.0 was seen to save the stack pointer of such a function after it had lowered it.
        """
        return self._any(instruction, allocates, self._allocates)

    def reaches(self, first: str, last: str) -> bool:
        """Whether a call of the first function may come to a call of the last one."""
        return any(
            callee(instruction) == last
            for function in self.reachable(first)
            for instruction in (function.instructions if function else ())
            if instruction.effects & Effect.CALL
        )

    def by_pointer(self, call: Instruction) -> Instruction | None:
        """A call through a pointer: that one, or one that it may come to; None if none is."""
        every = (
            one
            for function in (self.reachable(callee(call)) if callee(call) else ())
            for one in (function.instructions if function else ())
        )
        calls = (one for one in (call, *every) if one.effects & Effect.CALL)
        return next((one for one in calls if not callee(one)), None)

    def _any(
        self, call: Instruction, holds: Callable[[Instruction], bool], known: dict[str, bool]
    ) -> bool:
        """Whether it holds for an instruction of some function that the call may come to."""
        if not call.effects & Effect.CALL:
            return False
        name = callee(call)
        if name not in known:
            known[name] = any(
                function is None or any(i.row is None or holds(i) for i in function.instructions)
                for function in self.reachable(name)
            )
        return known[name]

    def of_system(self, name: str) -> Effect | None:
        """What a function of the driver's does to the program's memory; None for any other, such as
        one of the file's own of that name, which nvcc has called in its place."""
        return None if self.load(name) is not None else SYSTEM_CALLS.get(name)

    def reachable(self, name: str) -> Iterator[Function | None]:
        """That function and all it may call, itself or through others; None for an unknown one.

        What the driver provides is known, and has no body to look into.
        """
        seen, worklist = {name}, [name]
        while worklist:
            name = worklist.pop()
            function = self.load(name)
            if self.of_system(name) is not None or (function is None and name in self.promised):
                continue
            yield function
            for instruction in function.instructions if function else ():
                if instruction.effects & Effect.CALL and callee(instruction) not in seen:
                    seen.add(callee(instruction))
                    worklist.append(callee(instruction))
