"""How many tasks members have, where each may have several (no pass; batches and tiles use it).

Each member tells its number bit by bit: so many ballots as a number has bits tell all of them how
many tasks the members before have. All tasks together are added up on the way, or at once.
"""

from __future__ import annotations

from ccc.ir.edit import Emitter
from ccc.ir.operands import Register
from ccc.ptx.architecture import capability
from ccc.snippet import Given, Snippet

REDUCES = 80
"""The compute capability, times ten, from which on lanes can add up numbers at once."""

EXCHANGE = Snippet(
    """
    .reg .pred %has;
    .reg .b32 %number, %bit, %lanes, %mask, %below, %before, %count, %offset;
        and.b32 %bit, %number, BIT;
        setp.ne.b32 %has, %bit, 0;
        vote.sync.ballot.b32 %lanes, %has, %mask;
        and.b32 %before, %lanes, %below;
        popc.b32 %count, %before;
        mad.lo.s32 %offset, %count, BYTES, %offset;   // four bytes for each task of lanes before
""",
    "BIT",
    "BYTES",
)
"""For each bit of a number: the lanes in whose number it is."""

ADD = Snippet(
    """
    .reg .b32 %lanes, %count, %total;
        popc.b32 %count, %lanes;
        mad.lo.s32 %total, %count, BYTES, %total;
""",
    "BYTES",
)
"""And what that adds to the tasks of all;"""

SUM = Snippet("""
    .reg .b32 %number, %sum, %total, %mask;
        redux.sync.add.u32 %sum, %number, %mask;
        mad.lo.s32 %total, %sum, 4, %total;
""")
"""or all of them at once."""


def reduces(arch: str) -> bool:
    """Whether lanes can add up numbers, or join their bits, by one instruction."""
    return capability(arch) >= REDUCES


def count_tasks(
    emit: Emitter, number: Register, most: int, arch: str, offset: Register, total: Register,
    **members: Given,
) -> None:  # fmt: skip
    """Add four bytes for each task of members before to ``offset``, and for each to ``total``.

    Args:
        emit: where to.
        number: of a lane's tasks.
        most: there are.
        arch: such as ``sm_90``.
        offset: takes the former.
        total: takes the latter.
        members: their ``mask``, and the lanes ``below`` this one.
    """
    at_once = reduces(arch)
    if at_once:
        SUM.emit(emit, members, number=number, total=total)
    for bit in range(most.bit_length()):
        exchange = EXCHANGE.of(BIT=1 << bit, BYTES=4 << bit)
        lanes = exchange.emit(emit, members, number=number, offset=offset)["lanes"]
        if not at_once:
            ADD.of(BYTES=4 << bit).emit(emit, lanes=lanes, total=total)
