"""A counter that nvcc has widened is stepped beside that in the type in which it is compared.

Where an ``int`` that counts turns is used in 64 bits, as in ``key | e``, nvcc keeps it there, and
makes 32 bits of it for each comparison with the bound. It is no counter then that is compared, and
turns cannot be shared out.

Before:

    TURN:   ...
            add.s64 %rd41, %rd41, 1;
            cvt.u32.u64 %r17, %rd41;
            setp.lt.s32 %p4, %r17, %r5;
            @%p4 bra TURN;

After:

            cvt.u32.u64 %r17, %rd41;
    TURN:   ...
            add.s64 %rd41, %rd41, 1;
            add.s32 %r17, %r17, 1;
            setp.lt.s32 %p4, %r17, %r5;
            @%p4 bra TURN;

The low half of a sum is the sum of the low halves, so that the two are the same in each turn.
"""

from __future__ import annotations

from typing import ClassVar

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import instructions_of
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Immediate
from ccc.passes.preheader import independent_in_turn, put_before
from ccc.pipeline import Kernel, Pass
from ccc.ptx.types import number_of_type
from ccc.snippet import Snippet

STEP = Snippet(
    """
    .reg .b32 %counter;
        add.s32 %counter, %counter, STEP;
    """,
    "STEP",
)
"""The counter as it is compared is stepped where the wide one was narrowed."""

_NARROWS = "cvt.u32.u64"
_STEPS = ("add.s64", "add.u64")


class NarrowCounters(Pass):
    """Step the counters of loops whose turns are independent as they are compared."""

    name: ClassVar[str] = "narrow-counters"

    def run(self, kernel: Kernel) -> None:
        """Do so with one loop after the other."""
        for loop, facts in independent_in_turn(kernel):
            end = _end(loop, facts)
            if end is not None and (narrowing := _narrowing(end, loop, facts)) is not None:
                step = _step_before(narrowing, end, loop, facts)
                if step is not None:
                    _replace(narrowing, step, end, kernel)
                    put_before(kernel.function, loop, [narrowing], facts)
                    kernel.changed()


def _replace(narrowing: Instruction, step: int, end: Block, kernel: Kernel) -> None:
    """Step in a block what was narrowed there."""
    function, new = kernel.function, Block("", [], named=False)
    (counter,) = narrowing.defined()
    STEP.of(STEP=step).emit(Emitter(function, new, function.span), counter=counter)
    place = end.statements.index(narrowing)
    end.statements[place:place] = new.statements


def _end(loop: Loop, facts: Facts) -> Block | None:
    """The block where a loop ends, to which each turn comes once; None if there is none such."""
    exits = loop.exits(facts.graph)
    if len(exits) != 1 or len(loop.latches) != 1 or loop.header == facts.entry:
        return None
    ((end, _),) = exits
    inner = (one.blocks for one in facts.loops if one.blocks < loop.blocks)
    always = facts.dominators.dominates(end, next(iter(loop.latches)))
    return facts.blocks[end] if always and not any(end in blocks for blocks in inner) else None


def _narrowing(end: Block, loop: Loop, facts: Facts) -> Instruction | None:
    """What makes the value that is compared at the end of a loop, if that is a low half."""
    own = list(end.instructions)
    guard = next((i.guard for i in own if i.is_terminator), None)
    compared = {r for i in own if guard and guard.register in i.defined() for r in i.used()}
    for one in own:
        if one.opcode == _NARROWS and one.guard is None and not compared.isdisjoint(one.defined()):
            carried = facts.liveness.live_in(loop.header)
            return one if carried.isdisjoint(one.defined()) and _is_only(one, loop, facts) else None
    return None


def _step_before(narrowing: Instruction, end: Block, loop: Loop, facts: Facts) -> int | None:
    """What is added to the wide counter in each turn, before it is narrowed; None if that is no
    constant."""
    own, wide = list(end.instructions), narrowing.operands[1]
    makers = [i for i in own[: own.index(narrowing)] if wide in i.defined()]
    if len(makers) != 1 or makers[0].opcode not in _STEPS or makers[0].guard is not None:
        return None
    (maker,) = makers
    _, before, step = maker.operands
    if before != wide or not isinstance(step, Immediate) or not _is_only(maker, loop, facts):
        return None
    return None if step.integer is None else number_of_type(step.integer, "s32")


def _is_only(maker: Instruction, loop: Loop, facts: Facts) -> bool:
    """Whether nothing else in a loop writes what an instruction does."""
    others = (i for i in instructions_of(loop.blocks, facts) if i is not maker)
    return not any(set(maker.defined()) & set(i.defined()) for i in others)
