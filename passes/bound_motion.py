"""Loop-invariant code motion of the bound of a ``for variable``.

Where a loop ends by comparing a counter with a value in memory, as ``e < row[v + 1]``, nvcc loads
that again in each turn, since the turns may have written it, for all it knows. But they are
independent of one another: none writes what another one reads, and so none writes the bound.

Before:

    TURN:   ...
            st.global.u32 [%rd9], %r7;
            add.s32 %r3, %r3, 1;
            ld.global.u32 %r4, [%rd2+4];
            setp.lt.s32 %p1, %r3, %r4;
            @%p1 bra TURN;

After, the load stands before ``TURN``. It must be a plain one, of a place that is the same in all
turns, each turn must come to it, and so must who goes into the loop: what is asked behind a turn
alone, as ``do`` does, may be what that turn wrote, if it is the last. What a loop waits for, or
orders, is left as it is.
"""

from __future__ import annotations

from typing import ClassVar

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.invariant_stores import InvariantStores
from ccc.analysis.paths.model import instructions_of
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Operand
from ccc.passes.preheader import ORDERS, independent_in_turn, invariants, put_before, with_operands
from ccc.pipeline import Kernel, Pass
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import MAY_BE_GLOBAL, STRONG


class BoundMotion(Pass):
    """Load the bounds of loops whose turns are independent before their first turns."""

    name: ClassVar[str] = "bound-motion"

    def run(self, kernel: Kernel) -> None:
        """Move what can be moved, one loop after the other."""
        for loop, facts in independent_in_turn(kernel):
            moved = _bound(loop, facts)
            if moved:
                put_before(kernel.function, loop, moved, facts)
                kernel.changed()


def _bound(loop: Loop, facts: Facts) -> list[Instruction]:
    """What makes the value that the loop's counter is compared with, if that is to be moved."""
    exits = loop.exits(facts.graph)
    if len(exits) != 1 or loop.header == facts.entry:
        return []
    body = list(instructions_of(loop.blocks, facts))
    if any(i.effects & ORDERS or STRONG.intersection(i.modifiers) for i in body):
        return []
    if InvariantStores(loop, facts).find(loop.blocks) is not None:
        return []  # the turns are not independent
    own = list(facts.blocks[exits[0][0]].instructions)
    movable = invariants(own, _is_plain, loop, facts)
    guard = next((i.guard for i in own if i.is_terminator), None)
    tests = [i for i in own if guard is not None and guard.register in i.defined()]
    bounds = {register for test in tests for register in test.used()}
    wanted = with_operands([i for i in movable if not bounds.isdisjoint(i.defined())], movable)
    read = {operand for i in wanted for operand in i.operands if isinstance(operand, Address)}
    written = {o for i in body if i.effects & Effect.WRITE for o in i.operands}
    if not read or not read.isdisjoint(written):
        return []
    return wanted if read <= _read_before(loop, facts) else []


def _read_before(loop: Loop, facts: Facts) -> set[Operand]:
    """The places of memory that are read on each way to the loop."""
    above = facts.dominators.chain(loop.header)[1:]
    code = instructions_of([label for label in above if label not in loop.blocks], facts)
    return {o for i in code if i.name == "ld" for o in i.operands if isinstance(o, Address)}


def _is_plain(instruction: Instruction) -> bool:
    if instruction.name == "ld":
        return instruction.space in MAY_BE_GLOBAL and not instruction.effects & ~Effect.READ
    return instruction.effects == Effect.NONE
