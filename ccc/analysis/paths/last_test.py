"""Loops that end by comparing a counter with a bound, at the end of an iteration.

Such a loop stops early where another bound stands in the place of its own. As long as that lies on
the near side of the own one, an iteration that follows by the nearer bound would follow by the own
one as well: so nothing need be known of how the counter steps.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.edit import substitute
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.operations import INVERSE, SOUGHT, STEPS, SWAPPED

_TYPES = ("s32", "u32", "s64", "u64")


@dataclass(frozen=True, slots=True)
class LastTest:
    """The loop goes on as long as ``counter`` has the ``relation`` to ``bound``.

    Args:
        latch: the block that ends with it.
        test: the comparison.
        place: of the bound among its operands.
        bound: does not change in the loop.
        relation: of PTX's ``setp``: ``lt`` or ``le`` of a counter that goes up, ``gt`` or ``ge`` of
            one that goes down; or ``ne``.
        counter: the register.
        step: the one instruction that changes it, by what does not change in the loop; written
            with the counter itself where it reads a copy.
    """

    latch: str
    test: Instruction
    place: int
    bound: Register | Immediate
    relation: str
    counter: Register
    step: Instruction

    @property
    def type(self) -> str:
        """As what they are compared."""
        return self.test.modifiers[-1]

    @property
    def goes_up(self) -> bool:
        """Whether the bound lies above."""
        return self.relation in ("lt", "le")


def find_last_test(
    loop: Loop, facts: Facts, ordered: bool = True, counts: bool = False
) -> LastTest | None:
    """The comparison that ends a loop; None where it does not end like that.

    Args:
        loop: the loop.
        facts: the function's analyses.
        ordered: whether the counter has to lie on one side of the bound until the end, and not only
            to differ from it.
        counts: whether iterations are counted by it, so that it has to step in each, and once.
    """
    latch, *others = (facts.blocks[label] for label in sorted(loop.latches))
    test = _test(latch, (*SOUGHT,) if ordered else (*INVERSE,))
    if others or test is None:
        return None
    body = [i for label in loop.blocks for i in facts.blocks[label].instructions]
    written = {register for instruction in body for register in instruction.defined()}
    place = 1 if test.operands[2] in written else 2
    counter, bound = test.operands[3 - place], test.operands[place]
    if not isinstance(counter, Register) or not _stays(bound, written):
        return None
    steps = [i for i in body if counter in i.defined()]
    if counts and not (len(steps) == 1 and _is_of_each(steps[0], loop, facts)):
        return None
    step = _of_counter(steps[0], counter, loop, facts) if len(steps) == 1 else None
    if step is None or not _is_step(step, counter, written):
        return None
    if not _decides_only(test, counter, latch):
        return None
    relation = test.modifiers[0] if place == 2 else SWAPPED[test.modifiers[0]]
    relation = INVERSE[relation] if _leaves_if_true(latch, loop) else relation
    if relation == "eq":
        return None  # goes on as long as the counter stays what it is
    assert isinstance(bound, Register | Immediate)
    found = LastTest(latch.label, test, place, bound, relation, counter, step)
    if relation != "ne" and _goes_away(found):
        return None  # ends when it begins anew at the other end of all numbers
    return found


def _is_of_each(step: Instruction, loop: Loop, facts: Facts) -> bool:
    """Whether each iteration does a step once."""
    (latch,) = loop.latches
    (label,) = (one for one in loop.blocks if step in facts.blocks[one].instructions)
    inner = any(label in one.blocks for one in facts.loops if one.blocks < loop.blocks)
    return not inner and facts.dominators.dominates(label, latch)


def _goes_away(test: LastTest) -> bool:
    """Whether the counter steps away from the bound, as far as the instruction tells: what is added
    may be less than 0, and what nvcc takes away is not."""
    step = test.step
    literal = next((i.integer for i in step.operands[1:] if isinstance(i, Immediate)), None)
    if literal is None:
        return step.name == "sub" and test.goes_up
    return ((step.name == "sub") != (literal < 0)) == test.goes_up


def _test(latch: Block, relations: Collection[str]) -> Instruction | None:
    """What decides at the end of a block whether it goes back to the header, by such relations."""
    branches = [i for i in latch.instructions if i.is_terminator]
    guard = branches[0].guard if branches else None
    if guard is None or any(one.name != "bra" for one in branches):
        return None
    tests = [i for i in latch.instructions if guard.register in i.defined()]
    if len(tests) != 1 or tests[0].name != "setp" or tests[0].guard is not None:
        return None
    (test,) = tests
    plain = len(test.operands) == 3 and len(test.modifiers) == 2
    known = test.modifiers[0] in relations and test.modifiers[-1] in _TYPES
    return test if plain and known else None


def _decides_only(test: Instruction, counter: Register, latch: Block) -> bool:
    """Whether nothing but the branch looks at what came out, of the counter as it is there."""
    own = list(latch.instructions)
    behind = (i for i in own[own.index(test) + 1 :] if not i.is_terminator)
    (decision,) = test.defined()
    return not any(decision in i.used() or counter in i.defined() for i in behind)


def _leaves_if_true(latch: Block, loop: Loop) -> bool:
    branch = next(i for i in latch.instructions if i.is_terminator)
    assert branch.guard is not None
    return (branch.target == loop.header) == branch.guard.negated


def _stays(operand: Operand, written: set[Register]) -> bool:
    """Whether it is a number that does not change in the loop."""
    if isinstance(operand, Immediate):
        return operand.integer is not None
    return isinstance(operand, Register) and operand not in written


def _of_counter(
    step: Instruction, counter: Register, loop: Loop, facts: Facts
) -> Instruction | None:
    """The same instruction of the counter where it reads a copy, as nvcc has it who keeps the
    counter in 64 bits beside; None if it reads neither."""
    sources = step.operands[1:]
    if counter in sources:
        return step
    place = (loop, facts)
    copies = [one for one in sources if _is_copy(one, counter, step, *place)]
    if len(copies) != 1:
        return None
    found = substitute(step, {}, {})
    found.operands = (
        found.operands[0],
        *(counter if one == copies[0] else one for one in found.operands[1:]),
    )
    return found


def _is_copy(
    operand: Operand, counter: Register, reader: Instruction, loop: Loop, facts: Facts
) -> bool:
    """Whether a reader finds in a register what the counter was when the iteration began."""
    if operand == counter:
        return True
    if not isinstance(operand, Register) or operand.bits < counter.bits:
        return False
    made = [
        (label, one)
        for label in loop.blocks
        for one in facts.blocks[label].instructions
        if operand in one.defined() or one is reader
    ]
    makers = [(label, one) for label, one in made if one is not reader]
    ((read_in, _),) = ((label, one) for label, one in made if one is reader)
    if len(makers) != 1:
        return False
    ((label, maker),) = makers
    own = list(facts.blocks[label].instructions)
    before = (
        own.index(maker) < own.index(reader)
        if label == read_in
        else facts.dominators.dominates(label, read_in)
    )
    whole = maker.name in ("mov", "cvt") and maker.guard is None and len(maker.operands) == 2
    plain = [*maker.modifiers] == [*maker.types] and {*maker.types} <= {*_TYPES, "b32", "b64"}
    return before and whole and plain and _is_copy(maker.operands[1], counter, maker, loop, facts)


def _is_step(instruction: Instruction, counter: Register, written: set[Register]) -> bool:
    """Whether it adds to the counter, or takes away, what stays the same in the loop."""
    sources = instruction.operands[1:]
    places = [place for place, operand in enumerate(sources) if operand == counter]
    others = [operand for operand in sources if operand != counter]
    return (
        len(places) == 1
        and places[0] in STEPS.get(instruction.name, ())
        and instruction.guard is None
        and "wide" not in instruction.modifiers
        and all(_stays(operand, written) for operand in others)
    )
