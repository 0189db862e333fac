"""Dominators, post-dominators and natural loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.graphs import FlowGraph, immediate_dominators, is_acyclic


class Dominators:
    """The dominator tree of a graph from ``root``: a dominates b if every way to b leads over a."""

    def __init__(self, graph: FlowGraph, root: str):
        self.root = root
        self.parents = immediate_dominators(graph, root)

    def immediate(self, label: str) -> str | None:
        """The nearest strict dominator; None for the root."""
        return self.parents.get(label)

    def chain(self, label: str) -> list[str]:
        """``label`` and all that dominate it, the nearest first."""
        found = [label]
        while (parent := self.parents.get(found[-1])) is not None:
            found.append(parent)
        return found

    def dominates(self, above: str, below: str) -> bool:
        """Whether ``above`` dominates ``below`` (each label dominates itself)."""
        first, last = self._places.get(above, (0, 0))
        return above == below or first < self._places.get(below, (0, 0))[0] < last

    def dominated(self, label: str) -> list[str]:
        """``label`` and all that it dominates."""
        first, last = self._places.get(label, (0, 0))
        return self._order[first:last] or [label]

    @cached_property
    def _order(self) -> list[str]:
        """The tree's labels, each followed by all that it dominates."""
        children: dict[str, list[str]] = {}
        for label, parent in self.parents.items():
            children.setdefault(parent, []).append(label)
        order, worklist = [], [self.root]
        while worklist:
            order.append(worklist.pop())
            worklist += children.get(order[-1], [])
        return order

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        """Of each label the place in ``_order``, and where those that it dominates end there."""
        size = dict.fromkeys(self._order, 1)
        for label in reversed(self._order[1:]):
            size[self.parents[label]] += size[label]
        return {label: (n, n + size[label]) for n, label in enumerate(self._order)}


def dominators(graph: FlowGraph, entry: str) -> Dominators:
    """Dominators of the control-flow graph."""
    return Dominators(graph, entry)


def post_dominators(graph: FlowGraph) -> Dominators:
    """Dominators of the reversed graph from EXIT.

    A loop without a way out gets an edge from each of its blocks to EXIT, so that every block has
    a post-dominator.
    """
    reverse = graph.reverse()
    connect(reverse, EXIT)
    return Dominators(reverse, EXIT)


def connect(reverse: FlowGraph, end: str) -> None:
    """Make every node of a reversed graph reachable from ``end``, for loops without a way out."""
    for label in set(reverse) - reachable(reverse.successors, [end]):
        reverse.add_edge(end, label)


def control_dependence(graph: FlowGraph, passed: Dominators) -> dict[str, set[str]]:
    """For each node the branches that decide, themselves, whether it is reached.

    One way out of such a branch surely leads to the node, and another may not (Ferrante, Ottenstein
    and Warren, 1987). ``passed`` is the graph's post-dominator tree.
    """
    found: dict[str, set[str]] = {label: set() for label in graph}
    for branch in graph:
        join, ways = passed.immediate(branch), list(graph.successors(branch))
        for way in ways if len(ways) > 1 else ():
            for label in passed.chain(way):
                if label == join:
                    break
                found[label].add(branch)
    return found


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop: ``header`` dominates all its ``blocks``; ``latches`` jump back to it."""

    header: str
    blocks: frozenset[str]
    latches: frozenset[str]

    def entered_from(self, graph: FlowGraph) -> list[str]:
        """The blocks outside from which control comes to it, in a fixed order."""
        return sorted(set(graph.predecessors(self.header)) - self.blocks)

    def exits(self, graph: FlowGraph) -> list[tuple[str, str]]:
        """The edges that leave the loop, in a fixed order."""
        found = [(a, b) for a in self.blocks for b in graph.successors(a) if b not in self.blocks]
        return sorted(found)

    def behind(self, labels: Iterable[str], graph: FlowGraph) -> frozenset[str]:
        """The blocks to which control may come from some of them in the same trip, and those."""
        ways = {a: [b for b in graph.successors(a) if b != self.header] for a in self.blocks}
        return self.blocks & reachable(lambda label: ways.get(label, ()), labels)

    def before(self, labels: Iterable[str], graph: FlowGraph) -> frozenset[str]:
        """The blocks from which control may come to some of them in the same trip, and those."""

        def back(label: str) -> Iterable[str]:
            return graph.predecessors(label) if label != self.header else ()

        return self.blocks & reachable(back, labels)


def natural_loops(graph: FlowGraph, tree: Dominators) -> list[Loop]:
    """All natural loops, inner before outer; loops that share a header are one."""
    bodies: dict[str, set[str]] = {}
    latches: dict[str, set[str]] = {}
    for source, header in graph.edges:
        if tree.dominates(header, source):
            latches.setdefault(header, set()).add(source)
            body = reachable(graph.predecessors, [source], stops=[header])
            bodies.setdefault(header, {header}).update(body)
    loops = [Loop(h, frozenset(bodies[h]), frozenset(latches[h])) for h in bodies]
    return sorted(loops, key=lambda loop: (len(loop.blocks), loop.header))


def is_reducible(graph: FlowGraph, tree: Dominators) -> bool:
    """Whether every cycle is entered at one block only, as in code without wild ``goto``."""
    edges = ((a, b) for a, b in graph.edges if not tree.dominates(b, a))
    return is_acyclic(FlowGraph(edges))
