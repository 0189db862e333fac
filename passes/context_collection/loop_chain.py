"""Loops in a row: where tasks of one loop become tasks of the next (no pass).

What a task of an inner loop comes to in the rest of its iteration may be a loop again, with tasks
and a stack of its own. So members come by the collection point of the second loop whenever some of
them have run tasks of the first one, before they meet there again: no lane gets a task of the first
loop while it has one of the second that is not saved.

    COLLECT_2:   all members meet; ...; nobody has a task
    COLLECT_1:   all members meet; those with a task run some turns, or push it; ...
    RUN_1:       <turns of the first loop; it is over: a snapshot for the second>
                 bra COLLECT_2;

Lanes whose iteration passes the first loop by come to the second one from there, and all of them
begin each round at its collection point, so that the rounds are a loop with one entry.

In the end any number of tasks is enough. The last tasks of the first loop come first: they bring
more for the second, whose own last tasks are run when nothing is left of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ccc.analysis.paths.followers import chains
from ccc.ir.edit import Emitter
from ccc.ir.operands import Register
from ccc.snippet import Given, Snippet

if TYPE_CHECKING:
    from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
    from ccc.passes.context_collection.sequential_node import SequentialNode

ALL_BEFORE_ARE_OVER = Snippet("""
    .reg .pred %draining;
    .reg .b32 %enough;
        mov.pred %draining, -1;
        mov.b32 %enough, 4;
""")
"""No task is left that might come to a loop: from now on any number of its own is enough."""


@dataclass
class LoopChain:
    """Paths of which some have tasks that become tasks of others, which stand before them.

    Of each to which tasks come, ``draining`` says that no more will, and ``enough`` is how many of
    its own, in bytes, are run at once.
    """

    collector: SequentialDispatch
    members: Sequence[SequentialNode]
    draining: dict[SequentialNode, Register] = field(default_factory=dict)
    enough: dict[SequentialNode, Register] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give those to which tasks come registers of their own."""
        fresh = self.collector.function.registers.fresh
        for node in self.members:
            if any(node in other.followers for other in self.members):
                self.draining[node] = fresh("pred", "draining")
                self.enough[node] = fresh("b32", "enough")

    @property
    def entrance(self) -> str:
        """Where all members begin a round."""
        return self.members[0].fresh

    def prepare(self, emit: Emitter) -> None:
        """Before the annotated loop: tasks will come."""
        for node in self.draining:
            emit.emit("mov.pred", self.draining[node], 0)
            emit.emit("mov.b32", self.enough[node], self.collector.warp_bytes)

    def next_of(self, node: SequentialNode) -> str:
        """Where lanes go that have run tasks of a path: to the first that these may come to."""
        return next(one.fresh for one in self.members if one in node.followers)

    def emit_end(self, emit: Emitter, last: SequentialNode) -> None:
        """In the end, where the ``last`` has no task left: run what is saved of the others."""
        if last is not self.members[-1]:
            return
        for node in reversed(self.members[:-1]):
            if node in self.draining:
                given: dict[str, Given] = {}
                given |= {"draining": self.draining[node], "enough": self.enough[node]}
                ALL_BEFORE_ARE_OVER.emit(emit, given)
            for one in cast("list[SequentialNode]", [node, *node.inside]):
                self.collector.if_saved(emit, one, self.entrance)


def link_chains(collector: SequentialDispatch) -> list[LoopChain]:
    """The chains among the paths of a loop, known to each of these."""
    nodes = {node.path: node for node in collector.nodes}
    together = [chain for chain in chains(nodes) if len(chain) > 1]
    found = [LoopChain(collector, [nodes[path] for path in chain]) for chain in together]
    for chain in found:
        for node in chain.members:
            node.chain = chain
    return found


def draining_of(collector: SequentialDispatch, node: SequentialNode) -> Register:
    """Says that nobody will come to a path any more, but from those around it."""
    around = _chained(node)
    return next((c.draining[n] for n, c in around if n in c.draining), collector.draining)


def enough_of(collector: SequentialDispatch, node: SequentialNode) -> Register:
    """So many bytes of tasks of a loop are run at once."""
    return next((c.enough[n] for n, c in _chained(node) if n in c.enough), collector.enough)


def _chained(node: SequentialNode) -> list[tuple[SequentialNode, LoopChain]]:
    """The paths around one, and itself, that are in chains."""
    around = cast("list[SequentialNode]", node.around)
    return [(one, one.chain) for one in around if one.chain]
