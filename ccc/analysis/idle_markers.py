"""Markers that changed nothing: without them the compiler would have made the same code.

That can be said of a marker in an arm of a branch, since it leaves memory alone
(:mod:`ccc.ir.arm_markers`). What it may keep a compiler from is

- to put a function where it is called, or to call one less often that has no effect: it stands in
  a kernel that calls none;
- to unroll or divide a loop around: the innermost one has a marker that stays, others have one, or
  nobody knows how often they go round, and there are no copies of the marker;
- to take out what two arms have in common: there is no other arm;
- to make one of two arms that follow each other: nothing with an effect stands before it;
- to compute indexes of the arm before the branch, and to forget with that whether they may
  overflow, so that no constant part of one can be added to the address instead: there is none, or
  the arm is more than one block;
- to do without the branch, or to make one of it and of another: that would take to run what stands
  in the marker's block unasked (:mod:`ccc.analysis.unasked`), or the block's ways to lead to where
  the branch leads that does not take the arm.

All else is as large or as small with the marker as without, up to one instruction.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import takewhile
from typing import TYPE_CHECKING

from ccc.analysis.constant_trip_count import trip_count
from ccc.analysis.unasked import never_unasked
from ccc.ir.markers import ARMS
from ccc.ir.nodes import Block, Instruction, MarkerNote
from ccc.ir.operands import Address, Immediate, Register, registers
from ccc.ptx.opcodes import Effect

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

_IN_BODIES = ("for", "while", "variable")
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
        and not any(one.effects & Effect.CALL for one in facts.function.instructions)
        and len({marker for marker, _ in markers}) == len(markers)
        and all(m.kind in ARMS and _is_idle(facts, block, left) for m, block in markers)
    )


def _is_idle(facts: Facts, block: Block, left: Collection[int]) -> bool:
    """Whether that is so of a marker in this block."""
    other = _other_way(facts, block)
    return (
        other is not None
        and _loops_stay(facts, block, left)
        and _comes_first(block, left)
        and (_branches(facts, block) or not _adds_constants(block))
        and (_leads_elsewhere(facts, block, other) or never_unasked(facts, block, left))
    )


def _other_way(facts: Facts, block: Block) -> str | None:
    """Where the branch before a block leads else; None if that is no join, or an arm as well."""
    before = list(facts.graph.predecessors(block.label))
    if len(before) != 1:
        return None
    ways = set(facts.graph.successors(before[0])) - {block.label}
    joins = all(len(list(facts.graph.predecessors(way))) > 1 for way in ways)
    return ways.pop() if len(ways) == 1 and joins else None


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
    """Whether a constant is a part of an address that is made in a block."""
    needed: set[Register] = set()
    for one in reversed(list(block.instructions)):
        addresses = [operand for operand in one.operands if isinstance(operand, Address)]
        makes_one = not needed.isdisjoint(one.defined())
        adds = makes_one and one.name in _SUMS and isinstance(one.operands[-1], Immediate)
        if adds or any(address.offset for address in addresses):
            return True
        needed.update(*map(registers, addresses), one.used() if makes_one else ())
    return False


def _loops_stay(facts: Facts, block: Block, left: Collection[int]) -> bool:
    """Whether the loops around are neither unrolled nor divided for the want of a marker."""
    around = [loop for loop in facts.loops if block.label in loop.blocks]
    return all(
        _keeps_marker(facts, loop, left) or (loop is not around[0] and not trip_count(loop, facts))
        for loop in around
    )


def _keeps_marker(facts: Facts, loop: Loop, left: Collection[int]) -> bool:
    """Whether a loop has a marker of its own that stays."""
    inner = {label for one in facts.loops if one.blocks < loop.blocks for label in one.blocks}
    return any(
        marker.kind in _IN_BODIES and marker.identifier not in left
        for label in loop.blocks - inner
        for marker in facts.blocks[label].markers
    )


def _leads_elsewhere(facts: Facts, block: Block, other: str) -> bool:
    """Whether a block ends in a branch of which no way leads to the ``other`` one of the branch
    before, and which does not ask for the same value as that."""
    (before,) = facts.graph.predecessors(block.label)
    return (
        _branches(facts, block)
        and all(
            way != other and not _only_joins(facts, way, other)
            for way in facts.graph.successors(block.label)
        )
        and _asked(facts, block).isdisjoint(_asked(facts, facts.blocks[before]))
    )


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
