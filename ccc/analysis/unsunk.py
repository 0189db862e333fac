"""What stands before a branch though one arm alone needs it.

A compiler moves it into the arm, unless it does not see in time that no other way needs it. Whether
it does so may depend on what else is in the arm, a marker for one. Before the branch it costs every
lane.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ccc.analysis.thresholds import FEW_UNSUNK
from ccc.ir.nodes import Block, Instruction
from ccc.ptx.opcodes import Effect

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts
    from ccc.ir.operands import Register


def much_unsunk(facts: Facts, block: Block) -> bool:
    """Whether more than a few instructions before an arm, in its loop, are needed in it alone."""
    arm = set(facts.dominators.dominated(block.label))
    around = next((one.blocks for one in facts.loops if block.label in one.blocks), facts.blocks)
    leading = [
        facts.blocks[label]
        for label in set(around) - arm
        if block.label in facts.dominators.dominated(label)
    ]
    makers = [one for before in leading for one in before.instructions if _may_sink(one)]
    if len(makers) <= FEW_UNSUNK:
        return False
    users = _users(facts)
    inside = {id(one) for label in arm for one in facts.blocks[label].instructions}
    size = -1
    while len(inside) > size:
        size = len(inside)
        inside.update(
            id(one)
            for one in makers
            if all(users[made] and users[made] <= inside for made in one.defined())
        )
    return sum(id(one) in inside for one in makers) > FEW_UNSUNK


def _users(facts: Facts) -> dict[Register, set[int]]:
    users: dict[Register, set[int]] = defaultdict(set)
    for one in facts.function.instructions:
        for register in one.used():
            users[register].add(id(one))
    return users


def _may_sink(one: Instruction) -> bool:
    """Whether it does nothing but to make a value, be it of what it reads."""
    return bool(one.defined()) and not one.effects & ~Effect.READ
