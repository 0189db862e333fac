"""What instructions may do to memory that other threads see, too: by state space, and by origin.

A function that is called is looked into: what it uses of its own accord is known by its state
space, and what it uses through a pointer that it was given is what its caller gave. Its stack is
its own, and so is what it is given of the stack of its caller, of which
:mod:`ccc.analysis.local_memory` knows more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ccc.analysis.apart import Apart
from ccc.analysis.callees import callee
from ccc.analysis.origins import Origins, Pointers
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Arguments, Operand, Register, Symbol
from ccc.ir.parameters import DoesNotFit, Part, accesses
from ccc.ptx.opcodes import ATOMIC, Effect
from ccc.ptx.types import STRONG

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts


@dataclass(frozen=True, slots=True)
class Behind:
    """What a pointer leads to that is handed to a function, ``offset`` bytes into a parameter."""

    parameter: int
    offset: int


Place: TypeAlias = str | Behind
"""A state space, or what the caller knows."""
Places: TypeAlias = frozenset[Place]

POINTER = 8
"""The bytes of an address."""

EVERY_SPACE: Places = frozenset({"global", "shared"})
"""The spaces that other threads see, too."""
_ORDERS = Effect.FENCE | Effect.OPAQUE


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Where an instruction may read and write, or a function; ``strongly`` is where it reads what
    others may be writing, by strong operations (PTX ISA section 8, memory consistency model)."""

    reads: Places = frozenset()
    writes: Places = frozenset()
    strongly: Places = frozenset()

    @staticmethod
    def of(places: Places, effects: Effect, *, is_strong: bool = False) -> MemoryUse:
        """That some places are read, written, or both."""
        nowhere: Places = frozenset()
        return MemoryUse(
            places if effects & Effect.READ else nowhere,
            places if effects & Effect.WRITE else nowhere,
            places if is_strong and effects & Effect.READ else nowhere,
        )

    def __or__(self, other: MemoryUse) -> MemoryUse:
        return MemoryUse(
            self.reads | other.reads, self.writes | other.writes, self.strongly | other.strongly
        )

    def conflicts(self, other: MemoryUse) -> bool:
        """Whether the order of the two may matter: one may write what the other touches, or both
        see what others write meanwhile, of which the later one sees no older state (PTX ISA section
        8, coherence)."""
        return bool(
            self.writes & (other.reads | other.writes)
            or self.reads & other.writes
            or self.strongly & other.strongly
        )


NOTHING = MemoryUse()
ANYTHING = MemoryUse(EVERY_SPACE, EVERY_SPACE, EVERY_SPACE)


class VisibleMemory:
    """What the instructions of a function do to memory that other threads see."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.origins = Origins(facts)
        self.apart = Apart(facts)
        self._touches: dict[Instruction, MemoryUse] = {}

    def touch(self, instruction: Instruction) -> MemoryUse:
        """Where an instruction may read and write."""
        if instruction not in self._touches:
            self._touches[instruction] = self._find(instruction)
        return self._touches[instruction]

    def of_all(self, instructions: Iterable[Instruction]) -> MemoryUse:
        """Where some instructions may read and write."""
        touch = NOTHING
        for instruction in instructions:
            touch |= self.touch(instruction)
        return touch

    def conflict(self, first: Iterable[Instruction], second: Iterable[Instruction]) -> bool:
        """Whether the order of two groups may matter: one may write what the other touches."""
        first, second = list(first), list(second)
        if not self.of_all(first).conflicts(self.of_all(second)):
            return False
        return not self.apart.promised or any(
            self.touch(one).conflicts(self.touch(other)) and not self.apart.are(one, other)
            for one in first
            for other in second
        )

    def writers(self, instructions: Iterable[Instruction]) -> list[Instruction]:
        """Those that may write, or that order what others do."""
        return [one for one in instructions if self.touch(one).writes]

    def find_conflict(
        self, first: Iterable[Instruction], second: Iterable[Instruction]
    ) -> tuple[Instruction, Instruction] | None:
        """An instruction of each group whose order may matter; None where there is none.

        Calls, of which least is known, go first.
        """
        first, second = list(first), list(second)
        if not self.conflict(first, second):
            return None
        ours = sorted(first, key=lambda i: not i.effects & Effect.CALL)
        touches = [(other, self.touch(other)) for other in second]
        return next(
            (a, b)
            for a in ours
            for b, touch in touches
            if self.touch(a).conflicts(touch) and not self.apart.are(a, b)
        )

    def _find(self, instruction: Instruction) -> MemoryUse:
        effects = instruction.effects
        if effects & Effect.CALL:
            return self._find_of_call(instruction)
        if effects & _ORDERS:
            return ANYTHING
        if not effects & ATOMIC or instruction.space == "local":
            return NOTHING
        is_strong = not STRONG.isdisjoint(instruction.modifiers)
        places: Places = frozenset({instruction.space})
        if instruction.space not in EVERY_SPACE:
            places = self._behind(self.origins.of_access(instruction))
        return MemoryUse.of(places, effects, is_strong=is_strong)

    def _behind(self, pointers: Pointers) -> Places:
        """Where generic addresses may lead that are made from some pointers, None for unknown."""
        places: set[Place] = set()
        for pointer in pointers or ():
            if self.origins.is_own(pointer):
                continue
            number = self.origins.number(pointer)
            if number is None or pointer.offset is None:
                return EVERY_SPACE
            places.add(Behind(number, pointer.offset))
        return EVERY_SPACE if pointers is None else frozenset(places)

    # Calls ---------------------------------------------------------------------------------------

    def _find_of_call(self, call: Instruction) -> MemoryUse:
        name = callee(call)
        if (effects := self.facts.callees.of_system(name)) is not None:
            return MemoryUse.of(EVERY_SPACE, effects)
        if self.facts.callees.is_promised(name):
            places = self._given(call)
            return MemoryUse(places, places, places)
        inside = touch_of_function(name, self.facts)
        told = (inside.reads, inside.writes, inside.strongly)
        return MemoryUse(*(self._as_told(places, call) for places in told))

    def _as_told(self, places: Places, call: Instruction) -> Places:
        found: set[Place] = set()
        for place in places:
            found |= self._handed(place, call) if isinstance(place, Behind) else {place}
        return frozenset(found)

    def _given(self, call: Instruction) -> Places:
        """Where all the pointers lead that a call hands over."""
        sizes = {variable.name: variable.bytes for variable in self.facts.function.variables}
        found: set[Place] = set()
        for name in _arguments(call):
            written = self._written(name)
            if written is None:
                return EVERY_SPACE
            values = [part for part in written if part.type[0] != "f"]
            is_wide = sizes.get(str(name), POINTER) not in range(POINTER)
            if is_wide and any(part.bits < 8 * POINTER for part in values):
                return EVERY_SPACE  # a pointer may be handed over in pieces
            for part in values if is_wide else ():
                if isinstance(part.operand, Register):
                    found |= self._behind(self.origins.of(part.operand))
        return frozenset(found)

    def _handed(self, place: Behind, call: Instruction) -> Places:
        """Where a pointer leads that a call hands over."""
        handed = _arguments(call)
        within = place.parameter < len(handed)
        written = self._written(handed[place.parameter]) if within else None
        if written is None:
            return EVERY_SPACE
        pointer = Part(place.offset, "b64", call.operands[0])
        parts = [part for part in written if part.overlaps(pointer)]
        if any((part.offset, part.bits) != (pointer.offset, pointer.bits) for part in parts):
            return EVERY_SPACE
        return self._behind(self.origins.of(*(part.operand for part in parts)))

    def _written(self, name: Operand) -> list[Part] | None:
        """What is written to a variable that is handed over; None if it is not known."""
        if not isinstance(name, Symbol):
            return None
        try:
            return accesses(self.facts.function.instructions, name.name, "st")
        except DoesNotFit:
            return None


def _arguments(call: Instruction) -> tuple[Operand, ...]:
    """What a call hands over."""
    lists = [operand for operand in call.operands if isinstance(operand, Arguments)]
    mine = lists[isinstance(call.operands[0], Arguments) :]
    return mine[0].elements if mine else ()


def touch_of_function(name: str, facts: Facts) -> MemoryUse:
    """What a function may do to memory, itself and through others; what calls itself, anything."""
    known = facts.callees.touches
    if name not in known:
        known[name] = ANYTHING  # while it is looked for
        function = facts.callees.load(name)
        if function is not None:
            inside = type(facts)(function, facts.callees)
            known[name] = inside.memory.of_all(function.instructions)
    return known[name]
