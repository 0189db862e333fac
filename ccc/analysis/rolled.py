"""Loops that a compiler leaves in one piece, though nothing marks them.

    for (int i = ...; i < n; i += blockDim.x * gridDim.x)

Whether nvcc unrolls a loop depends on whether it can compute how often that goes round, and what it
does with an iteration on what it knows of the next. It knows neither where something is added to a
counter that may be anything, and the counter may begin anew, since it has no sign. PTX does not
tell whether it has one; the source may (:mod:`ccc.frontend.wrapping`).

Yet nvcc takes the first iterations out of a loop if these alone are different, and makes two loops
of one in which a branch goes the same way in all iterations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from ccc.ir.markers import LOOPS, UNROLLS
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Register

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

_STEPS = ("add", "sub", "mad")


def stays_rolled(facts: Facts, loop: Loop, wrapping: Collection[int]) -> bool:
    """Whether a compiler leaves a loop as it is.

    Args:
        facts: of the function.
        loop: one of its loops.
        wrapping: the annotated loops, by ``id``, whose counters may begin anew.
    """
    guards = _guards(facts, loop.blocks)
    holds_one = any(one.blocks < loop.blocks for one in facts.loops)
    compared = (
        register
        for one in instructions_in(facts, loop)
        if not holds_one and one.name == "setp" and isinstance(one.operands[-1], Immediate)
        for register in one.used()
    )
    return (
        any(one in wrapping for one in own_markers(facts, loop))
        and varying(facts, loop).issuperset(guards)
        and not any(_goes_by_constants(facts, one) for one in (*_counters(facts, loop), *compared))
    )


def kept_rolled(facts: Facts, left: Collection[int] | None = None) -> set[str]:
    """The headers of the loops that are not unrolled for the sake of their annotations alone; of
    some annotations, if any are named."""
    return {
        next((loop.header for loop in facts.loops if block.label in loop.blocks), "")
        for block in facts.function.blocks
        for marker in block.markers
        if marker.kind in LOOPS and not UNROLLS.items() <= marker.clauses.items()
        if left is None or marker.identifier in left
    }


def own_markers(facts: Facts, loop: Loop) -> Iterator[int]:
    """The annotations of a loop itself, and of none in it."""
    inner = {label for one in facts.loops if one.blocks < loop.blocks for label in one.blocks}
    return (
        marker.identifier
        for label in loop.blocks - inner
        for marker in facts.blocks[label].markers
        if marker.kind in LOOPS
    )


def instructions_in(facts: Facts, loop: Loop) -> Iterator[Instruction]:
    """What stands in a loop, in no order."""
    return (one for label in loop.blocks for one in facts.blocks[label].instructions)


def varying(facts: Facts, loop: Loop) -> frozenset[Register]:
    """The registers that a loop writes and that may hold something else in each iteration."""
    return facts.once(_varying, loop)


def _varying(loop: Loop, facts: Facts) -> frozenset[Register]:
    found = {register for one in instructions_in(facts, loop) for register in one.defined()}
    while steady := [one for one in found if _is_steady(facts, one, found)]:
        found.difference_update(steady)
    return frozenset(found)


def _is_steady(facts: Facts, register: Register, changing: Collection[Register]) -> bool:
    """Whether a register is written once, with what is made of nothing that changes."""
    makers = facts.makers.get(register, ())
    return len(makers) == 1 and not makers[0].effects and not set(makers[0].used()) & {*changing}


def _guards(facts: Facts, labels: Collection[str]) -> list[Register]:
    """What the branches at the ends of some blocks ask for."""
    ends = (one for label in labels for one in facts.blocks[label].instructions if one.is_branch)
    return [one.guard.register for one in ends if one.guard is not None]


def _counters(facts: Facts, loop: Loop) -> Iterator[Register]:
    """What is compared where a loop ends."""
    guards = _guards(facts, {label for label, _ in loop.exits(facts.graph)})
    return (one for guard in guards for maker in facts.makers[guard] for one in maker.used())


def _goes_by_constants(facts: Facts, register: Register) -> bool:
    """Whether a constant is added to a register again and again."""
    makers = facts.makers.get(register, ())
    copied = {use for one in makers if one.name in ("mov", "cvt") for use in one.used()}
    steps = [*makers, *(one for use in copied for one in facts.makers.get(use, ()))]
    return any(
        one.name in _STEPS
        and any(isinstance(operand, Immediate) for operand in one.operands)
        and not {register, *copied}.isdisjoint(one.used())
        for one in steps
    )
