"""Copies that hardware makes in the background, and the barriers in memory that tell of them.

(PTX ISA sections 9.7.9.25 and 9.7.13.15.) A copy is done at once, so that groups of copies are
empty and waiting for them takes no time. An ``mbarrier`` is 64 bits of shared memory: from the
highest down its phase, how many arrivals a phase takes, how many are pending, and how many bytes.
A state, as an arrival returns it, is what stood there before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ccc.emulator.base.forms import ADDRESS, Array, Form, Operation, emulates, spread
from ccc.emulator.lanes.groups import Group
from ccc.emulator.memory import atomics
from ccc.emulator.memory.memory import Access
from ccc.ir.operands import Address, Register

_COUNT_BITS, _BYTES_BITS = 20, 23
_COUNT = (1 << _COUNT_BITS) - 1
_BYTES = (1 << _BYTES_BITS) - 1
_ONE = np.uint32(1)
_CHUNK = 16
"""What a bulk copy moves at a time; its addresses and its size are multiples of that."""


@dataclasses.dataclass(slots=True)
class Barrier:
    """The contents of an ``mbarrier``."""

    phase: int
    needed: int
    pending: int
    bytes: int

    @classmethod
    def of(cls, word: int) -> Barrier:
        """What the 64 bits mean."""
        counts = word >> _BYTES_BITS
        top = 1 << (_BYTES_BITS - 1)
        missing = ((word & _BYTES) ^ top) - top
        return cls(word >> 63, counts >> _COUNT_BITS & _COUNT, counts & _COUNT, missing)

    def word(self) -> int:
        """The 64 bits."""
        counts = self.phase << (2 * _COUNT_BITS) | self.needed << _COUNT_BITS | self.pending
        return counts << _BYTES_BITS | self.bytes & _BYTES

    def arrive(self, count: int = 0, more_bytes: int = 0) -> None:
        """Take arrivals, and bytes that are expected (or that have come, less than 0)."""
        self.bytes += more_bytes
        self.pending -= count
        if self.pending <= 0 and self.bytes == 0:
            self.phase ^= 1
            self.pending = self.needed


def _space(form: Form) -> str:
    return form.instruction.space


def _lanes(group: Group) -> Iterator[tuple[Group, int]]:
    """The lanes of a group one by one, each with its place in it."""
    if group.n == 1:
        yield group, 0
        return
    for lane in range(group.n):
        yield Group(group.lanes[lane : lane + 1], group.depth, group.blocks_of), lane


class _Box:
    """Access to the barriers of an instruction."""

    def __init__(self, form: Form, space: str):
        # Whoever looks for races takes it for what it is, whatever the instruction is called.
        strong = dataclasses.replace(form.instruction, opcode=f"mbarrier.arrive.{space}.b64")
        self.load = Access(strong, form.slot, "load", space, "b64", 1, 0)
        self.store = Access(strong, form.slot, "store", space, "b64", 1, 1)

    def read(self, machine: Any, lane: Group, address: Any) -> Barrier:
        """What is there now."""
        return Barrier.of(int(machine.memory.load(self.load, lane, address)[0]))

    def write(self, machine: Any, lane: Group, address: Any, barrier: Barrier) -> None:
        """Put it there."""
        machine.memory.store(self.store, lane, address, np.array([barrier.word()], np.uint64))


def _changing(
    form: Form, change: Callable[[Barrier, int], None], count: int, gives: bool
) -> Operation:
    """An operation that changes barriers, by a number for each lane if there is an operand."""
    box = _Box(form, _space(form))

    def compute(machine: Any, group: Group, address: Any, number: Any = _ONE) -> Any:
        addresses, numbers = spread(address, group.n), spread(number, group.n)
        found = np.zeros(group.n, np.uint64)
        for lane, k in _lanes(group):
            barrier = box.read(machine, lane, addresses[k : k + 1])
            found[k] = barrier.word()
            change(barrier, int(numbers[k]))
            box.write(machine, lane, addresses[k : k + 1], barrier)
        return found if gives else None

    sources = (ADDRESS, "u32")[: 1 + count]
    return Operation(compute, sources, ("b64",) if gives else (), group=True, machine=True)


@emulates("mbarrier.init")
def init(form: Form) -> Operation:
    """Make a barrier of so many arrivals."""
    box = _Box(form, _space(form))

    def compute(machine: Any, group: Group, address: Any, number: Any) -> None:
        addresses, numbers = spread(address, group.n), spread(number, group.n)
        for lane, k in _lanes(group):
            count = int(numbers[k])
            box.write(machine, lane, addresses[k : k + 1], Barrier(0, count, count, 0))

    return Operation(compute, (ADDRESS, "u32"), (), group=True, machine=True)


@emulates("mbarrier.expect_tx", "mbarrier.complete_tx")
def transactions(form: Form) -> Operation:
    """Bytes that a phase waits for, or that have come."""
    if form.instruction.modifiers[0] == "expect_tx":
        return _changing(form, _expect, 1, gives=False)
    return _changing(form, lambda barrier, n: barrier.arrive(0, -n), 1, gives=False)


def _expect(barrier: Barrier, count: int) -> None:
    barrier.bytes += count


def _drop(barrier: Barrier, count: int) -> None:
    barrier.needed -= count
    barrier.arrive(count)


def _drop_expecting(barrier: Barrier, count: int) -> None:
    barrier.bytes += count
    _drop(barrier, 1)


@emulates("mbarrier.arrive", "mbarrier.arrive_drop")
def arrive(form: Form) -> Operation:
    """Come to a barrier; what stood there before is the result."""
    has_count = len(form.instruction.operands) == 3
    drops = form.has("arrive_drop")
    return _changing(form, _drop if drops else Barrier.arrive, has_count, gives=True)


@emulates("mbarrier.arrive.expect_tx", "mbarrier.arrive_drop.expect_tx")
def arrive_expecting(form: Form) -> Operation:
    """Come to a barrier, whose phase waits for so many bytes more."""
    drops = form.has("arrive_drop")
    return _changing(
        form, _drop_expecting if drops else lambda b, count: b.arrive(1, count), 1, gives=True
    )


@emulates("cp.async.mbarrier.arrive")
def arrive_after_copies(form: Form) -> Operation:
    """Come to a barrier when the copies are done, which they are; of others it awaits one more."""
    if not form.has("noinc"):
        return Operation(_nothing, (), (), group=True, machine=True)
    return _changing(form, Barrier.arrive, 0, gives=False)


@emulates("mbarrier.test_wait", "mbarrier.try_wait")
def test(form: Form) -> Operation:
    """Whether the phase of a state, or of a parity, is over."""
    box = _Box(form, _space(form))
    by_parity = form.has("parity")

    def compute(machine: Any, group: Group, address: Any, state: Any) -> Any:
        words = machine.memory.load(box.load, group, spread(address, group.n))
        phase = words >> np.uint64(63)
        asked = state.astype(np.uint64) & np.uint64(1) if by_parity else state >> np.uint64(63)
        return phase != asked

    sources = (ADDRESS, "b32" if by_parity else "b64")
    return Operation(compute, sources, ("pred",), group=True, machine=True)


@emulates("mbarrier.pending_count")
def pending_count(_: Form) -> Operation:
    """The arrivals that were pending in a state."""
    return Operation(
        lambda state: (state >> np.uint64(_BYTES_BITS) & np.uint64(_COUNT)).astype(np.uint32),
        ("b64",), ("u32",),
    )  # fmt: skip


# Copies -----------------------------------------------------------------------------------------


def _nothing(_machine: Any, _group: Group) -> None:
    """All copies are done."""


@emulates(
    "cp.async.commit_group", "cp.async.wait_group", "cp.async.wait_all", "cp.async.bulk.prefetch",
    "cp.async.bulk.commit_group", "cp.async.bulk.wait_group", "mbarrier.inval",
)  # fmt: skip
def wait(_: Form) -> Operation:
    """There is nothing to wait for."""
    return Operation(_nothing, (), (), group=True, machine=True)


@emulates("cp.async")
def copy(form: Form) -> Operation:
    """4, 8 or 16 bytes for each lane; zeros for what is not taken from the source."""
    operands = form.instruction.operands
    size = getattr(operands[2], "integer", None)
    if size not in (4, 8, 16):
        form.refuse("copies neither 4, 8 nor 16 bytes")
    count = size // 4
    load = Access(form.instruction, form.slot, "load", "global", "b32", count, 0)
    single = Access(form.instruction, form.slot, "load", "global", "b8", 1, 0)
    store = Access(form.instruction, form.slot, "store", "shared", "b32", count, count)
    kind = ""
    if len(operands) - form.instruction.opcode.count("cache_hint") == 4:
        ignores = isinstance(operands[3], Register) and operands[3].bits == 1
        kind = "pred" if ignores else "u32"

    def compute(machine: Any, group: Group, to: Any, start: Any, _: Any, limit: Any = None) -> None:
        start = spread(start, group.n)
        if limit is None:
            taken = np.full(group.n, size)
        else:
            limits = spread(limit, group.n)
            taken = np.where(limits, 0, size) if kind == "pred" else np.minimum(limits, size)
        words = np.zeros((group.n, count), np.uint32)
        whole = group.only(taken == size)
        if whole is not None:
            found = machine.memory.load(load, whole, start[taken == size])
            words[taken == size] = np.stack(found if count > 1 else (found,), axis=-1)
        for k in range(size):
            few = (taken > k) & (taken < size)
            some = group.only(few)
            if some is not None:
                byte = machine.memory.load(single, some, start[few] + np.uint64(k))
                words.view(np.uint8)[few, k] = byte
        machine.memory.store(store, group, spread(to, group.n), *words.T.copy())

    sources = (ADDRESS, ADDRESS, "u32", *([kind] if kind else []))
    return Operation(compute, sources, (), group=True, machine=True)


def _ends(form: Form) -> tuple[str, str]:
    """The spaces that a bulk copy goes to and comes from."""
    spaces = [word for word in form.instruction.modifiers if word in ("shared", "global")]
    if len(spaces) < 2:
        form.refuse("does not say from where to where")
    return spaces[0], spaces[1]


def _arrival(form: Form) -> _Box | None:
    """The barrier that is told of the bytes, if there is one."""
    operands = form.instruction.operands
    return _Box(form, "shared") if len(operands) > 3 and isinstance(operands[3], Address) else None


def _bulk(form: Form, step: Callable[[Any, Group, int, int, int], None]) -> Operation:
    """A bulk copy: ``step`` is given the wave, a lane, where to, where from and the bytes."""
    box = _arrival(form)

    def compute(machine: Any, group: Group, to: Any, start: Any, size: Any, *bar: Any) -> None:
        targets, sources, sizes = (spread(x, group.n) for x in (to, start, size))
        for lane, k in _lanes(group):
            numbers = int(targets[k]), int(sources[k]), int(sizes[k])
            if any(number % _CHUNK for number in numbers):
                machine.fault(f"a bulk copy of no multiple of {_CHUNK}", form.instruction, lane)
            step(machine, lane, *numbers)
            if box is not None:
                _tell(machine, box, lane, spread(bar[0], group.n)[k : k + 1], numbers[2])

    sources = (ADDRESS, ADDRESS, "u32") + ((ADDRESS,) if box else ())
    return Operation(compute, sources, (), group=True, machine=True)


def _tell(machine: Any, box: _Box, lane: Group, address: Array, size: int) -> None:
    """So many bytes have come."""
    barrier = box.read(machine, lane, address)
    barrier.arrive(0, -size)
    box.write(machine, lane, address, barrier)


def _at(place: int) -> Array:
    return np.array([place], np.uint64)


@emulates("cp.async.bulk")
def bulk_copy(form: Form) -> Operation:
    """Many bytes for each lane."""
    if "cp_mask" in form.instruction.opcode or "ignore_oob" in form.instruction.opcode:
        form.refuse("leaves bytes out")
    to, start = _ends(form)
    load = Access(form.instruction, form.slot, "load", start, "b64", 2, 0)
    store = Access(form.instruction, form.slot, "store", to, "b64", 2, 2)

    def step(machine: Any, lane: Group, target: int, source: int, size: int) -> None:
        for k in range(0, size, _CHUNK):
            words = machine.memory.load(load, lane, _at(source + k))
            machine.memory.store(store, lane, _at(target + k), *words)

    return _bulk(form, step)


@emulates("cp.reduce.async.bulk")
def bulk_reduction(form: Form) -> Operation:
    """Many elements for each lane, combined with what is there."""
    to, start = _ends(form)
    name = atomics.operation_name(form)
    load = Access(form.instruction, form.slot, "load", start, form.type, 1, 0)
    reduce = Access(form.instruction, form.slot, "reduce", to, form.type, 1, 1, name)

    def step(machine: Any, lane: Group, target: int, source: int, size: int) -> None:
        for k in range(0, size, load.size):
            value = machine.memory.load(load, lane, _at(source + k))
            machine.memory.reduce(reduce, lane, _at(target + k), value)

    return _bulk(form, step)


@emulates("st.async", "red.async")
def store_and_tell(form: Form) -> Operation:
    """Store to the shared memory of the cluster, or combine, and tell a barrier of the bytes."""
    operands = form.instruction.operands
    if len(operands) != 3:
        form.refuse("tells no barrier")
    space = form.instruction.space
    count = int((form.choose("v2", "v4") or "v1")[1:])
    access = Access(form.instruction, form.slot, "store", space, form.type, count, count)
    if form.instruction.name == "red":
        access.method, access.operation = "reduce", atomics.operation_name(form)
    box = _Box(form, space)

    def compute(machine: Any, group: Group, address: Any, *rest: Any) -> None:
        getattr(machine.memory, access.method)(access, group, spread(address, group.n), *rest[:-1])
        bars = spread(rest[-1], group.n)
        for lane, k in _lanes(group):
            _tell(machine, box, lane, bars[k : k + 1], access.bytes)

    sources = (ADDRESS, *[form.type] * count, ADDRESS)
    return Operation(compute, sources, (), group=True, machine=True)


@emulates("clusterlaunchcontrol.try_cancel")
def cancel(form: Form) -> Operation:
    """Ask for the work of a block that has not begun: there is none, says a response of zeros."""
    store = Access(form.instruction, form.slot, "store", "shared", "b64", 2, 2)
    box = _Box(form, "shared")
    none = np.uint64(0)

    def compute(machine: Any, group: Group, response: Any, bar: Any) -> None:
        machine.memory.store(store, group, spread(response, group.n), none, none)
        bars = spread(bar, group.n)
        for lane, k in _lanes(group):
            _tell(machine, box, lane, bars[k : k + 1], store.bytes)

    return Operation(compute, (ADDRESS, ADDRESS), (), group=True, machine=True)


@emulates("clusterlaunchcontrol.query_cancel")
def cancelled(form: Form) -> Operation:
    """What a response says; the blocks of one that was refused mean nothing."""
    if form.has("is_canceled"):
        return Operation(lambda a: (a["low"] | a["high"]) != 0, ("b128",), ("pred",))
    count = 4 if form.has("v4") else 1
    zeros = np.zeros

    def compute(a: Any) -> Any:
        found = tuple(zeros(a.shape, np.uint32) for _ in range(count))
        return found if count > 1 else found[0]

    return Operation(compute, ("b128",), ("b32",) * count)


@emulates("st.bulk")
def fill(form: Form) -> Operation:
    """Zeros."""
    store = Access(form.instruction, form.slot, "store", form.instruction.space, "b64", 1, 1)

    def compute(machine: Any, group: Group, address: Any, size: Any) -> None:
        addresses, sizes = spread(address, group.n), spread(size, group.n)
        for k in range(0, int(sizes.max()), store.size):
            some = group.only(sizes > k)
            assert some is not None
            at = addresses[sizes > k] + np.uint64(k)
            machine.memory.store(store, some, at, np.uint64(0))

    return Operation(compute, (ADDRESS, "u64"), (), group=True, machine=True)
