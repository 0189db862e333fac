"""Whether the rules allow a loop and a path to be collected."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import NoReturn, TypeAlias

from ccc.analysis.callees import allocates, called, callee
from ccc.analysis.cfg import EXIT
from ccc.analysis.convergence import ReconvergencePoint, find_reconvergence, waiting_before
from ccc.analysis.facts import Facts
from ccc.analysis.paths.carried_values import as_while, hands_on
from ccc.analysis.paths.invariant_stores import InvariantStores
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import (
    AnnotatedLoop,
    CheckedPath,
    FoundLoop,
    FoundPath,
    Path,
    PlacedPath,
    Refused,
    at,
    instructions_of,
)
from ccc.analysis.paths.parting import (
    IN_ANOTHER_KERNEL,
    ONE_BY_ONE,
    asks_for,
    between_barriers,
    counts_those_there,
    hint_at_parting,
    hint_at_task,
    is_in_a_branch,
    meetings,
)
from ccc.analysis.paths.promises import apart_hint, find_clashes
from ccc.analysis.paths.reductions import declared_operations, register_at
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register
from ccc.ptx.barriers import waits_for_the_block
from ccc.ptx.opcodes import EXCHANGES, Effect

_MEETING = (*EXCHANGES, "activemask")
"""What asks which lanes are there, or for what they have."""

_Clashes: TypeAlias = tuple[Path, str, Collection[str], Sequence[tuple[Instruction, Instruction]]]
LEAVE_IT = "remove this annotation"
"""Where what follows needs what the loop computes, and so can stand nowhere else."""


def check_loop(found: FoundLoop, path: FoundPath, facts: Facts) -> AnnotatedLoop:
    """What must hold for a loop, whatever its paths.

    Raises:
        Refused: with the reason, and what to do about it for a path in the loop.
    """
    together = meetings(found.loop, facts)
    every = instructions_of(found.loop.blocks, facts)
    for instruction in sorted(every, key=_what_can_be_done):
        if instruction not in together:
            _check_collective(instruction, found, path, facts)
    exits = found.loop.exits(facts.graph)
    if not exits:
        raise Refused("the annotated loop never ends")
    if (end := end_of_thread(exits, facts)) is not None:
        raise Refused(f"the annotated loop ends the thread, by a guarded exit or return{at(end)}")
    for accumulator in found.accumulators:
        for _, target in exits:
            register_at(accumulator, target, facts)
    outcome = find_reconvergence(facts, found.loop)
    if isinstance(outcome, str):
        is_waited = waiting_before(facts, found.loop) is not None
        raise MayWait(outcome, found) if is_waited else Refused(outcome)
    return AnnotatedLoop(found.marker, found.loop, found.accumulators, outcome)


class MayWait(Refused):
    """Lanes may wait for one another before a loop, unless its author has them meet in between.

    Args:
        reason: the message.
        found: the loop.
    """

    def __init__(self, reason: str, found: FoundLoop):
        super().__init__(reason)
        self.met = AnnotatedLoop(found.marker, found.loop, found.accumulators, ReconvergencePoint())
        """The loop as it would be if he had."""


def _what_can_be_done(instruction: Instruction) -> int:
    """In which order collectives are told of: those of a block first, about which least can be
    done, and last those that but exchange values."""
    if instruction.effects & Effect.BARRIER:
        return 0
    return 2 if instruction.name in _MEETING else 1


def end_of_thread(exits: Iterable[tuple[str, str]], facts: Facts) -> Instruction | None:
    """What ends the thread, if a loop is left so."""
    ends = [label for label, target in exits if target == EXIT]
    does = Effect.EXIT | Effect.RETURN
    return next((one for one in instructions_of(ends, facts) if one.effects & does), None)


def _check_collective(
    instruction: Instruction, annotated: FoundLoop, path: FoundPath, facts: Facts
) -> None:
    """No lane may wait for others in a loop."""
    if instruction.effects & Effect.BARRIER:
        _refuse_barrier(instruction, annotated, facts)
    if instruction.effects & Effect.COLLECTIVE:
        _refuse_meeting(instruction, annotated, path, facts)
    _check_call(instruction, facts)


def _check_call(instruction: Instruction, facts: Facts) -> None:
    """A function must be known to wait for nobody, and to leave the thread's stack as it is."""
    if facts.callees.waits(instruction):
        instruction = facts.callees.by_pointer(instruction) or instruction
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


def _refuse_barrier(instruction: Instruction, annotated: FoundLoop, facts: Facts) -> NoReturn:
    """Threads of several warps would wait for one another."""
    of_kernel = holds_the_kernel(annotated, facts)
    if instruction.name == "cp" and not of_kernel:
        raise Refused(
            f"the annotated loop copies asynchronously{at(instruction)}; load directly what it "
            "copies, or let another loop copy it"
        )
    advice = "mark a loop between two barriers, where there is one, or remove the annotation"
    is_apart = is_in_a_branch(instruction, annotated.loop, facts)
    if is_apart and waits_for_the_block(
        instruction.name, instruction.modifiers, instruction.operands
    ):
        advice = (
            "it waits for all threads of the block, and as far as is known some may not come to "
            "it: move it out of the branch or loop that it stands in, and out of this one; or, if "
            "all go the same way there, remove the annotation, by which nothing would be gained"
        )
    if of_kernel:
        every = instructions_of(annotated.loop.blocks, facts)
        if sum(1 for one in every if one.effects & Effect.BARRIER) == 1:  # none is the user's
            raise Refused(
                "there is a barrier in the annotated loop, since with shared memory in the kernel, "
                "ccc grid_stride puts one between its blocks; write the loop over the items, with "
                "ccc for, in place of ccc grid_stride, or remove the annotations"
            )
        advice = between_barriers()
    raise Refused(f"there is a barrier in the annotated loop{at(instruction)}; {advice}")


def _refuse_meeting(
    instruction: Instruction, annotated: FoundLoop, path: FoundPath, facts: Facts
) -> NoReturn:
    """Lanes of a warp would."""
    advice = "move it out of the loop, or remove the annotation"
    if instruction.name in _MEETING:  # all others stay where they are, whoever comes
        advice = hint_at_parting(instruction, annotated.loop, path, facts)
    elif instruction.name == "bar" and holds_the_kernel(annotated, facts):
        every = list(instructions_of(annotated.loop.blocks, facts))
        asking = next((one for one in every if asks_for(one, path, annotated.loop, facts)), None)
        meeting = next((one for one in every if one.effects & Effect.COLLECTIVE), instruction)
        way_out = IN_ANOTHER_KERNEL if asking else "write the loop, with ccc for"
        is_inside = meeting in list(instructions_of(extent(path, facts), facts))
        if asking is None and (is_inside or counts_those_there(meeting, facts)):
            way_out = ONE_BY_ONE
        raise Refused(
            "there are warp-collectives in the kernel, so that ccc grid_stride lets warps meet "
            f"between its blocks{at(asking or meeting)}; {way_out}"
        )
    raise Refused(f"there is a warp-collective in the annotated loop{at(instruction)}; {advice}")


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
    check_ends(path.blocks, facts, Effect.EXIT | Effect.RETURN)
    for instruction in instructions_of(path.blocks, facts):
        if allocates(instruction):
            raise Refused(f"the path allocates on the thread's stack{at(instruction)}")
        if facts.callees.knows_its_lane(instruction):
            raise Refused(
                f"the path calls {called(instruction)}, which reads a register such as %tid.x; "
                "declare it __forceinline__"
            )


def check_ends(labels: Collection[str], facts: Facts, by: Effect = Effect.EXIT) -> None:
    """Nothing in some blocks of a path ends the thread.

    Raises:
        Refused: something does.
    """
    for instruction in instructions_of(labels, facts):
        if instruction.effects & by:
            raise Refused(
                f"the path ends the thread{at(instruction)}; decide before the branch whether to "
                f"go on, or {LEAVE_IT}"
            )


def check_meetings(path: PlacedPath, facts: Facts) -> None:
    """That no task holds a collective: the lanes that it means are elsewhere by then.

    Raises:
        Refused: with the reason.
    """
    for instruction in instructions_of(path.region, facts):
        if instruction.effects & Effect.COLLECTIVE:
            raise Refused(
                f"a warp-collective would have to run with its tasks{at(instruction)}; "
                f"{hint_at_task(instruction, path, facts)}"
            )


class OutOfOrder(Refused):
    """A task would have to wait no longer for what may use the same memory."""


def check_order(
    path: PlacedPath, facts: Facts, serves: Callable[[Facts], bool] = lambda _: True
) -> None:
    """What must hold for memory where a task may wait while the loop that it lies in goes on.

    The iterations of the annotated loop are independent, and so are those of a ``for variable``;
    the turns of another loop, and what follows an inner loop, are not known to be.

    Args:
        path: the path.
        facts: the function's analyses.
        serves: whether the path could be collected if it were known where more pointers lead.

    Raises:
        Refused: with the reason.
    """
    for around, what, blocks, clashes in _out_of_order(path, facts):
        if clashes:
            here, there = clashes[0]
            supposed = facts.memory.apart.supposed(*chain.from_iterable(clashes))
            is_vain = supposed is not None and not serves(supposed)
            hint = "" if is_vain else apart_hint(clashes, facts)
            raise OutOfOrder(
                f"it may access the same memory as {what}{at(there)}, which would no longer wait "
                f"for it{at(here)}{_ways_out(around, blocks, hint, facts)}"
            )


def _out_of_order(path: PlacedPath, facts: Facts) -> Iterator[_Clashes]:
    """What may not wait for a path: the loop around it, what of that, and by which clashes it
    would have to."""
    around = path.parent
    if around is None or not around.repeats:
        return
    waits_not = {"what follows the loop around it": around.rest if around.continuation else ()}
    if around.marker.kind != "variable":
        waits_not[OTHER_TURNS] = around.blocks
    for what, blocks in waits_not.items():
        others = list(instructions_of(blocks, facts))
        yield around, what, blocks, find_clashes(instructions_of(path.region, facts), others, facts)


def could_be_in_order(path: PlacedPath, facts: Facts) -> bool:
    """Whether promises could tell apart all that stands in the way of an order."""
    every = (pair for *_, clashes in _out_of_order(path, facts) for pair in clashes)
    return all(facts.memory.apart.could_be(*pair) for pair in every)


def _ways_out(around: Path, blocks: Collection[str], apart: str, facts: Facts) -> str:
    """What can be done where a path may access the same memory as other blocks, if they are not to
    be told ``apart``; only that where these may be able to stand elsewhere, or be independent."""
    is_variable = around.marker.kind == "variable"
    if is_variable and around.parent is not None:  # whose tasks take nothing along
        return f"; {LEAVE_IT}{apart}"
    if is_variable and not around.keeps_first:
        taken = f"{as_while(around.marker)}, so that tasks take along what follows it"
        if declared_operations(around.marker):  # by which its turns may be shared out
            return f"; {LEAVE_IT}, or {taken}{apart}"
        return f"; {taken}, or {LEAVE_IT}{apart}"
    webs = frozenset[Register]().union(*(a.registers for a in around.loop.accumulators))
    if not is_variable and (blocks is not around.rest or not hands_on(around, webs, facts)):
        return apart
    return f"; {apart.removeprefix('; or, ')}{'; or ' if apart else ''}{LEAVE_IT}"


OTHER_TURNS = "the other turns of the loop around it"
OF_ONE = "use an atomic or a reduction, or declare in the loop what only one {} needs"
"""Of memory of which it is not known what iterations do with it."""
IN_A_VARIABLE = (
    "keep it in a variable, with a reduction on the loop, and write that back behind the loop, or "
    "use an atomic"
)
"""Of memory that iterations only update as a reduction does: a reduction is of no memory."""
EACH_IN_A_VARIABLE = (
    "keep each in a variable, with a reduction on the loop, and write these back behind the loop, "
    "or use atomics"
)
"""The same of several."""
AND_SO = ", and the same holds of PTX line {}"
"""Of memory that they update beside that; with more than one line."""
BY_ATOMICS = "use an atomic, or remove the annotation"
"""The same of several places, over which each iteration goes."""
IN_A_COUNTER = "keep it in a variable, and write that back behind the loop"
"""Of memory that iterations count in, and read: the next iteration need not wait for that."""
IN_ORDER = (
    "declare in the loop what only one {0} needs; where one needs what another {0} has made of it, "
    "remove this annotation"
)
"""Of memory that iterations update, and read in other ways, too."""


_SAME_MEMORY = "use the same memory, and are not independent"
_IN_ORDER = ', or mark the loop "ccc while", whose turns may depend on one another'


class TurnsDepend(Refused):
    """The turns of a loop are not independent, though its annotation says so."""

    def without(self, lost: FoundPath | None) -> str:
        """The same where a path in it, if there is one, could not be collected in turns whose order
        is kept."""
        more = f", and remove the annotation on line {lost.marker.span.line}" if lost else ""
        return f"{self}{more}"


def check_independence(path: CheckedPath, invariant_stores: InvariantStores, facts: Facts) -> None:
    """That iterations, or turns of a ``for variable``, do not certainly share memory.

    Args:
        path: the path.
        invariant_stores: the stores of the annotated loop whose addresses stay the same.
        facts: the function's analyses.

    Raises:
        Refused: with the reason.
    """
    stores = {"iteration": invariant_stores}
    found = {"iteration": invariant_stores.find(path.region)}
    if path.marker.kind == "variable":
        own = next(loop for loop in facts.loops if loop.header == path.entry)
        stores["turn"] = InvariantStores(own, facts)
        found["turn"] = stores["turn"].find(path.blocks)
    for what, shared in found.items():
        if shared is None:
            continue
        advice, too = OF_ONE.format(what), ""
        if shared.effects & Effect.CALL:
            advice = f"let {called(shared)} use atomics, or give it other memory in each of them"
        elif stores[what].is_updated(shared):
            advice = _kept(shared, what, stores[what], path)
        if advice == IN_A_VARIABLE:
            others = stores[what].others(path.blocks if what == "turn" else path.region, shared)
            also = [one for one in others if _kept(one, what, stores[what], path) == advice]
            if also:
                too = AND_SO.format(", ".join(str(one.span.line) for one in also))
                advice = EACH_IN_A_VARIABLE
        if what == "turn":
            raise TurnsDepend(
                f"all turns of the loop {_SAME_MEMORY}{at(shared)}{too}; {advice}{_IN_ORDER}"
            )
        raise Refused(f"all {what}s of the loop {_SAME_MEMORY}{at(shared)}{too}; {advice}")


def _kept(shared: Instruction, what: str, stores: InvariantStores, path: CheckedPath) -> str:
    """What to do about memory that iterations, or turns, update."""
    are_many = stores.goes_over_many(shared)
    if stores.is_only_updated(shared):
        return BY_ATOMICS if are_many else IN_A_VARIABLE
    is_counted = not are_many and stores.is_counted(shared, path.entry)
    return IN_A_COUNTER if is_counted else IN_ORDER.format(what)
