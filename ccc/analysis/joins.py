"""Where lanes meet again that a branch has parted.

From each successor of the branch a name spreads along the edges. A block that two names come to is
a *join*: lanes get there by different ways, and registers written on those ways may hold different
values. It goes on with a name of its own. Blocks that only one name comes to are reached by lanes
that went the same way. (The method is that of LLVM's SyncDependenceAnalysis.)

The iterations of the loops around the branch are kept apart: an edge back to the header of one of
them leads to a node of its own, "next", instead. Lanes that are there will leave the loop in some
later iteration, so edges lead on from it to all exits of the loop. Where some lanes leave in this
iteration and others do not, what the loop computes differs after it (temporal divergence). Lanes
that end do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import networkx as nx

from ccc.analysis.cfg import EXIT
from ccc.analysis.dominators import Loop


@dataclass
class Joins:
    """``written`` gives for each join the registers (a bit set) that were written on some way to
    it; ``left`` lists the loops that lanes leave in different iterations."""

    written: dict[str, int] = field(default_factory=dict)
    left: list[Loop] = field(default_factory=list)


def find_joins(
    graph: nx.DiGraph[str], loops: Sequence[Loop], branch: str, defines: Callable[[str], int]
) -> Joins:
    """The joins of the lanes that the branch at the end of a block parts.

    Args:
        graph: the control-flow graph.
        loops: its natural loops.
        branch: the block's label.
        defines: the registers written in a block, as a bit set.
    """
    around = [loop for loop in loops if branch in loop.blocks]
    flow = _one_iteration(graph, around)
    if branch not in flow:
        return Joins()
    nexts = {_next(loop.header): loop.header for loop in around}
    spread = _Spread(flow, branch, lambda label: 0 if label in nexts else defines(label))
    spread.run()
    joins = Joins()
    for label in spread.joins:
        home = nexts.get(label, label)
        joins.written[home] = joins.written.get(home, 0) | spread.written[label]
    joins.left = [loop for loop in around if spread.leaves(loop, graph)]
    return joins


def _next(header: str) -> str:
    return f"<next>{header}"


def _one_iteration(graph: nx.DiGraph[str], around: Sequence[Loop]) -> nx.DiGraph[str]:
    """The graph without EXIT, in which each of the loops is left at the end of its iteration."""
    headers = {loop.header: loop for loop in around}
    flow: nx.DiGraph[str] = nx.DiGraph()

    def add(source: str, target: str, inside: str) -> None:
        goes_back = target in headers and inside in headers[target].blocks
        flow.add_edge(source, _next(target) if goes_back else target)

    for source, target in graph.edges:
        if target != EXIT:
            add(source, target, source)
    for loop in around:
        for source, target in loop.exits(graph):
            if target != EXIT:
                add(_next(loop.header), target, source)
    return flow


class _Spread:
    """Spreads the names, and what is written on the way."""

    def __init__(self, flow: nx.DiGraph[str], branch: str, defines: Callable[[str], int]):
        self.flow = flow
        self.branch = branch
        self.defines = defines
        self.names: dict[str, str] = {}
        self.written: dict[str, int] = {}
        self.joins: set[str] = set()
        order = list(nx.dfs_postorder_nodes(flow, branch))
        self._rank = {label: number for number, label in enumerate(reversed(order))}
        self._pending: list[tuple[int, str]] = []

    def run(self) -> None:
        for target in self.flow.successors(self.branch):
            self._receive(target, target, 0)
        while self._pending:
            _, label = heappop(self._pending)
            written = self.written[label] | self.defines(label)
            for target in self.flow.successors(label):
                self._receive(target, self.names[label], written)

    def _receive(self, label: str, name: str, written: int) -> None:
        before = self.names.get(label), self.written.get(label, 0)
        if before[0] is None:
            self.names[label] = name
        elif before[0] != name:
            self.joins.add(label)
            self.names[label] = label
        self.written[label] = before[1] | written
        if before != (self.names[label], self.written[label]):
            heappush(self._pending, (self._rank[label], label))

    def leaves(self, loop: Loop, graph: nx.DiGraph[str]) -> bool:
        """Whether some lanes leave the loop in this iteration and others go on."""
        onward = self.names.get(_next(loop.header))
        names = {self.names.get(source) for source, target in loop.exits(graph) if target != EXIT}
        if any(source == self.branch and t != EXIT for source, t in loop.exits(graph)):
            names.add(self.branch)
        return onward is not None and bool(names - {None, onward})
