"""Directed graphs over labels, and the few walks through them that the analyses take.

No library: ``networkx``, which can do much more, takes longer to load than a small kernel to
transform. It is what the tests compare this with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import reduce
from heapq import heapify, heappop, heappush


class FlowGraph:
    """A directed graph; nodes and edges keep the order in which they were added."""

    def __init__(self, edges: Iterable[tuple[str, str]] = (), nodes: Iterable[str] = ()):
        self._after: dict[str, dict[str, None]] = {}
        self._before: dict[str, dict[str, None]] = {}
        self.add_nodes(nodes)
        self.add_edges(edges)

    def __contains__(self, node: object) -> bool:
        return node in self._after

    def __iter__(self) -> Iterator[str]:
        return iter(self._after)

    def __len__(self) -> int:
        return len(self._after)

    @property
    def edges(self) -> Iterator[tuple[str, str]]:
        """All of them, those out of one node together."""
        return ((node, after) for node, ways in self._after.items() for after in ways)

    def successors(self, node: str) -> Iterator[str]:
        """Where the edges out of a node lead."""
        return iter(self._after[node])

    def predecessors(self, node: str) -> Iterator[str]:
        """Where the edges into a node come from."""
        return iter(self._before[node])

    def add_node(self, node: str) -> None:
        """Add a node, if it is not there."""
        self._after.setdefault(node, {})
        self._before.setdefault(node, {})

    def add_nodes(self, nodes: Iterable[str]) -> None:
        """Add those that are not there."""
        for node in nodes:
            self.add_node(node)

    def add_edge(self, source: str, target: str) -> None:
        """Add an edge, and its nodes, if they are not there."""
        self.add_node(source)
        self.add_node(target)
        self._after[source][target] = None
        self._before[target][source] = None

    def add_edges(self, edges: Iterable[tuple[str, str]]) -> None:
        """Add those that are not there, and their nodes."""
        for source, target in edges:
            self.add_edge(source, target)

    def remove_edge(self, source: str, target: str) -> None:
        """Remove an edge, if it is there."""
        self._after[source].pop(target, None)
        self._before[target].pop(source, None)

    def copy(self) -> FlowGraph:
        """Another graph that is the same."""
        return FlowGraph(self.edges, self)

    def reverse(self) -> FlowGraph:
        """A graph with the same nodes, whose edges lead the other way."""
        return FlowGraph(((target, source) for source, target in self.edges), self)

    def edges_within(self, nodes: Collection[str]) -> Iterator[tuple[str, str]]:
        """The edges whose ends both are among some nodes."""
        return ((a, b) for a, b in self.edges if a in nodes and b in nodes)


def postorder(graph: FlowGraph, root: str) -> list[str]:
    """What can be reached from a node, each behind all that a search in depth comes to from it."""
    found, seen = [], {root}
    waiting = [(root, graph.successors(root))]
    while waiting:
        node, ways = waiting[-1]
        for after in ways:
            if after not in seen:
                seen.add(after)
                waiting.append((after, graph.successors(after)))
                break
        else:
            found.append(node)
            waiting.pop()
    return found


def immediate_dominators(graph: FlowGraph, root: str) -> dict[str, str]:
    """The nearest strict dominator of each other node that can be reached from ``root``.

    Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001.
    """
    order = postorder(graph, root)
    place = {node: number for number, node in enumerate(order)}
    found = {root: root}

    def common(one: str, other: str) -> str:
        while one != other:
            while place[one] < place[other]:
                one = found[one]
            while place[one] > place[other]:
                other = found[other]
        return one

    is_settled = False
    while not is_settled:
        is_settled = True
        for node in reversed(order[:-1]):
            nearest = reduce(common, (b for b in graph.predecessors(node) if b in found))
            if found.get(node) != nearest:
                found[node] = nearest
                is_settled = False
    del found[root]
    return found


def topological(graph: FlowGraph) -> list[str]:
    """The nodes, each behind those that lead to it; of several that could be next, the least first.

    Those on a cycle, and behind one, are left out.
    """
    waits = {node: sum(1 for _ in graph.predecessors(node)) for node in graph}
    ready = [node for node, count in waits.items() if not count]
    heapify(ready)
    found = []
    while ready:
        found.append(node := heappop(ready))
        for after in graph.successors(node):
            waits[after] -= 1
            if not waits[after]:
                heappush(ready, after)
    return found


def is_acyclic(graph: FlowGraph) -> bool:
    """Whether no way leads back to where it began."""
    return len(topological(graph)) == len(graph)
