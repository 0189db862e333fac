"""Functions that call themselves, and whether that can become a loop.

It can where every such call stands in tail position: what the function still does after it is to
hand on what the call returned. Compilers narrow a result and extend it again on its way; that is no
change where every result of the function was extended so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ccc.analysis.callees import callee
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Refused, at
from ccc.ir.nodes import Block, Function, Instruction
from ccc.ir.operands import Immediate, Register
from ccc.ir.parameters import (
    CallList,
    DoesNotFit,
    ParameterRegisters,
    Part,
    accessed,
    accesses,
    parts,
)
from ccc.ir.registers import RegisterFile
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import TYPES


@dataclass(frozen=True, slots=True)
class TailCall:
    """A call of the function by itself: the block that it ends, and the stores of its arguments."""

    block: Block
    call: Instruction
    stores: tuple[Instruction, ...]
    variables: CallList


@dataclass(frozen=True, slots=True)
class _Value:
    """What a register has of the call's result: some bits of a variable, extended."""

    variable: str
    offset: int
    bits: int
    signed: bool

    def narrowed(self, bits: int, signed: bool) -> _Value | None:
        """Cut to its low bits, and extended again."""
        if bits > self.bits:
            return self if self.signed <= signed else None
        return _Value(self.variable, self.offset, bits, signed)


def tail_calls(facts: Facts) -> list[TailCall]:
    """The calls of the function by itself, if there are any.

    Raises:
        Refused: one cannot become a jump, or the function comes to itself through others.
    """
    function = facts.function
    own = []
    for block in function.blocks:
        for call in block.instructions:
            if call.name != "call":
                continue
            if callee(call) == function.name:
                own.append((block, call))
            elif facts.callees.reaches(callee(call), function.name):
                raise Refused(
                    f"the function calls itself through {callee(call)}: mutual recursion is no loop"
                    f"{_at(call, facts)}; let one function do what both do"
                )
    if not own:
        return []
    try:
        calls = [_tail_call(block, call, facts, len(own)) for block, call in own]
        parameter_slots(function, calls, RegisterFile())
    except DoesNotFit:
        raise Refused(
            "the function takes its parameters in other pieces than it passes them to itself"
            f"{_at(own[0][1], facts)}; pass plain values"
        ) from None
    escaping = facts.local.escaping
    if escaping is not None:
        raise Refused(
            "the function hands on the address of an array of its own, which its call of itself "
            f"would overwrite{_at(escaping, facts)}; pass values"
        )
    return calls


def _tail_call(block: Block, call: Instruction, facts: Facts, count: int) -> TailCall:
    """Read one call.

    Raises:
        Refused: it stands elsewhere.
        DoesNotFit: its parameters cannot be registers.
    """
    variables = CallList.of(call, facts.function)
    if call.guard is None and _is_tail(block, call, variables, facts):
        return TailCall(block, call, _stores(block, call, variables, facts.function), variables)
    if count > 1:
        raise Refused(
            "the function calls itself more than once, and only calls in tail position become a "
            f"loop{_at(call, facts)}; write a loop with a stack"
        )
    what = "return what the call returns, unchanged: pass the result so far as an argument"
    if variables.results and any(block.label in loop.blocks for loop in facts.loops):
        what = (
            "write a loop with a stack: the call stands in a loop, if only in one that nvcc made "
            "of another call"
        )
    elif not variables.results:
        what = (
            "let nothing follow the call; of several calls, nvcc may have made a loop of the last: "
            "write a loop with a stack"
        )
    raise Refused(
        "the function still calls itself: only a call in tail position becomes a loop"
        f"{_at(call, facts)}; {what}"
    )


def _at(instruction: Instruction, facts: Facts) -> str:
    """Where an instruction stands, in the source too if the compiler told that."""
    index, line = instruction.location or (0, 0)
    place = at(instruction)
    return (
        place.replace("(", f"({facts.files[index]}:{line}, ", 1) if index in facts.files else place
    )


def _stores(
    block: Block, call: Instruction, variables: CallList, function: Function
) -> tuple[Instruction, ...]:
    """The stores of the call's arguments, which stand right before it.

    Raises:
        DoesNotFit: some stand elsewhere, or registers cannot stand for the parameters.
    """
    before = list(takewhile(lambda i: i is not call, block.instructions))
    names = set(variables.arguments)
    stores = list(takewhile(lambda i: accessed(i) in names, reversed(before)))[::-1]
    every = [i for i in function.instructions if accessed(i) in names]
    if every != stores:
        raise DoesNotFit
    return tuple(stores)


def parameter_slots(
    function: Function, calls: Sequence[TailCall], registers: RegisterFile
) -> list[ParameterRegisters]:
    """Fresh ``registers`` for each parameter of a function, cut as its calls of itself pass it on.

    Raises:
        DoesNotFit: there can be none.
    """
    found = []
    for number, formal in enumerate(function.parameters):
        names = [call.variables.arguments[number] for call in calls]
        stores = [part for name in names for part in accesses(function.instructions, name, "st")]
        found.append(
            ParameterRegisters(
                registers, stores, accesses(function.instructions, formal.name, "ld")
            )
        )
    return found


def _is_tail(block: Block, call: Instruction, variables: CallList, facts: Facts) -> bool:
    """Whether all that follows is to return what the call returned."""
    results = [variable.name for variable in facts.function.results]
    formal = dict(zip(variables.results, results, strict=True))
    values: dict[Register, _Value] = {}
    for instruction in _following(block, call, facts):
        effects = instruction.effects
        if instruction.guard is not None and effects:
            return False
        if effects & Effect.RETURN:
            return True
        name = accessed(instruction)
        if effects & Effect.BRANCH:
            continue
        if instruction.name == "st" and name in results:
            if not all(_is_same(part, name, values, facts) for part in parts(instruction)):
                return False
        elif instruction.name == "ld" and name in formal:
            for part in parts(instruction):
                if isinstance(part.operand, Register):
                    signed = part.type.startswith("s")
                    values[part.operand] = _Value(formal[name], part.offset, part.bits, signed)
        elif effects & ~Effect.READ or (effects and name is None):
            return False
        else:
            _evaluate(instruction, values)
    return False


def _following(block: Block, call: Instruction, facts: Facts) -> Iterator[Instruction]:
    """What runs after the call, up to the first branch that has a choice."""
    behind = {a.label: b for a, b in zip(facts.function.blocks, facts.function.blocks[1:])}  # noqa: B905
    rest = list(block.instructions)
    rest = rest[rest.index(call) + 1 :]
    seen = {block.label}
    while True:
        yield from rest
        last = rest[-1] if rest else None
        target = last.target if last is not None else None
        if target in facts.blocks:
            block = facts.blocks[target]
        elif (last is not None and last.is_terminator) or block.label not in behind:
            return
        else:
            block = behind[block.label]
        if block.label in seen:
            return
        seen.add(block.label)
        rest = list(block.instructions)


def _evaluate(instruction: Instruction, values: dict[Register, _Value]) -> None:
    """Follow copies and conversions; forget what else is written."""
    value = None
    if instruction.guard is None and isinstance(instruction.operands[0], Register):
        source = instruction.operands[1]
        known = values.get(source) if isinstance(source, Register) else None
        extension = _extension(instruction)
        if known and extension:
            value = known.narrowed(*extension)
        elif known and instruction.name == "mov":
            value = known
    for register in instruction.defined():
        values.pop(register, None)
        if value is not None:
            values[register] = value


def _extension(instruction: Instruction) -> tuple[int, bool] | None:
    """How many low bits of an operand the result has, and whether it repeats their sign.

    None for what does not narrow and extend.
    """
    operands, types = instruction.operands, instruction.types
    if instruction.name == "cvt" and len(types) == 2 and len(operands) == 2:
        to, source = (TYPES[word] for word in types)
        if to.kind in "us" and source.kind in "us" and "sat" not in instruction.modifiers:
            return min(to.bits, source.bits), source.kind == "s" and to.bits > source.bits
    elif instruction.name == "and" and isinstance(operands[2], Immediate):
        mask = operands[2].integer
        if mask is not None and mask > 0 and mask & (mask + 1) == 0:
            return mask.bit_length(), False
    elif instruction.name == "selp" and all(str(operand) in "01" for operand in operands[1:3]):
        return 1, False
    return None


def _is_same(part: Part, name: str | None, values: dict[Register, _Value], facts: Facts) -> bool:
    """Whether what is returned there is what the call returned there."""
    value = values.get(part.operand) if isinstance(part.operand, Register) else None
    if value is None or (value.variable, value.offset) != (name, part.offset):
        return False
    if value.bits >= part.bits:
        return True
    # Narrower: then it was extended, and is the same if every result of the function was.
    stored = accesses(facts.function.instructions, value.variable, "st")
    return all(
        (other.offset, other.bits) == (part.offset, part.bits) and _is_extended(other, value, facts)
        for other in stored
        if other.overlaps(part)
    )


def _is_extended(part: Part, like: _Value, facts: Facts) -> bool:
    """Whether a result that the function returns was extended from as few bits in the same way."""
    made = [i for i in facts.function.instructions if part.operand in i.defined()]
    return bool(made) and all(_extends(i, like) for i in made)


def _extends(instruction: Instruction, like: _Value) -> bool:
    extension = _extension(instruction) if instruction.guard is None else None
    if extension is None:
        return False
    bits, signed = extension
    return bits <= like.bits if signed == like.signed else bits < like.bits and not signed
