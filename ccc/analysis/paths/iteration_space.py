"""Annotated loops any of whose iterations any member can begin.

    LOOP:   ...
            add.s32 %i, %i, %stride;
            setp.lt.s32 %p, %i, %n;
            @%p bra LOOP;

How many iterations each lane has, and what its registers hold at the beginning of each, is known
before the first one: what is carried is stepped by what all lanes have alike, and one comparison at
the end says whether there is a next iteration. Else the lanes differ in values that the loop does
not write. So whoever knows these, and what the carried registers held first, can begin there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ccc.analysis.callees import allocates
from ccc.analysis.facts import Facts
from ccc.analysis.paths.invariant_stores import InvariantStores
from ccc.analysis.paths.model import FoundLoop, Refused, at, instructions_of
from ccc.analysis.paths.reductions import OWN
from ccc.ir.nodes import Instruction
from ccc.ir.operands import CARRY, Immediate, Operand, Register
from ccc.ptx.types import LANE, number_of_type

COUNTER = "the loop around it does not end by a comparison of a 32-bit counter with a bound (i < n)"
BLOCK = "the number of its block"
"""What a loop over blocks hands on, which is no value of the user's."""

_TYPES = ("s32", "u32")
_GAINS = (("add", ()), ("mad", ("lo",)))
_ADDED = ("s32", "u32", "b32", "s64", "u64", "b64")


Step = tuple["Register | int", ...]
"""What a register gains: a product, of registers that the loop does not write, and of numbers."""


@dataclass(frozen=True, slots=True)
class IterationSpace:
    """The iterations of all lanes of a loop.

    ``steps`` is what each carried register gains in an iteration, the same for all lanes. The next
    one begins while ``counter`` is less than ``bound``, both of ``type``. ``context`` lists what
    else the lanes differ in that the iterations read.
    """

    steps: dict[Register, Step]
    counter: Register
    type: str
    bound: Register | int
    context: tuple[Register, ...]


def find_iteration_space(annotated: FoundLoop, facts: Facts) -> IterationSpace:
    """The iterations of a loop.

    Raises:
        Refused: another lane could not run them; the reason says why.
    """
    loop = annotated.loop
    exits = loop.exits(facts.graph)
    if annotated.accumulators:
        raise Refused("the loop around it adds up the variable of a reduction")
    if len(loop.latches) != 1 or len(exits) != 1 or {exits[0][0]} != loop.latches:
        raise Refused(COUNTER + ", and it may end elsewhere")
    body = list(instructions_of(loop.blocks, facts))
    own = next((i for i in body if _belongs_to_its_lane(i, facts)), None)
    if own is not None:
        raise Refused(f"its iterations use what belongs to the thread{at(own)}")
    if (store := InvariantStores(loop, facts).find(loop.blocks)) is not None:
        raise Refused(f"its iterations use the same memory{at(store)}")
    written = {register for i in body for register in i.defined()}
    before = facts.liveness.live_in(loop.header)
    behind = written & facts.liveness.live_in(exits[0][1])
    if CARRY in before or behind:
        made = [i for i in body if not behind.isdisjoint(i.defined())]
        what = at(made[-1]) if made else " (a carry flag)"
        raise Refused(f"the code after the loop needs what its iterations make{what}")
    differ = facts.divergence.divergent_at(loop.header)
    steps: dict[Register, Step] = {}
    for register in sorted(before & written, key=lambda register: register.name):
        step = _step(register, annotated, facts)
        if step is None or not (written | differ).isdisjoint(step):
            made = [i for i in body if register in i.defined()]
            what = BLOCK if register.name.startswith(OWN) else f"a value{at(made[-1])}"
            raise Refused(
                f"an iteration hands {what} on to the next, which does not grow by the same in each"
            )
        steps[register] = step
    used = {register for i in body for register in i.used()}
    context = sorted((before & used & differ) - written, key=lambda register: register.name)
    space = _ended(annotated, steps, written, tuple(context), facts)
    if space is None:
        raise Refused(COUNTER)
    return space


def _belongs_to_its_lane(instruction: Instruction, facts: Facts) -> bool:
    """Whether another lane would do something else."""
    return (
        facts.local.touches(instruction)
        or facts.callees.knows_its_lane(instruction)
        or allocates(instruction)
        or any(special.register.varies == LANE for special in instruction.specials())
    )


def _step(register: Register, annotated: FoundLoop, facts: Facts) -> Step | None:
    """What a register gains in every iteration; None if that is not known."""
    loop = annotated.loop
    (latch,) = loop.latches
    found = [
        (label, i)
        for label in loop.blocks
        for i in facts.blocks[label].instructions
        if register in i.defined()
    ]
    if len(found) != 1 or not facts.dominators.dominates(found[0][0], latch):
        return None
    label, made = found[0]
    if any(label in one.blocks for one in facts.loops if one.blocks < loop.blocks):
        return None  # more than once an iteration
    kind = made.name, made.modifiers[:-1]
    if made.guard or kind not in _GAINS or made.modifiers[-1] not in _ADDED:
        return None
    _, *factors, base = made.operands
    if made.name == "add" and not _is_still(base, register, annotated, label, facts):
        factors, base = [base], factors[0]
    if not _is_still(base, register, annotated, label, facts):
        return None
    return _product(factors, register)


def _product(factors: Sequence[Operand], register: Register) -> Step | None:
    """The factors as far as they are registers, or numbers of the register's width."""
    found: list[Register | int] = []
    for factor in factors:
        if isinstance(factor, Register):
            found.append(factor)
        elif isinstance(factor, Immediate) and factor.integer is not None:
            found.append(number_of_type(factor.integer, f"s{register.bits}"))
        else:
            return None
    return tuple(found)


def _is_still(
    operand: Operand, register: Register, annotated: FoundLoop, label: str, facts: Facts
) -> bool:
    """Whether an operand, at ``label``, is what a carried register held when the iteration began.

    It may be a copy, made in the iteration; one of 32 bits may have been 64 bits wide meanwhile.
    """
    while operand != register:
        copy = facts.maker(operand)
        if copy is None:
            return False
        homes = [one for one in annotated.loop.blocks if copy in facts.blocks[one].instructions]
        is_cut = copy.name == "cvt" and set(copy.modifiers) <= set(_ADDED) and register.bits == 32
        if not any(facts.dominators.dominates(home, label) for home in homes):
            return False
        if not is_cut and copy.name != "mov":
            return False
        operand = copy.operands[1]
    return True


def _ended(
    annotated: FoundLoop,
    steps: dict[Register, Step],
    written: set[Register],
    context: tuple[Register, ...],
    facts: Facts,
) -> IterationSpace | None:
    """With the comparison that ends the loop, of a counter that was stepped before, if there is
    such a one."""
    (latch,) = annotated.loop.latches
    own = list(facts.blocks[latch].instructions)
    branch = next(i for i in own if i.is_terminator)
    if branch.guard is None or branch.guard.negated or branch.target != annotated.loop.header:
        return None
    tests = [i for i in own if branch.guard.register in i.defined()]
    if len(tests) != 1 or tests[0].name != "setp" or len(tests[0].operands) != 3:
        return None
    (test,) = tests
    _, counter, end = test.operands
    if len(test.modifiers) != 2 or test.modifiers[0] != "lt" or test.guard:
        return None
    if not isinstance(counter, Register) or counter not in steps or test.types[-1] not in _TYPES:
        return None
    before = facts.reaching.of_uses(latch)[test, counter]
    if len(before) != 1 or before[0].instruction.defined() != (counter,):
        return None  # not yet stepped
    bound: Register | int
    if isinstance(end, Immediate) and end.integer is not None:
        bound = number_of_type(end.integer, test.types[-1])
    elif isinstance(end, Register) and end not in written:
        bound = end
    else:
        return None
    return IterationSpace(steps, counter, test.types[-1], bound, context)
