"""Where all threads of a warp surely meet before a loop.

Independent thread scheduling (sm_70 and later) promises nothing about which lanes run together, so
the members of a warp-wide vote must be known. A vote over all lanes is defined if every thread
either comes to it or leaves the kernel: exited threads do not count (PTX ISA, vote.sync). Where a
divergent branch leads some lanes past the loop to a barrier, or round an outer loop, the lanes that
will come are counted at that branch instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from ccc.analysis.cfg import EXIT, without
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ptx.opcodes import Effect


@dataclass(frozen=True, slots=True)
class Gathering:
    """``guards`` lists (block, successor) from the outermost on: at the end of each such block the
    lanes that go on to the successor are counted, among those counted before. Without guards, the
    lanes are counted right before the loop."""

    guards: tuple[tuple[str, str], ...] = ()


def gathering_points(facts: Facts, loop: Loop) -> Gathering | str:
    """Where to count the members of a loop, or the reason why that cannot be done."""
    guards: list[tuple[str, str]] = []
    target = loop.header
    while True:
        obstacles = _obstacles(facts, target, loop)
        if not obstacles:
            return Gathering(tuple(reversed(guards)))
        chain = facts.dominators.chain(target)
        nearest = next((label for label in chain if label in obstacles), None)
        if nearest is None or nearest == target or not _is_guarded(facts, nearest):
            return _reason(facts, obstacles)
        towards = [
            successor
            for successor in facts.graph.successors(nearest)
            if target in facts.post_dominators.chain(successor)
        ]
        if len(towards) != 1 or _enters_elsewhere(facts, nearest, towards[0], target):
            return _reason(facts, obstacles)
        between = _reachable_in_this_round(facts, nearest, towards[0]) & obstacles
        if between:
            return _reason(facts, between)
        guards.append((nearest, towards[0]))
        target = nearest


def _is_guarded(facts: Facts, label: str) -> bool:
    """Whether a predicate tells which lanes take the branch; a ``brx.idx`` has none."""
    branches = (i for i in facts.blocks[label].instructions if i.is_terminator)
    return next(branches).guard is not None


def _reachable_in_this_round(facts: Facts, guard: str, towards: str) -> set[str]:
    """What lanes counted at ``guard`` may come to before they come to it again."""
    around = {loop.header for loop in facts.loops if guard in loop.blocks}
    back = [(s, header) for header in around for s in facts.graph.predecessors(header)]
    return {towards, *nx.descendants(without(facts.graph, edges=back), towards)}


def _enters_elsewhere(facts: Facts, guard: str, towards: str, target: str) -> bool:
    """Whether lanes that the guard does not count could come to ``target`` all the same."""
    beyond = without(facts.graph, [guard])
    others = set(facts.graph.successors(guard)) - {towards, guard}
    return any(nx.has_path(beyond, other, target) for other in others)


def _reason(facts: Facts, obstacles: set[str]) -> str:
    branches = [facts.blocks[label].terminator for label in sorted(obstacles)]
    at = next((f" (PTX line {b.span.line}: {b})" for b in branches if b), "")
    return (
        "some lanes may pass by the annotated loop and wait at a barrier, or go round an outer "
        f"loop, while the others are in it{at}"
    )


def _obstacles(facts: Facts, target: str, loop: Loop) -> set[str]:
    """The divergent branches that part lanes on the way to ``target`` for longer than allowed."""
    graph = facts.graph
    return {
        label
        for label in facts.divergence.divergent_branches
        if label not in loop.blocks
        and label != target
        and _meets_before_joining(facts, label, target)
        and any(_strays(facts, label, successor, target) for successor in graph.successors(label))
    }


def _meets_before_joining(facts: Facts, branch: str, target: str) -> bool:
    """Whether ``target`` lies between a branch and the point where all its ways have joined."""
    join = facts.post_dominators.immediate(branch) or EXIT
    if join == target:
        return False
    apart = without(facts.graph, [join])
    return nx.has_path(apart, branch, target)


def _strays(facts: Facts, branch: str, successor: str, target: str) -> bool:
    """Whether lanes that take this way may miss ``target`` without leaving the kernel quietly.

    In a loop around both, ``target`` must be met in this iteration; from a branch past it, the next
    iteration must begin, so that all lanes stay in the same one.
    """
    around = next(
        (loop for loop in facts.loops if branch in loop.blocks and target in loop.blocks), None
    )
    inner = (
        facts.graph
        if around is None
        else without(
            facts.graph, edges=[(s, around.header) for s in facts.graph.predecessors(around.header)]
        )
    )
    goals = {target}
    if around is not None and not nx.has_path(inner, branch, target):
        goals = set(around.latches)
        if branch in goals and successor == around.header:
            return False
    elif around is not None and successor == around.header:
        return True
    reached = _reachable_before(inner, successor, goals)
    if around is not None and target in goals and reached & around.latches:
        return True
    arriving = goals.union(*(nx.ancestors(inner, goal) for goal in goals))
    lost = reached - arriving
    away = lost.union(*(nx.descendants(facts.graph, label) for label in lost))
    return target in away or any(_waits(facts, label) for label in away - {EXIT})


def _reachable_before(graph: nx.DiGraph[str], start: str, goals: set[str]) -> set[str]:
    """What can be reached from ``start`` up to the goals, which are not passed."""
    reached, worklist = {start}, [start]
    while worklist:
        label = worklist.pop()
        if label in goals:
            continue
        for successor in graph.successors(label):
            if successor not in reached:
                reached.add(successor)
                worklist.append(successor)
    return reached


def _waits(facts: Facts, label: str) -> bool:
    """Whether lanes may wait here for others: also in another annotated loop, once collected."""
    waits = Effect.BARRIER | Effect.COLLECTIVE
    block = facts.blocks[label]
    return any(marker.kind == "for" for marker in block.markers) or any(
        instruction.effects & waits or facts.callees.waits(instruction)
        for instruction in block.instructions
    )
