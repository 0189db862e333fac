"""Whether the rules allow a loop and a path to be collected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ccc.analysis.callees import allocates, called, callee
from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.convergence import find_reconvergence
from ccc.analysis.divergence import meets_all_lanes
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.invariant_stores import InvariantStores
from ccc.analysis.paths.model import (
    AnnotatedLoop,
    CheckedPath,
    FoundLoop,
    PlacedPath,
    Refused,
    at,
    instructions_of,
)
from ccc.analysis.paths.reductions import register_at
from ccc.analysis.spinning import Spin, is_strong, roots
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Register
from ccc.ptx.barriers import waits_for_the_block
from ccc.ptx.opcodes import EXCHANGES, Effect
from ccc.ptx.types import ANEW, OWN_SPACES, TYPES


def check_loop(found: FoundLoop, facts: Facts) -> AnnotatedLoop:
    """What must hold for a loop, whatever its paths.

    Raises:
        Refused: with the reason.
    """
    meetings = _meetings(found.loop, facts)
    for instruction in instructions_of(found.loop.blocks, facts):
        if instruction not in meetings:
            _check_collective(instruction, found, facts)
    exits = found.loop.exits(facts.graph)
    if not exits:
        raise Refused("the annotated loop never ends")
    if any(target == EXIT for _, target in exits):
        raise Refused("the annotated loop ends the thread, by a guarded exit or return")
    for accumulator in found.accumulators:
        for _, target in exits:
            register_at(accumulator, target, facts)
    outcome = find_reconvergence(facts, found.loop)
    if isinstance(outcome, str):
        raise Refused(outcome)
    return AnnotatedLoop(found.marker, found.loop, found.accumulators, outcome)


def _meetings(loop: Loop, facts: Facts) -> set[Instruction]:
    """The collectives to which all lanes come in each iteration, whichever way they go through it.

    Lanes give tasks away at the end of an iteration, where all meet before any of them begins the
    next. So whoever comes to such a collective finds the lanes of its own iteration there: no
    branch that lanes may take differently has parted them, neither now nor by leaving the loop.
    """
    parted: set[str] = set()
    for branch in facts.divergence.divergent_branches & loop.blocks:
        join = facts.post_dominators.immediate(branch) or EXIT
        ways = facts.graph.successors(branch)
        parted |= reachable(facts.graph.successors, ways, stops=[join]) - {join}
    literals = facts.divergence.literals
    together = instructions_of(loop.blocks - parted, facts)
    return {i for i in together if meets_all_lanes(i, literals)}


def _check_collective(instruction: Instruction, annotated: FoundLoop, facts: Facts) -> None:
    effects = instruction.effects
    if effects & Effect.BARRIER:
        advice = "mark a loop between two barriers"
        is_apart = _is_in_a_branch(instruction, annotated.loop, facts)
        if is_apart and waits_for_the_block(
            instruction.name, instruction.modifiers, instruction.operands
        ):
            advice = (
                "it waits for all threads of the block, and some may not take the branch that it "
                "stands in: move it out of the branch and of the loop"
            )
        if holds_the_kernel(annotated, facts):
            advice = (
                "with shared memory or barriers in the kernel, ccc grid_stride puts one between "
                "its blocks: write the loop, with ccc for"
            )
        raise Refused(f"there is a barrier in the annotated loop{at(instruction)}; {advice}")
    if effects & Effect.COLLECTIVE:
        advice = "move it out of the loop"
        if instruction.name in EXCHANGES:  # all others stay where they are, whoever comes
            advice += ", or let all lanes come to it in every iteration, and end the loop together"
        elif instruction.name == "bar" and holds_the_kernel(annotated, facts):
            raise Refused(
                "there are warp-collectives in the kernel, so that ccc grid_stride lets warps meet "
                "between its blocks; write the loop, with ccc for"
            )
        raise Refused(
            f"there is a warp-collective in the annotated loop{at(instruction)}; {advice}"
        )
    if facts.callees.waits(instruction):
        name = callee(instruction)
        elsewhere = bool(name) and facts.callees.load(name) is None
        hint = (
            "; if it is, does not ask which thread, lane or block it is in, and uses no memory but "
            "what its parameters point to, promise that before its declaration: #pragma ccc "
            "callable"
        )
        raise Refused(
            f"the annotated loop calls {called(instruction)}, which is not known "
            f"to be free of barriers and warp-collectives{at(instruction)}"
            + (hint if elsewhere else "")
        )
    if facts.callees.allocates(instruction):
        raise Refused(
            f"the annotated loop calls {called(instruction)}, which allocates on the thread's stack"
            f"{at(instruction)}; declare an array there, or let the caller hand one over"
        )


def _is_in_a_branch(instruction: Instruction, loop: Loop, facts: Facts) -> bool:
    """Whether lanes of one iteration may part before an instruction, and meet behind it again."""
    for branch in facts.divergence.divergent_branches & loop.blocks:
        join = facts.post_dominators.immediate(branch) or EXIT
        ends = {join, loop.header}
        inside = reachable(facts.graph.successors, facts.graph.successors(branch), stops=ends)
        if join in loop.blocks and instruction in instructions_of(inside - ends, facts):
            return True
    return False


def holds_the_kernel(annotated: FoundLoop, facts: Facts) -> bool:
    """Whether the loop was made around the body of the kernel: then it was none in the source."""
    return not any(
        marker.kind == "loop" and marker.identifier == annotated.marker.identifier
        for block in facts.function.blocks
        for marker in block.markers
    )


def check_instructions(path: PlacedPath, facts: Facts) -> None:
    """What must hold for the instructions of a path.

    Raises:
        Refused: with the reason.
    """
    for instruction in instructions_of(path.blocks, facts):
        effects = instruction.effects
        if effects & (Effect.EXIT | Effect.RETURN):
            raise Refused(
                f"the path ends the thread{at(instruction)}; "
                "decide before the branch whether to go on"
            )
        if allocates(instruction):
            raise Refused(f"the path allocates on the thread's stack{at(instruction)}")
        if facts.callees.knows_its_lane(instruction):
            raise Refused(
                f"the path calls {called(instruction)}, which reads a register such as %tid.x; "
                "declare it __forceinline__"
            )


def check_meetings(path: CheckedPath, facts: Facts) -> None:
    """That no task holds a collective: the lanes that it means are elsewhere by then.

    Raises:
        Refused: with the reason.
    """
    for instruction in instructions_of(path.region, facts):
        if instruction.effects & Effect.COLLECTIVE:
            raise Refused(
                f"a warp-collective would have to run with its tasks{at(instruction)}; "
                "move it before the path, or to the top of the loop"
            )


def check_order(path: PlacedPath, facts: Facts) -> None:
    """What must hold for memory where a task may wait while the loop that it lies in goes on.

    The iterations of the annotated loop are independent, and so are those of a ``for variable``;
    the turns of another loop, and what follows an inner loop, are not known to be.

    Raises:
        Refused: with the reason.
    """
    around = path.parent
    if around is None or not around.repeats:
        return
    waits_not = {"what follows the loop around it": around.rest if around.continuation else ()}
    if around.marker.kind != "variable":
        waits_not["the other turns of the loop around it"] = around.blocks
    for what, blocks in waits_not.items():
        clash = facts.memory.find_conflict(
            instructions_of(path.region, facts), instructions_of(blocks, facts)
        )
        if clash is not None:
            raise Refused(
                f"it may access the same memory as {what}, which would no longer wait for it"
                f"{at(clash[0])}"
            )


def check_waiting(path: CheckedPath, facts: Facts) -> None:
    """That no lane waits in an iteration for what the task of another will do.

    A lane that has entered a critical section before the path would leave it when its task is done;
    and for that, those that wait for it would have to come to the end of their iterations.

    Raises:
        Refused: with the reason.
    """
    loop = path.loop.loop

    def step(label: str) -> Iterable[str]:
        return (s for s in facts.graph.successors(label) if s != loop.header)

    later = loop.blocks & reachable(step, [path.entry])
    for spin in facts.spins:
        if path.repeats and spin.blocks < path.blocks:
            _check_turns(spin, path, facts)
        if not spin.blocks < loop.blocks or spin.blocks <= path.blocks:
            continue
        if path.carries_parent and _looks_at_its_own(spin, path, facts):
            continue
        if path.entry not in reachable(step, spin.blocks):
            continue
        polled = [roots(poll, facts) or frozenset() for poll in spin.polls]
        named = frozenset[str]().union(*polled)
        writes = list(instructions_of(later, facts))  # those to the same parameter are named first
        for instruction in sorted(writes, key=lambda i: named.isdisjoint(roots(i, facts) or named)):
            if (poll := ended_by(spin, instruction, facts)) is not None:
                raise Refused(
                    f"lanes may wait before the path{at(poll)} for what is done in it or "
                    f"after it{at(instruction)}; {_way_out(poll, instruction, facts)}"
                )


def _check_turns(spin: Spin, path: CheckedPath, facts: Facts) -> None:
    """That no lane holds a lock when a turn of a path has ended, since its task may be set aside.

    It is given back by a write of the address that it was taken by.

    Raises:
        Refused: one may.
    """
    inside = path.blocks - {path.entry}

    def step(label: str) -> Iterable[str]:
        return facts.graph.successors(label) if label in path.blocks else ()

    after = {to for label in spin.blocks for to in facts.graph.successors(label)} - spin.blocks
    others = list(instructions_of(path.loop.loop.blocks - spin.blocks, facts))
    for poll in filter(is_strong, spin.polls):
        gives = [
            label
            for label in inside - spin.blocks
            if any(_gives_back(one, poll, facts) for one in facts.blocks[label].instructions)
        ]
        is_waited_for = any(ended_by(replace(spin, polls=(poll,)), one, facts) for one in others)
        if is_waited_for and not reachable(step, after, stops=gives) <= inside:
            raise Refused(
                f"a lock may still be held when a turn ends{at(poll)}; give it back in the turn "
                "that takes it"
            )


def _gives_back(instruction: Instruction, poll: Instruction, facts: Facts) -> bool:
    """Whether an instruction makes a lock free that a swap has taken: it writes what the swap finds
    there then, or another number than that exchanges."""
    if instruction.guard is not None or poll.name != "atom":
        return False
    places = [
        {operand for operand in one.operands if isinstance(operand, Address)}
        for one in (instruction, poll)
    ]
    bases = {place.base for place in places[1] if isinstance(place.base, Register)}
    is_exchange = instruction.name == "atom" and "exch" in instruction.modifiers
    if places[0] != places[1] or any(len(facts.makers.get(one, ())) > 1 for one in bases):
        return False
    if instruction.name != "st" and not is_exchange:
        return False
    written, taken = (facts.literal(one) for one in (instruction.operands[-1], poll.operands[2]))
    if written is None or taken is None:
        return False
    bits = TYPES[poll.types[-1]].bits
    same = written.unsigned(bits) == taken.unsigned(bits)
    return same if "cas" in poll.modifiers else "exch" in poll.modifiers and not same


def _way_out(poll: Instruction, other: Instruction, facts: Facts) -> str:
    """What serves where lanes only seem to wait: they may read what nobody writes, or look for a
    free place where others seem to write."""
    leave = "leave the critical section before the branch"
    if not is_strong(poll):
        return f'declare what is only read "const __restrict__", or {leave}'
    apart = facts.memory.apart
    could_be = apart.could_be(poll, other) and not apart.are(poll, other)
    if "cas" not in poll.modifiers or not could_be:
        return leave
    return f'{leave}, or, where it takes free places of a table, declare its pointer "__restrict__"'


def _looks_at_its_own(spin: Spin, path: CheckedPath, facts: Facts) -> bool:
    """Whether it is the loop around the path that seems to wait, and plain loads decide about it.

    What these see no other iteration has written meanwhile, as those are independent; and what the
    path itself will write is no longer to come for a task that goes there.
    """
    around = path.parent
    if around is None or spin.blocks != around.blocks or spin.poll.name != "ld":
        return False
    body = instructions_of(around.blocks, facts)
    return not any(i.effects & Effect.FENCE or ANEW.intersection(i.modifiers) for i in body)


def ended_by(spin: Spin, instruction: Instruction, facts: Facts) -> Instruction | None:
    """What lanes look at that wait, and an instruction may write; None if it writes none of it."""
    if not instruction.effects & Effect.WRITE or instruction.space in OWN_SPACES:
        return None
    written = roots(instruction, facts) or frozenset()
    polls = sorted(spin.polls, key=lambda poll: written.isdisjoint(roots(poll, facts) or ()))
    return next((poll for poll in polls if not _are_apart(poll, instruction, facts)), None)


def _are_apart(poll: Instruction, other: Instruction, facts: Facts) -> bool:
    """Whether two accesses surely go to different memory: two parameters may lead to the same.

    Who waits by a plain load, which compilers need not make again, is taken to wait for what is
    written by the same parameter.
    """
    spaces = {poll.space, other.space}
    if spaces == {"global", "shared"} or facts.memory.apart.lead_apart(poll, other):
        return True
    mine, others = roots(poll, facts), roots(other, facts)
    if mine is None or others is None:
        return False
    parameters = {one.name for one in facts.function.parameters}
    is_same_name = not mine.isdisjoint(others)
    return not is_same_name and (not is_strong(poll) or parameters.isdisjoint(mine | others))


def check_independence(path: CheckedPath, invariant_stores: InvariantStores, facts: Facts) -> None:
    """That iterations, or turns of a ``for variable``, do not certainly share memory.

    Args:
        path: the path.
        invariant_stores: the stores of the annotated loop whose addresses stay the same.
        facts: the function's analyses.

    Raises:
        Refused: with the reason.
    """
    found = {"iteration": invariant_stores.find(path.region)}
    if path.marker.kind == "variable":
        own = next(loop for loop in facts.loops if loop.header == path.entry)
        found["turn"] = InvariantStores(own, facts).find(path.blocks)
    for what, shared in found.items():
        if shared is None:
            continue
        advice = f"use an atomic or a reduction, or declare in the loop what only one {what} needs"
        if shared.effects & Effect.CALL:
            advice = f"let {called(shared)} use atomics, or give it other memory in each of them"
        raise Refused(
            f"all {what}s of the loop use the same memory, and are not independent{at(shared)}; "
            f"{advice}"
        )
