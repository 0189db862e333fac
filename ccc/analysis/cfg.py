"""The control-flow graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from ccc.analysis.graphs import FlowGraph
from ccc.ir.nodes import Block, Function, Instruction

EXIT = "<exit>"
"""The node that every way out of the function leads to."""


def control_flow_graph(function: Function) -> FlowGraph:
    """The blocks that control can reach, by label, with edges to the blocks that may follow.

    The node :data:`EXIT` is always there.
    """
    graph = FlowGraph()
    following = {
        block.label: successors(function, block, next_label)
        for block, next_label in zip(function.blocks, _next_labels(function), strict=True)
    }
    worklist = [function.blocks[0].label]
    graph.add_node(worklist[0])
    while worklist:
        label = worklist.pop()
        for target in following[label]:
            if target not in graph and target != EXIT:
                worklist.append(target)
            graph.add_edge(label, target)
    graph.add_node(EXIT)
    return graph


def graph_of(following: Mapping[str, Iterable[str]]) -> FlowGraph:
    """The graph of some nodes, each with those that may follow it."""
    edges = ((label, after) for label, ways in following.items() for after in ways)
    return FlowGraph(edges, following)


def _next_labels(function: Function) -> list[str]:
    return [block.label for block in function.blocks[1:]] + [EXIT]


def successors(function: Function, block: Block, next_label: str) -> list[str]:
    """The labels that may follow ``block``, the fall-through to ``next_label`` last."""
    found: list[str] = []
    for instruction in block.instructions:
        if instruction.is_terminator:
            found += branch_targets(function, instruction)
            if instruction.guard is None:
                return found
    return [*found, next_label]


def branch_targets(function: Function, instruction: Instruction) -> list[str]:
    """Where a terminator may go when it is executed and its guard holds."""
    target = instruction.target
    return [EXIT] if target is None else list(function.targets.get(target, (target,)))


def reachable(
    step: Callable[[str], Iterable[str]], starts: Iterable[str], stops: Collection[str] = ()
) -> set[str]:
    """The blocks that control may come to from some blocks, these among them.

    Args:
        step: the blocks next to one: ``graph.successors``, or ``graph.predecessors`` to find
            where control may have come from.
        starts: where to begin.
        stops: blocks that are not passed; one that is come to is in the result.
    """
    reached = set(starts)
    worklist = [label for label in reached if label not in stops]
    while worklist:
        for label in step(worklist.pop()):
            if label not in reached:
                reached.add(label)
                if label not in stops:
                    worklist.append(label)
    return reached
