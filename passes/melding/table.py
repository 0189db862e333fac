"""The table of literals: constant memory in the module, an entry for each arm in each line."""

from __future__ import annotations

from collections.abc import Sequence

from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Operand, Register, Vector
from ccc.passes.melding.writing import LINE_BYTES, Line, bits_of
from ccc.ptx.types import TYPES
from ccc.snippet import Snippet

ENTRY = Snippet(
    """
    .reg .b32 %arm;
    .reg .b64 %base, %distance, %entry;
        mul.wide.u32 %distance, %arm, LINE_BYTES;  // the first line, and the lane's arm in it
        mov.u64 %base, TABLE;
        add.s64 %entry, %base, %distance;
    """,
    LINE_BYTES=LINE_BYTES,
)


def declaration(name: str, lines: Sequence[Line], arms: int) -> str:
    """The PTX of the table."""
    data = b"".join(_entry(line, arm) for line in lines for arm in range(arms))
    numbers = ", ".join(map(str, data))
    return f".global .align {LINE_BYTES} .b8 {name}[{len(data)}] = {{{numbers}}};\n"


def _entry(line: Line, arm: int) -> bytes:
    """What a line holds for one arm; where that has no literal, zeros."""
    size = TYPES[line.type].bytes
    values = [bits_of(value[arm]) or 0 if arm in value else 0 for value in line.values]
    data = b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value in values)
    return data.ljust(LINE_BYTES, b"\0")


def load(
    line: Line, number: int, arms: int, entry: Register, unused: Sequence[Register]
) -> Instruction:
    """Load what the line holds for the lane's arm; ``unused`` registers get the rest."""
    targets = [*line.targets, *unused]
    address = Address(entry, number * arms * LINE_BYTES)
    vector = f".v{len(targets)}" if len(targets) > 1 else ""
    target: Operand = Vector(tuple(targets)) if vector else targets[0]
    return Instruction(f"ld.global.nc{vector}.{line.type}", (target, address))


def missing(line: Line) -> int:
    """How many values a line lacks to be loaded at once."""
    return {3: 1}.get(len(line.values), 0)
