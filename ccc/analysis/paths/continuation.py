"""What a task takes along, and what its owner keeps doing.

The *context* is what describes a task to another lane. Where the rest of the iteration needs what
the path makes, that rest is the task's *continuation*.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NoReturn

from ccc.analysis.callees import called
from ccc.analysis.facts import Facts
from ccc.analysis.fields import are_other_fields
from ccc.analysis.liveness import reads_and_writes
from ccc.analysis.memory import EVERY_SPACE
from ccc.analysis.paths.carried_values import (
    LEAVE_TO_LOOP,
    REMOVE_THIS,
    by_name,
    hands_on,
    reduction_hint,
    refuse_value_of_path,
    writer_hint,
)
from ccc.analysis.paths.carrying import handed_back
from ccc.analysis.paths.fetches import find_fetches, has_side_effect
from ccc.analysis.paths.followers import check_loops_in_rest
from ccc.analysis.paths.legality import check_meetings
from ccc.analysis.paths.model import (
    CheckedPath,
    Path,
    PlacedPath,
    Refused,
    at,
    instructions_of,
)
from ccc.analysis.paths.reductions import (
    declared_operations,
    kept_at,
    register_at,
    touched,
)
from ccc.analysis.slicing import Region, Slice, slice_region
from ccc.analysis.thresholds import CHEAP_SLICE
from ccc.ir.nodes import Instruction
from ccc.ir.operands import CARRY, Register, Special
from ccc.ptx.opcodes import Effect
from ccc.ptx.operations import EXTREMES
from ccc.ptx.types import LANE, STRONG

TOO_SHORT = "it is too short to gain anything: remove the annotation"
OF_ATOMIC = (
    "if it counts iterations, let nothing else in the loop access that counter, and let only the "
    "next iteration use what it gives; else declare in the loop what no iteration needs of "
    "another, or remove the annotation"
)
_MORE = Effect.READ | Effect.WRITE | Effect.CALL | Effect.OPAQUE | Effect.FENCE


def choose_continuation(
    path: PlacedPath,
    inner: frozenset[str],
    facts: Facts,
    followers: tuple[Path, ...] = (),
    collected: Collection[Path] = (),
) -> CheckedPath:
    """Decide whether the rest of the iteration must run with the task.

    Args:
        path: the path.
        inner: the blocks of paths that lie in others. The task keeps what they need, even where it
            has no effect, since their contexts are found without asking what has.
        facts: the function's analyses.
        followers: the paths that hold the loops in the rest of the iteration.
        collected: those that can be collected, with all in the rest of the iteration.

    Raises:
        Refused: it must, and cannot.
    """
    webs = frozenset[Register]().union(*(a.registers for a in path.loop.accumulators))
    fetches = find_fetches(path, facts, webs)
    rest = [i for i in instructions_of(path.rest, facts) if i not in fetches]
    clash = facts.memory.conflict(instructions_of(path.blocks, facts), rest)
    continuation = clash or hands_on(path, webs, facts)
    region = path.blocks | path.rest if continuation else path.blocks
    accumulators = touched(path.loop.accumulators, region, facts)
    checked = CheckedPath(
        **vars(path), continuation=continuation, accumulators=accumulators,
        followers=followers if continuation else (),
    )  # fmt: skip
    _check_places(checked, facts)
    if not continuation:
        return checked
    # Whatever else is in the way would not help, unless that fetches the next iteration.
    if not any(one.name == "atom" for one in rest):
        check_meetings(checked, facts)
    _check_rest(checked, collected, facts)
    continued = _continued(checked, inner, webs, fetches, facts)
    check_meetings(continued, facts)
    return continued


def _continued(
    path: CheckedPath,
    inner: frozenset[str],
    webs: frozenset[Register],
    fetches: frozenset[Instruction],
    facts: Facts,
) -> CheckedPath:
    """The path, with what of its region its tasks and their owners run.

    Raises:
        Refused: they cannot.
    """
    region = Region(path.region, facts.graph)
    reaching = facts.reaching_within(path.region)
    task = slice_region(
        region, facts.blocks, reaching,
        [
            *(
                i
                for i in instructions_of(path.region, facts)
                if has_side_effect(i) and i not in fetches
            ),
            *instructions_of(path.region & inner, facts),
            *_makers_for_followers(path, facts),
        ],
        lambda sink: kept_at(path.accumulators, sink, facts),
        decide_sinks=_places_differ(path, facts),
    )  # fmt: skip
    does_something = bool(path.accumulators) or any(map(has_side_effect, task.instructions))
    owner = None
    if path.gives_away:  # else the lane is through when it has given the task away
        owner = slice_region(
            region, facts.blocks, reaching, [],
            lambda sink: facts.liveness.live_in(sink) - webs, decide_sinks=True,
        )  # fmt: skip
        _check_owner(path, owner, facts, fetches - task.instructions, may_load=does_something)
    if not does_something:
        _refuse_nothing(path, facts)
    return replace(path, task=task, owner=owner)


def _refuse_nothing(path: CheckedPath, facts: Facts) -> NoReturn:
    """All that the path does is to make values for the next iteration.

    Raises:
        Refused: always.
    """
    hint = f"; {reduction_hint(path, facts)}" if declared_operations(path.loop.marker) else ""
    if hint and is_cheap(path.blocks, facts):
        hint = f"; {TOO_SHORT}"  # with any clause
    if path.turn is not path.loop.loop and not _carries_on(path, facts):
        # That gains nothing itself where all lanes go round as often.
        hint = f"; {REMOVE_THIS if facts.turns_agree(path.turn) else LEAVE_TO_LOOP}"
    raise Refused(
        f"its lane computes all of it for the next iteration, so that nothing is left{hint}"
    )


def is_cheap(labels: frozenset[str], facts: Facts) -> bool:
    """Whether blocks do no more than make a few values, once."""
    made = [i for i in instructions_of(labels & facts.blocks.keys(), facts) if not i.is_terminator]
    turns = any(loop.header in labels for loop in facts.loops)
    return len(made) <= CHEAP_SLICE and not (turns or any(map(has_side_effect, made)))


def _carries_on(path: CheckedPath, facts: Facts) -> bool:
    """Whether an iteration of the annotated loop leaves something that turns of the loop around the
    path make for the next one: no reduction serves what those hand on among themselves alone."""
    made = {r for i in instructions_of(path.turn.blocks, facts) for r in i.defined()}
    return not made.isdisjoint(facts.liveness.live_in(path.loop.loop.header))


def _makers_for_followers(path: CheckedPath, facts: Facts) -> list[Instruction]:
    """What makes in the task that which the contexts of other tasks are copied from."""
    handed = {register for one in path.followers for register in one.context}
    return [i for i in instructions_of(path.region, facts) if not handed.isdisjoint(i.defined())]


def _check_rest(path: CheckedPath, collected: Collection[Path], facts: Facts) -> None:
    """The rest of the iteration must be able to run with the path."""
    check_loops_in_rest(path, collected, facts)
    knowing = (i for i in instructions_of(path.rest, facts) if facts.callees.knows_its_lane(i))
    if (call := next(knowing, None)) is not None:
        raise Refused(
            "the rest of the iteration would have to run with the path, but calls "
            f"{called(call)}, which reads a register such as %tid.x; declare it __forceinline__"
        )


def _check_places(path: CheckedPath, facts: Facts) -> None:
    """An accumulator must be in one place wherever a task begins or ends."""
    sinks = {s for label in path.region for s in facts.graph.successors(label)} - path.region
    groups = [a.group for a in path.accumulators if a.group is not None]
    if groups and path.turn is not path.loop.loop:
        raise Refused(
            "which of several equal values is kept, and what goes with it, depends on the order of "
            f"turns of the loop around it{at(groups[0].updates[0].instruction)}; {LEAVE_TO_LOOP}"
        )
    for accumulator in path.accumulators:
        before = register_at(accumulator, path.entry, facts)
        behind = [register_at(accumulator, label, facts) for label in sorted(sinks)]
        is_plain = len(accumulator.registers) == 1  # a flag, which is set, and elsewhere as it was
        if before is None and any(behind) and not is_plain:
            region = instructions_of(path.region, facts)
            setter = next(i for i in region if not accumulator.registers.isdisjoint(i.defined()))
            hint = "combine it with what it was"
            if accumulator.operation in EXTREMES:
                hint = "this branch is the reduction itself: remove its annotation"
            raise Refused(
                "an accumulator of a reduction is set in the path whatever it was before"
                f"{at(setter)}; {hint}"
            )


def _places_differ(path: CheckedPath, facts: Facts) -> bool:
    """Whether it matters to a task's accumulators which way the iteration would have ended."""
    sinks = Region(path.region, facts.graph).sinks
    return len({tuple(register_at(a, s, facts) for a in path.accumulators) for s in sinks}) > 1


def _same_memory(atom: Instruction, path: CheckedPath, facts: Facts) -> str:
    """What of the path may access the same memory as an atomic operation behind it, what tells
    them apart, and what else to do about it."""
    apart = facts.memory.apart
    region = instructions_of(path.region, facts)
    others = (one for one in region if one is not atom and not are_other_fields(one, atom, facts))
    found = (facts.memory.find_conflict([one], [atom]) for one in others)
    clashes = sorted(filter(None, found), key=lambda pair: apart.could_be(*pair))
    if not clashes:
        return f"; {OF_ATOMIC}"
    if (fence := next((one for one, _ in clashes if one.effects & Effect.FENCE), None)) is not None:
        after = f", since a fence keeps it behind what is before that{at(fence)}"
        return f"{after}; remove the annotation"
    clash = clashes[0]  # one that no promise tells apart, if there is any
    can_be_said = apart.could_be(*clash) and all(map(apart.may_be_restricted, clash))
    way_out = (
        ', which cannot be if both pointers are declared "__restrict__"' if can_be_said else ""
    )
    return f", since the path may access the same memory{at(clash[0])}{way_out}; {OF_ATOMIC}"


def _check_owner(
    path: CheckedPath,
    owner: Slice,
    facts: Facts,
    fetches: Collection[Instruction],
    *,
    may_load: bool,
) -> None:
    """The lane that gives a task away must get its next iteration's values by itself, cheaply."""
    needed = owner.instructions
    times = (i for i in instructions_of(path.region, facts) if i in needed and i.reads_time)
    if (culprit := next(times, None)) is not None:
        raise Refused(
            "the next iteration, or the code after the loop, needs a clock or counter that is read "
            f"in the path or after it{at(culprit)}; take the time of the whole loop, or remove the "
            "annotation; a seed, which is no time, may be read before the path"
        )
    writes = facts.memory.writers(instructions_of(path.region, facts))
    known = {i for i in needed if may_load and _is_left_alone(i, writes, facts)}
    more = {i for i in needed if i not in known and does_more(i, facts)}
    in_path = [i for i in instructions_of(path.blocks, facts) if i in needed]

    def too_much(made: Sequence[Instruction]) -> Instruction | None:
        first = next((i for i in made if i in more or i.is_terminator), None)
        return made[0] if first is None and len(made) > CHEAP_SLICE else first

    culprit = too_much(in_path)
    in_rest = [i for i in instructions_of(path.rest, facts) if i in needed]
    reads = [i for i in (*in_path, *in_rest) if i in more and i not in fetches and i.name == "ld"]
    if culprit is not None:
        refuse_value_of_path(
            path, culprit, in_path, reads, facts, lambda made: too_much(made) is not None
        )
    culprit = next((i for i in in_rest if i not in fetches and i in more), None)
    if culprit is not None and culprit.name == "atom":
        raise Refused(
            "the next iteration needs what an atomic operation after the path gives, and the order "
            f"of the two may matter{at(culprit)}{_same_memory(culprit, path, facts)}"
        )
    call = _call_that_gives(culprit, path, facts) if culprit is not None else None
    if call is not None and not facts.memory.find_conflict(
        instructions_of(path.blocks, facts), [call]
    ):
        raise Refused(
            f"the next iteration needs what {called(call)} gives, which is called after the path, "
            f"where all goes with the task{at(call)}; call it before the path"
        )
    if culprit is not None and not may_load and _is_left_alone(culprit, writes, facts):
        _refuse_nothing(path, facts)
    if culprit is not None and not STRONG.isdisjoint(culprit.modifiers):
        raise Refused(
            "the next iteration needs what is read after the path of a place that others may be "
            "writing, and so does what goes with the task, which would read it again"
            f"{at(culprit)}; read it before the path"
        )
    if culprit is not None:
        raise Refused(
            "the next iteration needs a value that is read after the path and may depend on what "
            f"the path writes{at(culprit)}{writer_hint(path, culprit, reads, facts)}"
        )


def _call_that_gives(result: Instruction, path: CheckedPath, facts: Facts) -> Instruction | None:
    """The call that a value comes from, if it does: that itself, or what it left behind."""
    if result.effects & Effect.CALL or result.space != "param":
        return result if result.effects & Effect.CALL else None
    blocks = (list(facts.blocks[label].instructions) for label in path.rest)
    own = next((one for one in blocks if result in one), [])
    before = own[: own.index(result)] if own else []
    return next((i for i in reversed(before) if i.effects & Effect.CALL), None)


def _is_left_alone(load: Instruction, writes: Sequence[Instruction], facts: Facts) -> bool:
    """Whether a load gives the same before a task and in it: a strong one is for what others may be
    writing."""
    return (
        load.name == "ld"
        and STRONG.isdisjoint(load.modifiers)
        and load.effects == Effect.READ
        and load.space in EVERY_SPACE
        and not facts.memory.conflict([load], writes)
    )


def does_more(instruction: Instruction, facts: Facts) -> bool:
    """Whether it does more than compute from registers, so that it cannot be run twice.

    A parameter of the kernel may be read again; what a call left behind is a part of that call.
    """
    if instruction.effects & _MORE:
        return True
    if instruction.space != "param":
        return False
    parameters = {parameter.name for parameter in facts.function.parameters}
    return any(symbol.name not in parameters for symbol in instruction.symbols())


def find_context(
    path: CheckedPath, facts: Facts, results: Collection[Register] = frozenset()
) -> Path:
    """The path with the registers and special registers that describe its task to another lane.

    Args:
        path: the path.
        facts: the function's analyses.
        results: registers that are read where the task ends.

    Raises:
        Refused: something cannot be saved.
    """
    loop = path.loop.loop
    needed = path.task.instructions if path.task else None
    body = [i for i in instructions_of(path.region, facts) if needed is None or i in needed]
    divergent = facts.divergence.divergent_at(path.entry)
    context = []
    updated = frozenset[Register]().union(*(a.registers for a in path.accumulators))
    live = facts.liveness.live_in(path.entry)
    # A task begins with the operation's neutral element. One that repeats takes along what its
    # turns have made of that, also where it only sets a flag and so reads none before.
    carried = updated & live if path.repeats or path.carries_parent else frozenset()
    exposed = _exposed(path, facts, set(body), results) - updated | carried
    for register in sorted(exposed, key=by_name):
        definitions = facts.reaching.at_top(path.entry, register)
        varies = any(definition.label in loop.blocks for definition in definitions)
        if varies or register in divergent or register in carried:
            if register == CARRY:
                raise Refused("the path reads a carry flag that was set before it")
            context.append(register)
    # What time it is, and where the warp is at that time, a task asks when it runs.
    found = {s for i in body for s in i.specials() if s.register.varies == LANE}
    if path.accumulators:  # the owner's
        found.add(Special("%laneid"))
    if path.carries_parent and path.parent is not None:
        found.update(path.parent.specials)
    return Path(
        **vars(path),
        live=live,
        context=tuple(context),
        specials=tuple(sorted(found, key=lambda special: special.name)),
    )


def _exposed(
    path: CheckedPath, facts: Facts, body: set[Instruction], results: Collection[Register]
) -> set[Register]:
    """The registers that the task may read before it writes them: liveness in its region alone,
    and behind it of ``results``."""
    effects = {
        label: reads_and_writes(i for i in facts.blocks[label].instructions if i in body)
        for label in path.region
    }
    live = {label: reads for label, (reads, _) in effects.items()}
    for follower in path.followers:  # whose contexts are copied where the task comes to them
        live[follower.entry] |= set(follower.context)
    for label, (_, writes) in effects.items():
        if not path.region.issuperset(facts.graph.successors(label)):
            live[label] |= set(results) - writes
        for after in facts.graph.successors(label):
            live[label] |= handed_back(path, after) - writes
    pending = list(path.region)
    while pending:
        label = pending.pop()
        for before in facts.graph.predecessors(label):
            if before in path.region:
                more = live[label] - effects[before][1] - live[before]
                if more:
                    live[before] |= more
                    pending.append(before)
    return live[path.entry]
