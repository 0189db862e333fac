"""Where all threads of a warp surely meet before a loop.

Independent thread scheduling (sm_70 and later) promises nothing about which lanes run together, so
the members of a warp-wide vote must be known. A vote over all lanes is defined if every thread
either comes to it or leaves the kernel: exited threads do not count (PTX ISA, vote.sync). Where a
divergent branch leads some lanes past the loop to a barrier, or round an outer loop, the lanes that
will come are counted at that branch instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from ccc.analysis.callees import all_meet_at, callee, waits_elsewhere
from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.markers import LOOPS
from ccc.ir.nodes import Instruction
from ccc.ir.operands import registers
from ccc.ptx.barriers import BARRIERS, PARITY, lets_threads_go
from ccc.ptx.opcodes import Effect

AS_OFTEN = (
    "; let every thread come to it, and each loop around it go round equally often for all, and "
    "guard what that writes; one without work runs the annotated loop no times; else remove the "
    "annotation"
)
"""What to do where lanes may come to a loop again, or not, while others are in it."""


@dataclass(frozen=True, slots=True)
class ReconvergencePoint:
    """``guards`` lists (block, successor) from the outermost on: at the end of each such block the
    lanes that go on to the successor are counted, among those counted before; right before the
    loop those of them that have not ended. Without guards, all lanes are counted there."""

    guards: tuple[tuple[str, str], ...] = ()

    @property
    def of_all(self) -> bool:
        """Whether all lanes that have not ended come to the loop."""
        return not self.guards


def find_reconvergence(facts: Facts, loop: Loop) -> ReconvergencePoint | str:
    """Where to count the members of a loop, or the reason why that cannot be done."""
    waiting = waiting_before(facts, loop)
    if waiting is not None:
        return _reason(facts, loop, set(), waiting)
    guards: list[tuple[str, str]] = []
    target = loop.header
    while True:
        obstacles = _obstacles(facts, target, loop)
        if not obstacles:
            return ReconvergencePoint(tuple(reversed(guards)))
        chain = facts.dominators.chain(target)
        guard = next((label for label in chain if label in obstacles), None)
        if guard is not None and not _towards(facts, guard, target):
            guard = _controller(facts, target)
        if guard is None or guard == target or not _is_guarded(facts, guard):
            return _reason(facts, loop, obstacles)
        towards = _towards(facts, guard, target)
        if len(towards) != 1 or _enters_elsewhere(facts, guard, towards[0], target):
            return _reason(facts, loop, obstacles)
        between = _reachable_in_this_round(facts, guard, towards[0]) & obstacles
        if between:
            return _reason(facts, loop, between)
        guards.append((guard, towards[0]))
        target = guard


def find_join(facts: Facts, guards: Sequence[tuple[str, str]], loop: Loop) -> str | None:
    """Where all lanes that come to the first of ``guards`` may wait for one another, whichever way
    they take from there; None if they may not.

    ``guards`` are those of the loop's reconvergence point, from one of them on. Each lane must come
    to the join once for each time that it comes to the branch. Who is there already must not be
    waited for on the way: neither by the author's code, such as for a lock, nor where lanes are
    counted, which waits for all that were counted before until they have come, or have ended.
    """
    first = guards[0][0]
    join = facts.post_dominators.immediate(first)
    if join is None or join == EXIT:
        return None
    graph = facts.graph
    between = reachable(graph.successors, graph.successors(first), stops=[join]) - {join}
    if first in between or any(not facts.dominators.dominates(first, one) for one in between):
        return None
    points = [*(label for label, _ in guards[1:]), loop.header]
    for (_, towards), point in zip(guards, points, strict=True):
        own = loop.blocks if point == loop.header else {point}
        left = {after for label in own for after in graph.successors(label)} - own
        passed_by = join in reachable(graph.successors, [towards], stops=[point])
        if passed_by or point in reachable(graph.successors, left, stops=[join]):
            return None
    if any(between & spin.blocks for spin in facts.spins if join not in spin.blocks):
        return None
    counts, on_the_way = set(points), between - loop.blocks
    if any(_has_meeting(facts, label, but_counts=label in counts) for label in on_the_way):
        return None
    return join


def _has_meeting(facts: Facts, label: str, but_counts: bool = False) -> bool:
    """Whether lanes may wait for others at an instruction, or will when a loop there is collected.

    ``but_counts``: beside that a pass has them counted.
    """
    block = facts.blocks[label]
    return any(marker.kind in LOOPS for marker in block.markers) or any(
        instruction.effects & (Effect.BARRIER | Effect.COLLECTIVE)
        or facts.callees.waits(instruction)
        for instruction in block.instructions
        if not (but_counts and facts.is_of_pass(instruction))
    )


def _towards(facts: Facts, guard: str, target: str) -> list[str]:
    """The ways from a branch on which all lanes come to ``target``."""
    return [
        successor
        for successor in facts.graph.successors(guard)
        if target in facts.post_dominators.chain(successor)
    ]


def _controller(facts: Facts, target: str) -> str | None:
    """The nearest branch before ``target`` that decides whether lanes come to it."""
    before = facts.dominators.chain(target)[1:]
    passed = facts.post_dominators
    return next((label for label in before if not passed.dominates(target, label)), None)


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


def _reason(
    facts: Facts, loop: Loop, obstacles: set[str], waiting: Instruction | None = None
) -> str:
    if waiting is not None and facts.callees.waits_elsewhere(waiting):
        name = callee(waiting) or "a function through a pointer"
        return (
            f"some lanes call {name} before the annotated loop, where they may wait for others, "
            f"which would now wait for them (PTX line {waiting.span.line}: {waiting}); "
            "put __syncwarp() or __syncthreads() between"
        )
    if waiting is not None:
        return (
            "lanes may wait for one another before the annotated loop, where those that are "
            f"through would now wait for all (PTX line {waiting.span.line}: {waiting}); "
            "put __syncwarp() or __syncthreads() between"
        )
    branches = [facts.blocks[label].terminator for label in sorted(obstacles)]
    at = next((f" (PTX line {b.span.line}: {b})" for b in branches if b), "")
    as_often = AS_OFTEN if any(loop.blocks < one.blocks for one in facts.loops) else ""
    return (
        "some lanes may pass by the annotated loop and wait at a barrier, or go round an outer "
        f"loop, while the others are in it{at}{as_often}"
    )


def waiting_before(facts: Facts, loop: Loop) -> Instruction | None:
    """Where lanes that are not through may wait for one that waits for them before the loop.

    Where all lanes meet in between, as the author has them do, nobody waits longer than he did.
    """
    meetings = {label for label in facts.graph if label != EXIT and _all_meet(facts, label)}
    if loop.header in meetings:
        return None
    for spin in facts.spins:
        if spin.blocks.isdisjoint(loop.blocks):
            stops = meetings - spin.blocks
            if loop.header in reachable(facts.graph.successors, spin.blocks, stops=stops):
                return spin.poll
    for label in facts.graph:
        if label == EXIT or label in loop.blocks:
            continue
        for instruction in facts.blocks[label].instructions:
            if (
                _waits_elsewhere(instruction, facts)
                and (
                    instruction.guard
                    or _waits_at_another(instruction, label, facts)
                    or _is_passed_by(facts, label, loop, meetings)
                )
                and (facts.callees.waits_elsewhere(instruction) or _lets_go(facts, loop))
            ):
                return instruction
    return None


def _lets_go(facts: Facts, loop: Loop) -> bool:
    """Whether a lane that is through may come to what others wait for at a barrier."""
    behind = reachable(facts.graph.successors, [loop.header]) - {EXIT}
    return any(
        facts.callees.waits_elsewhere(instruction)
        or facts.callees.waits(instruction)
        or (
            not facts.is_of_pass(instruction)
            and lets_threads_go(instruction.name, instruction.opcode)
        )
        for label in behind
        for instruction in facts.blocks[label].instructions
    )


def _waits_elsewhere(instruction: Instruction, facts: Facts) -> bool:
    """Whether a lane may wait in it for others that are elsewhere.

    To the barriers that passes put in all come that they are meant for.
    """
    if facts.is_of_pass(instruction):
        return False
    return waits_elsewhere(instruction) or facts.callees.waits_elsewhere(instruction)


def _waits_at_another(instruction: Instruction, label: str, facts: Facts) -> bool:
    """Whether lanes that come to it may wait at different barriers, each at its own, or for
    different phases of one; those that meet under a mask are a part of the warp that comes
    together."""
    if "warp" in instruction.modifiers:
        return False
    told = instruction.operands
    if instruction.name not in BARRIERS:
        told = tuple(operand for operand, role in instruction.roles() if role == "addr")
    if "parity" in instruction.modifiers:
        told += instruction.operands[PARITY : PARITY + 1]
    return facts.divergence.differ(label, instruction, chain.from_iterable(map(registers, told)))


def _is_passed_by(facts: Facts, label: str, loop: Loop, meetings: set[str]) -> bool:
    """Whether some lanes may come to a loop without a block to which others come before it.

    In a loop around both that is so, too, if some lanes come to the block in a round and others do
    not. A loop that is left when an ``mbarrier`` is through counts like one block.
    """
    graph = facts.graph
    around = [one for one in facts.loops if loop.blocks < one.blocks and label in one.blocks]
    rounds = {one.header for one in around}
    own = next((one.blocks for one in facts.loops if label in one.blocks), frozenset({label}))
    unit = own if _polls_barrier(facts, label) and loop.header not in own else {label}

    def step(block: str) -> Iterable[str]:
        return (after for after in graph.successors(block) if after not in rounds)

    again = loop.header in reachable(graph.successors, rounds, stops=meetings | unit)
    goals = {latch for one in around for latch in one.latches if again}
    if loop.header in reachable(step, unit):
        goals.add(loop.header)
    goals -= meetings | unit

    def passes(way: str) -> bool:
        return again if way in rounds else bool(goals & reachable(step, [way], meetings | unit))

    for branch in facts.divergence.divergent_branches - loop.blocks - unit:
        if not unit.isdisjoint(facts.before_joining(branch)):
            ways = set(graph.successors(branch))
            coming = {way for way in ways - rounds if unit & reachable(step, [way])}
            if any(passes(way) for one in coming for way in ways - {one}):
                return True
    return False


def _polls_barrier(facts: Facts, label: str) -> bool:
    return any(i.name == "mbarrier" for i in facts.blocks[label].instructions)


def _all_meet(facts: Facts, label: str) -> bool:
    """Whether all lanes of the warp wait for one another in a block."""
    return any(map(all_meet_at, facts.blocks[label].instructions))


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
        goals = _ends(facts, around)
        if branch in goals and successor == around.header:
            return False
    elif around is not None and successor == around.header:
        return True
    reached = reachable(step, [successor], stops=goals)
    if around is not None and target in goals and reached & around.latches:
        return True
    leaving = reached - reachable(back, goals)
    if around is not None and target not in goals:
        leaving |= _ways_out(facts, around, branch, goals)
    away = reachable(facts.graph.successors, leaving)
    return target in away or any(_waits(facts, label) for label in away - {EXIT})


def _ends(facts: Facts, loop: Loop) -> set[str]:
    """The latches of a loop, and where it is decided whether lanes come to one that only jumps."""
    ends = set(loop.latches)
    for latch in loop.latches:
        before = list(facts.graph.predecessors(latch))
        if len(before) == 1 and all(i.is_terminator for i in facts.blocks[latch].instructions):
            ends.update(before)
    return ends


def _ways_out(facts: Facts, loop: Loop, branch: str, ends: Collection[str]) -> set[str]:
    """Where a loop is left from those ends of a turn that not all lanes come to behind a branch: it
    may be decided alike there, and others begin the next turn."""

    def step(label: str) -> Iterable[str]:
        return (one for one in facts.graph.successors(label) if one != loop.header)

    def is_met_by_all(end: str) -> bool:
        others = reachable(step, [branch], stops={end}) - {end}
        return loop.latches.isdisjoint(others)

    apart = [one for one in ends if one != branch and not is_met_by_all(one)]
    return {after for one in apart for after in facts.graph.successors(one)} - loop.blocks


def _waits(facts: Facts, label: str) -> bool:
    """Whether lanes may wait here for others: also in another annotated loop, once collected, or
    around an inner loop, once flattened."""
    return any(label in spin.blocks for spin in facts.spins) or _has_meeting(facts, label)
