"""What stacks and registers leave of a multiprocessor: of its warps, and its first level cache."""

from __future__ import annotations

from ccc.errors import CccError
from ccc.passes.launch_shape import is_block_size_known, known_block_size, shared_bytes
from ccc.passes.thresholds import HALF_SPEED, USUAL_BLOCK
from ccc.pipeline import Kernel
from ccc.ptx.carve_out import first_level_cache
from ccc.ptx.occupancy import occupancy
from ccc.ptx.types import WARP_SIZE


def speed_of(after: float, before: float) -> float:
    """What is left of a kernel's speed with another share of its warps."""
    if not before or not after:
        return 1.0
    return after / (after + HALF_SPEED) * (before + HALF_SPEED) / before


def share_of_warps(kernel: Kernel, registers: int, stack: int = 0) -> float:
    """The share of a multiprocessor's warps that there are, if a thread takes so many registers and
    a warp so many bytes for stacks; 0 where that is not known."""
    try:
        return occupancy(kernel.arch, registers, *_of_block(kernel, stack)).fraction
    except CccError:
        return 0.0


def cache_beside(kernel: Kernel, registers: int, stack: int = 0) -> int:
    """The KB of first level cache that there are then; 0 where that is not known."""
    try:
        return first_level_cache(kernel.arch, registers, *_of_block(kernel, stack))
    except CccError:
        return 0


def _of_block(kernel: Kernel, stack: int) -> tuple[int, int]:
    """The bytes of shared memory that a block takes, and its threads."""
    block = block_size(kernel)
    return (shared_bytes(kernel) or 0) + stack * -(-block // WARP_SIZE), block


def block_size(kernel: Kernel) -> int:
    """The threads of a block, or what is usual where nobody says how many."""
    known = known_block_size(kernel.function, kernel.options.max_block)
    return known if is_block_size_known(kernel) else USUAL_BLOCK
