"""Loops whose turns can be counted, and begun anywhere.

A loop that steps its registers by constants and ends by comparing one of them with a bound: how
often it turns is known before it begins, and its state in each turn as well. Then the turns of one
task can be shared out among lanes.

What the loop only adds up, in the sense of a reduction, is no state: each lane adds up its own
turns, and the sums of all are combined behind the loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ccc.analysis.cfg import reachable
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.fetches import has_side_effect
from ccc.analysis.paths.model import (
    Accumulator,
    CheckedPath,
    Refused,
    at,
    instructions_of,
)
from ccc.analysis.paths.reductions import (
    OPERATIONS,
    find_accumulators,
    find_sum,
    register_at,
)
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Operand, Register
from ccc.ptx.operations import INVERSE, SWAPPED
from ccc.ptx.types import TYPES, number_of_type

_TYPES = ("s32", "u32", "b32", "s64", "u64", "b64")
_UP, _DOWN = ("lt", "le", "ne"), ("gt", "ge", "ne")

SEVERAL_ENDS = "it may end elsewhere than where a turn does"
BOUNDS = "it does not end by comparing a counter, which takes steps of a constant, with a bound"
NO_CONSTANT = "its counter takes steps that are no constant"
IN_ORDER = "the order of its turns decides which of several that are equal is taken"
WIDENED = "its counter takes steps of one type, and is compared or used in another one"
LAST_TURN = "needs a value of its last turn"
HANDED = "its turns hand on a value that does not change by the same number each time"
AS_A_FOR = 'write it as "for (int k = begin; k < end; ++k)"'
BEFORE_IT = "read its bound before the loop, into a variable of its counter's type"
COUNT_TURNS = (
    "compute before the loop how many turns it takes, write it as "
    '"for (int turn = 0; turn < turns; ++turn)", and compute from "turn" what it counted in'
)
NOT_STEPPED = "it compares its counter with the bound before the step"
STRICT = (
    'instead of "<=" with a number that may have a sign, let an unsigned counter be "<" one more'
)
LOCAL = "its turns use local memory (an array of the thread's own)"
IN_VARIABLES = (
    "keep in variables what is in arrays there: sinf, cosf, tanf and sincosf bring one along, "
    "__sinf and its like, or -use_fast_math, which are less exact, none"
)
SUMS = "reduction(+: variable)"
TO_SHARE = f"{SUMS} would let lanes share its turns"
SUMS_HINT = f"if they only add it up, say so: {SUMS}"


class Unshared(Exception):
    """Why the turns of a loop cannot be shared out."""


@dataclass(frozen=True, slots=True)
class Induction:
    """``steps`` is what each carried register gains in a turn, as a signed number of its width.

    The loop ends when ``counter``, which moves up or down by a constant, has no longer the
    ``relation`` (of PTX's ``setp``, with ``type``) to ``bound``, as a number of that type. It is
    left at the end of the block ``end``, to ``exit``. ``sums`` are what its turns only add up.
    """

    steps: dict[Register, int | Register]
    counter: Register
    relation: str
    type: str
    bound: Register | int
    end: str
    exit: str
    sums: tuple[Accumulator, ...] = ()

    @property
    def stride(self) -> int:
        """What the counter gains in a turn."""
        stride = self.steps[self.counter]
        assert isinstance(stride, int)
        return stride

    @property
    def last(self) -> int | None:
        """The last bound of which it is certain that the counter comes to it, or beyond.

        From a bound beyond that it may begin again at the other end of all numbers. None: there is
        no such bound.
        """
        return _last(self.relation, self.type, self.stride)


def _last(relation: str, type_name: str, stride: int) -> int | None:
    kind = TYPES[type_name]
    is_signed = kind.kind == "s"
    beyond = abs(stride) - (relation in ("lt", "gt"))
    if relation == "ne" or beyond == 0:
        return None
    if relation in ("lt", "le"):
        return (1 << kind.bits - is_signed) - 1 - beyond
    return (-(1 << kind.bits - 1) if is_signed else 0) + beyond


def find_induction(path: CheckedPath, facts: Facts) -> Induction | str:
    """How a path that is a loop steps; or why its turns cannot be shared out."""
    return facts.once(_induction_or_reason, path)


def _induction_or_reason(path: CheckedPath, facts: Facts) -> Induction | str:
    try:
        return _induction(path, facts)
    except (Unshared, Refused) as refusal:
        return str(refusal)


def _induction(path: CheckedPath, facts: Facts) -> Induction:
    """The same.

    Raises:
        Unshared: with the reason.
    """
    loop = next(loop for loop in facts.loops if loop.header == path.entry)
    end, leave = _end(loop, facts)
    body = list(instructions_of(path.blocks, facts))
    if any(a.group is not None for a in path.accumulators):
        raise Unshared(IN_ORDER)
    written = {register for instruction in body for register in instruction.defined()}
    latch = next(iter(loop.latches))
    outer = {r for a in path.accumulators for r in a.registers}
    carried = (facts.liveness.live_in(path.entry) & written) - outer
    found = {register: _step(register, loop, latch, facts) for register in carried}
    steps = {r: step for r, step in found.items() if step is not None and step not in written}
    sums = _sums(path, loop, set(steps), facts)
    _check_places(path, sums, leave, facts)
    updated = outer | {r for a in sums for r in a.registers}
    others = sorted(carried - set(steps) - updated, key=str)
    unnamed = _unnamed(others, loop, facts)
    updated |= {register for web in unnamed for register in web.registers}
    if handed := [register for register in others if register not in updated]:
        raise Unshared(_why_handed(handed[0], steps, path, facts))
    behind = _behind(end, loop, facts)
    known = {r for r in steps if _home(r, path, facts) not in behind}
    needed = (facts.liveness.live_in(leave) & written) - updated
    if unknown := sorted(needed - known, key=str):
        raise Unshared(
            f"what follows the loop in the iteration {LAST_TURN}{_made(unknown[0], path, facts)}"
        )
    counted = _counted(steps, written, end, loop, facts)
    if counted is None:
        if _compares_before_step(steps, end, loop, facts):
            raise Unshared(f"{NOT_STEPPED}; {STRICT}")
        if _counter_at(end, leave, loop, facts, is_stepped=False) is not None:
            raise Unshared(SEVERAL_ENDS)  # nvcc joins what else ends it with the bound
        if _steps_by_register(steps, written, end, facts):
            raise Unshared(f"{NO_CONSTANT}; {COUNT_TURNS}")
        raise Unshared(f"{BOUNDS}; {AS_A_FOR}, and {BEFORE_IT}")
    if (local := next(filter(facts.local.touches, body), None)) is not None:
        raise Unshared(f"{LOCAL}{at(local)}")  # which may cost more to follow than all before it
    if unnamed:  # nothing else is in the way
        _check_places(path, tuple(unnamed), leave, facts)
        raise Unshared(f"{HANDED}{_made(others[0], path, facts)}; {SUMS_HINT}")
    steps = {r: steps[r] for r in sorted(steps, key=lambda register: register.name)}
    return Induction(steps, *counted, end, leave, sums)


def find_counter(path: CheckedPath, facts: Facts) -> Induction | None:
    """The counter that a loop ends with, whatever else its turns hand on; None if there is none."""
    loop = next(loop for loop in facts.loops if loop.header == path.entry)
    try:
        end, leave = _end(loop, facts)
    except Unshared:
        return None
    return _counter_at(end, leave, loop, facts, is_stepped=True)


def find_bound(loop: Loop, facts: Facts) -> Induction | None:
    """A counter of which a bound ends a loop, if nothing ended it before; None if there is none.

    The loop may test it before or behind its step, and may end elsewhere, too.
    """
    if len(loop.latches) != 1:
        return None
    (latch,) = loop.latches
    ends = ((a, b) for a, b in loop.exits(facts.graph) if facts.dominators.dominates(a, latch))
    found = (_counter_at(end, leave, loop, facts, is_stepped=False) for end, leave in ends)
    return next(filter(None, found), None)


def _counter_at(
    end: str, leave: str, loop: Loop, facts: Facts, is_stepped: bool
) -> Induction | None:
    """The counter that a block compares with a bound, and may leave the loop by; None if it does
    not. Of one that ``is_stepped`` the block has what it holds behind its step."""
    body = instructions_of(loop.blocks, facts)
    written = {register for instruction in body for register in instruction.defined()}
    latch = next(iter(loop.latches))
    carried = facts.liveness.live_in(loop.header) & written
    step = _step if is_stepped else _step_anyhow
    found = {register: step(register, loop, latch, facts) for register in carried}
    steps = {register: step for register, step in found.items() if isinstance(step, int)}
    counted = _counted({**steps}, written, end, loop, facts, is_stepped)
    return None if counted is None else Induction({**steps}, *counted, end, leave)


def _end(loop: Loop, facts: Facts) -> tuple[str, str]:
    """The one block where the loop ends, in every turn, and where it leads to.

    Raises:
        Unshared: it may end elsewhere.
    """
    exits = loop.exits(facts.graph)
    if len(exits) != 1 or len(loop.latches) != 1:
        raise Unshared(SEVERAL_ENDS)
    ((end, leave),) = exits
    behind = _behind(end, loop, facts)
    alone = end not in behind and facts.dominators.dominates(end, next(iter(loop.latches)))
    if not alone or any(map(has_side_effect, instructions_of(behind, facts))):
        raise Unshared(SEVERAL_ENDS)
    return end, leave


def _behind(end: str, loop: Loop, facts: Facts) -> set[str]:
    """The blocks of a turn behind the one where the loop may end."""

    def step(label: str) -> list[str]:
        return [s for s in facts.graph.successors(label) if s in loop.blocks and s != loop.header]

    return reachable(step, step(end))


def _sums(
    path: CheckedPath, loop: Loop, steps: set[Register], facts: Facts
) -> tuple[Accumulator, ...]:
    """What the loop adds up by itself, for what follows it in the iteration."""
    known = steps.union(*(a.registers for a in path.loop.accumulators))
    found = find_accumulators(path.marker, loop, facts, frozenset(OPERATIONS))
    sums = tuple(a for a in found if known.isdisjoint(a.registers))
    behind = _behind(*_end(loop, facts)[:1], loop, facts)
    late = {r for i in instructions_of(behind, facts) for r in i.defined()}
    if any(not late.isdisjoint(a.registers) for a in (*sums, *path.accumulators)):
        raise Unshared(SEVERAL_ENDS)
    return sums


def _unnamed(registers: Iterable[Register], loop: Loop, facts: Facts) -> list[Accumulator]:
    """What of some registers would be sums of the loop, if a reduction named them."""
    found = (find_sum(register, loop, facts) for register in registers)
    return [web for web in found if web is not None]


def _why_handed(
    register: Register, steps: Collection[Register], path: CheckedPath, facts: Facts
) -> str:
    """Why a register that turns hand on is in the way, where no reduction would help."""
    made = [one for _, one in facts.written_in(path.blocks, register)]
    if all(one.name == "cvt" and not set(steps).isdisjoint(one.used()) for one in made):
        return f"{WIDENED}{at(made[0])}; {BEFORE_IT}"
    return f"{HANDED}{at(made[0])}"


def _check_places(
    path: CheckedPath, sums: tuple[Accumulator, ...], leave: str, facts: Facts
) -> None:
    """That accumulators are behind the loop in the registers that they are in before it.

    Raises:
        Unshared: they are not.
    """
    for accumulator in (*path.accumulators, *sums):
        places = (None, register_at(accumulator, path.entry, facts))
        if register_at(accumulator, leave, facts) not in places:
            raise Unshared("a sum is in another register behind the loop than before it")


def _made(register: Register, path: CheckedPath, facts: Facts) -> str:
    """Where a register is written in the loop."""
    return at(facts.written_in(path.blocks, register)[0][1])


def _home(register: Register, path: CheckedPath, facts: Facts) -> str:
    """The block in which a register is stepped."""
    return facts.written_in(path.blocks, register)[0][0]


def _step(register: Register, loop: Loop, latch: str, facts: Facts) -> int | Register | None:
    """What a register gains in every turn; None if that is not one number, or one register."""
    found = facts.written_in(loop.blocks, register)
    if len(found) != 1 or not facts.dominators.dominates(found[0][0], latch):
        return None
    inner = (one.blocks for one in facts.loops if one.header in loop.blocks - {loop.header})
    if any(found[0][0] in blocks for blocks in inner):
        return None  # more than once a turn
    instruction = found[0][1]
    copies = (
        one for one in instruction.used() if _is_copy(one, register, instruction, loop, facts)
    )
    same = next(copies, register)
    return _added(instruction, same)


def _is_copy(
    source: Register, register: Register, reader: Instruction, loop: Loop, facts: Facts
) -> bool:
    """Whether a register is another one's low half, as that was widened in the same turn.

    So nvcc keeps an ``int`` in wider registers over the blocks of a turn:
    ``cvt.s64.s32 %rd1, %r1; ... cvt.u32.u64 %r2, %rd1; add.s32 %r1, %r2, 1;``. The register itself
    is written by the last of these only.
    """
    narrowed = facts.written_in(loop.blocks, source)
    wide = narrowed[0][1].used() if _is_conversion(narrowed, ("u32.u64", "s32.s64")) else ()
    widened = facts.written_in(loop.blocks, wide[0]) if len(wide) == 1 else []
    if not _is_conversion(widened, ("s64.s32", "u64.u32")):
        return False
    if list(widened[0][1].used()) != [register]:
        return False
    steps = [*widened, *narrowed, *facts.written_in(loop.blocks, register)]
    return steps[-1][1] is reader and all(
        _is_before(*first, *second, facts) for first, second in pairwise(steps)
    )


def _is_conversion(definitions: Sequence[tuple[str, Instruction]], types: Collection[str]) -> bool:
    """Whether one plain conversion between two of some types is all that writes a register."""
    made = [one for _, one in definitions]
    return len(made) == 1 and made[0].opcode in {f"cvt.{t}" for t in types} and not made[0].guard


def _is_before(
    label: str, first: Instruction, other: str, second: Instruction, facts: Facts
) -> bool:
    """Whether an instruction is always run before another one, in the same turn."""
    if label != other:
        return facts.dominators.dominates(label, other)
    own = list(facts.blocks[label].instructions)
    return own.index(first) < own.index(second)


def _added(instruction: Instruction, register: Register) -> int | Register | None:
    """What an instruction adds to a register; None if it does something else."""
    if instruction.name != "add" or instruction.modifiers[0] not in _TYPES or instruction.guard:
        return None
    _, source, step = instruction.operands
    if source != register or len(instruction.modifiers) != 1:
        return None
    if isinstance(step, Immediate) and step.integer is not None:
        return number_of_type(step.integer, f"s{register.bits}")
    return step if isinstance(step, Register) else None


def _step_anyhow(register: Register, loop: Loop, latch: str, facts: Facts) -> int | Register | None:
    """The same, also where another register gets it first."""
    found = facts.written_in(loop.blocks, register)
    if len(found) == 1 and found[0][1].name == "mov" and not found[0][1].guard:
        source = found[0][1].operands[1]
        made = facts.written_in(loop.blocks, source) if isinstance(source, Register) else []
        if len(made) == 1:
            return _added(made[0][1], register)
    return _step(register, loop, latch, facts)


def _counted(
    steps: dict[Register, int | Register],
    written: set[Register],
    end: str,
    loop: Loop,
    facts: Facts,
    is_stepped: bool = True,
) -> tuple[Register, str, str, Register | int] | None:
    """The comparison that ends the loop, of a counter that was stepped before, or of any."""
    own = list(facts.blocks[end].instructions)
    branch = next(instruction for instruction in own if instruction.is_terminator)
    if branch.guard is None or branch.target is None or branch.target in facts.function.targets:
        return None
    goes_on = branch.guard.negated != (branch.target in loop.blocks)
    tests = _tests(branch.guard.register, goes_on, own, is_alone=is_stepped)
    for test in tests:
        counted = _compared(test, goes_on, steps, written)
        if counted is None:
            continue
        before = facts.reaching.of_uses(end)[test, counted[0]] if is_stepped else ()
        if is_stepped and (len(before) != 1 or before[0].instruction.defined() != counted[:1]):
            return None  # not yet stepped: the value from before the loop may reach the test
        return counted
    return None


def _compares_before_step(steps: Collection[Register], end: str, loop: Loop, facts: Facts) -> bool:
    """Whether the loop ends by what a register holds before its step, as nvcc makes of ``<=``."""
    own = list(facts.blocks[end].instructions)
    decision = own[-1].guard.register if own[-1].guard else None
    tests = [one for one in own if one.name == "setp" and decision in one.defined()]

    def is_early(test: Instruction, register: Register) -> bool:
        """Whether it compares what a step begins with."""
        return any(
            not {*test.used()}.isdisjoint({*made.used()} - {register})
            or (register in test.used() and not _is_before(label, made, end, test, facts))
            for label, made in facts.written_in(loop.blocks, register)
        )

    return any(is_early(test, register) for test in tests for register in steps)


def _steps_by_register(
    steps: Mapping[Register, int | Register], written: Collection[Register], end: str, facts: Facts
) -> bool:
    """Whether the loop ends by comparing what steps by a register with what stays the same."""
    own = list(facts.blocks[end].instructions)
    decision = own[-1].guard.register if own[-1].guard else None
    varied = {register for register, step in steps.items() if isinstance(step, Register)}
    tests = [one for one in own if one.name == "setp" and decision in one.defined()]
    compared = ({*test.used()}.intersection(written) for test in tests)
    return any(len(found) == 1 and found <= varied for found in compared)


def _tests(
    decision: Register, goes_on: bool, own: Sequence[Instruction], is_alone: bool
) -> Iterator[Instruction]:
    """The comparison of a block that makes a decision; or, unless it has to be alone, those of
    which each one can end the loop by it."""
    makers = [one for one in own if decision in one.defined()]
    if len(makers) != 1 or makers[0].guard:
        return
    (maker,) = makers
    if maker.name == "setp" and len(maker.operands) == 3:
        yield maker
    elif maker.name == ("and" if goes_on else "or") and not is_alone:
        before = own[: own.index(maker)]
        for part in maker.used():
            yield from _tests(part, goes_on, before, is_alone)


def _compared(
    test: Instruction,
    goes_on: bool,
    steps: dict[Register, int | Register],
    written: set[Register],
) -> tuple[Register, str, str, Register | int] | None:
    """The counter and the bound of a comparison that ends a loop, which goes on if it holds, or if
    it does not."""
    relation, type_name = test.modifiers[0], test.modifiers[-1]
    _, counter, bound = test.operands
    if counter not in steps:
        counter, bound, relation = bound, counter, SWAPPED.get(relation, "")
    if not goes_on:
        relation = INVERSE.get(relation, "")  # it says when the loop ends
    if not isinstance(counter, Register) or counter not in steps or len(test.modifiers) != 2:
        return None
    stride = steps[counter]
    if not isinstance(stride, int) or type_name not in _TYPES:
        return None
    if relation not in (_UP if stride > 0 else _DOWN if stride < 0 else ()):
        return None
    limit = _bound(bound, type_name)
    if limit is None or limit in written or _is_beyond(limit, relation, type_name, stride):
        return None
    return counter, relation, type_name, limit


def _is_beyond(bound: Register | int, relation: str, type_name: str, stride: int) -> bool:
    """Whether it is a number from which the loop may go on at the other end of all numbers."""
    last = _last(relation, type_name, stride)
    if isinstance(bound, Register) or last is None:
        return False
    return bound > last if stride > 0 else bound < last


def _bound(operand: Operand, type_name: str) -> Register | int | None:
    if isinstance(operand, Immediate) and operand.integer is not None:
        return number_of_type(operand.integer, type_name)
    return operand if isinstance(operand, Register) else None
