"""What tasks take for the least or the most, with companions, on its way to their owners (no pass).

Each lane has a slot for the value, one for each companion, which is taken together with it, and one
for the number that tells the order. Of all that tasks bring, the slots keep the best, and of
equals the one that the loop would have kept. Several words cannot be changed by one atomic
operation, so lanes that bring something as good take turns at a lock. Whoever has it goes on to
open it, and waits for nobody meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ccc.analysis.paths.model import Accumulator
from ccc.ir.edit import Emitter
from ccc.ir.operands import Address, Immediate, Register
from ccc.passes.context_collection.reduction import OWN_SLOT, SLOT, Slots
from ccc.ptx.operations import SOUGHT
from ccc.ptx.types import WARP_SIZE
from ccc.snippet import Given, Snippet

LOCK_BYTES = 4

STORE = Snippet(
    """
    .reg .BITS %neutral;
    .reg .b32 %slot;
        st.shared.BITS [%slot], %neutral;
    """,
    "BITS",
)
"""Before the loop nothing was brought, and the lock is open."""

BRING = Snippet(
    """
    .reg .pred %matters, %waits, %same, %earlier, %better;
    .reg .TYPE %value, %best;
    .reg .b64 %number, %best_number;
    .reg .b32 %slot, %number_slot, %lock, %was, %ignored;
        ld.volatile.shared.TYPE %best, [%slot];
        setp.LOOSE.KIND %matters, %value, %best;
        @!%matters bra DONE;                  // it has only become better since
    TRY:
        atom.shared.cas.b32 %was, [%lock], 0, 1;
        setp.ne.b32 %waits, %was, 0;
        @%waits bra AGAIN;
        membar.cta;
        ld.volatile.shared.TYPE %best, [%slot];
        ld.volatile.shared.u64 %best_number, [%number_slot];
        setp.eq.KIND %same, %value, %best;
        setp.BEFORE.and.u64 %earlier, %number, %best_number, %same;
        setp.STRICT.or.KIND %better, %value, %best, %earlier;
        @!%better bra OPEN;
        st.volatile.shared.TYPE [%slot], %value;
        st.volatile.shared.u64 [%number_slot], %number;
        call companions, ();
    OPEN:
        membar.cta;
        atom.shared.exch.b32 %ignored, [%lock], 0;
    AGAIN:
        @%waits bra TRY;
    DONE:
    """,
    "TYPE", "KIND", "LOOSE", "STRICT", "BEFORE",
)  # fmt: skip
"""When a task has ended, what it took is brought to its owner's slots if it is better, or comes
first among equals."""

BRING_COMPANION = Snippet(
    """
    .reg .BITS %value;
    .reg .b32 %slot;
        st.volatile.shared.BITS [%slot], %value;
    """,
    "BITS",
)

TAKE = Snippet(
    """
    .reg .pred %same, %earlier, %better;
    .reg .TYPE %value, %best;
    .reg .b64 %number, %best_number;
    .reg .b32 %slot, %number_slot;
        ld.shared.TYPE %best, [%slot];
        ld.shared.u64 %best_number, [%number_slot];
        setp.eq.KIND %same, %best, %value;
        setp.BEFORE.and.u64 %earlier, %best_number, %number, %same;
        setp.STRICT.or.KIND %better, %best, %value, %earlier;
        @!%better bra KEPT;
        mov.BITS %value, %best;
        call companions, ();
    KEPT:
    """,
    "TYPE", "KIND", "BITS", "STRICT", "BEFORE",
)  # fmt: skip
"""When all have left the loop, the lane compares that with what it took itself."""

TAKE_COMPANION = Snippet(
    """
    .reg .BITS %value;
    .reg .b32 %slot;
        ld.shared.BITS %value, [%slot];
    """,
    "BITS",
)

_LEAST = {"f32": "0fFF800000", "f64": "0dFFF0000000000000"}
_MOST = {"f32": "0f7F800000", "f64": "0d7FF0000000000000"}


@dataclass(frozen=True, slots=True)
class MemberSlots(Slots):
    """The slots of a value, or of a companion; those of numbers have the locks behind them."""

    @property
    def bytes(self) -> int:
        """The size of all of them."""
        locks = LOCK_BYTES if self.is_order else 0
        return WARP_SIZE * (self.size + locks)

    @property
    def size(self) -> int:
        """The bytes of one."""
        return max(self.accumulator.bytes, 4)

    @property
    def is_order(self) -> bool:
        """Whether they hold the numbers."""
        group = self.accumulator.group
        return group is not None and group.order == self.accumulator.number

    @property
    def neutral(self) -> Immediate:
        """What a task begins with: nothing that is taken is worse, or has a lower number.

        Where only what is better is taken, that is never equal to it either.
        """
        kind, group = self.accumulator.type, self.accumulator.group
        assert group is not None
        if self.accumulator.number:
            return Immediate("0")
        if kind[0] == "f":
            return Immediate((_MOST if group.operation == "min" else _LEAST)[kind])
        return Immediate(str(self._neutral_integer()))

    def clear(self, emit: Emitter, base: Register) -> None:
        """Make the lane's own slot neutral, and open its lock."""
        bits = f"b{8 * self.accumulator.bytes}"
        value = emit.define(f"mov.{bits}", bits, self.neutral)
        own = OWN_SLOT.emit(emit, bytes=self.size, base=base)["slot"]
        STORE.of(BITS=bits).emit(emit, slot=Address(own, self.offset), neutral=value)
        if self.is_order:
            zero = emit.define("mov.b32", "b32", 0)
            lock = OWN_SLOT.emit(emit, bytes=LOCK_BYTES, base=base)["slot"]
            place = Address(lock, self.lock_offset)
            STORE.of(BITS="b32").emit(emit, slot=place, neutral=zero)

    @property
    def lock_offset(self) -> int:
        """Where the locks are in the warp's share."""
        return self.offset + WARP_SIZE * self.size


@dataclass(frozen=True, slots=True)
class GroupSlots:
    """The slots of a value and its companions, with the registers of a lane that stand for them."""

    registers: Mapping[MemberSlots, Register]

    def bring(self, emit: Emitter, base: Register, owner: Register) -> None:
        """Bring what a task took to the slots of its owner."""
        sizes = {one.size for one in self.registers} | {LOCK_BYTES}
        slots = {
            size: SLOT.emit(emit, owner=owner, bytes=size, base=base)["slot"] for size in sizes
        }
        lock = Address(slots[LOCK_BYTES], self._order.lock_offset)
        places = {one: Address(slots[one.size], one.offset) for one in self.registers}
        self._emit(emit, BRING, BRING_COMPANION, places, lock=lock)

    def take(self, emit: Emitter, base: Register) -> None:
        """Compare the lane's own slots with its registers, and take what is better."""
        slots = {
            size: OWN_SLOT.emit(emit, bytes=size, base=base)["slot"]
            for size in {one.size for one in self.registers}
        }
        places = {one: Address(slots[one.size], one.offset) for one in self.registers}
        self._emit(emit, TAKE, TAKE_COMPANION, places)

    @property
    def _value(self) -> MemberSlots:
        return next(one for one in self.registers if one.accumulator.number == 0)

    @property
    def _order(self) -> MemberSlots:
        return next(one for one in self.registers if one.is_order)

    def _emit(
        self,
        emit: Emitter,
        text: Snippet,
        companion: Snippet,
        places: Mapping[MemberSlots, Address],
        **more: Given,
    ) -> None:
        others = [one for one in self.registers if one not in (self._value, self._order)]

        def companions(emit: Emitter) -> None:
            for one in others:
                own = companion.of(BITS=f"b{8 * one.accumulator.bytes}")
                own.emit(emit, slot=places[one], value=self.registers[one])

        words = {word: how for word, how in self._words().items() if word in text.words}
        text.of(**words).emit(
            emit, more, slot=places[self._value], value=self.registers[self._value],
            number_slot=places[self._order], number=self.registers[self._order],
            companions=companions,
        )  # fmt: skip

    def _words(self) -> dict[str, str]:
        group = self._value.accumulator.group
        assert group is not None
        is_least = SOUGHT[group.relation] == "min"
        return {
            "TYPE": group.type, "KIND": ".".join(group.kind),
            "BITS": f"b{8 * self._value.accumulator.bytes}",
            "LOOSE": "le" if is_least else "ge", "STRICT": "lt" if is_least else "gt",
            "BEFORE": "lt" if group.relation in ("lt", "gt") else "gt",
        }  # fmt: skip


def groups_of(members: Mapping[Slots, Register]) -> list[GroupSlots]:
    """The slots that belong together, with the registers that stand for them."""
    groups: dict[object, dict[MemberSlots, Register]] = {}
    for slots, register in members.items():
        if isinstance(slots, MemberSlots):
            groups.setdefault(slots.accumulator.group, {})[slots] = register
    return [GroupSlots(one) for one in groups.values()]


def place_slots(accumulators: tuple[Accumulator, ...], start: int) -> tuple[Slots, ...]:
    """Room for the accumulators of a loop, from byte ``start`` of the warp's share on."""
    slots: list[Slots] = []
    for accumulator in accumulators:
        kind = MemberSlots if accumulator.group is not None else Slots
        slots.append(kind(accumulator, start + sum(other.bytes for other in slots)))
    return tuple(slots)
