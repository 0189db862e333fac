"""Loop-invariant code motion of read-only loads, of integer divisions, and of what is carried.

nvcc moves what may fault out of a loop only where it is certain to be executed. Behind a marker,
which is inline assembly to it, nothing is certain any more. What is computed from these goes along.

Before:

            @%p1 bra DONE;                  // no turn
    TURN:   // ccc.variable 2 k.cu:5:1
            ld.global.nc.u32 %r4, [%rd1];
            add.s32 %r5, %r3, %r4;
            ...
            @%p2 bra TURN;
    DONE:

After, the load stands before `TURN`, behind the test that there is a turn, as in nvcc's code of
the source without the annotation. A task has what was loaded in its context, in place of the
address; so only a few words are moved. What comes from an address that all lanes have is in no
context.

Nor may the next iteration need what a loop makes that is a path, as where nvcc takes the low half
of a counter in the loop, and steps it behind that. So what is the same in all turns, and carried
behind them, goes before the loop, too. And so does a copy of what is the same, where a path sets a
variable, ends with a loop whose turns are independent, and nvcc sets the variable in each turn: it
would be of the last turn, and lanes could not share turns out.

Moved is what every thread that enters the loop comes to: what stands in its header, and in each
other block that no way out leads around, up to where a thread may wait or end. Memory that is read
through the read-only path, or constant, nobody writes while the kernel runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import ClassVar

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import independent_loops
from ccc.analysis.paths.model import instructions_of
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register
from ccc.passes.context_collection.context_stack import words
from ccc.passes.preheader import ORDERS, invariants, put_before, with_operands
from ccc.passes.thresholds import INVARIANT_WORDS
from ccc.pipeline import Kernel, Pass
from ccc.ptx.opcodes import DIVISIONS, LOADS, READ_ONLY, Effect
from ccc.ptx.types import TYPES


class LoadMotion(Pass):
    """Load before loops with markers what is the same in all turns."""

    name: ClassVar[str] = "load-motion"

    def run(self, kernel: Kernel) -> None:
        """Move what can be moved, out of inner loops before outer ones."""
        if kernel.facts.unknown is not None or not kernel.facts.is_reducible:
            return
        for header in [loop.header for loop in _marked(kernel.facts)]:
            facts = kernel.facts
            loop = next(loop for loop in facts.loops if loop.header == header)
            movable = invariants(_certain(loop, facts), _can_move, loop, facts)
            moved = with_operands(_wanted(movable, loop, facts), movable)
            if moved:
                put_before(kernel.function, loop, moved, facts)
                kernel.changed()


def _marked(facts: Facts) -> Iterator[Loop]:
    """The loops that hold a marker, inner before outer; nothing is before one at the entry."""
    for loop in facts.loops:
        holds_marker = any(True for label in loop.blocks for _ in facts.blocks[label].markers)
        if holds_marker and loop.header != facts.entry:
            yield loop


def _certain(loop: Loop, facts: Facts) -> list[Instruction]:
    """What every thread comes to that enters a loop, in this order."""
    header = list(facts.blocks[loop.header].instructions)
    sources = [source for source, _ in loop.exits(facts.graph)]
    if not sources or any(i.effects & ORDERS for i in instructions_of(loop.blocks, facts)):
        return list(takewhile(lambda one: not one.effects & ORDERS, header))
    dominates = facts.dominators.dominates
    return [
        instruction
        for label in reversed(facts.dominators.chain(sources[0]))
        if label in loop.blocks and all(dominates(label, source) for source in sources)
        for instruction in facts.blocks[label].instructions
    ]


def _wanted(movable: list[Instruction], loop: Loop, facts: Facts) -> list[Instruction]:
    """Of what can be moved that for which it is done, and what is computed from it; of what tasks
    would have to save, no more than a little."""
    wanted: list[Instruction] = []
    made: set[Register] = set()
    carried = _carried_behind(loop, facts) | _copied_behind(loop, facts)
    for instruction in movable:
        is_meant = _may_fault(instruction) or not carried.isdisjoint(instruction.defined())
        if is_meant or not made.isdisjoint(instruction.used()):
            wanted.append(instruction)
            made.update(instruction.defined())
    differ = set(facts.divergence.divergent_at(loop.header))
    for instruction in movable:
        if not differ.isdisjoint(instruction.used()):
            differ.update(instruction.defined())
    moved = set(wanted)
    rest = (one for one in instructions_of(loop.blocks, facts) if one not in moved)
    saved = made - {r for one in wanted for r in one.used()} | {
        r for one in rest for r in one.used()
    }
    if sum(words(register) for register in made & differ & saved) <= INVARIANT_WORDS:
        return wanted
    return [one for one in wanted if differ.isdisjoint(one.defined())]


def _carried_behind(loop: Loop, facts: Facts) -> set[Register]:
    """What the next iteration of the loop around a loop is made from, behind that."""
    around = next((one for one in facts.loops if loop.blocks < one.blocks), None)
    if around is None:
        return set()
    needed, size = set(facts.liveness.live_in(around.header)), -1
    behind = list(instructions_of(around.blocks - loop.blocks, facts))
    while len(needed) > size:
        size = len(needed)
        needed.update(r for i in behind if not needed.isdisjoint(i.defined()) for r in i.used())
    return needed


def _copied_behind(loop: Loop, facts: Facts) -> set[Register]:
    """What copies of a loop make that is needed behind it, as where a path sets a variable to a
    constant, and has the loop at its end."""
    if loop not in independent_loops(facts):
        return set()
    needed = {r for _, leave in loop.exits(facts.graph) for r in facts.liveness.live_in(leave)}
    copies = (i for i in instructions_of(loop.blocks, facts) if i.name == "mov")
    return {r for i in copies for r in i.defined()} & needed


def _can_move(instruction: Instruction) -> bool:
    """Whether it makes the same of the same operands, wherever it stands."""
    is_load = instruction.name in LOADS
    return instruction.effects == Effect.NONE and (not is_load or _is_read_only(instruction))


def _may_fault(instruction: Instruction) -> bool:
    """Whether a compiler has to know that it is executed before it can move it."""
    divides = instruction.name in DIVISIONS
    of_integers = all(TYPES[one].kind != "f" for one in instruction.types)
    return (divides and of_integers) or _is_read_only(instruction)


def _is_read_only(instruction: Instruction) -> bool:
    """Whether it loads what nobody writes; a parameter may be of a call, and so is left."""
    return instruction.name == "ld" and not READ_ONLY.isdisjoint(instruction.modifiers)
