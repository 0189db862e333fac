"""Annotated loops and paths, found once through the control-flow graph from the markers.

A *path* is what one arm of an annotated branch runs: the blocks of the annotated loop that the
block with the ``then`` or ``else`` marker dominates. Everything that a pass wants to know of it is
here, and the reason if it cannot be collected; passes never look at markers themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT
from ccc.analysis.convergence import Gathering, gathering_points
from ccc.analysis.dominators import Loop, is_reducible
from ccc.analysis.facts import Facts
from ccc.analysis.memory import conflict, local_escapes, touches_local
from ccc.analysis.slicing import Region, Slice, slice_region
from ccc.ir.markers import Marker
from ccc.ir.nodes import CARRY, Instruction, Register, Special
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import BLOCK, GRID

CHEAP_SLICE = 8
"""Most instructions of a path that its owner may run again for the sake of its next iteration."""


class Refused(Exception):
    """Why a path cannot be collected; the message completes "left as it was: ..."."""


@dataclass
class AnnotatedLoop:
    """A loop whose iterations the user declared independent."""

    marker: Marker
    loop: Loop
    gathering: Gathering | None = None
    reason: str | None = None


@dataclass
class Path:
    """One arm of an annotated branch.

    ``blocks`` are the arm's, ``rest`` the blocks of the same iteration after it. ``context`` lists
    the registers, ``specials`` the special registers, that the task takes along. With a
    ``continuation`` the rest of the iteration runs with the task: ``task`` says which instructions
    of ``blocks`` and ``rest`` that needs, ``owner`` which the lane that gave the task away still
    runs for its own next iteration. ``reason`` is None if the path can be collected.
    """

    marker: Marker
    entry: str
    loop: AnnotatedLoop | None = None
    blocks: frozenset[str] = frozenset()
    rest: frozenset[str] = frozenset()
    join: str | None = None
    context: tuple[Register, ...] = ()
    specials: tuple[Special, ...] = ()
    continuation: bool = False
    task: Slice | None = None
    owner: Slice | None = None
    reason: str | None = None

    @property
    def region(self) -> frozenset[str]:
        """The blocks that the task runs."""
        return self.blocks | self.rest if self.continuation else self.blocks


def find_paths(facts: Facts) -> list[Path]:
    """All paths of a function, in the order of their blocks."""
    loops = _annotated_loops(facts)
    found = []
    for block in facts.function.blocks:
        for marker in block.markers:
            if marker.kind in ("then", "else"):
                path = Path(marker, block.label)
                try:
                    _examine(path, facts, loops)
                except Refused as refusal:
                    path.reason = str(refusal)
                found.append(path)
    return found


def _annotated_loops(facts: Facts) -> list[AnnotatedLoop]:
    """The natural loops that hold a ``for`` marker, inner before outer."""
    found: dict[str, AnnotatedLoop] = {}
    for label in facts.graph:
        for marker in facts.blocks[label].markers if label != EXIT else ():
            if marker.kind == "for":
                loop = next((loop for loop in facts.loops if label in loop.blocks), None)
                if loop is not None and not _is_stray(facts, loop, marker):
                    found.setdefault(loop.header, AnnotatedLoop(marker, loop))
    return list(found.values())


def _is_stray(facts: Facts, loop: Loop, marker: Marker) -> bool:
    """Whether the annotated loop is gone and its marker fell into the loop around it.

    The ``loop`` marker stands before the annotated loop: inside ``loop`` only if that is another.
    """
    return any(
        other.kind == "loop" and other.identifier == marker.identifier
        for label in loop.blocks
        for other in facts.blocks[label].markers
    )


def _examine(path: Path, facts: Facts, loops: list[AnnotatedLoop]) -> None:
    """Fill the path in.

    Raises:
        Refused: with the reason.
    """
    if facts.function.kind != "entry":
        raise Refused(
            "it is in a device function that was not inlined into its kernel; "
            "declare the function __forceinline__"
        )
    if path.entry not in facts.graph:
        raise Refused("nothing leads to this branch")
    unknown = next((i for i in facts.function.instructions if i.row is None), None)
    if unknown is not None:
        raise Refused(f"the opcode {unknown.opcode} is not known to ccc{_at(unknown)}")
    if not is_reducible(facts.graph, facts.dominators):
        raise Refused("the kernel jumps into the middle of a loop")
    path.loop = _loop_of(path, facts, loops)
    _check_loop(path.loop, facts)
    _find_blocks(path, facts)
    _check_instructions(path, facts)
    _choose_continuation(path, facts)
    _find_context(path, facts)


def _at(instruction: Instruction) -> str:
    return f" (PTX line {instruction.span.line}: {instruction})"


def _loop_of(path: Path, facts: Facts, loops: list[AnnotatedLoop]) -> AnnotatedLoop:
    around = [loop for loop in facts.loops if path.entry in loop.blocks]
    annotated = {loop.loop.header: loop for loop in loops}
    if not any(loop.header in annotated for loop in around):
        raise Refused("no annotated loop is left around it; does the loop run more than once?")
    if around[0].header not in annotated:
        raise Refused(
            "it lies in a loop inside the annotated one, so one iteration may run it several "
            "times; annotate the inner loop"
        )
    return annotated[around[0].header]


def _check_loop(annotated: AnnotatedLoop, facts: Facts) -> None:
    """What must hold for the loop, whatever its paths; found once for all of them."""
    if annotated.gathering is None and annotated.reason is None:
        try:
            for instruction in _instructions(annotated.loop.blocks, facts):
                _check_collective(instruction, facts)
            if not annotated.loop.exits(facts.graph):
                raise Refused("the annotated loop never ends")
            outcome = gathering_points(facts, annotated.loop)
            if isinstance(outcome, str):
                raise Refused(outcome)
            annotated.gathering = outcome
        except Refused as refusal:
            annotated.reason = str(refusal)
    if annotated.reason is not None:
        raise Refused(annotated.reason)


def _check_collective(instruction: Instruction, facts: Facts) -> None:
    effects = instruction.effects
    if effects & Effect.BARRIER:
        raise Refused(f"there is a barrier in the annotated loop{_at(instruction)}")
    if effects & Effect.COLLECTIVE:
        raise Refused(f"there is a warp-collective in the annotated loop{_at(instruction)}")
    if facts.callees.waits(instruction):
        raise Refused(
            f"the annotated loop calls {callee(instruction)}, which is not known to be free of "
            f"barriers and warp-collectives{_at(instruction)}"
        )


def _instructions(labels: Iterable[str], facts: Facts) -> Iterator[Instruction]:
    return (i for label in sorted(labels) for i in facts.blocks[label].instructions)


def _find_blocks(path: Path, facts: Facts) -> None:
    assert path.loop is not None
    loop = path.loop.loop
    tree = facts.dominators
    path.blocks = frozenset(b for b in loop.blocks if tree.dominates(path.entry, b))
    if path.entry == loop.header or all(latch in path.blocks for latch in loop.latches):
        raise Refused(
            "no branch is left here: nvcc found its condition to be the same in every iteration"
        )
    if not _is_divergent(path, facts):
        raise Refused("all lanes of a warp take the branch together, so there is nothing to fill")
    targets = {
        target
        for label in path.blocks
        for target in facts.graph.successors(label)
        if target not in path.blocks
    }
    outside = targets - loop.blocks
    if EXIT in outside:
        raise Refused("the path returns from the kernel")
    if outside:
        raise Refused("the path jumps out of the annotated loop")
    if not targets:
        raise Refused("the path never comes back to the loop")
    path.join = next(iter(targets)) if len(targets) == 1 else None
    path.rest = frozenset(_reachable(facts, targets, loop)) - path.blocks


def _is_divergent(path: Path, facts: Facts) -> bool:
    """Whether some branch of the same iteration may part the lanes on their way to the path."""
    assert path.loop is not None
    loop = path.loop.loop
    return any(
        label in facts.divergence.divergent_branches
        and not facts.post_dominators.dominates(path.entry, label)
        and (label == loop.header or path.entry in _reachable(facts, {label}, loop))
        for label in loop.blocks - path.blocks
    )


def _reachable(facts: Facts, starts: set[str], loop: Loop) -> set[str]:
    """The blocks of the loop that may follow in the same iteration."""
    reached = {label for label in starts if label != loop.header}
    worklist = list(reached)
    while worklist:
        for target in facts.graph.successors(worklist.pop()):
            if target in loop.blocks and target != loop.header and target not in reached:
                reached.add(target)
                worklist.append(target)
    return reached


def _check_instructions(path: Path, facts: Facts) -> None:
    for instruction in _instructions(path.blocks, facts):
        effects = instruction.effects
        if effects & (Effect.EXIT | Effect.RETURN):
            raise Refused(f"the path ends the thread{_at(instruction)}")
        if instruction.name in ("alloca", "stacksave", "stackrestore"):
            raise Refused(f"the path allocates on the thread's stack{_at(instruction)}")
        if facts.callees.knows_its_lane(instruction):
            raise Refused(
                f"the path calls {callee(instruction)}, which reads a register such as %tid.x; "
                "declare it __forceinline__"
            )
    _check_local_memory(path, facts)


def _check_local_memory(path: Path, facts: Facts) -> None:
    """Local memory stays with its thread, so a task must not share it with what is no task.

    Scratch memory that only the path uses is harmless: the lane that runs the task lends its own.
    """
    tainted = facts.local_addresses
    if not tainted and not any(v.space == "local" for v in facts.function.variables):
        return
    inside: list[Instruction] = []
    outside: list[Instruction] = []
    for block in facts.function.blocks:
        group = inside if block.label in path.blocks else outside
        group += [i for i in block.instructions if touches_local(i, tainted)]
    generic = [
        i
        for i in _instructions(path.blocks, facts)
        if i.space == "generic" and i.effects & (Effect.READ | Effect.WRITE)
    ]
    if generic and local_escapes(facts.function):
        raise Refused(f"the path may access the thread's local memory{_at(generic[0])}")
    if inside and conflict(inside, outside):
        raise Refused(
            "the path shares local memory (an array of the thread's own) with code outside it"
            f"{_at(inside[0])}"
        )
    for instruction in _instructions(path.blocks, facts):
        stores = instruction.name in ("st", "red", "atom")
        if stores and any(operand in tainted for operand in instruction.operands[1:]):
            raise Refused(f"the path stores an address of local memory{_at(instruction)}")


def _choose_continuation(path: Path, facts: Facts) -> None:
    """Decide whether the rest of the iteration must run with the task."""
    defined = {r for i in _instructions(path.blocks, facts) for r in i.defined()}
    live = defined & facts.liveness.live_in(path.join) if path.join else defined
    clash = conflict(_instructions(path.blocks, facts), _instructions(path.rest, facts))
    path.continuation = bool(live) or clash or path.join is None
    if not path.continuation:
        return
    tainted = facts.local_addresses
    if any(touches_local(i, tainted) for i in _instructions(path.rest, facts)):
        raise Refused(
            "the rest of the iteration would have to run with the path, but uses local memory"
        )
    region = Region(path.region, facts.graph)
    path.task = slice_region(
        region, facts.blocks, facts.reaching,
        [i for i in _instructions(path.region, facts) if _has_side_effect(i)],
        lambda _sink: frozenset(), decide_sinks=False,
    )  # fmt: skip
    path.owner = slice_region(
        region, facts.blocks, facts.reaching, [], facts.liveness.live_in, decide_sinks=True
    )
    _check_owner(path, facts)


def _has_side_effect(instruction: Instruction) -> bool:
    side = Effect.WRITE | Effect.FENCE | Effect.OPAQUE | Effect.CALL
    # The parts of a call sequence belong to the call; results that nobody needs do no harm.
    return bool(instruction.effects & side) or "param" in instruction.modifiers


def _check_owner(path: Path, facts: Facts) -> None:
    """The lane that gives a task away must get its next iteration's values by itself, cheaply."""
    assert path.owner is not None
    needed = path.owner.instructions
    blocked = Effect.READ | Effect.WRITE | Effect.CALL | Effect.OPAQUE | Effect.FENCE
    in_path = [i for i in _instructions(path.blocks, facts) if i in needed]
    culprit = next((i for i in in_path if i.effects & blocked or i.is_terminator), None)
    if culprit is None and len(in_path) > CHEAP_SLICE:
        culprit = in_path[0]
    if culprit is not None:
        raise Refused(
            "the next iteration, or the code after the loop, needs a value that the path computes"
            f"{_at(culprit)}"
        )
    in_rest = [i for i in _instructions(path.rest, facts) if i in needed]
    culprit = next((i for i in in_rest if i.effects & blocked), None)
    if culprit is not None:
        raise Refused(
            "the next iteration needs a value that is read after the path and may depend on what "
            f"the path writes{_at(culprit)}"
        )


def _find_context(path: Path, facts: Facts) -> None:
    """The registers and special registers that describe the task to another lane."""
    assert path.loop is not None
    loop = path.loop.loop
    needed = path.task.instructions if path.task else None
    body = [i for i in _instructions(path.region, facts) if needed is None or i in needed]
    divergent = facts.divergence.divergent_at(path.entry)
    context = []
    for register in sorted(_exposed(path, facts, set(body)), key=lambda r: _natural(r.name)):
        definitions = facts.reaching.at_top(path.entry, register)
        varies = any(definition.label in loop.blocks for definition in definitions)
        if varies or register in divergent:
            if register == CARRY:
                raise Refused("the path reads a carry flag that was set before it")
            context.append(register)
    path.context = tuple(context)
    found = {s for i in body for s in i.specials() if s.register.varies not in (BLOCK, GRID)}
    path.specials = tuple(sorted(found, key=lambda special: special.name))


def _exposed(path: Path, facts: Facts, body: set[Instruction]) -> set[Register]:
    """The registers that the task may read before it writes them: liveness in its region alone."""
    live: dict[str, set[Register]] = {label: set() for label in path.region}
    changed = True
    while changed:
        changed = False
        for label in path.region:
            followers = [live[s] for s in facts.graph.successors(label) if s in path.region]
            found: set[Register] = set().union(*followers)
            for instruction in reversed([i for i in facts.blocks[label].instructions if i in body]):
                if instruction.guard is None:
                    found.difference_update(instruction.defined())
                found.update(instruction.used())
            if found != live[label]:
                live[label], changed = found, True
    return live[path.entry]


def _natural(name: str) -> tuple[str, int]:
    prefix = name.rstrip("0123456789")
    return prefix, int(name[len(prefix) :] or 0)
