"""Which annotated loops lanes of one warp may be in at the same time.

Loops keep their tasks in the same memory, as far as one is over before the other begins. That is
so where the lanes of both meet in between: in the ballots by which members are counted. A ballot
covers two loops if it waits for all lanes that may come to either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.convergence import ReconvergencePoint
from ccc.analysis.facts import Facts
from ccc.analysis.graphs import FlowGraph


@dataclass(frozen=True, slots=True)
class Entrance:
    """Where a loop's members are counted last, and the branches where they are counted before.

    Of each branch it is said whether they take it, from the outermost on.
    """

    label: str
    guards: tuple[tuple[str, bool], ...]

    @staticmethod
    def of(label: str, reconvergence: ReconvergencePoint, facts: Facts) -> Entrance:
        """The entrance of a loop that begins at ``label``."""
        guards = (
            (guard, _is_taken(guard, towards, facts)) for guard, towards in reconvergence.guards
        )
        return Entrance(label, tuple(guards))

    def ballots(self) -> Iterable[tuple[str, tuple[tuple[str, bool], ...]]]:
        """Where its lanes meet, and how those have been counted that do."""
        for number, (label, _) in enumerate(self.guards):
            yield label, self.guards[:number]
        yield self.label, self.guards


def _is_taken(guard: str, towards: str, facts: Facts) -> bool:
    branch = next(i for i in facts.blocks[guard].instructions if i.is_terminator)
    return branch.target == towards


def may_be_in_both(
    one: Entrance, other: Entrance, known: Iterable[Entrance], graph: FlowGraph
) -> bool:
    """Whether a lane may be in one loop, and another one of its warp in the other.

    They have parted since they last met in a ballot that covers both. So that is a ballot, or the
    kernel's entry, from which there is a way to either on which no such ballot stands.

    Args:
        one: a loop.
        other: another loop.
        known: all loops whose ballots are in the kernel, or will be.
        graph: the control-flow graph, with the blocks of both.
    """
    covering = {
        label
        for entrance in known
        for label, counted in entrance.ballots()
        if counted == one.guards[: len(counted)] == other.guards[: len(counted)]
    }
    entry = next(iter(graph))
    for start in {entry, *covering} - {EXIT}:
        reached = reachable(graph.successors, graph.successors(start), stops=covering)
        if all(
            loop.label == start or (loop.label in reached and loop.label not in covering)
            for loop in (one, other)
        ):
            return True
    return False
