"""Whether the lanes of a warp take a path together: then there is nothing to fill."""

from __future__ import annotations

from collections.abc import Collection

from ccc.analysis.cfg import reachable
from ccc.analysis.dominators import Dominators, Loop, connect, control_dependence
from ccc.analysis.facts import Facts
from ccc.analysis.graphs import FlowGraph
from ccc.analysis.paths.model import AnnotatedLoop, FoundPath

_NEXT = "<next>"


def may_part(
    path: FoundPath,
    blocks: frozenset[str],
    loop: Loop,
    annotated: AnnotatedLoop,
    facts: Facts,
) -> bool:
    """Whether some branch of the same iteration may part the lanes on their way to a path.

    One that the ways from it have joined again behind has parted nobody, nor has one by which lanes
    leave the annotated loop: it stands between the copies of an unrolled loop, and those that are
    still there take the path together, or none.
    """
    divergent = facts.divergence.divergent_branches
    if path.repeats and blocks & divergent:
        return True
    flow = _turn(loop, facts, leaves=loop.blocks != annotated.loop.blocks)
    reverse = flow.reverse()
    connect(reverse, _NEXT)
    deciding = control_dependence(flow, Dominators(reverse, _NEXT))
    before = reachable(lambda label: deciding[label] - blocks, deciding[path.entry] - blocks)
    return not divergent.isdisjoint(before)


def _turn(loop: Loop, facts: Facts, *, leaves: bool) -> FlowGraph:
    """The ways through one turn of a loop, and those out of it from its header; the others if it
    matters who ``leaves``."""
    flow = FlowGraph(nodes=[*loop.blocks, _NEXT])
    for label in loop.blocks:
        ways = list(facts.graph.successors(label))
        stay = [one for one in ways if one in loop.blocks]
        for way in ways if leaves or label == loop.header or not stay else stay:
            ends = way == loop.header or way not in loop.blocks
            flow.add_edge(label, _NEXT if ends else way)
    return flow


def later_in_turn(facts: Facts, starts: Collection[str], loop: Loop) -> set[str]:
    """The blocks of the loop that may follow in the same turn."""
    own = loop.blocks - {loop.header}
    return reachable(
        lambda label: own.intersection(facts.graph.successors(label)), own & set(starts)
    )
