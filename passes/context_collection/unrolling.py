"""Copies of annotated loops that ptxas may unroll.

An annotated loop is not unrolled, so that it stays one, unless the user says how often. cicc hands
that on to ptxas, in the loop's header, as it does with a user's own ``#pragma unroll 1``. Which of
the two it is the marker of an annotated loop tells; other loops have the user's alone.

Nor is a loop left to ptxas whose counter may wrap. Of ``j += 2147483647`` until ``j == 0`` the
one of 13.0 makes a loop of four turns at once that never ends, as if no sum wrapped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.lane_strides import turn_strides
from ccc.ir.markers import LOOPS, UNROLLS
from ccc.ir.nodes import Block
from ccc.ptx.directives import NO_UNROLL

_FAR = 1 << 16
"""A counter of 32 bits that moves less has many turns before it wraps."""


def kept_whole(facts: Facts) -> set[str]:
    """The headers of the loops that are not unrolled for the sake of their annotations alone."""
    found = (
        next((loop for loop in facts.loops if block.label in loop.blocks), None)
        for block in facts.function.blocks
        for marker in block.markers
        if marker.kind in LOOPS and not UNROLLS.items() <= marker.clauses.items()
    )
    return {loop.header for loop in found if loop is not None and not _may_wrap(loop, facts)}


def _may_wrap(loop: Loop, facts: Facts) -> bool:
    """Whether something that a loop compares moves so far in a turn that few turns have it wrap."""
    strides = turn_strides(loop, facts)
    code = (i for label in loop.blocks for i in facts.blocks[label].instructions)
    compared = (r for i in code if i.name in ("set", "setp") for r in i.used())
    return any(abs(strides.get(one) or 0) >= _FAR for one in compared)


def let_unroll(blocks: Iterable[Block], headers: Collection[str]) -> None:
    """Take out of some of the blocks what tells ptxas not to unroll the loops they are headers of.

    Args:
        blocks: copies of blocks.
        headers: the labels of those that are meant.
    """
    for block in blocks:
        if block.label in headers:
            block.statements[:] = [one for one in block.statements if str(one) != NO_UNROLL]
