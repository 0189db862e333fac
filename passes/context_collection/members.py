"""The members of an annotated loop: the lanes that will come to every meeting (no pass).

Where they are counted is known from :mod:`ccc.analysis.convergence`: right before the loop, among
all lanes, or among those that were counted at the branches that lead to it, from the outermost on.
"""

from __future__ import annotations

from ccc.analysis.convergence import Gathering
from ccc.analysis.facts import Facts
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Block, Function
from ccc.ir.operands import Register, Symbol
from ccc.ptx.types import ALL_LANES


def gather(
    function: Function, facts: Facts, gathering: Gathering, emit: Emitter, members: Register
) -> None:
    """Count the members, and emit what puts their mask into ``members``."""
    mask: Register | int = ALL_LANES
    for label, successor in gathering.guards:
        block = facts.blocks[label]
        mask = _count_at(block, Emitter(function, block, emit.span), successor, mask)
    # Also where they were counted before: some may have ended since, in a function; and who of them
    # is still in an earlier loop uses its shared memory, or reads sums there.
    everyone = emit.define("mov.pred", "pred", ALL_LANES)
    emit.emit("vote.sync.ballot.b32", members, everyone, mask)


def _count_at(block: Block, emit: Emitter, successor: str, mask: Register | int) -> Register:
    """Count, at the end of ``block``, the lanes that go on to ``successor``."""
    branch = next(i for i in block.instructions if i.is_terminator)
    position = block.statements.index(branch)
    assert branch.guard is not None
    target = branch.operands[-1]
    taken = isinstance(target, Symbol) and target.name == successor
    before, behind = block.statements[:position], block.statements[position:]
    block.statements[:] = before
    goes = branch.guard.register
    if taken == branch.guard.negated:
        goes = emit.define("not.pred", "pred", goes)
    counted = emit.define("vote.sync.ballot.b32", "b32", goes, mask)
    block.statements += behind
    return counted
