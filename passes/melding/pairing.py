"""Which steps of two arms can become one instruction, and what that gains.

They must be the same instruction in all but the values of its operands. What has effects only on
the thread's own registers and on memory that it names can be run for lanes of several arms at once;
a clock cannot, nor can what no analysis models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from ccc.ir.nodes import Instruction
from ccc.ir.operands import (
    Address,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Vector,
    leaves,
)
from ccc.passes.melding.alignment import Column
from ccc.passes.melding.cost import slots
from ccc.passes.melding.renaming import COMMUTE, Renamed, literal_type
from ccc.ptx.opcodes import ASKS_ABOUT_HANDLES, Effect
from ccc.ptx.types import TYPES

_UNLIKE = Effect.OPAQUE | Effect.CALL | Effect.COLLECTIVE | Effect.BARRIER


def shape(step: Renamed) -> Hashable | None:
    """What two steps must have in common; None of one that stays alone."""
    instruction = step.instruction
    if step.step.blocks or instruction.guard is not None or instruction.reads_time:
        return None
    if instruction.effects & _UNLIKE:
        return None
    parts = [
        _target(operand) if role == "def" else _source(operand, literal_type(instruction, place))
        for place, (operand, role) in enumerate(instruction.roles())
    ]
    return (instruction.opcode, *parts)


def _target(operand: Operand) -> Hashable:
    """The types of what is written."""
    return tuple(one.type if isinstance(one, Register) else one for one in leaves(operand))


def _source(operand: Operand, type_name: str | None) -> Hashable:
    """An operand but for its value, where another can be selected."""
    if isinstance(operand, Register):
        return operand.bits
    if isinstance(operand, Immediate) and type_name is not None:
        return TYPES[type_name].bits
    if isinstance(operand, Address) and isinstance(operand.base, Register):
        return "address", operand.base.type
    if isinstance(operand, Vector):
        return "vector", tuple(_source(one, type_name) for one in operand.elements)
    if isinstance(operand, Pair):
        return "pair", _source(operand.first, None), _source(operand.second, None)
    if isinstance(operand, Negated):
        return "not", _source(operand.operand, None)
    return operand


class Pairing:
    """What it gains to run steps of several arms as one.

    Args:
        arms: their steps.
    """

    def __init__(self, arms: Iterable[Sequence[Renamed]]):
        every = [step for arm in arms for step in arm]
        self.uses = Counter(r for step in every for r in step.instruction.used())
        self.shapes = {step: shape(step) for step in every}
        self.makers: Mapping[Register, Renamed] = {
            register: step for step in every for register in step.made
        }

    def gain(self, one: Column[Renamed], other: Column[Renamed]) -> float | None:
        """Of two columns that become one; None if they cannot, or nothing is gained."""
        first, second = (next(step for step in column if step) for column in (one, other))
        alike = self.shapes[first]
        if alike is None or alike != self.shapes[second]:
            return None
        gained = slots(first.instruction) - self._selections(first, second)
        return gained if gained > 0 else None

    def _selections(self, first: Renamed, second: Renamed) -> float:
        """The issue slots of choosing the operands, as far as one can tell before it is known
        what else is aligned."""
        roles = [role for _, role in first.instruction.roles()]
        here, there = first.instruction.operands, second.instruction.operands
        ways = [there]
        if first.instruction.name in COMMUTE:
            ways.append((there[0], there[2], there[1], *there[3:]))
        return min(
            sum(
                self._selections_of(a, b)
                for a, b, role in zip(here, way, roles, strict=True)
                if role != "def"
            )
            for way in ways
        )

    def _selections_of(self, a: Operand, b: Operand) -> float:
        moved = isinstance(a, Address) and isinstance(b, Address) and a.offset != b.offset
        return sum(map(self._selection, leaves(a), leaves(b))) + moved

    def _selection(self, a: Operand, b: Operand) -> float:
        if a == b or not (isinstance(a, Register) or isinstance(b, Register)):
            return 0.0 if a == b else 0.5
        makers = [self.makers.get(one) if isinstance(one, Register) else None for one in (a, b)]
        if None not in makers and len({self._kind(one) for one in makers}) == 1:
            return 0.0
        # What is selected once serves all that read the same two.
        registers = [one for one in (a, b) if isinstance(one, Register)]
        words = max(1, registers[0].bits // 32)
        return words / max(1, min(self.uses[one] for one in registers))

    def _kind(self, maker: Renamed | None) -> Hashable:
        return None if maker is None else self.shapes[maker] or maker


def may_run_anywhere(instruction: Instruction) -> bool:
    """Whether other lanes may run it, too, if what it writes is of no use to them.

    It must not fault on any operand, nor touch anything but registers, nor mean a point in time.
    """
    if instruction.effects != Effect.NONE or instruction.reads_time:
        return False
    return (
        not any(
            role == "addr" and any(isinstance(one, Register) for one in leaves(operand))
            for operand, role in instruction.roles()
        )
        and instruction.name not in ASKS_ABOUT_HANDLES
    )
