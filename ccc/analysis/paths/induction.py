"""Loops whose turns can be counted, and begun anywhere.

A loop that steps its registers by constants and ends by comparing one of them with a bound: how
often it turns is known before it begins, and its state in each turn as well. Then the turns of one
task can be shared out among lanes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import CheckedPath, instructions_of
from ccc.analysis.paths.reductions import register_at
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.types import TYPES

_TYPES = ("s32", "u32", "b32", "s64", "u64", "b64")
_UP, _DOWN = ("lt", "le", "ne"), ("gt", "ge", "ne")


@dataclass(frozen=True, slots=True)
class Induction:
    """``steps`` is what each carried register gains in a turn, as a signed number of its width.

    The loop ends when ``counter``, which moves by one, up or down, has no longer the ``relation``
    (of PTX's ``setp``, with ``type``) to ``bound``, as a number of that type.
    """

    steps: dict[Register, int | Register]
    counter: Register
    relation: str
    type: str
    bound: Register | int

    @property
    def last(self) -> int | None:
        """The bound that no number lies beyond, so that the loop would have no end; if any."""
        return _last(self.relation, self.type)


def number_of_type(value: int, type_name: str) -> int:
    """What a literal means in an instruction of a type: its low bits, with or without a sign.

    >>> number_of_type(4294967295, "s32"), number_of_type(-1, "u32")
    (-1, 4294967295)
    """
    kind = TYPES[type_name]
    value %= 1 << kind.bits
    return value - (1 << kind.bits) if kind.kind == "s" and value >> kind.bits - 1 else value


def _last(relation: str, type_name: str) -> int | None:
    kind = TYPES[type_name]
    is_signed = kind.kind == "s"
    if relation == "le":
        return (1 << kind.bits - is_signed) - 1
    if relation == "ge":
        return -(1 << kind.bits - 1) if is_signed else 0
    return None


def find_induction(path: CheckedPath, facts: Facts) -> Induction | None:
    """How a path that is a loop steps; None if that is not known, or its turns are not alone."""
    loop = next(loop for loop in facts.loops if loop.header == path.entry)
    exits = {target for _, target in loop.exits(facts.graph)}
    if path.continuation or len(loop.latches) != 1 or not _stay_in_place(path, exits, facts):
        return None
    latch = next(iter(loop.latches))
    if {source for source, _ in loop.exits(facts.graph)} != {latch}:
        return None
    body = list(instructions_of(path.blocks, facts))
    if any(facts.local.touches(instruction) for instruction in body):
        return None
    written = {register for instruction in body for register in instruction.defined()}
    updated = {register for a in path.accumulators for register in a.registers}
    steps: dict[Register, int | Register] = {}
    carried = (facts.liveness.live_in(path.entry) & written) - updated
    for register in sorted(carried, key=lambda register: register.name):
        step = _step(register, path, latch, facts)
        if step is None or step in written:
            return None
        steps[register] = step
    return _counted(steps, written, latch, loop.header, facts)


def _stay_in_place(path: CheckedPath, exits: set[str], facts: Facts) -> bool:
    """Whether accumulators are behind the loop in the registers that they are in before it."""
    return all(
        register_at(accumulator, label, facts)
        in (None, register_at(accumulator, path.entry, facts))
        for accumulator in path.accumulators
        for label in exits
    )


def _step(register: Register, path: CheckedPath, latch: str, facts: Facts) -> int | Register | None:
    """What a register gains in every turn; None if that is not one number, or one register."""
    found = [
        (label, instruction)
        for label in path.blocks
        for instruction in facts.blocks[label].instructions
        if register in instruction.defined()
    ]
    if len(found) != 1 or not facts.dominators.dominates(found[0][0], latch):
        return None
    inner = (loop.blocks for loop in facts.loops if loop.header in path.blocks - {path.entry})
    if any(found[0][0] in blocks for blocks in inner):
        return None  # more than once a turn
    instruction = found[0][1]
    if instruction.name != "add" or instruction.modifiers[0] not in _TYPES or instruction.guard:
        return None
    _, source, step = instruction.operands
    if source != register or len(instruction.modifiers) != 1:
        return None
    if isinstance(step, Immediate) and step.integer is not None:
        return number_of_type(step.integer, f"s{register.bits}")
    return step if isinstance(step, Register) else None


def _counted(
    steps: dict[Register, int | Register],
    written: set[Register],
    latch: str,
    header: str,
    facts: Facts,
) -> Induction | None:
    """The comparison that ends the loop, of a counter that was stepped before."""
    own = list(facts.blocks[latch].instructions)
    branch = next(instruction for instruction in own if instruction.is_terminator)
    if branch.guard is None or branch.guard.negated or header not in map(str, branch.operands):
        return None
    tests = [i for i in own if branch.guard.register in i.defined()]
    if len(tests) != 1 or tests[0].name != "setp" or len(tests[0].operands) != 3:
        return None
    test = tests[0]
    _, counter, bound = test.operands
    relation, type_name = test.modifiers[0], test.modifiers[-1]
    if not isinstance(counter, Register) or counter not in steps or len(test.modifiers) != 2:
        return None
    relations = _UP if steps[counter] == 1 else _DOWN if steps[counter] == -1 else ()
    if relation not in relations or type_name not in _TYPES:
        return None
    end = _bound(bound, type_name)
    if end is None or end in written or end == _last(relation, type_name) or test.guard:
        return None
    before = facts.reaching.of_uses(latch)[test, counter]
    if len(before) != 1 or before[0].instruction.defined() != (counter,):
        return None  # not yet stepped: the value from before the loop may reach the test
    return Induction(steps, counter, relation, type_name, end)


def _bound(operand: Operand, type_name: str) -> Register | int | None:
    if isinstance(operand, Immediate) and operand.integer is not None:
        return number_of_type(operand.integer, type_name)
    return operand if isinstance(operand, Register) else None
