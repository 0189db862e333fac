"""Dominators, post-dominators and natural loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import networkx as nx

from ccc.analysis.cfg import EXIT


class Dominators:
    """The dominator tree of a graph from ``root``: a dominates b if every way to b leads over a."""

    def __init__(self, graph: nx.DiGraph[str], root: str):
        parents: dict[str, str] = dict(nx.immediate_dominators(graph, root))
        parents.pop(root, None)
        self.root = root
        self.parents: dict[str, str] = parents

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
        return above in self.chain(below)


def dominators(graph: nx.DiGraph[str], entry: str) -> Dominators:
    """Dominators of the control-flow graph."""
    return Dominators(graph, entry)


def post_dominators(graph: nx.DiGraph[str]) -> Dominators:
    """Dominators of the reversed graph from EXIT.

    A loop without a way out gets an edge from each of its blocks to EXIT, so that every block has
    a post-dominator.
    """
    reverse = graph.reverse(copy=True)
    connect(reverse, EXIT)
    return Dominators(reverse, EXIT)


def connect(reverse: nx.DiGraph[str], end: str) -> None:
    """Make every node of a reversed graph reachable from ``end``, for loops without a way out."""
    reached = {end, *nx.descendants(cast("Any", reverse), end)}
    for label in set(reverse) - reached:
        reverse.add_edge(end, label)


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop: ``header`` dominates all its ``blocks``; ``latches`` jump back to it."""

    header: str
    blocks: frozenset[str]
    latches: frozenset[str]

    def exits(self, graph: nx.DiGraph[str]) -> list[tuple[str, str]]:
        """The edges that leave the loop, in a fixed order."""
        found = [(a, b) for a in self.blocks for b in graph.successors(a) if b not in self.blocks]
        return sorted(found)


def natural_loops(graph: nx.DiGraph[str], tree: Dominators) -> list[Loop]:
    """All natural loops, inner before outer; loops that share a header are one."""
    bodies: dict[str, set[str]] = {}
    latches: dict[str, set[str]] = {}
    for source, header in graph.edges:
        if tree.dominates(header, source):
            latches.setdefault(header, set()).add(source)
            bodies.setdefault(header, {header}).update(_body(graph, header, source))
    loops = [Loop(h, frozenset(bodies[h]), frozenset(latches[h])) for h in bodies]
    return sorted(loops, key=lambda loop: (len(loop.blocks), loop.header))


def _body(graph: nx.DiGraph[str], header: str, latch: str) -> set[str]:
    found, worklist = {header, latch}, [latch]
    while worklist:
        label = worklist.pop()
        if label == header:
            continue
        for source in graph.predecessors(label):
            if source not in found:
                found.add(source)
                worklist.append(source)
    return found


def is_reducible(graph: nx.DiGraph[str], tree: Dominators) -> bool:
    """Whether every cycle is entered at one block only, as in code without wild ``goto``."""
    forward = nx.DiGraph((a, b) for a, b in graph.edges if not tree.dominates(b, a))
    return bool(nx.is_directed_acyclic_graph(forward))
