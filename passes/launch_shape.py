"""What is known of a launch: sizes, a thread's number in its block, shared memory (no pass)."""

from __future__ import annotations

from typing import Final, Literal

from ccc.errors import CccError
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Function
from ccc.ir.operands import Register
from ccc.pipeline import Kernel
from ccc.ptx.dynamic_stack import ALIGNMENT, added
from ccc.ptx.occupancy import (
    KB,
    limits,
    most_registers,
    occupancy,
    shared_of_each,
    warps_with_registers,
)
from ccc.ptx.types import DEFAULT_SHARED_BYTES, MAX_BLOCK_THREADS, WARP_SIZE
from ccc.snippet import Snippet

LEAST_BLOCKS: Final = "minnctapersm"
"""The directive by which ptxas is told how many blocks a multiprocessor should have room for."""

MOST_REGISTERS: Final = "maxnreg"
"""The directive by which ptxas is told how many registers a thread may take."""
BOUNDS = {LEAST_BLOCKS: "least_blocks", MOST_REGISTERS: MOST_REGISTERS}
"""What reports call them, where they are to keep warps."""
SIZES = ("maxntid", "reqntid")
"""Those that say how large a block may be, or is."""

BLOCK_THREADS = Snippet("""
    .reg .b32 %width, %height, %depth, %area, %threads;
        mov.u32 %width, %ntid.x;
        mov.u32 %height, %ntid.y;
        mov.u32 %depth, %ntid.z;
        mul.lo.s32 %area, %width, %height;
        mul.lo.s32 %threads, %area, %depth;
""")
"""The threads of a block."""

THREAD_NUMBER = Snippet("""
    .reg .b32 %layer, %height, %y, %row, %width, %x, %thread;
        mov.u32 %layer, %tid.z;
        mov.u32 %height, %ntid.y;
        mov.u32 %y, %tid.y;
        mad.lo.s32 %row, %layer, %height, %y;
        mov.u32 %width, %ntid.x;
        mov.u32 %x, %tid.x;
        mad.lo.s32 %thread, %row, %width, %x;
""")
"""The number of the thread in its block, counted as warps are made of threads.

32 of them are a warp: ``%warpid`` may change (PTX ISA 10).
"""


def thread_number(emit: Emitter) -> Register:
    """The number of the thread in its block."""
    return THREAD_NUMBER.emit(emit)["thread"]


BLOCK_WARPS = Snippet("""
    .reg .b32 %threads, %warps;
        add.s32 %warps, %threads, 31;
        shr.u32 %warps, %warps, 5;
""")
"""The warps of a block, of which the last may be partly filled."""


def block_warps(emit: Emitter) -> Register:
    """The warps that the block has, which may be fewer than it may have: where stacks are in
    dynamic memory, the others have no share."""
    threads = BLOCK_THREADS.emit(emit)["threads"]
    return BLOCK_WARPS.emit(emit, threads=threads)["warps"]


def known_block_size(function: Function, promised: int | None) -> int:
    """The most threads a block of this kernel can have, as far as that is known."""
    known = [_product(function.limits[k]) for k in SIZES if k in function.limits]
    known += [promised] if promised else []
    return min([*known, MAX_BLOCK_THREADS])


def _product(sizes: tuple[int, ...]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product


def is_block_size_known(kernel: Kernel) -> bool:
    """Whether anybody says how large its blocks are; else they are taken to be the largest."""
    return bool(kernel.options.max_block) or any(one in kernel.function.limits for one in SIZES)


def stack_warps(kernel: Kernel) -> int:
    """For how many warps of a block there are stacks, the first ones."""
    most = -(-known_block_size(kernel.function, kernel.options.max_block) // WARP_SIZE)
    return min(most, kernel.stack_warps or most)


def shared_bytes(kernel: Kernel) -> int | None:
    """The bytes of shared memory that the kernel has already; None where that is not known.

    The order of variables is the assembler's, or the linker's. If each takes whole units of the
    largest alignment, ours included, there is room for them in any.
    """
    if kernel.dynamic_shared_bytes is None or kernel.callee_shared_bytes is None:
        return None
    own = [v for v in kernel.function.variables if v.space == "shared"]
    variables = [*kernel.shared, *own]
    unit = max([ALIGNMENT, *(variable.alignment for variable in variables)])
    sizes = [kernel.callee_shared_bytes, *(variable.bytes or 0 for variable in variables)]
    return sum(-(-size // unit) * unit for size in sizes) + kernel.dynamic_shared_bytes


def leave_room_for_blocks(kernel: Kernel) -> None:
    """Let a block have no more than leaves room for as many as the author wants at once."""
    if share := share_of_each(kernel):
        kernel.shared_limit = min(kernel.shared_limit, share)


def share_of_each(kernel: Kernel) -> int | None:
    """The bytes that each of the blocks may have which the author wants at once, such as those that
    wait for one another; None where he says nothing, or those of the original have no room."""
    blocks = kernel.function.limits.get(LEAST_BLOCKS, (0,))[0]
    share = shared_of_each(kernel.arch, blocks) if blocks > 0 else 0
    return share if share >= max(shared_bytes(kernel) or 0, 1) else None


def filled(kernel: Kernel, size: int) -> int:
    """The bytes of static memory that are taken where so many are needed: whole units if an array
    without a size is aligned, or one of another file may be.

    All such arrays are one memory, behind the static one, and ptxas aligns each for itself: what
    lies before them must not part them (PTX ISA, ".extern"; ptxas 13.0). Where nothing
    did, they begin where the system's own memory ends, at a multiple of 1 KB since sm_80.
    """
    return -(-size // _unit(kernel)) * _unit(kernel)


def _unit(kernel: Kernel) -> int:
    may_be_elsewhere = kernel.calls_unseen and kernel.options.dynamic_shared
    if kernel.dynamic_alignment <= ALIGNMENT and not may_be_elsewhere:
        return 1
    return max(KB, kernel.dynamic_alignment)


def static_room(kernel: Kernel) -> int:
    """The bytes of static shared memory that a block can have besides."""
    used, dynamic = shared_bytes(kernel) or 0, kernel.dynamic_shared_bytes or 0
    room = min(DEFAULT_SHARED_BYTES - (used - dynamic), kernel.shared_limit - used)
    return room // _unit(kernel) * _unit(kernel)


def shared_room(kernel: Kernel) -> int:
    """The bytes that a block can have besides, be it static or dynamic. Launches add some for each
    of their warps, so that stacks for blocks of the usual size are static."""
    room, may_grow = static_room(kernel), kernel.takes_dynamic and kernel.stack_warps is None
    if kernel.shared_limit <= DEFAULT_SHARED_BYTES or not may_grow:
        return room
    return max(room, kernel.shared_limit - (shared_bytes(kernel) or 0) - kernel.dynamic_alignment)


def keep_warps(kernel: Kernel, share: float = 1.0, stack: int = 0) -> None:
    """Have ptxas take no more registers than leave room for a share of the original's warps, as
    far as shared memory has room for a stack of so many bytes in each.

    Bounds of the user's own stay what they are: the directives go before what ptxas is asked for
    by option (PTX ISA, ".minnctapersm", ".maxnreg").
    """
    function, bound = kernel.function, warps_bound(kernel, share, stack)
    if bound is not None:
        directive, number = bound
        function.limits[directive] = (number,)
        function.header = f"{function.header.rstrip()}\n.{directive} {number}\n"


def warps_bound(
    kernel: Kernel, share: float = 1.0, stack: int = 0
) -> tuple[Literal["minnctapersm", "maxnreg"], int] | None:
    """The directive for that, and its number; None where ptxas cannot be told: a kernel that may
    take fewer registers than what it calls is refused by linkers.

    Of blocks whose size is known it says how many are to have room: where nobody has told yet how
    many warps the original has, as many as a multiprocessor can have; they are told when ptxas has
    been asked. Of others nothing can be said before.
    """
    function, known = kernel.function, set(kernel.function.limits)
    before = kernel.tried[0] if kernel.tried else None
    is_bound = kernel.options.max_registers or known & {LEAST_BLOCKS, MOST_REGISTERS}
    if before == 0 or is_bound or kernel.calls_unseen:
        return None
    block = known_block_size(function, kernel.options.max_block)
    used = shared_bytes(kernel) or 0
    try:
        if not known & {*SIZES}:
            most = limits(kernel.arch).threads // WARP_SIZE
            warps = min(most, warps_with_registers(before)) if before else 0
            return (MOST_REGISTERS, most_registers(int(warps * share))) if warps else None
        blocks = occupancy(kernel.arch, before or 0, used, block).blocks
        beside = occupancy(kernel.arch, 0, used + added(stack, block), block).blocks
    except CccError:  # an architecture that is not known
        return None
    if not blocks:  # more is promised than a multiprocessor has
        return None
    return LEAST_BLOCKS, max(1, min(int(blocks * share), beside))
