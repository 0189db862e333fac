"""Markers that changed nothing: without them the compiler would have made the same code.

That can be said of a marker in an arm of a branch, since it leaves memory alone
(:mod:`ccc.ir.arm_markers`). What it may keep a compiler from is

- to call a function less often that has no effect: none is called twice, but those of the driver;
- to unroll or divide a loop around: the innermost one has a marker that stays, others have one, or
  nobody knows how often they go round. If there are copies of a marker, all have one: then they
  come of loops that are gone, or of functions put where they are called, which are smaller without;
- to take out what two arms have in common: there is no other arm, or no opcode of one block is in
  the other;
- to make one of two arms that follow each other: nothing with an effect stands before it;
- to compute indexes of the arm before the branch, and to forget with that whether they may
  overflow, so that no constant part of one can be added to the address instead: there is none, it
  is in no part that is widened with its sign, or the arm is more than one block;
- to move into the arm what it alone needs (:mod:`ccc.analysis.unsunk`): no more than a little of
  that stands before the branch;
- to do without the branch, or to make one of it and of another: that would take to run what stands
  in the marker's block unasked (:mod:`ccc.analysis.unasked`), or the block's ways to lead to where
  the branch leads that does not take the arm: not where they lead to a loop.

All else is as large or as small with the marker as without, up to one instruction.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import takewhile
from typing import TYPE_CHECKING

from ccc.analysis.callees import callee
from ccc.analysis.constant_trip_count import trip_count
from ccc.analysis.thresholds import SMALL_FUNCTION
from ccc.analysis.unasked import never_unasked
from ccc.analysis.unsunk import much_unsunk
from ccc.ir.markers import ARMS, LOOPS
from ccc.ir.nodes import Block, Instruction, MarkerNote
from ccc.ir.operands import Address, Immediate, Register, registers
from ccc.ptx.opcodes import Effect, extends_sign

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

_WHOLE = ("local", "param")
"""Where variables lie whose parts are at constant places."""
_SUMS = ("add", "mad", "or", "sub")
_JOINS = ("mov", "bra")
"""What stands in the block of a way on which values are moved to where ways join."""


def all_idle(facts: Facts, left: Collection[int]) -> bool:
    """Whether all markers of some annotations changed nothing, as long as the others stay."""
    markers = [
        (marker, block)
        for block in facts.function.blocks
        for marker in block.markers
        if marker.identifier in left
    ]
    return (
        facts.function.kind == "entry"
        and _calls_each_once(facts)
        and all(m.kind in ARMS and _is_idle(facts, block, left) for m, block in markers)
        and (
            len({marker for marker, _ in markers}) == len(markers)
            or (
                len(list(facts.function.instructions)) <= SMALL_FUNCTION
                and all(_keep_markers(facts, block, left) for _, block in markers)
            )
        )
    )


def _calls_each_once(facts: Facts) -> bool:
    """Whether a kernel calls no function twice, unless that is known to have an effect."""
    names = [callee(one) for one in facts.function.instructions if one.effects & Effect.CALL]
    return all(
        names.count(name) == 1 or facts.callees.of_system(name) is not None for name in names
    )


def _is_idle(facts: Facts, block: Block, left: Collection[int]) -> bool:
    """Whether that is so of a marker in this block."""
    other = _other_way(facts, block)
    return (
        other is not None
        and _loops_stay(facts, block, left)
        and _comes_first(block, left)
        and (_branches(facts, block) or not _adds_constants(block))
        and (
            (_joins(facts, other) and _leads_elsewhere(facts, block, other))
            or never_unasked(facts, block, left)
        )
        and (_joins(facts, other) or _nothing_in_common(block, facts.blocks[other]))
        and not much_unsunk(facts, block)
    )


def _other_way(facts: Facts, block: Block) -> str | None:
    """Where the branches before a block lead else, as one condition; None if they are none, or
    lead to several blocks."""
    before = list(facts.graph.predecessors(block.label))
    ways = {way for label in before for way in facts.graph.successors(label)}
    ways -= {block.label, *before}
    return ways.pop() if before and len(ways) == 1 else None


def _joins(facts: Facts, way: str) -> bool:
    """Whether several ways lead to a block, or out of the function, so that it is no arm."""
    return len(list(facts.graph.predecessors(way))) > 1 or way not in facts.blocks


def _nothing_in_common(one: Block, other: Block) -> bool:
    """Whether no instruction of two arms might be the same one, done before or behind them.

    Not where one arm is nothing but a jump to where both lead.
    """
    return bool(_kinds(other)) and _kinds(one).isdisjoint(_kinds(other))


def _kinds(block: Block) -> set[str]:
    """The opcodes of what a block does."""
    return {one.opcode for one in block.instructions if not one.is_branch}


def _comes_first(block: Block, left: Collection[int]) -> bool:
    """Whether nothing that has an effect stands before a block's only marker that is left, and no
    other marker."""
    before = takewhile(lambda one: not isinstance(one, MarkerNote), block.statements)
    markers = [marker.identifier in left for marker in block.markers]
    return (
        markers.index(True) == 0
        and markers.count(True) == 1
        and not any(isinstance(one, Instruction) and one.effects for one in before)
    )


def _adds_constants(block: Block) -> bool:
    """Whether a constant is a part of an index that is made in a block, and made wider with its
    sign, or is known to be of one, since it was added to the address."""
    needed: set[Register] = set()
    widened: set[Register] = set()
    for one in reversed(list(block.instructions)):
        addresses = [operand for operand in one.operands if isinstance(operand, Address)]
        if any(address.offset for address in addresses) and one.space not in _WHOLE:
            return True
        if not widened.isdisjoint(one.defined()):
            if one.name in _SUMS and isinstance(one.operands[-1], Immediate):
                return True
            widened.update(one.used())
        if not needed.isdisjoint(one.defined()):
            needed.update(one.used())
            widened.update(one.used() if extends_sign(one.name, one.modifiers) else ())
        needed.update(*map(registers, addresses))
    return False


def _loops_stay(facts: Facts, block: Block, left: Collection[int]) -> bool:
    """Whether the loops around are neither unrolled nor divided for the want of a marker."""
    around = [loop for loop in facts.loops if block.label in loop.blocks]
    return all(
        _keeps_marker(facts, loop, left) or (loop is not around[0] and not trip_count(loop, facts))
        for loop in around
    )


def _keep_markers(facts: Facts, block: Block, left: Collection[int]) -> bool:
    """Whether all loops around a block have a marker of their own that stays."""
    around = (loop for loop in facts.loops if block.label in loop.blocks)
    return all(_keeps_marker(facts, loop, left) for loop in around)


def _keeps_marker(facts: Facts, loop: Loop, left: Collection[int]) -> bool:
    """Whether a loop has a marker of its own that stays."""
    inner = {label for one in facts.loops if one.blocks < loop.blocks for label in one.blocks}
    return any(
        marker.kind in LOOPS and marker.identifier not in left
        for label in loop.blocks - inner
        for marker in facts.blocks[label].markers
    )


def _leads_elsewhere(facts: Facts, block: Block, other: str) -> bool:
    """Whether no way from a block leads to the ``other`` one of the branch before, so that both
    branches could be made one: it leads to a loop, or asks for something else."""
    ways = set(facts.graph.successors(block.label))
    if any(way == other or _only_joins(facts, way, other) for way in ways):
        return False
    return _enters_loop(facts, block) if len(ways) == 1 else _asks_for_another(facts, block)


def _enters_loop(facts: Facts, block: Block) -> bool:
    """Whether a block leads to nothing but a loop that it stands before."""
    ways = set(facts.graph.successors(block.label))
    return any({loop.header} == ways and block.label not in loop.blocks for loop in facts.loops)


def _asks_for_another(facts: Facts, block: Block) -> bool:
    """Whether the branch at the end of a block asks for other values than the one before it."""
    before = (facts.blocks[label] for label in facts.graph.predecessors(block.label))
    return all(_asked(facts, block).isdisjoint(_asked(facts, one)) for one in before)


def _branches(facts: Facts, block: Block) -> bool:
    """Whether several ways lead on from a block."""
    return len(set(facts.graph.successors(block.label))) > 1


def _only_joins(facts: Facts, way: str, other: str) -> bool:
    """Whether nothing is done on a way but to move values, and it leads to another one."""
    block = facts.blocks.get(way)
    return block is None or (
        all(one.name in _JOINS for one in block.instructions)
        and other in facts.graph.successors(way)
    )


def _asked(facts: Facts, block: Block) -> set[Register]:
    """What the branch at the end of a block asks for, and what that is made from."""
    conditions = block.terminator.used() if block.terminator else ()
    makers = (maker for one in conditions for maker in facts.makers.get(one, ()))
    return {*conditions, *(one for maker in makers for one in maker.used())}
