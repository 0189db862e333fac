"""A flag that ends the annotated loop, and that tasks set: it is seen late.

    if (*found) break;
    #pragma ccc if
    if (match(i)) { ...; *found = 1; }

While the task that sets it waits, its lane begins further iterations, which it would not have begun
before. By the promise iterations may do so, and where several threads look at the flag, more or
fewer of them have always run. But a single thread has stopped right there, so that users are told.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.callee_accesses import calls, operand_of
from ccc.analysis.paths.invariant_stores import InvariantStores
from ccc.analysis.paths.model import CheckedPath, at, instructions_of
from ccc.analysis.polled import roots
from ccc.analysis.slicing import Region, slice_region
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Operand
from ccc.ptx.opcodes import PLAIN_ACCESSES, Effect

SEEN_LATE = "is decided by what iterations read"


def seen_late(path: CheckedPath, stores: InvariantStores, facts: Facts) -> str | None:
    """What is to be said of such a flag, if there is one.

    Args:
        path: the path.
        stores: tells of the annotated loop which addresses stay the same.
        facts: the function's analyses.
    """
    reads = [one for one in _deciding(path, facts) if stores.is_at_one_place(one)]
    for read, (write, others) in product(reads, _writes(path, stores, facts) if reads else ()):
        mine = roots(read, facts)
        if mine and mine == others and _may_meet(read, write):
            return (
                f"it {SEEN_LATE}{at(read)}, and the path writes{at(write)} when its task runs, so "
                "that more iterations are begun than before; if that matters, remove the annotation"
            )
    return None


def _writes(
    path: CheckedPath, stores: InvariantStores, facts: Facts
) -> Iterator[tuple[Instruction, frozenset[str] | None]]:
    """What a path writes at one place, or has a function store there, and what the address is made
    from."""
    for one in instructions_of(path.region, facts):
        if _accesses(one, Effect.WRITE, facts) and stores.is_at_one_place(one):
            yield one, roots(one, facts)
    for call in calls(facts.blocks[label] for label in sorted(path.region)):
        for names, told in stores.stored_by(call):
            yield call.instruction, names.union(*(_names_of(value, facts) for value in told))


def _names_of(value: Operand, facts: Facts) -> frozenset[str]:
    """The parameters and variables that a pointer is made from, if no other can be."""
    pointers = facts.memory.apart.origins.of(value) or ()
    return frozenset(one.root for one in pointers if not one.is_loaded)


def _may_meet(one: Instruction, other: Instruction) -> bool:
    """Whether two accesses of what begins at one address may be of one member of it."""
    if other.effects & Effect.CALL:
        return True
    first, second = (operand_of(each, "addr") for each in (one, other))
    if not (isinstance(first, Address) and isinstance(second, Address)):
        return True
    distance = second.offset - first.offset
    return first.base != second.base or -other.accessed_bytes < distance < one.accessed_bytes


def _deciding(path: CheckedPath, facts: Facts) -> Iterator[Instruction]:
    """The reads outside of tasks by which a lane finds whether the annotated loop goes on."""
    loop = path.loop.loop
    needed = facts.once(_decides, loop)
    outside = instructions_of(loop.blocks - path.region, facts)
    return (i for i in outside if i in needed and _accesses(i, Effect.READ, facts))


def _decides(loop: Loop, facts: Facts) -> frozenset[Instruction]:
    """What is needed to find whether a loop goes on."""
    ends = [facts.blocks[label].terminator for label, _ in loop.exits(facts.graph)]
    needed = slice_region(
        Region(loop.blocks, facts.graph),
        facts.blocks,
        facts.reaching_within(loop.blocks),
        [one for one in ends if one is not None],
        lambda _: frozenset(),
        decide_sinks=False,
    )
    return needed.instructions


def _accesses(instruction: Instruction, how: Effect, facts: Facts) -> bool:
    """Whether it reads, or writes, memory that other threads see."""
    is_access = instruction.name in PLAIN_ACCESSES and bool(instruction.effects & how)
    return is_access and not facts.local.touches(instruction)
