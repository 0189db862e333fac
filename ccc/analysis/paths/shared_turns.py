"""What a lane must know to run one turn of another lane's loop, and what such a turn runs.

The turns of a ``for variable`` that can be counted are shared out among lanes. Whoever runs one
needs no counter that only says when the loop ends: how many turns there are is known before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.derived import Derived, find_derived
from ccc.analysis.paths.fetches import has_side_effect
from ccc.analysis.paths.induction import Induction
from ccc.analysis.paths.model import Path, instructions_of
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register, Special


@dataclass(frozen=True, slots=True)
class SharedTurns:
    """``instructions`` are what a turn runs, of the loop's; for that it needs to know the
    ``registers`` and ``specials`` of the context, of which it makes the ``derived`` registers."""

    induction: Induction
    instructions: frozenset[Instruction]
    registers: tuple[Register, ...]
    specials: tuple[Special, ...]
    derived: Mapping[Register, Derived]


def find_shared_turns(
    path: Path, induction: Induction, facts: Facts, in_warp: bool = True
) -> SharedTurns:
    """What the turns of a path take, when they are shared out as ``induction`` says.

    Args:
        path: the loop.
        induction: how it steps.
        facts: of its function.
        in_warp: only lanes of one warp run turns of one another.
    """
    needed = _needed(path, induction, facts)
    sums = {r for a in (*path.accumulators, *induction.sums) for r in a.registers}
    used = {register for i in needed for register in i.used()} - sums
    read = {special for i in needed for special in i.specials()}
    derived = _derived(used, path, induction, facts) if in_warp else {}
    told = used.difference(derived) | ({induction.counter} if derived else set())
    return SharedTurns(
        induction,
        needed,
        tuple(r for r in (*path.context, *path.compressed) if r in told),
        tuple(s for s in path.specials if s in read),
        derived,
    )


def _derived(
    used: set[Register], path: Path, induction: Induction, facts: Facts
) -> Mapping[Register, Derived]:
    """What is made of the counter, where that is shorter."""
    stepped = [register for register in induction.steps if register in used]
    found = find_derived(stepped, path, induction, facts)
    counter = 0 if induction.counter in used else induction.counter.bits
    return found if sum(register.bits for register in found) > counter else {}


def _needed(path: Path, induction: Induction, facts: Facts) -> frozenset[Instruction]:
    """What has an effect in a turn, other than to end the loop, and all that this needs."""
    sums = {r for a in (*path.accumulators, *induction.sums) for r in a.registers}
    body = list(instructions_of(path.blocks, facts))
    if path.task is not None:
        body = [instruction for instruction in body if instruction in path.task.instructions]
    ends = set(facts.blocks[induction.end].instructions)
    makers: dict[Register, list[Instruction]] = {}
    for instruction in body:
        for register in instruction.defined():
            makers.setdefault(register, []).append(instruction)
    worklist = [
        i
        for i in body
        if has_side_effect(i)
        or (i.is_terminator and i not in ends)
        or not sums.isdisjoint(i.defined())
    ]
    needed: set[Instruction] = set()
    while worklist:
        instruction = worklist.pop()
        if instruction not in needed:
            needed.add(instruction)
            worklist += [m for register in instruction.used() for m in makers.get(register, ())]
    return frozenset(needed)
