"""State spaces: where the bytes of many lanes lie, and which addresses are good.

A space has its bytes in one flat array and turns the addresses of a group of lanes into positions
in it. Addresses are uint64 of shape (n,), one for each lane of the group. Generic addresses of the
small spaces lie in windows of their own.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array
from ccc.emulator.lanes.groups import Group

WINDOW_BITS = 40
IMAGES, CODE, PARAM, SHARED, LOCAL, GLOBAL = (
    tag << WINDOW_BITS for tag in (0x7A, 0x7B, 0x7C, 0x7D, 0x7E, 0x7F)
)
"""Where the generic addresses of each space begin; and the handles of images and the addresses of
functions, at which there is nothing to read."""
WINDOWS = {"shared": SHARED, "local": LOCAL, "param": PARAM}
"""By state space: where those begin whose own addresses begin at zero."""

HEAP_BYTES = 8 << 20
"""What ``malloc`` may give away (CUDA C++ Programming Guide, cudaLimitMallocHeapSize)."""

_GRAIN = 256  # allocations are aligned to it, and at least so far apart


class _Bytes:
    """A flat array of bytes, seen as any type."""

    def __init__(self, size: int):
        self.data: Array = np.zeros(-(-size // 16) * 16 + 16, np.uint8)
        self._views: dict[Any, Array] = {}

    def view(self, dtype: np.dtype[Any]) -> Array:
        """The bytes, uint8 of shape (size,), as an array of ``dtype``."""
        found = self._views.get(dtype)
        if found is None:
            found = self._views[dtype] = self.data.view(dtype)
        return found


class _Written(_Bytes):
    """Bytes that remember whether they were ever written."""

    def __init__(self, size: int):
        super().__init__(size)
        self.flags = _Bytes(size)

    def written_view(self, size: int) -> Array:
        """An unsigned integer for each ``size`` bytes, not 0 where one of them was written."""
        return self.flags.view(np.dtype(f"u{size}"))


class Arena(_Bytes):
    """Global memory: separate allocations with gaps between.

    Args:
        sizes: bytes of each allocation.
    """

    def __init__(self, sizes: list[int]):
        self.starts: list[int] = []
        self.ends: list[int] = []
        at = _GRAIN
        for size in sizes:
            self.starts.append(at)
            self.ends.append(at + size)
            at = (-(-(at + size) // _GRAIN) + 1) * _GRAIN
        self.heap: dict[int, int] = {}
        self.freed: dict[int, list[int]] = {}
        super().__init__(at)

    def copy(self) -> Arena:
        """The same allocations again, with the same bytes."""
        other = Arena([])
        other.starts, other.ends = self.starts.copy(), self.ends.copy()
        other.heap = self.heap.copy()
        other.freed = {size: starts.copy() for size, starts in self.freed.items()}
        other.data = self.data.copy()
        return other

    def allocate(self, size: int) -> int:
        """Make another allocation; returns its device address."""
        at = (-(-self.ends[-1] // _GRAIN) + 1) * _GRAIN if self.ends else _GRAIN
        self.starts.append(at)
        self.ends.append(at + size)
        missing = at + size + 16 - self.data.size
        if missing > 0:
            more = np.zeros(max(-(-missing // 16) * 16, self.data.size), np.uint8)
            self.data = np.concatenate([self.data, more])
            self._views.clear()
        return GLOBAL + at

    def malloc(self, size: int) -> int:
        """An allocation of the device's heap: its address, 0 where the heap is full."""
        if sum(self.heap.values()) + size > HEAP_BYTES:
            return 0
        if self.freed.get(size):
            start = self.freed[size].pop()
            self.ends[bisect_right(self.starts, start) - 1] = start + size
        else:
            start = self.allocate(size) - GLOBAL
        self.heap[start] = size
        return GLOBAL + start

    def free(self, address: int) -> bool:
        """Give back what :meth:`malloc` gave; False where it gave no such thing."""
        start = address - GLOBAL
        if start not in self.heap:
            return False
        self.freed.setdefault(self.heap.pop(start), []).append(start)
        self.ends[bisect_right(self.starts, start) - 1] = start
        return True

    def take_back(self, other: Arena, passed: int) -> None:
        """Copy what a copy of this has become, without the first ``passed`` of its new allocations.

        What comes after those stays, at its addresses; views of the older bytes are valid still.
        """
        fixed = self.ends[-1] if self.ends else 0
        self.data[:fixed] = other.data[:fixed]
        first = len(self.starts) + passed
        self.ends[:] = other.ends[: len(self.ends)]
        self.heap, self.freed = other.heap, other.freed
        if first < len(other.starts):
            more = other.data[self.data.size :]
            self.data = np.concatenate([self.data, more])
            self._views.clear()
            self.starts += other.starts[first:]
            self.ends += other.ends[first:]

    def address(self, index: int) -> int:
        """The device address of an allocation."""
        return GLOBAL + self.starts[index]

    def bytes_of(self, index: int) -> Array:
        """The bytes of an allocation, writable: uint8, (its size,)."""
        return self.data[self.starts[index] : self.ends[index]]

    def text(self, address: int) -> str:
        """The string at a device address; a question mark where there is none."""
        start = address - GLOBAL
        index = bisect_right(self.starts, start) - 1
        if index < 0 or start >= self.ends[index]:
            return "?"
        content = self.data[start : self.ends[index]].tobytes()
        return content.split(b"\0")[0].decode(errors="replace")

    def locate(self, _: Group, address: Array, size: int) -> tuple[Array, Array | None]:
        """Where accesses of ``size`` bytes are.

        Returns:
            Their positions in ``data``: int64, (n,); if any are bad, which ones: bool, (n,). Then
            the positions mean nothing.
        """
        place = (address - np.uint64(GLOBAL)).view(np.int64)
        low, high = int(np.minimum.reduce(place)), int(np.maximum.reduce(place))
        index = bisect_right(self.starts, low) - 1
        if index >= 0 and high + size <= self.ends[index]:
            return place, None
        if not self.starts:
            return place, np.ones(place.shape, bool)
        owner = np.searchsorted(self.starts, place, side="right") - 1
        bad = (owner < 0) | (place + size > np.asarray(self.ends)[owner])
        return place, bad if bad.any() else None


class Shared(_Written):
    """Shared memory of a wave: ``size`` bytes for each of ``blocks``."""

    def __init__(self, blocks: int, size: int):
        self.size = size
        self.stride = -(-size // 16) * 16
        super().__init__(blocks * self.stride)

    def locate(self, group: Group, address: Array, size: int) -> tuple[Array, Array | None]:
        """As of :class:`Arena`."""
        if int(np.maximum.reduce(address)) + size > self.size:
            return address, address > max(self.size - size, -1)
        return address.view(np.int64) + group.blocks * self.stride, None


class Local(_Written):
    """Local memory: every lane has its own, in granules of 16 bytes that lie lane by lane.

    It grows as calls nest; ``limit`` is how far.
    """

    def __init__(self, lanes: int, size: int, limit: int):
        self.lanes = lanes
        self.size = size
        self.limit = limit
        super().__init__(lanes * (-(-size // 16) * 16))

    def grow(self, size: int) -> None:
        """Make room for ``size`` bytes a lane."""
        if size <= self.size:
            return
        self.size = min(max(size, 2 * self.size), max(self.limit, size))
        wanted = self.lanes * (-(-self.size // 16) * 16) + 16
        for part in (self, self.flags):
            part.data = np.concatenate([part.data, np.zeros(wanted - part.data.size, np.uint8)])
            part._views.clear()

    def locate(self, group: Group, address: Array, size: int) -> tuple[Array, Array | None]:
        """As of :class:`Arena`."""
        if int(np.maximum.reduce(address)) + size > self.size or size > 16:
            return address, address > max(self.size - size, -1) if size <= 16 else address >= 0
        place = address.view(np.int64)
        return ((place >> 4) * self.lanes + group.lanes << 4) + (place & 15), None

    def copy(self, lanes: Array, source: int, target: int, size: int) -> None:
        """Copy ``size`` bytes inside the memory of each of ``lanes``: int64, (n,)."""
        step = 16
        while (source | target | size) & (step - 1) or step > 8:
            step //= 2
        dtype = np.dtype(f"u{step}")
        for part in (self, self.flags):
            cells = part.view(dtype)
            for offset in range(0, size, step):
                cells[self._cell(target + offset, lanes, step)] = cells[
                    self._cell(source + offset, lanes, step)
                ]

    def take(self, lanes: Array, place: int, dtype: np.dtype[Any]) -> Array:
        """A value of the memory of each of ``lanes``: (n,), of that dtype."""
        taken: Array = self.view(dtype)[self._cell(place, lanes, dtype.itemsize)]
        return taken

    def put(self, lanes: Array, place: int, values: Array) -> None:
        """Write ``values``, (n,), one into the memory of each of ``lanes``."""
        cells = self._cell(place, lanes, values.itemsize)
        self.view(values.dtype)[cells] = values
        self.flags.view(np.dtype(f"u{values.itemsize}"))[cells] = ~np.uint64(0) >> np.uint64(
            64 - 8 * values.itemsize
        )

    def _cell(self, offset: int, lanes: Array, step: int) -> Array:
        position = (((offset >> 4) * self.lanes + lanes) << 4) + (offset & 15)
        return position // step


class Uniform(_Bytes):
    """Kernel parameters: one copy for all lanes."""

    def __init__(self, content: bytes):
        super().__init__(len(content))
        self.size = len(content)
        self.data[: self.size] = np.frombuffer(content, np.uint8)

    def locate(self, _: Group, address: Array, size: int) -> tuple[Array, Array | None]:
        """As of :class:`Arena`."""
        if int(np.maximum.reduce(address)) + size > self.size:
            return address, address > max(self.size - size, -1)
        return address.view(np.int64), None
