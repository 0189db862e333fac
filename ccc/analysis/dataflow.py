"""One solver for all data-flow problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Generic, TypeVar

from ccc.analysis.graphs import FlowGraph, postorder

Fact = TypeVar("Fact")
Member = TypeVar("Member")


def members(mask: int, universe: Sequence[Member]) -> Iterator[Member]:
    """The members of a bit set, whose bit i stands for ``universe[i]``."""
    while mask:
        lowest = mask & -mask
        yield universe[lowest.bit_length() - 1]
        mask ^= lowest


@dataclass(frozen=True, slots=True)
class Problem(Generic[Fact]):
    """A data-flow problem over the labels of a control-flow graph.

    ``transfer(label, fact)`` carries a fact through a block, along the direction; ``merge`` joins
    the facts of several neighbours. Facts only grow, from ``initial`` (``boundary`` at the start).
    """

    forward: bool
    boundary: Fact
    initial: Fact
    merge: Callable[[Fact, Fact], Fact]
    transfer: Callable[[str, Fact], Fact]


def solve(
    graph: FlowGraph, starts: set[str], problem: Problem[Fact]
) -> tuple[dict[str, Fact], dict[str, Fact]]:
    """The least fixed point: each label's fact before and after its transfer.

    "Before" is at the block's top for a forward problem, at its bottom for a backward one.
    """
    order = postorder(graph, next(iter(graph)))
    if problem.forward:
        order.reverse()
    sources = graph.predecessors if problem.forward else graph.successors
    targets = graph.successors if problem.forward else graph.predecessors
    before = {label: problem.boundary if label in starts else problem.initial for label in order}
    after: dict[str, Fact] = {}
    rank = {label: number for number, label in enumerate(order)}
    pending, waiting = list(range(len(order))), set(order)
    while pending:
        label = order[heappop(pending)]
        waiting.discard(label)
        fact = before[label]
        for source in sources(label):
            if source in after:
                fact = problem.merge(fact, after[source])
        before[label] = fact
        result = problem.transfer(label, fact)
        if label not in after or result != after[label]:
            after[label] = result
            for target in targets(label):
                if target in before and target not in waiting:
                    waiting.add(target)
                    heappush(pending, rank[target])
    return before, after
