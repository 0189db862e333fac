"""How far apart the values of neighbouring lanes or turns are, where that is one number.

A guess, as if additions did not wrap and all threads of a warp stood in one row of their block. It
says whether memory accesses are coalesced, and never whether something may be done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ccc.analysis.defuse import only_maker
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Operand, Register, Special
from ccc.ptx.opcodes import CARRIES_ON, LOADS, Effect
from ccc.ptx.operations import MAKES_ONE_OF
from ccc.ptx.types import LANE, TIME, WARP_SIZE

Strides: TypeAlias = Mapping[Register, "int | None"]
"""By register; None where it is not one number, or none that is known."""

_NEIGHBOURS = ("%tid.x", "%laneid")
_MORE = ~(Effect.SETS_CARRY | Effect.READS_CARRY)
"""Effects of what does more than compute."""


def lane_strides(facts: Facts) -> Strides:
    """The stride of each register: what all its definitions agree on.

    As in constant propagation, what is not known yet agrees with everything, so that a counter has
    the stride that it begins with if all lanes add the same to it.
    """
    return facts.once(_lane_strides, facts.entry)


def _lane_strides(_: str, facts: Facts) -> Strides:
    found: dict[Register, int | None] = {}
    changed = True
    while changed:
        changed = False
        for label in facts.graph:
            block = facts.blocks.get(label)
            for instruction in block.instructions if block else ():
                changed |= _update(found, instruction, facts)
    return found


def turn_strides(loop: Loop, facts: Facts) -> Strides:
    """How far each register that the turns of a loop make moves in a turn; others stay.

    A register that nothing but an addition of a literal to itself makes moves by that, or to a
    copy, as nvcc has it where the old value is read behind the addition.
    """
    return facts.once(_turn_strides, loop)


def _turn_strides(loop: Loop, facts: Facts) -> Strides:
    inside = [
        i for label in facts.graph if label in loop.blocks for i in facts.blocks[label].instructions
    ]
    makers: dict[Register, list[Instruction]] = {}
    for instruction in inside:
        for register in instruction.defined():
            makers.setdefault(register, []).append(instruction)
    found: dict[Register, int | None] = {
        register: step for register in makers if (step := _step(register, makers, facts))
    }
    # What a turn hands on to the next one in any other way may be anything there.
    carried = facts.liveness.live_in(loop.header).intersection(makers)
    found |= dict.fromkeys(carried - {*found})
    made = {*makers} - {*found}
    changed = True
    while changed:
        changed = False
        for instruction in inside:
            later = any(one in made and one not in found for one in instruction.used())
            if not later and made.intersection(instruction.defined()):
                changed |= _agree(found, instruction, _made_by(instruction, found, facts))
    return {**dict.fromkeys(made), **found}


def _step(
    register: Register, makers: Mapping[Register, list[Instruction]], facts: Facts
) -> int | None:
    """What a register moves by that only an addition to itself makes, or to a copy of it."""
    first = only_maker(register, makers)
    if first is None or first.name != "add":
        return None
    if not any(_is_copy(operand, register, makers) for operand in first.operands[1:]):
        return None
    literals = [facts.literal(operand) for operand in first.operands[1:]]
    return next((one.integer for one in literals if one and one.integer is not None), None)


def _is_copy(
    operand: Operand, register: Register, makers: Mapping[Register, list[Instruction]]
) -> bool:
    """Whether it is the register, or what that was when the turn began: for an estimate, which
    takes it that nothing is lost by conversions (:mod:`ccc.analysis.paths.induction` proves it)."""
    passed: set[Operand] = set()
    while operand != register:
        made = only_maker(operand, makers)
        if made is None or made.name not in CARRIES_ON or operand in passed:
            return False
        passed.add(operand)
        operand = made.operands[1]
    return True


def _update(found: dict[Register, int | None], instruction: Instruction, facts: Facts) -> bool:
    """Let a definition count; whether that says something new."""
    if not instruction.defined():
        return False
    if any(register not in found and register in facts.makers for register in instruction.used()):
        return False
    if instruction.name in LOADS and address_stride(instruction, found) == 0:
        return _agree(found, instruction, 0)  # all lanes read one number
    return _agree(found, instruction, _made_by(instruction, found, facts))


def _agree(found: dict[Register, int | None], instruction: Instruction, stride: int | None) -> bool:
    """The same of a definition of which the stride is known, or that there is none."""
    changed = False
    for register in instruction.defined():
        agreed = stride if found.get(register, stride) == stride else None
        changed |= register not in found or found[register] != agreed
        found[register] = agreed
    return changed


def _made_by(instruction: Instruction, found: Strides, facts: Facts) -> int | None:
    """The stride of what an instruction makes, by those of its operands."""
    if instruction.effects & _MORE:
        return None
    name, (_, *operands) = instruction.name, instruction.operands
    strides = [_of(operand, found) for operand in operands]
    if name in CARRIES_ON or (not any(strides) and None not in strides):
        return strides[0] if name in CARRIES_ON else 0
    if name in ("add", "sub") and None not in strides:
        first, second = (stride or 0 for stride in strides)
        return first + second if name == "add" else first - second
    if name in ("mul", "mad", "shl"):
        return _product(name, operands, strides, facts)
    if is_coarse(instruction, found, facts):
        return 0
    return _wrapped(operands, strides, facts) if name == "and" else None


def is_coarse(instruction: Instruction, found: Strides, facts: Facts) -> bool:
    """Whether an instruction makes one number of what differs by less than that from lane to lane
    of a warp: the upper bits, or a quotient."""
    size = MAKES_ONE_OF.get(instruction.name)
    if size is None:
        return False
    stride, by = _of(instruction.operands[1], found), facts.literal(instruction.operands[2])
    if not stride or by is None or by.integer is None:
        return False
    return abs(stride) * WARP_SIZE <= size(by.integer)


def _wrapped(operands: list[Operand], strides: list[int | None], facts: Facts) -> int | None:
    """That of a number in a ring, whose size is a power of two: it seldom begins anew. A mask that
    is no literal is taken for one of many bits."""
    for one, other in ((0, 1), (1, 0)):
        mask, stride = facts.literal(operands[other]), strides[one]
        if stride is None or strides[other] != 0:
            continue
        size = None if mask is None or mask.integer is None else mask.integer + 1
        if size is None or (size > WARP_SIZE * abs(stride) and size & (size - 1) == 0):
            return stride
    return None


def _product(
    name: str, operands: list[Operand], strides: list[int | None], facts: Facts
) -> int | None:
    """That of a product with a literal, and of what is added to it."""
    for one, other in ((0, 1), (1, 0)) if name != "shl" else ((0, 1),):
        literal, stride = facts.literal(operands[other]), strides[one]
        if literal is not None and literal.integer is not None and stride is not None:
            product = stride << literal.integer if name == "shl" else stride * literal.integer
            more = strides[2] if name == "mad" else 0
            return None if more is None else product + more
    return strides[2] if name == "mad" and strides[:2] == [0, 0] else None


def _of(operand: Operand, found: Strides) -> int | None:
    if isinstance(operand, Register):
        return found.get(operand, 0)
    if isinstance(operand, Special):
        if operand.name in _NEIGHBOURS:
            return 1
        return None if operand.register.varies in (LANE, TIME) else 0
    return _of(operand.base, found) if isinstance(operand, Address) else 0


def is_coalesced(load: Instruction, strides: Strides) -> bool:
    """Whether lanes side by side read elements side by side."""
    stride = address_stride(load, strides)
    return stride is not None and abs(stride) == load.accessed_bytes


def address_stride(access: Instruction, strides: Strides) -> int | None:
    """That of the address that an instruction accesses."""
    return next((_of(one, strides) for one in access.operands if isinstance(one, Address)), None)
