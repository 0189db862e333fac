"""What a kernel takes of a multiprocessor: registers and memory, and how many warps then fit."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ccc.errors import CccError, Span
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
    found = re.fullmatch(r"sm_(\d+)[af]?", arch)
    number = int(found[1]) if found else 0
    if number not in LIMITS:
        known = ", ".join(f"sm_{one}" for one in LIMITS)
        raise CccError(f'unknown architecture "{arch}"; known are {known}')
    return LIMITS[number]


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


def _by_registers(registers: int, warps: int) -> int:
    """How many blocks of ``warps`` warps find registers."""
    if registers > REGISTERS_PER_THREAD:
        return 0
    if _registers_per_warp(registers) * _round_up(warps, PARTITIONS) > REGISTERS:
        return 0
    return warps_with_registers(registers) // warps


def _by_shared(room: Limits, shared_bytes: int) -> int:
    """How many blocks find shared memory."""
    if shared_bytes > room.shared_kb_block * KB:
        return 0
    taken = _round_up(shared_bytes + room.shared_kb_reserved * KB, room.shared_step)
    return room.shared_kb * KB // taken if taken else room.blocks


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel needs, as the assembler or the driver tells it.

    Args:
        registers: 32-bit registers of a thread.
        shared: static shared memory of a block, bytes.
        stack: stack frame of a thread in local memory, bytes; spilled registers lie in it.
        spill_stores: bytes that the code stores when it spills; None where nobody told.
        spill_loads: bytes that the code loads back; None where nobody told.
    """

    registers: int
    shared: int
    stack: int
    spill_stores: int | None = None
    spill_loads: int | None = None


@dataclass(frozen=True, slots=True)
class Assembled:
    """Machine code of a module, and what each of its kernels needs, by (mangled) name."""

    cubin: bytes
    resources: dict[str, Resources]


def assemble(ptx: str, arch: str, ptxas: str | Path = "ptxas") -> Assembled:
    """Run ``ptxas -v`` on PTX text.

    Args:
        ptx: one module.
        arch: what to assemble for, such as ``sm_90``.
        ptxas: the assembler; by default the one on the search path.

    Raises:
        CccError: there is no ptxas, or it refuses the text; with its first complaint.
    """
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        source, target = Path(folder, "module.ptx"), Path(folder, "module.cubin")
        source.write_text(ptx, encoding="utf-8")
        command = [str(ptxas), "-v", f"-arch={arch}", str(source), "-o", str(target)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise CccError(
                f"cannot run ptxas ({error.strerror}); install the CUDA toolkit,"
                ' for example with pip install "cuda-toolkit[nvcc]==13.0.*"'
            ) from error
        messages = done.stdout + done.stderr
        if done.returncode:
            raise _refusal(ptx, messages)
        return Assembled(target.read_bytes(), read_resources(messages))


def resources(ptx: str, arch: str, ptxas: str | Path = "ptxas") -> dict[str, Resources]:
    """What each kernel of a module needs, by (mangled) name; arguments and errors: ``assemble``."""
    return assemble(ptx, arch, ptxas).resources


def _refusal(ptx: str, messages: str) -> CccError:
    """The first complaint of ptxas, shown at its line of the PTX where it names one."""
    found = re.search(r"^ptxas .*?, line (\d+); (?:error|fatal)\s*: (.*)", messages, re.MULTILINE)
    if found:
        line, lines = int(found[1]), ptx.splitlines()
        text = lines[line - 1] if 0 < line <= len(lines) else None
        return CccError(f"ptxas: {found[2]}", Span("<ptx>", line), text)
    found = re.search(r"^ptxas (?:fatal|error)\s*: (.*)", messages, re.MULTILINE)
    return CccError(f"ptxas: {found[1] if found else messages.strip() or 'failed without a word'}")


def read_resources(messages: str) -> dict[str, Resources]:
    """Read what ``ptxas -v`` prints: a block of lines a kernel.

    Functions that are no kernels have properties of their own, which are left out: the numbers of
    a kernel include what it calls.
    """
    kernels = {}
    for block in re.split(r"^.*Compiling entry function ", messages, flags=re.MULTILINE)[1:]:
        name = re.match(r"'([^']+)'", block)
        used = re.search(r"Used (\d+) registers(.*)", block)
        if not name or not used:
            continue
        stack = re.search(r"(\d+) bytes cumulative stack size", used[2])
        frame = re.search(
            rf"Function properties for {re.escape(name[1])}\n\s*(\d+) bytes stack frame,"
            r" (\d+) bytes spill stores, (\d+) bytes spill loads",
            block,
        )
        shared = re.search(r"(\d+) bytes smem", used[2])
        kernels[name[1]] = Resources(
            registers=int(used[1]),
            shared=int(shared[1]) if shared else 0,
            stack=int((stack or frame or [0, 0])[1]),
            spill_stores=int(frame[2]) if frame else 0,
            spill_loads=int(frame[3]) if frame else 0,
        )
    return kernels
