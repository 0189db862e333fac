"""Markers of loops and kernels that changed nothing.

One in a loop's body keeps a compiler from

- unrolling it: that is not done anyway to loops around others, to long ones, to those that are left
  at several places, to those in which lanes meet, and to those of which nobody knows how often they
  go round, since their counter may wrap around;
- keeping in registers what it reads or writes in each iteration: each address is made in the
  iteration;
- asking before the loop what is the same in all of its iterations: nothing such is asked.

One before a loop, or in a kernel, stands at the function's beginning, before which nothing is done.
Around calls, and where threads have memory of their own, a compiler does more than that.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ccc.analysis.constant_trip_count import trip_count
from ccc.ir.markers import WHOLE_KERNEL, Marker
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Address, Register, registers
from ccc.ptx.opcodes import Effect

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

_FIRST = ("loop", *WHOLE_KERNEL)
_IN_BODY = ("for", "apart")
LOOP_MARKERS = (*_FIRST, *_IN_BODY)
LONG = 64
"""Instructions from which on nvcc puts no turns of a loop in a row of which it does not know how
many there are. Of 577 functions it did so up to 37 (nvcc 13.0)."""
_MEET = Effect.COLLECTIVE | Effect.BARRIER
_SHARED = ("global", "shared", "generic", "")


def is_idle(facts: Facts, marker: Marker, block: Block, wrapping: Collection[int]) -> bool:
    """Whether that is so of one of ``LOOP_MARKERS``; the counters of some loops may wrap around."""
    every = list(facts.function.instructions)
    if "register" in marker.clauses or any(
        i.effects & Effect.CALL or i.space == "local" for i in every
    ):
        return False
    if marker.kind in _FIRST:
        return block is facts.function.blocks[0]
    around = next((loop for loop in facts.loops if block.label in loop.blocks), None)
    return around is not None and around.header == block.label and stays(facts, around, wrapping)


def stays(facts: Facts, loop: Loop, wrapping: Collection[int]) -> bool:
    """Whether a loop is, without a marker, what it is with one."""
    inside = [one for label in loop.blocks for one in facts.blocks[label].instructions]
    markers = facts.blocks[loop.header].markers
    counts = not any(one.kind == "for" and one.identifier in wrapping for one in markers)
    return _stays_whole(facts, loop, inside, counts) and not _asks_always_the_same(facts, inside)


def _stays_whole(facts: Facts, loop: Loop, inside: list[Instruction], counts: bool) -> bool:
    return trip_count(loop, facts) is None and (
        not counts
        or any(other.blocks < loop.blocks for other in facts.loops)
        or len(inside) >= LONG
        or len(loop.exits(facts.graph)) > 1
        or any(one.effects & _MEET for one in inside)
    )


def _asks_always_the_same(facts: Facts, inside: list[Instruction]) -> bool:
    """Whether an address, or a condition, is made from nothing that differs between turns."""
    differing = _differing(facts, inside)

    def is_same(one: Instruction) -> bool:
        places = [operand for operand in one.operands if isinstance(operand, Address)]
        in_memory = one.space in _SHARED and any(
            differing.isdisjoint(registers(at)) for at in places
        )
        return in_memory or (
            one.is_branch and one.guard is not None and one.guard.register not in differing
        )

    return any(map(is_same, inside))


def _differing(facts: Facts, inside: list[Instruction]) -> set[Register]:
    """What a turn makes that may be another value in the next one."""
    found: set[Register] = set()
    size = -1
    while len(found) > size:
        size = len(found)
        for one in inside:
            if one.effects or not found.isdisjoint(one.used()) or _made_twice(facts, one):
                found.update(one.defined())
    return found


def _made_twice(facts: Facts, one: Instruction) -> bool:
    return any(len(facts.makers[register]) > 1 for register in one.defined())
