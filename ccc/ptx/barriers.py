"""Barriers, and who waits for whom at them (PTX ISA section 9.7.13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

BARRIERS = ("bar", "barrier")

PARITY = 2
"""Which operand of ``mbarrier.try_wait.parity`` tells for which phase it waits."""

_Operand = TypeVar("_Operand")


def is_of_block(name: str, modifiers: tuple[str, ...]) -> bool:
    """Whether threads of a block wait there for others of it: a barrier neither of a warp nor of a
    cluster, and not one at which they only arrive."""
    return name in BARRIERS and {"warp", "cluster", "arrive"}.isdisjoint(modifiers)


def number_and_counts(
    modifiers: tuple[str, ...], operands: Sequence[_Operand]
) -> Sequence[_Operand]:
    """Of a block's barrier the operand that tells which it is, and then how many threads it waits
    for: all of the block, if there is none. What a vote makes, and of what, is left out."""
    return operands[1:-1] if "red" in modifiers else operands


def waits_for_the_block(
    name: str, modifiers: tuple[str, ...], operands: Sequence[_Operand]
) -> bool:
    """Whether it is a barrier that counts no threads, and so waits for all of the block."""
    return is_of_block(name, modifiers) and len(number_and_counts(modifiers, operands)) == 1


def brings_the_warp_together(
    name: str, modifiers: tuple[str, ...], operands: Sequence[_Operand]
) -> bool:
    """Whether it is a barrier of the block that a lane passes only when all of its warp are there.

    They come together to an aligned one, and all of the block's threads to one that counts none.
    Who awaits copies of its own, or arrives at an ``mbarrier``, waits for no lane.
    """
    return is_of_block(name, modifiers) and (
        not counts_threads(name, modifiers) or waits_for_the_block(name, modifiers, operands)
    )


def counts_threads(name: str, modifiers: tuple[str, ...]) -> bool:
    """Whether a thread waits there until others have come to such a barrier, wherever it stands.

    To an aligned one, as ``bar.sync`` is, all lanes of a warp come together, and so do those of an
    exchange.
    """
    if name == "bar":
        return "warp" in modifiers
    if name == "barrier":
        return "aligned" not in modifiers and ("cluster" not in modifiers or "wait" in modifiers)
    return name == "mbarrier" and not {"test_wait", "try_wait"}.isdisjoint(modifiers)


def lets_threads_go(name: str, opcode: str) -> bool:
    """Whether those that wait at a barrier may wait for a thread to come there.

    Some copies arrive at an ``mbarrier``, too (PTX ISA, cp.async.mbarrier.arrive).
    """
    return name in BARRIERS or "mbarrier" in opcode
