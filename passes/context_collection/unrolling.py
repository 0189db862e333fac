"""Copies of annotated loops that ptxas may unroll.

An annotated loop is not unrolled, so that it stays one, unless the user says how often. cicc hands
that on to ptxas, in the loop's header, as it does with a user's own ``#pragma unroll 1``. Which of
the two it is the marker of an annotated loop tells; other loops have the user's alone.

Nor is a loop left to ptxas of which it may make another one. What ends by comparing a counter that
takes steps of a constant the one of 13.0 unrolls: while the distance to the bound is that of four
turns or more it runs four, then up to three. Where that distance does not fit into a number, as
from 5 to the least one in ``do ...; while (++k < least)``, or steps are rounded, as of ``float``,
these are more turns, or fewer. cicc unrolls some such loops itself, and rightly.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from ccc.analysis.defuse import trace
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.induction import Induction, find_bound
from ccc.analysis.paths.loop_guards import is_guarded
from ccc.ir.markers import LOOPS, UNROLLS
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Immediate, Operand, Register, Special
from ccc.ptx.directives import NO_UNROLL
from ccc.ptx.operations import OF_COUNTS, SCALES
from ccc.ptx.types import INDICES, TYPES

_FAR = 1 << 29
"""Steps of which four do not fit into a number of 32 bits."""
_FEW = 4
"""Steps of which it takes half a billion to go farther than a number with a sign tells."""
_ROW = 1 << 12
"""What numbers of threads are multiplied by as indices are, and not as a hash, which wraps."""


def kept_whole(facts: Facts) -> set[str]:
    """The headers of the loops that are not unrolled for the sake of their annotations alone."""
    found = (
        next((loop for loop in facts.loops if block.label in loop.blocks), None)
        for block in facts.function.blocks
        for marker in block.markers
        if marker.kind in LOOPS and not UNROLLS.items() <= marker.clauses.items()
    )
    return {one.header for one in found if one is not None and _is_unrolled_right(one, facts)}


def _is_unrolled_right(loop: Loop, facts: Facts) -> bool:
    """Whether ptxas makes the same of a loop that it unrolls: that distances to its bound fit."""
    ends = find_bound(loop, facts)
    if ends is None or abs(ends.stride) >= _FAR:
        return False
    if ends.relation == "ne" or TYPES[ends.type].kind != "s":
        return True
    begins = _makes_first(loop, ends, facts)
    is_small = abs(ends.stride) <= _FEW
    if is_small and begins is not None and all(one == Immediate("0") for one in begins):
        return True
    counts_threads = ends.stride > 0 and begins is not None and _have_no_sign(begins)
    return (is_small or counts_threads) and is_guarded(loop, ends, facts)


def _makes_first(loop: Loop, ends: Induction, facts: Facts) -> frozenset[Operand] | None:
    """The numbers that what the counter begins with is made from, by sums and by products, of
    which no literals are more than those of a row, and in no loop, which repeats them."""
    factors: dict[Instruction, int] = {}

    def parts(maker: Instruction, made: Register) -> Iterable[Operand] | None:
        around = (one for one in facts.loops if facts.homes[maker] in one.blocks)
        if any(made in facts.liveness.live_in(one.header) for one in around):
            return None
        if maker.name in SCALES:
            known = [facts.literal(one) for one in maker.operands[1:3]]
            factors[maker] = math.prod(one.integer or 1 for one in known if one is not None)
        return maker.operands[1:] if maker.name in OF_COUNTS and maker.guard is None else None

    begins = facts.begins(loop, ends.counter) or ()
    first = [parts(one.instruction, ends.counter) for one in begins]
    if not first or None in first:
        return None
    found = trace([one for some in first for one in some or ()], facts.makers, parts)
    if math.prod(factors.values()) > _ROW:
        return None
    return frozenset(one for one in found or () if not isinstance(one, Register)) or None


def _have_no_sign(operands: Iterable[Operand]) -> bool:
    """Whether all are numbers of threads or blocks, of which there are, or literals like them."""
    return all(
        0 <= one.integer <= _FAR
        if isinstance(one, Immediate) and one.integer is not None
        else isinstance(one, Special) and one.name.partition(".")[0] in INDICES
        for one in operands
    )


def let_unroll(blocks: Iterable[Block], headers: Collection[str]) -> None:
    """Take out of some of the blocks what tells ptxas not to unroll the loops they are headers of.

    Args:
        blocks: copies of blocks.
        headers: the labels of those that are meant.
    """
    for block in blocks:
        if block.label in headers:
            block.statements[:] = [one for one in block.statements if str(one) != NO_UNROLL]
