"""Annotated loops whose iterations any thread of the whole launch can begin (no pass).

    const int i0 = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = i0; i < n; i += anything) ...

Each thread of the launch begins with its own number if that is below the bound, and all have
the same bound. If the step is the number of all threads, which is seen when the kernel runs, the
iterations of the launch are those from 0 up to the bound, each once, and nothing but its number
tells one from another. What must hold for that is more than for the lanes of one warp
(:mod:`ccc.analysis.paths.iteration_space`): blocks have nothing in common but the launch's
parameters, and no thread knows what others have done yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ccc.analysis.callees import called
from ccc.analysis.cfg import reachable
from ccc.analysis.defuse import Definition
from ccc.analysis.facts import Facts
from ccc.analysis.paths.iteration_space import IterationSpace, find_iteration_space
from ccc.analysis.paths.model import FoundLoop, Refused, at, instructions_of
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Operand, Register, Special
from ccc.passes.invariant_motion import invariants
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import BLOCK, WARP

HARMLESS = (
    Effect.BRANCH | Effect.RETURN | Effect.EXIT | Effect.SETS_CARRY | Effect.READS_CARRY
)
"""What may be done before and behind the loop."""
_ELSEWHERE = Effect.CALL | Effect.OPAQUE
_MEMORY = Effect.READ | Effect.WRITE


@dataclass(frozen=True, slots=True)
class GridSpace:
    """The iterations of a launch: those of ``space``, whose only carried register is the counter.

    The first one of a thread has its number in the grid.
    """

    space: IterationSpace


def find_grid_space(annotated: FoundLoop, kernel: Kernel) -> GridSpace:
    """The iterations of all threads of a launch, as one row of numbers.

    Raises:
        Refused: they are not; the reason says why.
    """
    facts = kernel.facts
    space = find_iteration_space(annotated, facts)
    same = invariants(facts).keys()
    _check_body(annotated, kernel)
    _check_surroundings(annotated, facts)
    _check_values(annotated, space, same, facts)
    inside = annotated.loop.blocks
    before = facts.reaching.at_top(annotated.loop.header, space.counter)
    if not _is_thread_number([one for one in before if one.label not in inside], facts):
        raise Refused(
            "the loop around it does not begin with blockIdx.x * blockDim.x + threadIdx.x"
        )
    _check_way(annotated, space, same, facts)
    return GridSpace(space)


def _check_body(annotated: FoundLoop, kernel: Kernel) -> None:
    """That an iteration does the same in every block."""
    has_shared = bool(kernel.shared) or kernel.dynamic_shared_bytes != 0
    has_shared |= any(one.space == "shared" for one in kernel.function.variables)
    for instruction in instructions_of(annotated.loop.blocks, kernel.facts):
        if any(one.register.varies in (WARP, BLOCK) for one in instruction.specials()):
            raise Refused(f"its iterations ask for their block or warp{at(instruction)}")
        if instruction.effects & _ELSEWHERE:
            raise Refused(f"its iterations call {called(instruction)}{at(instruction)}")
        if instruction.effects & _MEMORY and (
            instruction.space == "shared" or (has_shared and instruction.space == "generic")
        ):
            raise Refused(f"its iterations may use the shared memory of a block{at(instruction)}")


def _check_surroundings(annotated: FoundLoop, facts: Facts) -> None:
    """That nothing is done before the loop or behind it that others may see, or have done."""
    header = annotated.loop.header
    if any(header in loop.blocks and loop.header != header for loop in facts.loops):
        raise Refused("the loop around it lies in a loop, and so is come to more than once")
    outside = frozenset(facts.blocks).intersection(facts.graph) - annotated.loop.blocks
    for instruction in instructions_of(outside, facts):
        if instruction.effects & ~HARMLESS and instruction.space != "param":
            raise Refused(
                "something is done before or after the loop around it that has to come before or "
                f"after iterations{at(instruction)}"
            )


def _check_values(
    annotated: FoundLoop, space: IterationSpace, same: Collection[Register], facts: Facts
) -> None:
    """That iterations differ in their number, and in nothing else."""
    body = list(instructions_of(annotated.loop.blocks, facts))
    written = {register for i in body for register in i.defined()}
    needed = {register for i in body for register in i.used()} - written
    needed &= facts.liveness.live_in(annotated.loop.header)
    needed.update(one for one in space.steps[space.counter] if isinstance(one, Register))
    needed.update([space.bound] if isinstance(space.bound, Register) else [])
    others = sorted((needed - set(same)) | (space.steps.keys() - {space.counter}), key=str)
    if others:
        raise Refused(
            f"its iterations need more than their number and what all threads have ({others[0]})"
        )


def _check_way(
    annotated: FoundLoop, space: IterationSpace, same: Collection[Register], facts: Facts
) -> None:
    """That the threads whose number is below the bound come to the loop, and no others."""
    loop = annotated.loop
    before = reachable(facts.graph.predecessors, [loop.header], stops=loop.blocks)
    is_guarded = False
    for label in before - loop.blocks:
        branch = next((i for i in facts.blocks[label].instructions if i.is_terminator), None)
        if branch is None or (branch.guard is None and branch.name == "bra"):
            continue
        if branch.guard is not None and branch.guard.register in same:
            continue
        if not _keeps_others_away(label, branch, annotated, space, facts):
            raise Refused(
                "threads may come to the loop around it, or pass it by, for other reasons than "
                f"their number{at(branch)}"
            )
        is_guarded |= facts.dominators.dominates(label, loop.header)
    if not is_guarded:
        raise Refused("the loop around it begins before its bound is looked at")


def _keeps_others_away(
    label: str, branch: Instruction, annotated: FoundLoop, space: IterationSpace, facts: Facts
) -> bool:
    """Whether a branch leads away the threads whose number is not below the bound, and only them."""
    if branch.guard is None:
        return False
    makers = facts.makers.get(branch.guard.register, [])
    if len(makers) != 1 or makers[0].guard is not None or len(makers[0].operands) != 3:
        return False
    (test,) = makers
    home = next(one.label for one in facts.function.blocks if test in one.statements)
    relation, *kind = test.modifiers
    if test.name != "setp" or kind != [space.type] or relation not in ("lt", "ge"):
        return False
    _, number, bound = test.operands
    if not isinstance(number, Register) or not _is_bound(bound, space):
        return False
    if not _is_thread_number(facts.reaching.of_uses(home)[test, number], facts):
        return False
    taken_by_others = (relation == "ge") != branch.guard.negated
    others = [
        after
        for after in facts.graph.successors(label)
        if (after == branch.target) == taken_by_others or branch.target is None
    ]
    return branch.name in ("bra", "ret", "exit") and (
        branch.target is not None or taken_by_others
    ) and _leads_away(others, branch, annotated, facts)


def _leads_away(
    others: list[str], branch: Instruction, annotated: FoundLoop, facts: Facts
) -> bool:
    """Whether those who go there never come to the loop; who ends there does not."""
    if branch.target is None:
        return True
    return annotated.loop.header not in reachable(facts.graph.successors, others)


def _is_bound(operand: Operand, space: IterationSpace) -> bool:
    return operand == space.bound or getattr(operand, "integer", None) == space.bound


def _is_thread_number(definitions: Collection[Definition], facts: Facts) -> bool:
    """Whether a value is the number of the thread in a grid of one dimension."""
    if len(definitions) != 1:
        return False
    (made,) = (one.instruction for one in definitions)
    if made.guard is not None or made.opcode not in ("mad.lo.s32", "mad.lo.u32"):
        return False
    block, width, thread = (_special(operand, facts) for operand in made.operands[1:])
    return {block, width} == {"%ctaid.x", "%ntid.x"} and thread == "%tid.x"


def _special(operand: Operand, facts: Facts) -> str:
    """The special register that an operand is, or was copied from."""
    if isinstance(operand, Register):
        made = facts.makers.get(operand, [])
        is_copy = len(made) == 1 and made[0].guard is None and made[0].name == "mov"
        operand = made[0].operands[1] if is_copy else operand
    return operand.name if isinstance(operand, Special) else ""
