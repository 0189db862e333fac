"""Loads, stores and atomics of many lanes at once, with their checks and their costs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from ccc.emulator.base.errors import EmulatorError
from ccc.emulator.base.forms import DTYPES, Array, Form, spread
from ccc.emulator.lanes.groups import Group
from ccc.emulator.memory import atomics, traffic
from ccc.emulator.memory.images import Images
from ccc.emulator.memory.printing import printed
from ccc.emulator.memory.spaces import (
    IMAGES,
    LOCAL,
    PARAM,
    SHARED,
    WINDOW_BITS,
    Arena,
    Local,
    Shared,
    Uniform,
)
from ccc.ir.nodes import Instruction
from ccc.ptx.types import VECTORS

Space = Arena | Shared | Local | Uniform


@dataclass(frozen=True, slots=True)
class Location:
    """Where a variable is: an address in its space, or in the frame of the running function."""

    space: str
    address: int
    in_frame: bool = False


@dataclass(slots=True, eq=False)
class Access:
    """What an instruction does to memory: ``count`` elements of ``size`` bytes and a PTX type.

    ``slot`` is its place in the counters; ``values`` the number of operands that it takes;
    ``bytes`` what one lane touches in all, and its addresses are multiples of that.
    """

    instruction: Instruction
    slot: int
    method: str
    space: str
    type: str
    count: int
    values: int
    operation: str = ""
    dtype: np.dtype[Any] = field(init=False)
    size: int = field(init=False)
    bytes: int = field(init=False)

    def __post_init__(self) -> None:
        self.dtype = DTYPES[self.type]
        self.size = self.dtype.itemsize
        self.bytes = self.size * self.count

    @classmethod
    def of(cls, instruction: Instruction, slot: int) -> Access:
        """Read an ``ld``, ``st``, ``atom`` or ``red``.

        Raises:
            EmulatorError: its type or operation is not emulated.
        """
        form = Form(instruction)
        method = {"ld": "load", "ldu": "load", "st": "store", "red": "reduce"}.get(
            instruction.name, "atomic"
        )
        if form.type not in DTYPES:
            form.refuse(f"accesses {form.type}")
        words = [word for word in instruction.modifiers if word in VECTORS]
        access = cls(
            instruction, slot, method, instruction.space, form.type,
            VECTORS[words[0]] if words else 1, 1,
        )  # fmt: skip
        if method in ("atomic", "reduce"):
            access.operation = atomics.operation_name(form)
            access.values = 2 if access.operation == "cas" else 1
        return access


@dataclass(slots=True)
class Costs:
    """Per instruction slot: sectors loaded and stored, bank conflicts."""

    loads: list[int]
    stores: list[int]
    conflicts: list[int]


@dataclass(slots=True)
class Touch:
    """An access on its way: a group's lanes go to addresses, uint64 of shape (n,), of one space."""

    space: Space
    name: str
    access: Access
    group: Group
    address: Array


class Memory:
    """All state spaces of one wave of blocks.

    Addresses are uint64 of shape (n,), one for each lane of the group; values have the dtype of the
    access and are of shape (n,), or scalars.

    Args:
        arena: global memory, and the constants in it.
        shared: shared memory of the blocks.
        local: local memory of the lanes.
        param: the kernel's parameters.
        costs: where to count.
        frame_bytes: the size of one function's frame in local memory.
        name_thread: the block and thread index of a lane, for messages.
        shuffle: a permutation of n lanes, for atomics in random order; None for lane order.
    """

    def __init__(
        self,
        arena: Arena,
        shared: Shared,
        local: Local,
        param: Uniform,
        costs: Costs,
        frame_bytes: int,
        name_thread: Callable[[int], tuple[Any, Any]],
        shuffle: Callable[[int], Array] | None = None,
    ):
        self.arena = arena
        self.local = local
        self.param = param
        self.spaces: dict[str, Space] = {
            "global": arena,
            "const": arena,
            "shared": shared,
            "local": local,
            "param": param,
        }
        self.costs = costs
        self.frame_bytes = frame_bytes
        self.name_thread = name_thread
        self.shuffle = shuffle
        self.images = Images(IMAGES)
        self.constants: list[tuple[int, int]] = []
        """Where ``.const`` variables begin and end."""
        self.windows: dict[int, tuple[Space, str]] = {
            SHARED >> WINDOW_BITS: (shared, "shared"),
            LOCAL >> WINDOW_BITS: (local, "local"),
            PARAM >> WINDOW_BITS: (param, "param"),
        }

    # What the generated code calls ---------------------------------------------------------------

    def load(self, access: Access, group: Group, address: Array) -> Any:
        """The elements at each lane's address: an array (n,), or a tuple of ``count`` of them."""
        found = self._over(self._load, access, group, address)
        return found[0] if access.count == 1 else tuple(found)

    def store(self, access: Access, group: Group, address: Array, *values: Array) -> None:
        """Write each lane's ``count`` elements; of several lanes at one address, one wins."""
        self._over(self._store, access, group, address, *values)

    def atomic(self, access: Access, group: Group, address: Array, *values: Array) -> Any:
        """Apply an atomic operation lane after lane; returns what each lane found.

        That is a tuple where there are several elements.
        """
        values = tuple(spread(value, group.n) for value in values)
        found = self._over(self._atomic, access, group, address, *values)
        return found[0] if access.count == 1 else tuple(found)

    def reduce(self, access: Access, group: Group, address: Array, *values: Array) -> None:
        """An atomic operation without a result."""
        values = tuple(spread(value, group.n) for value in values)
        self._over(self._atomic, access, group, address, *values)

    def parameter(self, dtype: np.dtype[Any], offset: int) -> Any:
        """One scalar of the kernel's parameters."""
        data: Array = self.param.data
        return data[offset : offset + dtype.itemsize].view(dtype)[0]

    def copy_local(self, group: Group, source: int, target: int, size: int) -> None:
        """Copy bytes of each lane's local memory; the places are relative to its frame."""
        base = group.depth * self.frame_bytes
        self.local.grow(base + max(source, target) + size)
        self.local.copy(group.lanes, base + source, base + target, size)

    def put_local(self, group: Group, place: int, values: Any) -> None:
        """Write values, (n,) or a scalar, to a place in the frame of each lane."""
        base = group.depth * self.frame_bytes
        self.local.grow(base + place + values.itemsize)
        if values.dtype == bool:
            values = values.view(np.uint8)
        self.local.put(group.lanes, base + place, spread(values, group.n))

    def take_local(self, group: Group, place: int, dtype: np.dtype[Any]) -> Array:
        """The value at a place in the frame of each lane: (n,), of that dtype."""
        base = group.depth * self.frame_bytes
        self.local.grow(base + place + dtype.itemsize)
        return self.local.take(group.lanes, base + place, dtype)

    def allocate(self, group: Group, source: int, target: int) -> None:
        """``malloc`` for each lane; its argument and its result have places in the frame."""
        base = group.depth * self.frame_bytes
        self.local.grow(base + max(source, target) + 8)
        sizes = self.local.take(group.lanes, base + source, np.dtype(np.uint64))
        addresses = np.array([self._malloc(int(size)) for size in sizes], np.uint64)
        self.local.put(group.lanes, base + target, addresses)

    def _malloc(self, size: int) -> int:
        return self.arena.malloc(size)

    def release(self, access: Access, group: Group, source: int) -> None:
        """``free`` for each lane; its argument has a place in the frame."""
        addresses = self.take_local(group, source, np.dtype(np.uint64))
        for lane, address in enumerate(addresses.tolist()):
            if address and not self.arena.free(address):
                block, thread = self.name_thread(int(group.lanes[lane]))
                raise EmulatorError(
                    "free of what malloc did not give, or twice",
                    access.instruction.span, block=block, thread=thread, address=address,
                )  # fmt: skip

    def argument(self, group: Group, place: int, dtype: np.dtype[Any]) -> Any:
        """What the first lane of a group passes to a function, at a place in the frame."""
        base = group.depth * self.frame_bytes
        self.local.grow(base + place + dtype.itemsize)
        return self.local.take(group.lanes[:1], base + place, dtype)[0]

    def text_argument(self, group: Group, place: int) -> str:
        """The string in global memory that such an argument points to."""
        return self.arena.text(int(self.argument(group, place, np.dtype(np.uint64))))

    def print(self, access: Access, group: Group, sources: list[int], target: int) -> None:
        """``vprintf`` for each lane, in order, to the standard output.

        Args:
            access: how arguments are read: single bytes, from anywhere.
            group: the lanes.
            sources: the places in the frame of the format and of the address of the arguments.
            target: that of the result, the number of arguments.
        """
        formats, packed = (self.take_local(group, s, np.dtype(np.uint64)) for s in sources)
        counts = np.zeros(group.n, np.uint32)
        for lane in range(group.n):
            alone = group.only(np.arange(group.n) == lane)
            assert alone is not None
            start = int(packed[lane])
            take = functools.partial(self._bits, access, alone, start)
            template = self.arena.text(int(formats[lane]))
            shown, counts[lane] = printed(template, take, self.arena.text)
            sys.stdout.write(shown)
        self.put_local(group, target, counts)

    def _bits(self, access: Access, lane: Group, start: int, place: int, size: int) -> int:
        """An unsigned number in memory, as one lane sees it."""
        places = (np.array([start + place + k], np.uint64) for k in range(size))
        parts = [int(self.load(access, lane, address)[0]) for address in places]
        return int.from_bytes(bytes(parts), "little")

    # Spaces --------------------------------------------------------------------------------------

    def _over(
        self,
        act: Callable[[Touch, tuple[Array, ...]], list[Array]],
        access: Access,
        group: Group,
        address: Array,
        *values: Array,
    ) -> list[Array]:
        """Do something in the space of an access; generic addresses may need several."""
        if access.space != "generic":
            space = self.spaces[access.space]
            return act(Touch(space, access.space, access, group, address), values)
        tags = address >> np.uint64(WINDOW_BITS)
        if (tags == tags[0]).all():
            return act(self._generic(tags[0], access, group, address), values)
        result = [np.zeros(group.n, access.dtype) for _ in range(access.count)]
        for tag in np.unique(tags):
            here = tags == tag
            part = group.only(here)
            assert part is not None
            mine = tuple(spread(value, group.n)[here] for value in values)
            pieces = act(self._generic(tag, access, part, address[here]), mine)
            for whole, piece in zip(result, pieces, strict=False):
                whole[here] = piece
        return result

    def _generic(self, tag: Any, access: Access, group: Group, address: Array) -> Touch:
        """An access through generic addresses that all lie in one window."""
        found = self.windows.get(int(tag))
        if found is None:
            return Touch(self.arena, "global", access, group, address)
        inside = address & np.uint64((1 << WINDOW_BITS) - 1)
        return Touch(found[0], found[1], access, group, inside)

    def _locate(self, touch: Touch) -> Array:
        """The indices of the first elements in the space's data; checks bounds and alignment."""
        access, address = touch.access, touch.address
        if int(np.bitwise_or.reduce(address)) & (access.bytes - 1):
            self._fault("misaligned", touch, (address & np.uint64(access.bytes - 1)) != 0)
        place, bad = touch.space.locate(touch.group, address, access.bytes)
        if bad is not None:
            self._fault("out-of-bounds", touch, bad, _behind_null(touch, bad))
        if touch.name == "global":
            sectors = self.costs.loads if access.method == "load" else self.costs.stores
            sectors[access.slot] += traffic.sectors(touch.group, place)
        elif touch.name == "shared":
            self.costs.conflicts[access.slot] += traffic.conflicts(
                touch.group, address, access.bytes
            )
        element: Array = place >> (access.size.bit_length() - 1)
        return element

    def _fault(self, what: str, touch: Touch, bad: Array, more: str = "") -> NoReturn:
        access = touch.access
        first = int(np.argmax(bad))
        block, thread = self.name_thread(int(touch.group.lanes[first]))
        raise EmulatorError(
            f"{what} {touch.name} access of {access.bytes} bytes by {access.instruction.opcode}"
            f"{more}",
            access.instruction.span,
            block=block,
            thread=thread,
            address=int(touch.address[first]),
        )

    # Actions -------------------------------------------------------------------------------------

    def _load(self, touch: Touch, _: tuple[Array, ...]) -> list[Array]:
        place = self._locate(touch)
        self._check_written(touch, place)
        cells = touch.space.view(touch.access.dtype)
        return [cells.take(place + k if k else place) for k in range(touch.access.count)]

    def _store(self, touch: Touch, values: tuple[Array, ...]) -> list[Array]:
        place = self._locate(touch)
        cells = touch.space.view(touch.access.dtype)
        for k, value in enumerate(values):
            cells[place + k if k else place] = value
        self._mark_written(touch, place)
        return []

    def _atomic(self, touch: Touch, values: tuple[Array, ...]) -> list[Array]:
        place = self._locate(touch)
        self._check_written(touch, place)
        access = touch.access
        count = access.count
        name = access.operation
        if name == "add" and access.dtype.kind == "f":
            name = atomics.sum_in(touch.name)
        found = []
        for k in range(count):
            at = place + k if k else place
            if access.type in ("f16x2", "bf16x2"):
                found.append(self._atomic_halves(touch, name, at, values[k]))
            else:
                found.append(self._atomic_element(touch, name, access.dtype, at, values[k::count]))
        return found

    def _atomic_element(
        self, touch: Touch, name: str, dtype: np.dtype[Any], place: Array,
        values: tuple[Array, ...],
    ) -> Array:  # fmt: skip
        """One element of each lane, in the order of the lanes or in a random one."""
        cells, n = touch.space.view(dtype), touch.group.n
        if self.shuffle is None or n == 1:
            return atomics.apply(name, cells, place, values)
        order = self.shuffle(n)
        mixed = tuple(value[order] for value in values)
        old = np.empty(n, dtype)
        old[order] = atomics.apply(name, cells, place[order], mixed)
        return old

    def _atomic_halves(self, touch: Touch, name: str, place: Array, value: Array) -> Array:
        """A packed pair: both halves, each for itself."""
        dtype = DTYPES[atomics.element_type(touch.access.type)]
        pairs = np.ascontiguousarray(value).view(dtype).reshape(-1, 2)
        halves = [
            self._atomic_element(touch, name, dtype, 2 * place + k, (pairs[:, k].copy(),))
            for k in (0, 1)
        ]
        return np.stack(halves, axis=1).reshape(-1).view(touch.access.dtype)

    def _check_written(self, touch: Touch, place: Array) -> None:
        """Every element must have been written, at least in part (padding is copied, too)."""
        if isinstance(touch.space, (Shared, Local)):
            flags, first, count = _flags(touch, touch.space, place)
            for k in range(count):
                seen = flags.take(first + k)
                if not seen.all():
                    self._fault("uninitialised", touch, seen == 0)

    @staticmethod
    def _mark_written(touch: Touch, place: Array) -> None:
        if isinstance(touch.space, (Shared, Local)):
            flags, first, count = _flags(touch, touch.space, place)
            for k in range(count):
                flags[first + k] = flags.dtype.type((1 << 8 * flags.itemsize) - 1)


def _behind_null(touch: Touch, bad: Array) -> str:
    """Words for an address of global memory that is less than any there is."""
    lies_before = touch.name == "global" and touch.address[int(np.argmax(bad))] < IMAGES
    return ", as behind a null pointer" if lies_before else ""


def _flags(touch: Touch, space: Shared | Local, place: Array) -> tuple[Array, Array, int]:
    """What tells whether elements were written: flags, the first one's place, and their number."""
    size, count = touch.access.size, touch.access.count
    if size <= 8:
        return space.written_view(size), place, count
    return space.written_view(8), place * (size // 8), count * (size // 8)
