"""What memory instructions may touch: a coarse, safe alias analysis by state space."""

from __future__ import annotations

from collections.abc import Iterable

from ccc.analysis.callees import SYSTEM_CALLS, callee
from ccc.ir.nodes import Instruction
from ccc.ptx.opcodes import Effect

EVERY_SPACE = frozenset({"global", "shared"})
"""The spaces that other threads see, too; of local memory :mod:`ccc.analysis.local_memory` knows
more."""


def read_spaces(instruction: Instruction) -> frozenset[str]:
    """The writable state spaces it may read."""
    return _spaces(instruction, Effect.READ)


def written_spaces(instruction: Instruction) -> frozenset[str]:
    """The state spaces it may write."""
    return _spaces(instruction, Effect.WRITE)


def _spaces(instruction: Instruction, effect: Effect) -> frozenset[str]:
    effects = instruction.effects
    if effects & Effect.CALL and callee(instruction) in SYSTEM_CALLS:
        return EVERY_SPACE if SYSTEM_CALLS[callee(instruction)] & effect else frozenset()
    if effects & (Effect.FENCE | Effect.OPAQUE | Effect.CALL):
        return EVERY_SPACE
    if not effects & effect:
        return frozenset()
    space = instruction.space
    if space == "local":
        return frozenset()
    return frozenset({space}) if space in EVERY_SPACE else EVERY_SPACE


def conflict(first: Iterable[Instruction], second: Iterable[Instruction]) -> bool:
    """Whether the order of the two groups may matter: one may write what the other touches."""
    first, second = list(first), list(second)
    reads = [frozenset().union(*map(read_spaces, group)) for group in (first, second)]
    writes = [frozenset().union(*map(written_spaces, group)) for group in (first, second)]
    return bool(writes[0] & (reads[1] | writes[1]) or reads[0] & writes[1])


def find_conflict(
    first: Iterable[Instruction], second: Iterable[Instruction]
) -> tuple[Instruction, Instruction] | None:
    """An instruction of each group whose order may matter; calls, of which least is known, first.

    None where :func:`conflict` finds none.
    """
    first, second = list(first), list(second)
    if not conflict(first, second):
        return None
    ours = sorted(first, key=lambda i: not i.effects & Effect.CALL)
    return next((a, b) for a in ours for b in second if conflict([a], [b]))
