"""Race detection: accesses of two lanes of a warp that nothing orders.

Who accesses a byte, and when by that lane's own clock, is written down as FastTrack does it
(Flanagan and Freund, 2009): of the last write its lane and clock, of the reads since then one clock
a lane. Each lane knows how far it has seen the clocks of its warp's lanes. An access is in order
if its lane has seen the earlier one; else the two race, however the schedule happened to run them.
Lanes that run together stay different lanes: what they do in one instruction is in no order.

What orders, besides a lane's own program:

- A barrier, of lanes of the warp (``bar.warp.sync``) or of the block. Its lanes learn all that any
  of them knows, and what lanes did that have ended. Who arrives without waiting learns nothing.
  Nor does anybody from ``vote.sync``, ``shfl.sync``, ``match.sync`` and ``redux.sync``: lanes wait
  for one another there, but of memory they are promised no order (CUDA C++ Programming Guide, warp
  vote and warp shuffle functions).
- A strong access (an atomic, ``volatile``, ``.relaxed``, ``.acquire``, ``.release``). One that
  writes leaves behind what its lane knows, and one that reads takes up what was left there, as if
  a fence stood beside each. So what a lock protects is in order.

- ``free`` and ``malloc``: who is given memory comes after all who had it before.

What is no conflict: two reads; two strong accesses; two plain stores of the same bytes. A strong
and a plain access are one. Several bytes are judged one by one.

Only lanes of one warp are judged, and only shared and global memory, since no two lanes have local
memory in common. Of the reads of a byte those of one warp are remembered: the last that read it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ccc.emulator.base.errors import EmulatorError, Index3
from ccc.emulator.base.forms import Array, spread
from ccc.emulator.memory.memory import Access, Touch
from ccc.ir.nodes import Instruction, decode
from ccc.ptx.opcodes import ATOMICS
from ccc.ptx.types import STRONG

_MOST = 100
"""Findings after which nobody looks any more."""


class Race(EmulatorError):
    """Two accesses of one byte that nothing orders; ``first`` ran before ``second``.

    Args:
        first: the instruction of the one.
        second: the instruction of the other.
        threads: who they were, each with its block.
        space: ``"shared"`` or ``"global"``.
        address: of the byte, in that space.
        variable: the name of the shared variable that it lies in, if any.
    """

    def __init__(
        self,
        first: Instruction,
        second: Instruction,
        threads: tuple[tuple[Index3, Index3], tuple[Index3, Index3]],
        space: str,
        address: int,
        variable: str | None,
    ):
        self.first = first
        self.second = second
        self.threads = threads
        self.space = space
        self.variable = variable
        (_, earlier), (block, later) = threads
        where = f"{variable} in {space}" if variable else space
        message = (
            f"race in {where} memory: nothing orders this access, {second}, and that of thread "
            f"{earlier} at {first.span}, {first}"
        )
        super().__init__(message, second.span, block=block, thread=later, address=address)


def new_races(before: Iterable[Race], after: Iterable[Race]) -> list[Race]:
    """The races of a transformed kernel that are not its author's.

    Where the original has races in a shared variable, or in global memory, those of the transformed
    kernel in the same are its author's: the lanes that do the same work need not be the same ones.
    """
    known = {(race.space, race.variable) for race in before}
    return [race for race in after if (race.space, race.variable) not in known]


@dataclass(slots=True)
class Legend:
    """What findings are told with: instructions by slot, threads by lane, variables by address."""

    slots: list[Instruction]
    thread: Callable[[int], tuple[Index3, Index3]]
    shared: list[tuple[int, str]]

    def variable(self, space: str, address: int) -> str | None:
        """The shared variable that an address lies in."""
        names = [name for start, name in sorted(self.shared) if start <= address]
        return names[-1] if names and space == "shared" else None


class Shadow:
    """What is known of each byte of a space: its last write, and the reads since then.

    The C library has the same arrays, in this order (races.c).
    """

    def __init__(self, size: int):
        self.writer = np.full(size, -1, np.int32)
        self.written = np.zeros(size, np.uint32)
        self.write_slot = np.zeros(size, np.int32)
        self.reading_warp = np.full(size, -1, np.int32)
        self.read = np.zeros((size, 32), np.uint32)
        self.read_slot = np.zeros((size, 32), np.int32)
        self.noted = np.zeros(size, np.uint32)  # the C library's

    def grow(self, size: int) -> None:
        """Make room for a space that has grown, as by ``malloc``."""
        more = size - len(self.writer)
        if more <= 0:
            return
        fresh = Shadow(more)
        for name, known in vars(self).items():
            setattr(self, name, np.concatenate([known, getattr(fresh, name)]))

    def forget(self, start: int, end: int) -> None:
        """Nobody has accessed the bytes from ``start`` to ``end``."""
        self.writer[start:end] = self.reading_warp[start:end] = -1


class Left:
    """What the lanes knew that accessed a place strongly, by the place and their warp.

    A table of keys with clocks, at least half of which is free: -1. The C library fills it, too.
    """

    def __init__(self, size: int = 1024):
        self.keys = np.full(size, -1, np.int64)
        self.clocks = np.zeros((size, 32), np.uint32)
        self.count = np.zeros(1, np.int64)

    def find(self, key: int) -> int:
        """Where a key is, or may be put."""
        last = len(self.keys) - 1
        at = (key * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) >> 40 & last
        while self.keys[at] not in (-1, key):
            at = at + 1 & last
        return at

    def make_room(self, more: int) -> None:
        """Make it large enough for some more keys."""
        wanted, size = 2 * (int(self.count[0]) + more), len(self.keys)
        if wanted <= size:
            return
        keys, clocks = self.keys, self.clocks
        size = 1 << (2 * wanted - 1).bit_length()
        self.keys, self.clocks = np.full(size, -1, np.int64), np.zeros((size, 32), np.uint32)
        for place in np.flatnonzero(keys >= 0):
            at = self.find(int(keys[place]))
            self.keys[at], self.clocks[at] = keys[place], clocks[place]


@dataclass(slots=True)
class _ByteAccesses:
    """Accesses of one instruction, a row for each byte: where, by whom, and what is stored.

    ``byte``, ``address`` and ``lane`` are int64, ``value`` uint8, of shape (bytes of all lanes,).
    """

    touch: Touch
    byte: Array
    address: Array
    lane: Array
    value: Array | None

    @property
    def is_strong(self) -> bool:
        return is_strong(self.touch.access.instruction)


class RaceDetector:
    """Judges the accesses of one wave.

    Args:
        lanes: how many there are.
        names: for findings.
        races: where findings go, one for each pair of instructions.
    """

    def __init__(self, lanes: int, names: Legend, races: list[Race]):
        self.names = names
        self.races = races
        self.known = {(race.first, race.second) for race in races}
        self.clock = np.zeros((lanes, 32), np.uint32)
        self._advance(np.arange(lanes))
        self.ended = np.zeros((lanes // 32, 32), np.uint32)
        self.shadows: dict[str, Shadow] = {}
        self.left = Left()

    @functools.cached_property
    def strong(self) -> Array:
        """Which of the instructions are strong accesses: bool, by slot."""
        return np.array([is_strong(instruction) for instruction in self.names.slots], bool)

    # Order ---------------------------------------------------------------------------------------

    def _advance(self, lanes: Array) -> None:
        self.clock[lanes, lanes & 31] += np.uint32(1)

    def meet(self, lanes: Array, keys: Array) -> None:
        """Lanes (int64, (n,)) of one warp with the same key (integers, (n,)) have met."""
        order = np.lexsort((keys, lanes >> 5))
        lanes, keys = lanes[order], keys[order]
        new = (lanes[1:] >> 5 != lanes[:-1] >> 5) | (keys[1:] != keys[:-1])
        starts = np.flatnonzero(np.concatenate([[True], new]))
        joined = np.maximum.reduceat(self.clock[lanes], starts)
        joined = np.maximum(joined, self.ended[lanes[starts] >> 5])
        self.clock[lanes] = np.repeat(joined, np.diff(np.append(starts, len(lanes))), axis=0)
        self._advance(lanes)

    def end(self, lanes: Array) -> None:
        """Lanes, int64 of shape (n,), have ended.

        Who meets without them from now on comes after all that they did.
        """
        np.maximum.at(self.ended, lanes >> 5, self.clock[lanes])

    def synchronise(self, touch: Touch, lanes: Array) -> None:
        """Strong accesses, in the order of ``lanes``, int64, (n,), pass on what these know."""
        access = touch.access
        takes, leaves = access.method != "store", access.method != "load"
        places, _ = touch.space.locate(touch.group, touch.address, access.bytes)
        place_of = dict(zip(touch.group.lanes.tolist(), places.tolist(), strict=True))
        self.left.make_room(len(lanes))
        for lane in lanes.tolist():
            key = place_of[lane] << 23 | lane >> 5 << 1 | (touch.name == "shared")
            mine, at = self.clock[lane], self.left.find(key)
            left = self.left.clocks[at]
            if takes and self.left.keys[at] == key:
                np.maximum(mine, left, out=mine)
            if leaves:
                self.left.count += self.left.keys[at] != key
                self.left.keys[at] = key
                np.maximum(mine, left, out=left)
        if leaves:
            self._advance(lanes)

    # Accesses ------------------------------------------------------------------------------------

    def shadow(self, space: str, size: int) -> Shadow:
        """What is known of the bytes of a space that has so many now."""
        if space not in self.shadows:
            self.shadows[space] = Shadow(size)
        self.shadows[space].grow(size)
        return self.shadows[space]

    def note(self, touch: Touch, values: tuple[Array, ...] | None) -> None:
        """Judge accesses that are about to be done, and write them down.

        Args:
            touch: the lanes and where they go.
            values: what a store writes, ``count`` arrays (n,) or scalars; None of other accesses.
        """
        if touch.name not in ("shared", "global") or len(self.races) >= _MOST:
            return
        size = touch.access.bytes
        place, bad = touch.space.locate(touch.group, touch.address, size)
        if bad is not None:
            return  # a fault, which the memory reports
        shadow = self.shadow(touch.name, len(touch.space.data))
        place = place.astype(np.int64)
        steps = np.arange(size)
        value = None if values is None else _bytes_of(touch.access, touch.group.n, values)
        accesses = _ByteAccesses(
            touch,
            (place[:, None] + steps).ravel(),
            (touch.address.astype(np.int64)[:, None] + steps).ravel(),
            np.repeat(touch.group.lanes, size),
            value,
        )
        if touch.access.method != "load":
            self._among_themselves(accesses, place)
        self._against_write(shadow, accesses)
        if touch.access.method == "load":
            self._read(shadow, accesses)
        else:
            self._against_reads(shadow, accesses)
            self._write(shadow, accesses)

    def forget(self, start: int, end: int) -> None:
        """The bytes from ``start`` to ``end`` of global memory are another allocation now."""
        if "global" in self.shadows:
            self.shadows["global"].forget(start, end)

    def _now(self, lanes: Array) -> Array:
        now: Array = self.clock[lanes, lanes & 31]
        return now

    def _among_themselves(self, new: _ByteAccesses, place: Array) -> None:
        """Plain stores of different bytes to one place by one instruction."""
        if new.is_strong or new.value is None or len(np.unique(place)) == len(place):
            return
        order = np.argsort(new.byte, kind="stable")
        byte, lane, value = new.byte[order], new.lane[order], new.value[order]
        bad = (byte[1:] == byte[:-1]) & (lane[1:] >> 5 == lane[:-1] >> 5)
        bad &= value[1:] != value[:-1]
        for row in np.flatnonzero(bad)[:1]:
            slot = new.touch.access.slot
            self._report(new, int(order[row + 1]), int(lane[row]), slot)

    def _against_write(self, shadow: Shadow, new: _ByteAccesses) -> None:
        """The last write of each byte must be known to who accesses it."""
        writer = shadow.writer[new.byte]
        ahead = shadow.written[new.byte] > self.clock[new.lane, writer & 31]
        bad = ahead & (writer >> 5 == new.lane >> 5) & (writer != new.lane)
        if new.is_strong and bad.any():
            bad &= ~self.strong[shadow.write_slot[new.byte]]
        if not bad.any():
            return
        data = new.touch.space.data
        for row in np.flatnonzero(bad):
            earlier = self.names.slots[slot := int(shadow.write_slot[new.byte[row]])]
            both_store = new.value is not None and earlier.name == "st"
            same = both_store and new.value is not None and new.value[row] == data[new.byte[row]]
            if not same:
                self._report(new, int(row), int(writer[row]), slot)
                return

    def _against_reads(self, shadow: Shadow, new: _ByteAccesses) -> None:
        """The reads of each byte must be known to who writes it."""
        rows = np.flatnonzero(shadow.reading_warp[new.byte] == new.lane >> 5)
        if not len(rows):
            return
        byte, lane = new.byte[rows], new.lane[rows]
        ahead = shadow.read[byte] > self.clock[lane]
        ahead[np.arange(len(rows)), lane & 31] = False
        if new.is_strong and ahead.any():
            ahead &= ~self.strong[shadow.read_slot[byte]]
        if not ahead.any():
            return
        row, reader = (int(places[0]) for places in ahead.nonzero())
        slot = int(shadow.read_slot[byte[row], reader])
        self._report(new, int(rows[row]), int(lane[row]) & ~31 | reader, slot)

    def _read(self, shadow: Shadow, new: _ByteAccesses) -> None:
        warp, before = new.lane >> 5, shadow.reading_warp[new.byte]
        if (before != warp).any():
            shadow.reading_warp[new.byte] = warp  # several may read at once: the last of them stays
            now = shadow.reading_warp[new.byte]
            shadow.read[new.byte[before != now]] = 0
            byte, lane = new.byte[now == warp], new.lane[now == warp]
        else:
            byte, lane = new.byte, new.lane
        shadow.read[byte, lane & 31] = self._now(lane)
        shadow.read_slot[byte, lane & 31] = new.touch.access.slot

    def _write(self, shadow: Shadow, new: _ByteAccesses) -> None:
        shadow.writer[new.byte] = new.lane
        shadow.written[new.byte] = self._now(new.lane)
        shadow.write_slot[new.byte] = new.touch.access.slot
        shadow.reading_warp[new.byte] = -1

    def _report(self, new: _ByteAccesses, row: int, other: int, slot: int) -> None:
        """A finding, unless this pair of instructions has been found already."""
        first, second = self.names.slots[slot], new.touch.access.instruction
        if (first, second) in self.known:
            return
        self.known.add((first, second))
        threads = self.names.thread(other), self.names.thread(int(new.lane[row]))
        space, address = new.touch.name, int(new.address[row])
        variable = self.names.variable(space, address)
        self.races.append(Race(first, second, threads, space, address, variable))


def is_strong(instruction: Instruction) -> bool:
    """Whether an instruction accesses memory strongly (PTX ISA, memory consistency model)."""
    return _is_strong(instruction.opcode)


@functools.cache
def _is_strong(opcode: str) -> bool:
    decoded = decode(opcode)
    is_atomic = decoded.name in (*ATOMICS, "mbarrier")
    return is_atomic or not STRONG.isdisjoint(decoded.modifiers)


def orders(instruction: Instruction) -> bool:
    """Whether what lanes did before they meet at an instruction comes before what they do then."""
    return instruction.name in ("bar", "barrier")


def _bytes_of(access: Access, lanes: int, values: tuple[Array, ...]) -> Array:
    """What lanes store, byte by byte."""
    columns = [spread(value, lanes).astype(access.dtype) for value in values]
    return np.stack(columns, axis=1).view(np.uint8).ravel()
