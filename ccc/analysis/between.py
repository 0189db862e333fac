"""What may be written on the way from one place to another."""

from __future__ import annotations

from collections.abc import Collection

from ccc.analysis.cfg import reachable
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register


def written_behind(instruction: Instruction, label: str, facts: Facts) -> set[Register]:
    """The registers written by an instruction, or behind it in its block."""
    own = list(facts.blocks[label].instructions)
    return {register for i in own[own.index(instruction) :] for register in i.defined()}


def written_between(label: str, ends: Collection[str], facts: Facts) -> set[Register]:
    """The registers written in the blocks that may come behind a block, up to the bottom of one of
    the ``ends``, before control comes to it again.

    If the block lies before a loop, that is every block of it: earlier iterations count.
    """
    graph = facts.graph
    after = reachable(graph.successors, graph.successors(label), stops=[label])
    before = reachable(graph.predecessors, ends, stops=[label])
    blocks = (facts.blocks[other] for other in (after & before) - {label})
    return {register for block in blocks for i in block.instructions for register in i.defined()}
