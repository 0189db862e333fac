"""How often a loop goes round, where that is a constant.

What the end of a loop depends on is computed as a thread would, from the constants that the loop
begins with: nvcc writes counters in many ways, some in 64 bits that each iteration narrows.
"""

from __future__ import annotations

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.operations import OF_INTEGERS, RELATIONS
from ccc.ptx.types import TYPES, number_of_type

MOST = 4096
"""So many iterations are tried, and no more are told."""
_STEPS = ("mov", "cvt", "add", "sub")
"""What counters are made by."""


def trip_count(loop: Loop, facts: Facts) -> int | None:
    """The number of iterations once the loop has begun, at most ``MOST``; None if it is no
    constant, or the loop may end in several places.

    Where nvcc has a rest before the end of an unrolled loop, the last iteration ends there.
    """
    return facts.once(_trip_count, loop)


def _trip_count(loop: Loop, facts: Facts) -> int | None:
    branch = only_exit(loop, facts)
    if branch is None or branch.guard is None:
        return None
    end, decision, stays = facts.homes[branch], branch.guard.register, stays_if(branch, loop)
    steps = _steps(decision, end, loop, facts)
    if steps is None:
        return None
    values = _first_values([*steps[0], *steps[1]], loop, facts)
    for number in range(1, MOST):
        if not _compute(steps[0], values):
            return None
        if bool(values[decision]) != stays:
            return number
        if not _compute(steps[1], values):
            return None
    return MOST


def goes_once(loop: Loop, facts: Facts) -> bool:
    """Whether no second turn of a loop begins, as of one from any ``i`` to ``i + 1``: what is
    compared is the same value."""
    (latch, *others) = loop.latches
    branch = facts.blocks[latch].terminator if latch in facts.blocks else None
    stays = [to for to in facts.graph.successors(latch) if to in loop.blocks]
    if others or branch is None or branch.guard is None or stays != [loop.header]:
        return False
    steps = _steps(branch.guard.register, latch, loop, facts)
    every = steps[0] if steps else []
    place = next((n for n, one in enumerate(every) if one.name == "setp"), None)
    if place is None:
        return False
    test, made = every[place], {r for one in every[:place] for r in one.defined()}
    if not made.isdisjoint(test.used()):
        return False
    first, second = (_begins_as(one, loop, facts) for one in test.operands[1:])
    holds = RELATIONS[test.modifiers[0]](0, 0)
    return first is not None and first == second and holds != stays_if(branch, loop)


def _begins_as(operand: Operand, loop: Loop, facts: Facts) -> Register | None:
    """The register, with one value all the time, that is the first value of another in a loop."""
    if not isinstance(operand, Register):
        return None
    if not facts.written_in(loop.blocks, operand):
        return operand
    begins = facts.begins(loop, operand) or ()
    move = begins[0].instruction if len(begins) == 1 else None
    source = move.operands[1] if move is not None and move.name == "mov" else None
    if move is None or move.guard is not None or not isinstance(source, Register):
        return None
    made = [one for _, one in facts.written_in(facts.blocks, source)]
    dominates, home = facts.dominators.dominates, facts.homes[move]
    is_kept = len(made) == 1 and facts.homes[made[0]] not in loop.blocks
    # Then no way leads from where it is made to the loop but by the move.
    is_moved = is_kept and facts.homes[made[0]] != home and dominates(facts.homes[made[0]], home)
    return source if is_moved and dominates(home, loop.header) else None


def only_exit(loop: Loop, facts: Facts) -> Instruction | None:
    """The branch by which alone a loop ends, which each iteration comes to, once."""
    sources = {source for source, _ in loop.exits(facts.graph)}
    if len(loop.latches) != 1 or len(sources) != 1:
        return None
    (end,), (latch,) = sources, loop.latches
    branch = next(one for one in facts.blocks[end].instructions if one.is_terminator)
    is_of_each = facts.dominators.dominates(end, latch)
    return branch if branch.guard is not None and is_of_each else None


def stays_if(branch: Instruction, loop: Loop) -> bool:
    """What the register of its guard has to be for a branch not to leave a loop."""
    assert branch.guard is not None
    return (branch.target in loop.blocks) != branch.guard.negated


def _compute(steps: list[Instruction], values: dict[Register, int]) -> bool:
    """Whether the values are known that follow from others; they are written there."""
    for one in steps:
        found = _result(one, values)
        if found is None:
            return False
        values[next(iter(one.defined()))] = found
    return True


def _steps(
    decision: Register, end: str, loop: Loop, facts: Facts
) -> tuple[list[Instruction], list[Instruction]] | None:
    """What of each iteration a decision depends on, in order, up to the block that makes it and
    behind that; None if it is not that simple."""
    (latch,) = loop.latches
    inner: frozenset[str] = frozenset().union(
        *(o.blocks for o in facts.loops if o.blocks < loop.blocks)
    )
    chain = [label for label in reversed(facts.dominators.chain(latch)) if label in loop.blocks]
    blocks = [label for label in chain if label not in inner]
    always = [one for label in blocks for one in facts.blocks[label].instructions]
    behind = blocks[blocks.index(end) + 1 :] if end in blocks else []
    first = len(always) - sum(len(list(facts.blocks[b].instructions)) for b in behind)
    wanted = [decision]
    needed: set[int] = set()
    for register in wanted:
        made = [one for _, one in facts.written_in(loop.blocks, register)]
        if not made and register != decision:
            continue
        place = next((n for n, one in enumerate(always) if one is made[0]), None) if made else None
        if len(made) != 1 or place is None or not _is_simple(made[0]):
            return None
        needed.add(place)
        wanted += [one for one in made[0].used() if one not in wanted]
    places = sorted(needed)
    before, after = (p for p in places if p < first), (p for p in places if p >= first)
    return [always[place] for place in before], [always[place] for place in after]


def _is_simple(one: Instruction) -> bool:
    """Whether it can be computed here: of whole numbers, with nothing else asked, and unguarded."""
    relation = one.modifiers[:1] if one.name == "setp" else ()
    known = one.name in _STEPS or (one.name == "setp" and {*relation} <= {*RELATIONS})
    whole = all(TYPES[name].kind in "bus" for name in one.types)
    plain = [*one.modifiers] == [*relation, *one.types]
    return known and whole and plain and one.guard is None and isinstance(one.operands[0], Register)


def _first_values(steps: list[Instruction], loop: Loop, facts: Facts) -> dict[Register, int]:
    """The registers that are a constant when the loop begins."""
    used = {register for one in steps for register in one.used()}
    found = {}
    for register in used:
        begins = facts.begins(loop, register) or ()
        constant = _constant(begins[0].instruction, facts) if len(begins) == 1 else None
        if constant is not None:
            found[register] = constant
    return found


def _constant(one: Instruction, facts: Facts) -> int | None:
    """What a move sets a register to, if that is a number, or a register that is one."""
    seen = {one}
    while one.name == "mov" and _is_simple(one):
        source = one.operands[1]
        if not isinstance(source, Register):
            return source.integer if isinstance(source, Immediate) else None
        made = [one for _, one in facts.written_in(facts.blocks, source)]
        if len(made) != 1 or made[0] in seen:
            return None
        (one,) = made
        seen.add(one)
    return None


def _result(one: Instruction, values: dict[Register, int]) -> int | None:
    """What it makes of these values; None if it needs others."""
    operands = [_value(operand, values) for operand in one.operands[1:]]
    if any(operand is None for operand in operands):
        return None
    read = [number_of_type(operand or 0, one.types[-1]) for operand in operands]
    if one.name == "setp":
        return int(RELATIONS[one.modifiers[0]](*read))
    return number_of_type(OF_INTEGERS[one.name](*read), one.types[0])


def _value(operand: Operand, values: dict[Register, int]) -> int | None:
    if isinstance(operand, Register):
        return values.get(operand)
    return operand.integer if isinstance(operand, Immediate) else None
