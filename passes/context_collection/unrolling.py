"""Copies of annotated loops that ptxas may unroll.

An annotated loop is not unrolled, so that it stays one, unless the user says how often. cicc hands
that on to ptxas, in the loop's header, as it does with a user's own ``#pragma unroll 1``. Which of
the two it is the marker of an annotated loop tells; other loops have the user's alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ccc.analysis.facts import Facts
from ccc.ir.markers import LOOPS, UNROLLS
from ccc.ir.nodes import Block
from ccc.ptx.directives import NO_UNROLL


def kept_whole(facts: Facts) -> set[str]:
    """The headers of the loops that are not unrolled for the sake of their annotations alone."""
    return {
        next((loop.header for loop in facts.loops if block.label in loop.blocks), "")
        for block in facts.function.blocks
        for marker in block.markers
        if marker.kind in LOOPS and not UNROLLS.items() <= marker.clauses.items()
    }


def let_unroll(blocks: Iterable[Block], headers: Collection[str]) -> None:
    """Take out of some of the blocks what tells ptxas not to unroll the loops they are headers of.

    Args:
        blocks: copies of blocks.
        headers: the labels of those that are meant.
    """
    for block in blocks:
        if block.label in headers:
            block.statements[:] = [one for one in block.statements if str(one) != NO_UNROLL]
