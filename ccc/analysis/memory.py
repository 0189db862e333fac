"""What memory instructions may touch: a coarse, safe alias analysis by state space."""

from __future__ import annotations

from collections.abc import Iterable

from ccc.ir.nodes import Function, Instruction
from ccc.ir.operands import Register, registers
from ccc.ptx.opcodes import Effect

EVERY_SPACE = frozenset({"global", "shared", "local"})
_FIRST_VALUE = {"st": 1, "red": 1, "atom": 2, "call": 0}
"""From which operand on an instruction hands values on."""


def read_spaces(instruction: Instruction) -> frozenset[str]:
    """The writable state spaces it may read."""
    return _spaces(instruction, Effect.READ)


def written_spaces(instruction: Instruction) -> frozenset[str]:
    """The state spaces it may write."""
    return _spaces(instruction, Effect.WRITE)


def _spaces(instruction: Instruction, effect: Effect) -> frozenset[str]:
    effects = instruction.effects
    if effects & (Effect.FENCE | Effect.OPAQUE | Effect.CALL):
        return EVERY_SPACE
    if not effects & effect:
        return frozenset()
    space = instruction.space
    return frozenset({space}) if space in EVERY_SPACE else EVERY_SPACE


def conflict(first: Iterable[Instruction], second: Iterable[Instruction]) -> bool:
    """Whether the order of the two groups may matter: one may write what the other touches."""
    first, second = list(first), list(second)
    reads = [frozenset().union(*map(read_spaces, group)) for group in (first, second)]
    writes = [frozenset().union(*map(written_spaces, group)) for group in (first, second)]
    return bool(writes[0] & (reads[1] | writes[1]) or reads[0] & writes[1])


def local_addresses(function: Function) -> frozenset[Register]:
    """The registers that may hold an address of the thread's own ``.local`` memory.

    Copies and arithmetic carry an address on; what a load brings back is not followed, so a
    function that stores such an address (:func:`local_escapes`) needs more care.
    """
    local = {variable.name for variable in function.variables if variable.space == "local"}
    tainted: set[Register] = set()
    grown = True
    while grown:
        grown = False
        for instruction in function.instructions:
            if instruction.effects & (Effect.READ | Effect.CALL):
                continue
            named = any(symbol.name in local for symbol in instruction.symbols())
            if named or not tainted.isdisjoint(instruction.used()):
                found = {r for r in instruction.defined() if r.type != "pred"} - tainted
                tainted |= found
                grown = grown or bool(found)
    return frozenset(tainted)


def escaping_store(function: Function) -> Instruction | None:
    """An instruction that stores an address of local memory or hands it to another function."""
    tainted = local_addresses(function)
    for instruction in function.instructions:
        first = _FIRST_VALUE.get(instruction.name)
        if first is not None:
            handed = (r for operand in instruction.operands[first:] for r in registers(operand))
            if not tainted.isdisjoint(handed):
                return instruction
    return None


def local_escapes(function: Function) -> bool:
    """Whether an address of local memory is stored to memory or handed to another function."""
    return escaping_store(function) is not None


def touches_local(instruction: Instruction, tainted: frozenset[Register]) -> bool:
    """Whether it accesses, or may access, the thread's local memory."""
    if not instruction.effects & (Effect.READ | Effect.WRITE) or instruction.space == "param":
        return False
    return instruction.space == "local" or not tainted.isdisjoint(instruction.used())
