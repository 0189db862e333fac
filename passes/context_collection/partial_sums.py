"""What lanes add up in turns of other lanes' tasks, on its way to the owners (no pass).

Many lanes run turns of one task at the same time. If each of them went to the slot of its owner in
shared memory, they would stand in line there, and for floating-point numbers of 64 bits each
attempt is a loop. So the lanes combine what they have among themselves first, by shuffles: in a
tree, over neighbours that are at the same task, and one of them goes to the slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard
from ccc.ir.operands import Register
from ccc.passes.context_collection.context_stack import join, split
from ccc.passes.context_collection.node import move
from ccc.passes.context_collection.reduction import Slots
from ccc.ptx.types import ALL_LANES, WARP_SIZE
from ccc.snippet import Snippet

if TYPE_CHECKING:
    from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch

NO_TASK = -1
"""Tells sums to which nothing was added."""

MISSING = Snippet("""
    .reg .pred %apart;
    .reg .b32 %members, %more;
        add.s32 %more, %members, 1;
        and.b32 %more, %more, %members;
        setp.ne.b32 %apart, %more, 0;         // a lane is missing before the last member
        @%apart bra APART;
""")
"""Shuffles go over lanes, and all up to the last member must be there."""

SAME_UP = Snippet(
    """
    .reg .pred %there, %same;
    .reg .b32 %task, %other, %members;
        shfl.sync.up.b32 %other|%there, %task, DISTANCE, 0, %members;
        setp.eq.and.b32 %same, %task, %other, %there;
    """,
    "DISTANCE",
)
"""Whether a lane before is at the same task, and so all between."""

LAST_OF_MINE = Snippet("""
    .reg .pred %mine;
    .reg .b32 %begin, %end, %step_begin, %before, %behind, %lane;
        sub.s32 %before, %begin, %step_begin;
        sub.s32 %behind, %end, %step_begin;
        max.s32 %before, %before, 0;
        min.s32 %behind, %behind, 32;
        setp.lt.s32 %mine, %before, %behind;
        add.s32 %lane, %behind, -1;
""")
"""The last lane at a task has the sum of all that are at it: which one that is, the owner knows."""

IS_LAST = Snippet("""
    .reg .pred %there, %last, %end;
    .reg .b32 %task, %other, %members, %behind, %rank_bytes, %warp_bytes;
        shfl.sync.down.b32 %other|%there, %task, 1, 31, %members;
        add.s32 %behind, %rank_bytes, 4;
        setp.eq.b32 %end, %behind, %warp_bytes;
        setp.ne.or.b32 %last, %task, %other, %end;
        @!%last bra COMBINED;
    APART:
        setp.eq.b32 %last, %task, -1;
        @%last bra COMBINED;
""")
"""The last lane at a task has the sum of all that are at it."""


class PartialSums:
    """The registers in which a lane adds up, by those of the path that they stand for."""

    def __init__(
        self, collector: SequentialDispatch, sums: Sequence[tuple[Register, Slots]]
    ) -> None:
        fresh = collector.function.registers.fresh
        self.collector = collector
        self.slots = dict(sums)
        self.registers = {register: fresh(register.type, "partial") for register, _ in sums}

    def __bool__(self) -> bool:
        return bool(self.slots)

    def clear(self, emit: Emitter) -> None:
        """Begin to add up."""
        for register, slots in self.slots.items():
            emit.emit(move(register), self.registers[register], slots.neutral)

    def combine(self, emit: Emitter, owner: Register, base: Register | None = None) -> None:
        """The lane goes to the slots of an owner by itself; they lie behind ``base``, which is the
        own warp's unless it is told."""
        for register, slots in self.slots.items():
            slots.combine(emit, base or self.collector.base, owner, self.registers[register])

    def flush(
        self, emit: Emitter, lists: Mapping[str, Register], places: Mapping[Register, Register]
    ) -> None:
        """All lanes of the warp meet, and owners get what was added up for them.

        Lanes at the same task are neighbours.

        Args:
            emit: where to.
            lists: the lane's ``task``, that of ``NO_TASK`` having nothing; where its own list
                begins, and ends, and the items at which lanes were.
            places: where the owner has each register.
        """
        self._add_before(emit, lists["task"], ALL_LANES)
        last = LAST_OF_MINE.emit(
            emit, begin=lists["begin"], end=lists["end"], step_begin=lists["step_begin"]
        )
        for register in self.slots:
            words = [self._of(emit, w, last["lane"]) for w in self._words(emit, register)]
            self._add(emit, register, places[register], words, Guard(last["mine"]), to_owner=True)

    def flush_to_slots(
        self, emit: Emitter, task: Register, owner: Register, base: Register
    ) -> None:
        """All members meet, and what was added up goes to the slots of owners, behind ``base``.

        Members at the same task are neighbours, those at ``NO_TASK`` have nothing.
        """
        collector, label = self.collector, self.collector.function.fresh_label
        apart, combined, members = label("apart"), label("combined"), collector.members
        MISSING.emit(emit, members=members, APART=apart)
        self._add_before(emit, task, members)
        IS_LAST.emit(
            emit, task=task, members=members, APART=apart, COMBINED=combined,
            rank_bytes=collector.rank_bytes, warp_bytes=collector.warp_bytes,
        )  # fmt: skip
        self.combine(emit, owner, base)
        emit.start(combined)

    def _add_before(self, emit: Emitter, task: Register, members: Register | int) -> None:
        """The last lane at a task gets the sum of all that are at it."""
        same = {
            distance: SAME_UP.of(DISTANCE=distance).emit(emit, task=task, members=members)["same"]
            for distance in (1, 2, 4, 8, 16)
        }
        for distance, is_same in same.items():
            for register in self.slots:
                words = self._words(emit, register)
                others = [self._before(emit, word, distance, members) for word in words]
                self._add(emit, register, self.registers[register], others, Guard(is_same))

    def add_up(self, emit: Emitter, lanes: int, group: Register) -> None:
        """The ``lanes`` of a ``group`` meet, and all get the sum of all."""
        for distance in (1, 2, 4, 8, 16):
            for register in self.slots if distance < lanes else ():
                words = self._words(emit, register)
                others = [self._across(emit, word, distance, group) for word in words]
                self._add(emit, register, self.registers[register], others, None)

    def _words(self, emit: Emitter, register: Register) -> list[Register]:
        return split(emit, self.registers[register])

    def _before(
        self, emit: Emitter, word: Register, distance: int, members: Register | int
    ) -> Register:
        """What a lane before has."""
        return emit.define("shfl.sync.up.b32", "b32", word, distance, 0, members)

    def _of(self, emit: Emitter, word: Register, lane: Register) -> Register:
        """What some lane has."""
        return emit.define("shfl.sync.idx.b32", "b32", word, lane, WARP_SIZE - 1, ALL_LANES)

    def _across(self, emit: Emitter, word: Register, distance: int, group: Register) -> Register:
        """What a lane of the same group has."""
        return emit.define("shfl.sync.bfly.b32", "b32", word, distance, 31, group)

    def _add(
        self,
        emit: Emitter,
        register: Register,
        sum_of: Register,
        words: list[Register],
        guard: Guard | None,
        *,
        to_owner: bool = False,
    ) -> None:
        """Add what another lane has; an owner keeps the bits of what is no number, if that is not
        a number either."""
        slots = self.slots[register]
        accumulator = slots.accumulator
        kind = f"{accumulator.operation}.{accumulator.type}"
        other = emit.function.registers.fresh(sum_of.type)
        join(emit, other, words)
        if accumulator.compares and guard is not None:
            relation = "lt" if accumulator.operation == "min" else "gt"
            better = emit.define(
                f"setp.{relation}.and.{accumulator.type}", "pred", other, sum_of, guard.register
            )
            emit.emit(move(sum_of), sum_of, other, guard=Guard(better))
        elif slots.in_order and guard is not None and to_owner:
            test = f"setp.num.and.{accumulator.type}"
            number = emit.define(test, "pred", other, other, guard.register, name="number")
            emit.emit(kind, sum_of, sum_of, other, guard=Guard(number))
        else:
            emit.emit(kind, sum_of, sum_of, other, guard=guard)
