"""What a multiprocessor holds, and how many warps of a kernel fit on it at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ccc.errors import CccError
from ccc.ptx.architecture import capability
from ccc.ptx.types import WARP_SIZE

KB = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one multiprocessor holds.

    Args:
        threads: resident at once.
        blocks: resident at once.
        shared_kb: shared memory, KB.
        shared_kb_block: the most that one block may use, static and dynamic, KB.
        shared_kb_reserved: what the system takes of it in each block, KB.
        shared_step: a block's shared memory is rounded up to a multiple of this, bytes.
    """

    threads: int
    blocks: int
    shared_kb: int
    shared_kb_block: int
    shared_kb_reserved: int
    shared_step: int


# CUDA C++ Programming Guide, "Compute Capabilities": the tables of technical specifications. The
# last column, and how registers are handed out, are in the toolkit's cuda_occupancy.h.
LIMITS: dict[int, Limits] = {
    # sm: threads, blocks; KB of shared memory, for one block, reserved in a block; step in bytes
    70: Limits(2048, 32, 96, 96, 0, 256),
    72: Limits(2048, 32, 96, 96, 0, 256),
    75: Limits(1024, 16, 64, 64, 0, 256),
    80: Limits(2048, 32, 164, 163, 1, 128),
    86: Limits(1536, 16, 100, 99, 1, 128),
    87: Limits(1536, 16, 164, 163, 1, 128),
    88: Limits(1536, 16, 100, 99, 1, 128),
    89: Limits(1536, 24, 100, 99, 1, 128),
    90: Limits(2048, 32, 228, 227, 1, 128),
    100: Limits(2048, 32, 228, 227, 1, 128),
    103: Limits(2048, 32, 228, 227, 1, 128),
    110: Limits(1536, 24, 228, 227, 1, 128),
    120: Limits(1536, 24, 100, 99, 1, 128),
    121: Limits(1536, 24, 100, 99, 1, 128),
}
"""What a multiprocessor of each architecture holds."""

MULTIPROCESSORS: dict[int, int] = {
    70: 80,  # V100
    72: 8,  # Xavier
    75: 72,  # RTX 8000
    80: 108,  # A100
    86: 84,  # A40
    87: 16,  # Orin
    88: 84,  # as sm_86: no product is known
    89: 142,  # L40
    90: 132,  # H100, H200
    100: 152,  # GB200; B200: 148
    103: 152,  # GB300; B300: 148. The chip has 160, of which no product has all
    110: 20,  # Thor
    120: 188,  # RTX PRO 6000
    121: 48,  # GB10
}
"""How many the named product has, the largest of its architecture that is sold as far as is known.

No file of the toolkit tells (13.0). Those of V100, A100, H100, GB200, GB300 and RTX PRO 6000 are
the ``core_count`` in OpenXLA's ``xla/backends/gpu/target_config/specs``; those of Xavier, Orin
and Thor, and those of sm_75, sm_86 and sm_89, are what CUDA's ``deviceQuery`` prints of such
devices in public logs; that of GB10, and those of B200 and B300, are told by many who measured on
one (2026-11-28)."""

# The same from sm_70 to sm_121.
REGISTERS = 64 * KB
"""32-bit registers of a multiprocessor, and the most that one block may have."""
REGISTERS_PER_THREAD = 255
REGISTER_GRANULARITY = 256
"""Registers are handed to a warp in pieces of this many."""
PARTITIONS = 4
"""A multiprocessor's registers lie in this many equal parts, and a warp's in one of them."""
THREADS_PER_BLOCK = 1024


def limits(arch: str) -> Limits:
    """What a multiprocessor of ``arch`` holds.

    Args:
        arch: such as ``sm_90`` or ``sm_100a``.

    Raises:
        CccError: the architecture is not one of ``LIMITS``.
    """
    number = capability(arch)
    if number not in LIMITS:
        known = ", ".join(f"sm_{one}" for one in LIMITS)
        raise CccError(f'unknown architecture "{arch}"; known are {known}')
    return LIMITS[number]


def likely_limits(arch: str) -> Limits:
    """The same, but of an architecture that is not known those of the newest that is."""
    return LIMITS.get(capability(arch), LIMITS[max(LIMITS)])


def likely_multiprocessors(arch: str) -> int:
    """How many a card of an architecture has, or one of the newest that is known."""
    return MULTIPROCESSORS.get(capability(arch), MULTIPROCESSORS[max(MULTIPROCESSORS)])


def check_shared_limit(wanted: int, archs: Iterable[str]) -> None:
    """Refuse more shared memory for a block than it has on any of these architectures.

    Args:
        wanted: bytes.
        archs: such as ``sm_90``; those that are not known may have any number.

    Raises:
        CccError: there is not that much.
    """
    known = [arch for arch in archs if capability(arch) in LIMITS]
    if not known:
        return
    most = max(known, key=lambda arch: limits(arch).shared_kb_block)
    kb = limits(most).shared_kb_block
    if wanted > kb * KB:
        raise CccError(f"{wanted} bytes: a block has {kb} KB ({kb * KB} bytes) on {most}")


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full a multiprocessor can get.

    Args:
        blocks: how many blocks are resident at once; 0 when not even one fits.
        warps: how many warps these are.
        fraction: of the warps that a multiprocessor has room for; from 0 to 1.
        limited_by: ``"threads"``, ``"blocks"``, ``"registers"`` or ``"shared"``; of several that
            limit alike, the first of these.
    """

    blocks: int
    warps: int
    fraction: float
    limited_by: str


def occupancy(arch: str, registers: int, shared_bytes: int, block: int) -> Occupancy:
    """How many blocks of a kernel a multiprocessor runs at once.

    Barriers are not counted: no kernel with the usual one is limited by them.

    Args:
        arch: such as ``sm_90``.
        registers: of one thread, as ``ptxas -v`` prints them.
        shared_bytes: of one block, static and dynamic.
        block: threads of one block.

    Raises:
        CccError: the architecture is unknown, or there is no such block.
    """
    room = limits(arch)
    if not 1 <= block <= THREADS_PER_BLOCK or registers < 0 or shared_bytes < 0:
        raise CccError(
            f"no kernel has blocks of {block} threads (1 to {THREADS_PER_BLOCK}),"
            f" {registers} registers and {shared_bytes} bytes of shared memory"
        )
    warps = -(-block // WARP_SIZE)
    fits = {
        "threads": room.threads // WARP_SIZE // warps,
        "blocks": room.blocks,
        "registers": _by_registers(registers, warps),
        "shared": _by_shared(room, shared_bytes),
    }
    limited_by = min(fits, key=lambda resource: fits[resource])
    blocks = fits[limited_by]
    return Occupancy(blocks, blocks * warps, blocks * warps * WARP_SIZE / room.threads, limited_by)


def _round_up(number: int, step: int) -> int:
    return -(-number // step) * step


def _registers_per_warp(registers: int) -> int:
    return _round_up(max(registers, 1) * WARP_SIZE, REGISTER_GRANULARITY)


def warps_with_registers(registers: int) -> int:
    """How many warps find registers on a multiprocessor, if a thread takes so many."""
    return REGISTERS // PARTITIONS // _registers_per_warp(registers) * PARTITIONS


def launchable_warps(registers: int) -> int:
    """How many warps the largest block can have whose threads take so many registers each.

    >>> launchable_warps(64), launchable_warps(65), launchable_warps(128), launchable_warps(255)
    (32, 28, 16, 8)
    """
    return min(warps_with_registers(registers), THREADS_PER_BLOCK // WARP_SIZE)


def most_registers(warps: int) -> int:
    """The most registers of a thread with which so many warps find room, be they of one block.

    >>> most_registers(64), most_registers(32), most_registers(28), most_registers(1)
    (32, 64, 72, 255)
    """
    step = REGISTER_GRANULARITY // WARP_SIZE
    most = REGISTERS_PER_THREAD
    while warps_with_registers(most) < warps:
        most = (most - 1) // step * step
    return most


def registers_limit(arch: str, registers: int) -> bool:
    """Whether fewer warps than a multiprocessor of ``arch`` runs may find so many registers, each
    of its threads; whatever else its blocks take."""
    try:
        return warps_with_registers(registers) < limits(arch).threads // WARP_SIZE
    except CccError:
        return True


def _by_registers(registers: int, warps: int) -> int:
    """How many blocks of ``warps`` warps find registers."""
    if registers > REGISTERS_PER_THREAD:
        return 0
    if _registers_per_warp(registers) * _round_up(warps, PARTITIONS) > REGISTERS:
        return 0
    return warps_with_registers(registers) // warps


def shared_of_each(arch: str, blocks: int) -> int:
    """The most bytes of shared memory of a block of which so many are to fit.

    >>> shared_of_each("sm_90", 1), shared_of_each("sm_89", 6)
    (232448, 16000)
    """
    room = likely_limits(arch)
    share = room.shared_kb * KB // blocks // room.shared_step * room.shared_step
    return share - room.shared_kb_reserved * KB


def _by_shared(room: Limits, shared_bytes: int) -> int:
    """How many blocks find shared memory."""
    if shared_bytes > room.shared_kb_block * KB:
        return 0
    taken = _round_up(shared_bytes + room.shared_kb_reserved * KB, room.shared_step)
    return room.shared_kb * KB // taken if taken else room.blocks
