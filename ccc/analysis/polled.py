"""What lanes look at that wait, and which accesses go to other memory for certain.

Two parameters may lead to the same. But a plain store to what others look at by atomics or volatile
loads is a race, and no iteration may write what another one reads: so who gives anything back by a
plain store is taken to do it under the name that it is looked at by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.analysis.fields import are_other_fields
from ccc.ir.nodes import Instruction
from ccc.ptx.opcodes import ATOMICS, KEEPS_BY, LOADS
from ccc.ptx.types import ANEW, TYPES

if TYPE_CHECKING:
    from ccc.analysis.facts import Facts


def is_strong(poll: Instruction) -> bool:
    """Whether what lanes look at has to be read anew each time: not by a plain load, which a
    compiler need not make again."""
    return poll.name not in LOADS or not ANEW.isdisjoint(poll.modifiers)


def changes_nothing(instruction: Instruction, facts: Facts) -> bool:
    """Whether an atomic operation leaves what it has found, as ``atomicAdd(flag, 0)`` does, and
    ``atomicCAS(flag, 1, 1)``."""
    if instruction.name == "atom" and "cas" in instruction.modifiers:
        found, put = (facts.literal_in(instruction, o) or o for o in instruction.operands[2:4])
        return found == put
    if instruction.name not in ATOMICS:
        return False
    kind = instruction.types[-1]
    keeping = {KEEPS_BY.get((operation, kind)) for operation in instruction.modifiers} - {None}
    given = facts.literal_in(instruction, instruction.operands[1 + (instruction.name == "atom")])
    if given is None or given.integer is None:
        return False
    return given.integer % (1 << TYPES[kind].bits) in keeping


def roots(instruction: Instruction, facts: Facts) -> frozenset[str] | None:
    """The parameters, members of such, and variables that an address is made from; None if it may
    be anything."""
    pointers = facts.memory.apart.origins.of_access(instruction)
    if pointers is None or any(pointer.is_loaded for pointer in pointers):
        return None
    return frozenset(pointer.root for pointer in pointers)


def are_named_apart(one: Instruction, other: Instruction, facts: Facts) -> bool:
    """Whether the addresses of two instructions are known to be made from different parameters and
    variables; where that of one is not known, as with an index that is as wide as an address, it
    may be the very address of the other."""
    mine, others = roots(one, facts), roots(other, facts)
    return mine is not None and others is not None and mine.isdisjoint(others)


def are_apart(poll: Instruction, other: Instruction, facts: Facts, *, is_anew: bool) -> bool:
    """Whether something certainly does not write what lanes look at.

    Who waits by what is not read anew, by a plain load without a fence, which compilers need not
    make again, is taken to wait for what is written by the same parameter.
    """
    spaces = {poll.space, other.space}
    if spaces == {"global", "shared"} or facts.memory.apart.lead_apart(poll, other):
        return True
    if are_other_fields(poll, other, facts):
        return True
    mine, others = roots(poll, facts), roots(other, facts)
    if mine is None or others is None or not mine.isdisjoint(others):
        return False
    names = {root.partition("+")[0] for root in mine | others}
    are_variables = names.isdisjoint(one.name for one in facts.function.parameters)
    is_race = other.name == "st" and ANEW.isdisjoint(other.modifiers)
    return is_race or not is_anew or are_variables
