"""Where all threads of a warp surely meet before a loop.

Independent thread scheduling (sm_70 and later) promises nothing about which lanes run together, so
the members of a warp-wide vote must be known. A vote over all lanes is defined if every thread
either comes to it or leaves the kernel: exited threads do not count (PTX ISA, vote.sync). Where a
divergent branch leads some lanes past the loop to a barrier, or round an outer loop, the lanes that
will come are counted at that branch instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ccc.analysis.cfg import EXIT, reachable
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

    def step(label: str) -> Iterable[str]:
        return (after for after in facts.graph.successors(label) if after not in around)

    return reachable(step, [towards])


def _enters_elsewhere(facts: Facts, guard: str, towards: str, target: str) -> bool:
    """Whether lanes that the guard does not count could come to ``target`` all the same."""
    others = set(facts.graph.successors(guard)) - {towards, guard}
    return target in reachable(facts.graph.successors, others, stops=[guard])


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
        and (label == target or target in facts.before_joining(label))
        and any(_strays(facts, label, successor, target) for successor in graph.successors(label))
    }


def _strays(facts: Facts, branch: str, successor: str, target: str) -> bool:
    """Whether lanes that take this way may miss ``target`` without leaving the kernel quietly.

    In a loop around both, ``target`` must be met in this iteration; from a branch past it, or from
    its own, the next iteration must begin, so that all lanes stay in the same one.
    """
    around = next(
        (loop for loop in facts.loops if branch in loop.blocks and target in loop.blocks), None
    )
    if around is None and branch == target:
        return False  # all lanes have come
    first = around.header if around is not None else None

    def step(label: str) -> Iterable[str]:
        return (after for after in facts.graph.successors(label) if after != first)

    def back(label: str) -> Iterable[str]:
        return facts.graph.predecessors(label) if label != first else ()

    goals = {target}
    if around is not None and (branch == target or target not in reachable(step, [branch])):
        goals = set(around.latches)
        if branch in goals and successor == around.header:
            return False
    elif around is not None and successor == around.header:
        return True
    reached = reachable(step, [successor], stops=goals)
    if around is not None and target in goals and reached & around.latches:
        return True
    away = reachable(facts.graph.successors, reached - reachable(back, goals))
    return target in away or any(_waits(facts, label) for label in away - {EXIT})


def _waits(facts: Facts, label: str) -> bool:
    """Whether lanes may wait here for others: also in another annotated loop, once collected."""
    waits = Effect.BARRIER | Effect.COLLECTIVE
    block = facts.blocks[label]
    return any(marker.kind == "for" for marker in block.markers) or any(
        instruction.effects & waits or facts.callees.waits(instruction)
        for instruction in block.instructions
    )
