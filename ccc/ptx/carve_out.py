"""How the memory of a multiprocessor is parted: what shared memory leaves of the L1 cache."""

from __future__ import annotations

from ccc.ptx.architecture import capability
from ccc.ptx.occupancy import KB, limits, occupancy

_VOLTA = (8, 16, 32, 64, 96)
_AMPERE = (8, 16, 32, 64, 100, 132, 164)
_SMALL = (8, 16, 32, 64, 100)
_HOPPER = (8, 16, 32, 64, 100, 132, 164, 196, 228)

PARTED: dict[int, tuple[int, tuple[int, ...]]] = {
    # sm: KB of both; KB that shared memory may have of it, but for none
    70: (128, _VOLTA), 72: (128, _VOLTA), 75: (96, (32, 64)),
    80: (192, _AMPERE), 87: (192, _AMPERE),
    86: (128, _SMALL), 88: (128, _SMALL), 89: (128, _SMALL), 120: (128, _SMALL), 121: (128, _SMALL),
    90: (256, _HOPPER), 100: (256, _HOPPER), 103: (256, _HOPPER), 110: (256, _HOPPER),
}  # fmt: skip
"""CUDA C++ Programming Guide, "Compute Capabilities": "Shared Memory" of each."""

FOR_MORE = 132
"""KB up to which the driver sets memory apart for twice as many blocks as there are threads for."""

LARGE = 768
"""Threads of a block up to which it does."""


def first_level_cache(arch: str, registers: int, shared_bytes: int, block: int) -> int:
    """The KB of L1 cache beside what the driver sets apart as shared memory where nobody asks.

    It does so for twice as many blocks as run at once, and for as many where a block has more than
    768 threads. No page says so: measured on an H200 (driver for CUDA 13.0, 2026-11-30) by loads
    that go round in so many KB, for blocks of 32 to 1,024 threads with 0 to 48 KB each; 82 of 84
    were as this gives, and two without any had more apart. Other architectures are taken to be
    alike.

    Args:
        arch: such as ``sm_90``.
        registers: of one thread.
        shared_bytes: of one block, static and dynamic.
        block: threads of one block.

    Raises:
        CccError: as of :func:`ccc.ptx.occupancy.occupancy`.

    >>> first_level_cache("sm_90", 32, 6144, 256), first_level_cache("sm_90", 32, 3072, 256)
    (124, 192)
    """
    room, (both, sizes) = limits(arch), PARTED[capability(arch)]
    each = shared_bytes / KB + room.shared_kb_reserved
    blocks = occupancy(arch, registers, shared_bytes, block).blocks
    twice = blocks if block > LARGE else min(2 * blocks, room.blocks)
    wanted = max(blocks * each, min(twice * each, FOR_MORE))
    return both - next((size for size in sizes if size >= wanted), sizes[-1])
