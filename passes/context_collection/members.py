"""The members of an annotated loop: the lanes that will come to every meeting (no pass).

Where they are counted is known from :mod:`ccc.analysis.convergence`: right before the loop, among
all lanes, or among those that were counted at the branches that lead to it, from the outermost on.

Whoever was in an earlier loop may still use its shared memory, or read sums there. A ballot waits
for them, but orders no memory (PTX ISA, memory consistency model): a barrier does, where they come
by after that loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ccc.analysis.cfg import reachable
from ccc.analysis.convergence import ReconvergencePoint
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Block, Function
from ccc.ir.operands import Register
from ccc.ptx.types import ALL_LANES
from ccc.snippet import Snippet

MEMBERS = Snippet("""
    .reg .pred %everyone;
    .reg .b32 %members, %mask;
        mov.pred %everyone, -1;
        vote.sync.ballot.b32 %members, %everyone, %mask;
""")
"""Before the loop, also where they were counted already: some may have ended in a function."""

ORDER = Snippet("""
    .reg .b32 %members;
        bar.warp.sync %members;
""")
"""Where lanes come by after an earlier loop."""

GOING = Snippet("""
    .reg .pred %goes;
    .reg .b32 %way, %counted;
        selp.b32 %way, 1, 0, %goes;
        match.any.sync.b32 %counted, %way, -1;
""")
"""At a branch that leads to the loop, to which all lanes come: who takes the same way as a lane.

A ballot would say it, too. But ``ptxas`` 13.0 keeps the ballot of a whole warp in a uniform
register, and may use that for something else in the arm whose lanes have no need of it, while the
others still have: docs/soundness.md, "What ptxas gets wrong". A match is made in a register of each
lane's own.
"""

GOING_OF = Snippet("""
    .reg .pred %goes;
    .reg .b32 %counted, %mask;
        vote.sync.ballot.b32 %counted, %goes, %mask;
""")
"""At a further one: the lanes that go on to it where the condition holds, of those counted,"""

NOT_GOING_OF = Snippet("""
    .reg .pred %condition, %goes;
    .reg .b32 %counted, %mask;
        not.pred %goes, %condition;
        vote.sync.ballot.b32 %counted, %goes, %mask;
""")
"""and where it does not."""

COUNT_MEMBERS = Snippet("""
    .reg .b32 %members, %below, %mine, %count, %rank_bytes, %warp_bytes;
        mov.u32 %below, %lanemask_lt;
        and.b32 %mine, %members, %below;
        popc.b32 %count, %mine;
        shl.b32 %rank_bytes, %count, 2;       // four bytes for each member before this lane
        popc.b32 %count, %members;
        shl.b32 %warp_bytes, %count, 2;       // and for each of the warp
""")
"""Before the loop: the size of one context word, for the members before a lane, and for all.

All stay in registers. Read or computed anew where they are used, ``%below`` alone and together with
``%rank_bytes``, on an H200 (2026-11-22, one run, ratios original / ccc, kept and anew): inverse_erf
1.08, 1.03, 1.02; synthetic with 20 operations 1.32, 1.29, 1.30 (1 lane) and 1.03, 1.02, 0.98 (8
lanes); ray_tracing 0.95, 0.96, 0.95; bfs 6.12, 6.14, 6.14.
"""


@dataclass(frozen=True, slots=True)
class CountedBranch:
    """At the end of block ``label`` the lanes that go on to ``towards`` were counted, ``among`` all
    that come to it."""

    label: str
    towards: str
    among: Register | int


def count_members(
    function: Function,
    facts: Facts,
    reconvergence: ReconvergencePoint,
    emit: Emitter,
    members: Register,
    loop: Loop,
    headers: Collection[str],
) -> list[CountedBranch]:
    """Count the members, and emit what puts their mask into ``members``.

    ``loop`` is theirs; ``headers`` are those of all loops that use the same memory, its own too.
    Returns where lanes were counted on the way, from the outermost on.
    """
    mask: Register | int = ALL_LANES
    counted = []
    counted_at = {loop.header, *(label for label, _ in reconvergence.guards)}
    for label, successor in reconvergence.guards:
        block = facts.blocks[label]
        comes_from = facts.graph.predecessors(label)
        orders = _is_first_after(facts, comes_from, counted_at, headers)
        counted.append(CountedBranch(label, successor, mask))
        mask = _count_at(block, Emitter(function, block, emit.span), successor, mask, orders)
    MEMBERS.emit(emit, members=members, mask=mask)
    comes_from = (p for p in facts.graph.predecessors(loop.header) if p not in loop.blocks)
    if _is_first_after(facts, comes_from, counted_at, headers):
        ORDER.emit(emit, members=members)
    return counted


def _is_first_after(
    facts: Facts, comes_from: Iterable[str], counted_at: Collection[str], headers: Collection[str]
) -> bool:
    """Whether lanes come from one of the loops without being counted on the way."""
    return not reachable(facts.graph.predecessors, comes_from, counted_at).isdisjoint(headers)


def _count_at(
    block: Block, emit: Emitter, successor: str, mask: Register | int, orders: bool
) -> Register:
    """Count, at the end of ``block``, the lanes that go on to ``successor``."""
    branch, guard = next((i, i.guard) for i in block.instructions if i.is_terminator and i.guard)
    position = block.statements.index(branch)
    before, behind = block.statements[:position], block.statements[position:]
    block.statements[:] = before
    if orders:
        ORDER.emit(emit, members=mask)
    if isinstance(mask, int):
        counted = GOING.emit(emit, goes=guard.register)["counted"]
    elif (branch.target == successor) == guard.negated:
        counted = NOT_GOING_OF.emit(emit, condition=guard.register, mask=mask)["counted"]
    else:
        counted = GOING_OF.emit(emit, goes=guard.register, mask=mask)["counted"]
    block.statements += behind
    return counted
