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

from collections.abc import Collection

from ccc.analysis.cfg import reachable
from ccc.analysis.defuse import Definition
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.iteration_space import IterationSpace, find_iteration_space
from ccc.analysis.paths.model import FoundLoop, Refused, at, instructions_of
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Operand, Register, Special
from ccc.passes.invariant_motion import invariants
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import ATOMIC, Effect
from ccc.ptx.types import BLOCK, GENERIC, WARP

HARMLESS = Effect.BRANCH | Effect.RETURN | Effect.EXIT | Effect.SETS_CARRY | Effect.READS_CARRY
"""What may be done before and behind the loop."""
_UNKNOWN = Effect.CALL | Effect.OPAQUE


def find_grid_space(annotated: FoundLoop, kernel: Kernel) -> IterationSpace:
    """The iterations of all threads of a launch, as one row of numbers, which the counter holds.

    Raises:
        Refused: they are not; the reason says why.
    """
    facts, loop = kernel.facts, annotated.loop
    space = find_iteration_space(annotated, facts)
    same = invariants(facts).keys()
    _check_body(loop, kernel)
    _check_surroundings(loop, facts)
    _check_values(loop, space, same, facts)
    before = facts.reaching.at_top(loop.header, space.counter)
    if not _is_thread_number([one for one in before if one.label not in loop.blocks], facts):
        raise Refused(
            "the loop around it does not begin with blockIdx.x * blockDim.x + threadIdx.x"
        )
    _check_way(loop, space, same, facts)
    return space


def _check_body(loop: Loop, kernel: Kernel) -> None:
    """That an iteration does the same in every block."""
    has_shared = bool(kernel.shared) or kernel.dynamic_shared_bytes != 0
    has_shared |= any(one.space == "shared" for one in kernel.function.variables)
    for one in instructions_of(loop.blocks, kernel.facts):
        if any(special.register.varies in (WARP, BLOCK) for special in one.specials()):
            raise Refused(f"its iterations ask for their block or warp{at(one)}")
        if one.effects & _UNKNOWN:
            raise Refused(f"its iterations hold what may belong to their block{at(one)}")
        in_block = one.space == "shared" or (has_shared and one.space == GENERIC)
        if one.effects & ATOMIC and in_block:
            raise Refused(f"its iterations may use the shared memory of a block{at(one)}")


def _check_surroundings(loop: Loop, facts: Facts) -> None:
    """That nothing is done before the loop or behind it that others may see, or have done."""
    if any(loop.header in one.blocks and loop.header != one.header for one in facts.loops):
        raise Refused("the loop around it lies in a loop, and so is come to more than once")
    outside = frozenset(facts.blocks).intersection(facts.graph) - loop.blocks
    for one in instructions_of(outside, facts):
        if one.effects & ~HARMLESS:
            raise Refused(
                f"more is done before or after the loop around it than to compute{at(one)}, and "
                "other blocks may not have come to that, or have left it"
            )


def _check_values(
    loop: Loop, space: IterationSpace, same: Collection[Register], facts: Facts
) -> None:
    """That iterations differ in their number, and in nothing else."""
    body = list(instructions_of(loop.blocks, facts))
    written = {register for i in body for register in i.defined()}
    needed = {register for i in body for register in i.used()} - written
    needed &= facts.liveness.live_in(loop.header)
    ends = (*space.steps[space.counter], space.bound)
    needed.update(one for one in ends if isinstance(one, Register))
    others = (needed - set(same)) | (space.steps.keys() - {space.counter})
    if others:
        name = min(register.name for register in others)
        raise Refused(
            f"its iterations need more than their number and what all threads have ({name})"
        )


def _check_way(loop: Loop, space: IterationSpace, same: Collection[Register], facts: Facts) -> None:
    """That the threads whose number is below the bound come to the loop, and no others."""
    is_guarded = False
    for label in reachable(facts.graph.predecessors, loop.entered_from(facts.graph)):
        branch = next((i for i in facts.blocks[label].instructions if i.is_terminator), None)
        if branch is None or (branch.guard is None and branch.name == "bra"):
            continue
        if branch.guard is not None and branch.guard.register in same:
            continue  # all threads go the same way
        if not _leads_others_away(label, branch, loop, space, facts):
            raise Refused(
                "threads come to the loop around it, or pass it by, for other reasons than their "
                f"number{at(branch)}"
            )
        is_guarded |= facts.dominators.dominates(label, loop.header)
    if not is_guarded:
        raise Refused("the loop around it begins before its bound is looked at")


def _leads_others_away(
    label: str, branch: Instruction, loop: Loop, space: IterationSpace, facts: Facts
) -> bool:
    """Whether a branch leads away those whose number is not below the bound, and nobody else."""
    if branch.guard is None or branch.name not in ("bra", "ret", "exit"):
        return False
    test, *more = facts.makers.get(branch.guard.register, [None])
    if test is None or more or not _compares_with_bound(test, space, facts):
        return False
    others_take_it = ("ge" in test.modifiers) != branch.guard.negated
    if branch.target is None:
        return others_take_it
    ways = facts.graph.successors(label)
    away = [after for after in ways if (after == branch.target) == others_take_it]
    return loop.header not in reachable(facts.graph.successors, away)


def _compares_with_bound(test: Instruction, space: IterationSpace, facts: Facts) -> bool:
    """Whether it compares the number of the thread with the bound of the loop."""
    kinds = [("lt", space.type), ("ge", space.type)]
    if test.name != "setp" or test.guard or tuple(test.modifiers) not in kinds:
        return False
    _, number, bound = test.operands
    home = next(label for label, block in facts.blocks.items() if test in block.statements)
    return (
        isinstance(number, Register)
        and (_is_same(bound, space.bound, facts) or getattr(bound, "integer", None) == space.bound)
        and _is_thread_number(facts.reaching.of_uses(home)[test, number], facts)
    )


def _is_same(one: Operand, other: Register | int, facts: Facts) -> bool:
    """Whether two registers are one, or the same parameter, which nvcc loads where it is used."""
    if not isinstance(one, Register) or not isinstance(other, Register):
        return False
    makers = (facts.maker(register) for register in (one, other))
    loads = [(m.opcode, m.operands[1]) for m in makers if m and m.space == "param"]
    return one == other or (len(loads) == 2 and loads[0] == loads[1])


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
    made = facts.maker(operand)
    if made and made.name == "mov":
        operand = made.operands[1]
    return operand.name if isinstance(operand, Special) else ""
