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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from ccc.analysis.cfg import EXIT
from ccc.analysis.dominators import Loop
from ccc.analysis.graphs import FlowGraph, postorder


@dataclass
class Joins:
    """``written`` gives for each join the registers (a bit set) that were written on some way to
    it; ``left`` lists the loops that lanes leave in different iterations."""

    written: dict[str, int] = field(default_factory=dict)
    left: list[Loop] = field(default_factory=list)


class JoinFinder:
    """Finds what branches make of a control-flow graph.

    Args:
        graph: the control-flow graph.
        loops: its natural loops, inner before outer.
        defines: the registers written in a block, as a bit set.
    """

    def __init__(self, graph: FlowGraph, loops: Sequence[Loop], defines: Callable[[str], int]):
        self._graph = graph
        self._loops = loops
        self._defines = defines
        exits = {loop.header: loop.exits(graph) for loop in loops}
        self._exits = {h: [(a, b) for a, b in exits[h] if b != EXIT] for h in exits}
        onward = _onward(graph, loops, self._exits)
        order = postorder(onward, next(iter(graph)))
        self._rank = {label: number for number, label in enumerate(reversed(order))}
        self._is_reducible = all(self._rank[a] < self._rank[b] for a, b in onward.edges)
        outer_first = reversed(loops)
        self._innermost = {label: loop.header for loop in outer_first for label in loop.blocks}

    def joins(self, branch: str) -> Joins:
        """The joins of the lanes that the branch at the end of a block parts."""
        around = [loop for loop in self._loops if branch in loop.blocks]
        headers = {loop.header: loop for loop in around}
        nexts = {_next(header): header for header in headers}

        def step(label: str) -> Iterator[str]:
            home = nexts.get(label)
            onward = [(label, after) for after in self._graph.successors(label)] if not home else []
            for source, target in self._exits[home] if home else onward:
                goes_back = target in headers and source in headers[target].blocks
                if target != EXIT:
                    yield _next(target) if goes_back else target

        def is_last(label: str) -> bool:
            inner = self._innermost.get(label)
            return self._is_reducible and (inner is None or inner in headers)

        def defines(label: str) -> int:
            return 0 if label in nexts else self._defines(label)

        spread = _Spread(step, self._rank, defines)
        spread.run(branch, is_last)
        found = Joins()
        for label in spread.joins:
            home = nexts.get(label, label)
            found.written[home] = found.written.get(home, 0) | spread.written[label]
        for loop in around:
            if spread.leaves(branch, loop, self._exits[loop.header]):
                found.left.append(loop)
        return found


def _next(header: str) -> str:
    return f"<next>{header}"


def _onward(
    graph: FlowGraph, loops: Sequence[Loop], exits: Mapping[str, Sequence[tuple[str, str]]]
) -> FlowGraph:
    """The graph in which an iteration of any loop ends at its "next", before what follows it."""
    onward = FlowGraph(graph.edges)
    latches = {(latch, loop.header) for loop in loops for latch in loop.latches}
    for loop in loops:
        for latch in loop.latches:
            onward.remove_edge(latch, loop.header)
        onward.add_edges(
            (_next(loop.header), _next(target) if (source, target) in latches else target)
            for source, target in exits[loop.header]
        )
        onward.add_edges((latch, _next(loop.header)) for latch in loop.latches)
    return onward


class _Spread:
    """Spreads the names, and what is written on the way."""

    def __init__(
        self,
        step: Callable[[str], Iterable[str]],
        rank: Mapping[str, int],
        defines: Callable[[str], int],
    ):
        self._step = step
        self._rank = rank
        self._defines = defines
        self.names: dict[str, str] = {}
        self.written: dict[str, int] = {}
        self.joins: set[str] = set()
        self._pending: list[tuple[int, str]] = []
        self._waiting: set[str] = set()

    def run(self, branch: str, is_last: Callable[[str], bool]) -> None:
        """Go on until all ways lead over one block: what follows it is no join.

        Args:
            branch: where the lanes part.
            is_last: whether no way leads back to a block, so that such a one would be the last.
        """
        for target in self._step(branch):
            self._receive(target, target, 0)
        while len(self._pending) > 1 or any(not is_last(label) for _, label in self._pending):
            _, label = heappop(self._pending)
            self._waiting.discard(label)
            written = self.written[label] | self._defines(label)
            for target in self._step(label):
                self._receive(target, self.names[label], written)

    def _receive(self, label: str, name: str, written: int) -> None:
        before = self.names.get(label), self.written.get(label, 0)
        if before[0] is None:
            self.names[label] = name
        elif before[0] != name:
            self.joins.add(label)
            self.names[label] = label
        self.written[label] = before[1] | written
        if before != (self.names[label], self.written[label]) and label not in self._waiting:
            self._waiting.add(label)
            heappush(self._pending, (self._rank[label], label))

    def leaves(self, branch: str, loop: Loop, exits: Iterable[tuple[str, str]]) -> bool:
        """Whether some lanes leave the loop in this iteration and others go on."""
        onward = self.names.get(_next(loop.header))
        names = {branch if source == branch else self.names.get(source) for source, _ in exits}
        return onward is not None and bool(names - {None, onward})
