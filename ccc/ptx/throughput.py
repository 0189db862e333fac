"""How many results a multiprocessor's pipes give in a cycle, and what instructions take of them.

A multiprocessor of all architectures here issues four warp instructions in a cycle: one *issue
slot* each, in which 128 lanes can be served. A pipe that serves fewer lanes in a cycle is busy for
more slots.
"""

from __future__ import annotations

import functools
from collections.abc import Collection
from enum import Enum

from ccc.ptx.architecture import capability
from ccc.ptx.opcodes import ADDS_WITH_CARRY, LONG, OPERAND_SPACES, RENAMES, Unit
from ccc.ptx.types import TYPES

LANES_ISSUED = 128
"""Lanes for which instructions are issued in a cycle."""
SCHEDULERS = 4
"""Warp instructions that are issued in a cycle."""
SECTOR = 32
"""The bytes in which caches and memory move."""
LINE = 128
"""The bytes of a line of the first level cache, four sectors."""


class Pipe(Enum):
    """What instructions wait for. ``ISSUE`` is the slot that each of them takes."""

    ISSUE = "issue"
    FLOAT = "32-bit floating point"
    LOGIC = "comparison, selection, logic and shifts"
    DOUBLE = "64-bit floating point"
    SPECIAL = "special functions, conversions of 64 bits, counting bits"
    MEMORY = "loads, stores and shuffles"
    SECTORS = "pieces of 32 bytes that come from memory, or go there"


# CUDA C++ Programming Guide, "Arithmetic Instructions": results in a cycle for each multiprocessor,
# of 32-bit floating-point addition, comparison, 64-bit floating-point addition, reciprocals and
# sines, and shuffles. Integer additions and multiplications have no pipe of their own here: ptxas
# gives them to the pipes of logic and of floating point in turn.
_RATES: dict[int, tuple[int, int, int, int, int]] = {
    # sm: float, logic, double, special, memory
    70: (64, 64, 32, 16, 32),
    72: (64, 64, 32, 16, 32),
    75: (64, 64, 2, 16, 32),
    80: (64, 64, 32, 16, 32),
    86: (128, 64, 2, 16, 32),
    87: (128, 64, 2, 16, 32),
    88: (128, 64, 2, 16, 32),
    89: (128, 64, 2, 16, 32),
    90: (128, 64, 64, 16, 32),
    100: (128, 64, 64, 16, 32),
    103: (128, 64, 2, 16, 32),
    110: (128, 64, 2, 16, 32),
    120: (128, 64, 2, 16, 32),
    121: (128, 64, 2, 16, 32),
}
_DEFAULT = 90
_SECTOR_BYTES = 32
"""What the second level cache sends to a multiprocessor in a cycle, at most (Z. Jia, M. Maggioni,
B. Staiger, D. P. Scarpazza, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking",
2018). A sector is so 2 issue slots. On an H200 (2026-11-23) nvcc's own loops of samples/nested took
0.8 to 1.0 where lanes find most in the first level cache (rows round the diagonal), 3.3 to 3.9
where they read a vector anywhere (16 entries in each row), and u_list 4."""


@functools.cache
def slots_of(pipe: Pipe, arch: str) -> float:
    """For how many issue slots a pipe is busy with one warp instruction.

    Args:
        pipe: the pipe.
        arch: such as ``sm_90``; one that is not known counts as that.
    """
    rates = _RATES.get(capability(arch), _RATES[_DEFAULT])
    every = (LANES_ISSUED, *rates, _SECTOR_BYTES * LANES_ISSUED // (SCHEDULERS * SECTOR))
    return LANES_ISSUED / every[list(Pipe).index(pipe)]


FLOAT_INSTRUCTIONS = 10
"""Those of a long operation, about, for each 32 bits of floating-point numbers."""
INTEGER_INSTRUCTIONS = 20
"""And of integers; with twice the bits four times as many."""


def machine_code(
    name: str, unit: Unit, modifiers: Collection[str], types: Collection[str], space: str
) -> tuple[Pipe, int]:
    """What an instruction of PTX becomes, about: so many machine instructions of one pipe.

    Args:
        name: the opcode's first word.
        unit: of its row in the table.
        modifiers: its other words.
        types: those of them that are types.
        space: of what it accesses.
    """
    kinds = [TYPES[one] for one in types]
    words = max([1, *(kind.bits // 32 for kind in kinds)])
    floats = [kind for kind in kinds if kind.kind == "f"]
    is_double = any(kind.bits == 64 for kind in floats)
    if name in RENAMES or unit == Unit.NOTHING:
        return Pipe.ISSUE, 0
    if unit in (Unit.LSU, Unit.TEX):
        return Pipe.MEMORY, 0 if space in OPERAND_SPACES else words
    if name in LONG and "approx" not in modifiers:
        if not floats:
            return Pipe.ISSUE, INTEGER_INSTRUCTIONS * words**2
        return Pipe.DOUBLE if is_double else Pipe.FLOAT, FLOAT_INSTRUCTIONS * words
    if unit == Unit.SFU or (name == "cvt" and floats and words > 1):
        return Pipe.SPECIAL, words
    if unit == Unit.BRANCH:  # it goes to a unit of its own
        return Pipe.ISSUE, 1
    if is_double:
        return Pipe.DOUBLE, 1
    if unit == Unit.FMA and floats:
        return Pipe.FLOAT, 1
    plain = unit == Unit.FMA or name in ADDS_WITH_CARRY
    return Pipe.ISSUE if plain else Pipe.LOGIC, words
