"""Markers that changed nothing: without them the compiler would have made the same code.

That can be said of a marker in an arm of a branch, since it leaves memory alone
(:mod:`ccc.ir.arm_markers`). What it may keep a compiler from is to do without the branch, to join
it with another one, to take out what two arms have in common, and to unroll or divide the loop
around. It changed nothing where the loop has a marker that stays, there is no other arm, and the
block that the marker stands in holds something else that no compiler does unasked.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ccc.ir.markers import ARMS
from ccc.ir.nodes import Block, Instruction, MarkerNote, Statement
from ccc.ptx.opcodes import Effect

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts

_IN_BODIES = ("for", "while", "variable")
_KEPT = Effect.CALL | Effect.BARRIER | Effect.COLLECTIVE | Effect.FENCE | Effect.OPAQUE
_ATOMIC = Effect.READ | Effect.WRITE


def all_idle(facts: Facts, left: Collection[int]) -> bool:
    """Whether all markers of some annotations changed nothing, as long as the others stay."""
    return all(
        marker.kind in ARMS and _is_idle(facts, block, left)
        for block in facts.function.blocks
        for marker in block.markers
        if marker.identifier in left
    )


def _is_idle(facts: Facts, block: Block, left: Collection[int]) -> bool:
    """Whether that is so of a marker in this block."""
    return (
        _begins_arm(facts, block)
        and _loop_keeps_marker(facts, block, left)
        and any(_stays(facts, block, one, left) for one in block.statements)
    )


def _begins_arm(facts: Facts, block: Block) -> bool:
    """Whether it is the only arm of its branch."""
    before = list(facts.graph.predecessors(block.label))
    if len(before) != 1:
        return False
    ways = set(facts.graph.successors(before[0])) - {block.label}
    return len(ways) == 1 and all(len(list(facts.graph.predecessors(way))) > 1 for way in ways)


def _loop_keeps_marker(facts: Facts, block: Block, left: Collection[int]) -> bool:
    """Whether the innermost loop around has a marker of its own that stays."""
    loop = next((one for one in facts.loops if block.label in one.blocks), None)
    if loop is None:
        return False
    inner = {label for one in facts.loops if one.blocks < loop.blocks for label in one.blocks}
    return any(
        marker.kind in _IN_BODIES and marker.identifier not in left
        for label in loop.blocks - inner
        for marker in facts.blocks[label].markers
    )


def _stays(facts: Facts, block: Block, one: Statement, left: Collection[int]) -> bool:
    """Whether a statement of a block is something that a compiler neither does unasked nor leaves
    out."""
    if isinstance(one, MarkerNote):
        return one.marker.identifier not in left
    if not isinstance(one, Instruction):
        return False
    return (
        bool(one.effects & _KEPT)
        or (one.effects & _ATOMIC) == _ATOMIC
        or (one.name == "ld" and one.space == "global" and _is_the_only(facts, block, one))
    )


def _is_the_only(facts: Facts, block: Block, load: Instruction) -> bool:
    """Whether a load that stands in a block is needed on no other way, and its address may be none
    on others: it lies behind a pointer, and not in a variable."""
    pointers = facts.memory.origins.of_access(load)
    if pointers is None or any(pointer.offset is None for pointer in pointers):
        return False
    arm = set(facts.dominators.dominated(block.label))
    others = (other for other in facts.function.blocks if other.label not in arm)
    address = set(load.used())
    return all(address.isdisjoint(one.used()) for other in others for one in other.instructions)
