"""Numbers that tell the order of what iterations take for the least or the most.

Where a loop keeps the index of the least value with that value, as ``argmin`` does, iterations that
are run in another order would take another one of several that are equal. So each place that takes
a value also takes a number, which grows from place to place and from iteration to iteration.

Before, of a loop that has ``reduction(min: best)``:

    LOOP:
            ...
            setp.lt.f32 %p2, %f2, %f1;
            selp.f32 %f1, %f2, %f1, %p2;            // best
            selp.b32 %r1, %r2, %r1, %p2;            // at
            ...
            @%p3 bra LOOP;

After:

            mov.b64 %rd1, 0;
            mov.b64 %rd2, 0;
    LOOP:
            add.s64 %rd1, %rd1, 1;
            ...
            setp.lt.f32 %p2, %f2, %f1;
            selp.f32 %f1, %f2, %f1, %p2;
            selp.b64 %rd2, %rd1, %rd2, %p2;         // in which iteration
            selp.b32 %r1, %r2, %r1, %p2;
            ...
            @%p3 bra LOOP;

If there are several such places, an iteration takes as many numbers. Where nothing is collected
they are taken out again.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from ccc.analysis.companions import Companions, Replacement
from ccc.analysis.paths.locate import groups_of_loops
from ccc.analysis.paths.reductions import NUMBER, TAKEN_AT
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Block, Function, Instruction
from ccc.ir.operands import Register
from ccc.pipeline import Kernel, Pass
from ccc.snippet import Snippet

BEGIN = Snippet("""
    .reg .b64 %number, %taken_at;
        mov.b64 %number, 0;
        mov.b64 %taken_at, 0;
""")
"""Before the loop nothing was taken."""

NEXT = Snippet(
    """
    .reg .b64 %number;
        add.s64 %number, %number, STEPS;
    """,
    "STEPS",
)
"""Each iteration has numbers of its own."""

LATER = Snippet(
    """
    .reg .b64 %number, %place;
        add.s64 %place, %number, RANK;
    """,
    "RANK",
)
"""What comes later in an iteration has a greater one."""

CHOSEN = Snippet("""
    .reg .pred %taken;
    .reg .b64 %place, %taken_at;
        selp.b64 %taken_at, %place, %taken_at, %taken;
""")
"""Where a value is taken if a predicate holds,"""

PASSED_BY = Snippet("""
    .reg .pred %kept;
    .reg .b64 %place, %taken_at;
        selp.b64 %taken_at, %taken_at, %place, %kept;
""")
"""or if it does not,"""

REACHED = Snippet("""
    .reg .b64 %place, %taken_at;
        max.u64 %taken_at, %taken_at, %place;
""")
"""or whenever control comes there. Numbers grow, so this is the new one; but the old one is seen to
be carried from iteration to iteration."""


class IterationNumbers(Pass):
    """Number what is taken with its companions, in annotated loops that declare the reduction."""

    name: ClassVar[str] = "iteration-numbers"

    def run(self, kernel: Kernel) -> None:
        """Number all of it that has no numbers yet."""
        if kernel.function.kind != "entry" or kernel.facts.unknown is not None:
            return
        for loop, groups in groups_of_loops(kernel.facts):
            for group in groups:
                if group.order is None and loop.loop.header != kernel.facts.entry:
                    kernel.numbered[loop.marker] = (
                        *kernel.numbered.get(loop.marker, ()),
                        *_number(kernel.function, group),
                    )
        if kernel.numbered:
            kernel.changed()


def _number(function: Function, group: Companions) -> tuple[Register, ...]:
    """Put the numbers in; the registers that they are in."""
    fresh = function.registers.fresh
    number, taken_at = fresh("b64", NUMBER), fresh("b64", TAKEN_AT)
    registers = [number, taken_at]
    facts, loop = group.facts, group.loop
    for source in sorted(facts.graph.predecessors(loop.header)):
        if source not in loop.blocks:
            new = _Inserted(function)
            BEGIN.emit(new.emit, number=number, taken_at=taken_at)
            new.put(facts.blocks[source], _first_branch(facts.blocks[source]))
    new = _Inserted(function)
    NEXT.of(STEPS=group.steps).emit(new.emit, number=number)
    header = facts.blocks[loop.header]
    new.put(header, next(header.instructions, None))
    for update in group.updates:
        new = _Inserted(function)
        place = number
        if group.ranks[update]:
            later = LATER.of(RANK=group.ranks[update])
            place = later.emit(new.emit, number=number)["place"]
            registers.append(place)
        _take(new, update, place, taken_at)
        if update.arm is not None:
            new.put(facts.blocks[update.arm], next(facts.blocks[update.arm].instructions, None))
        else:
            new.put(facts.blocks[update.label], update.instruction, behind=True)
    return tuple(registers)


def _take(new: _Inserted, update: Replacement, place: Register, taken_at: Register) -> None:
    """What takes the number together with the value."""
    if update.arm is not None:
        REACHED.emit(new.emit, place=place, taken_at=taken_at)
    elif update.way:
        CHOSEN.emit(new.emit, place=place, taken_at=taken_at, taken=update.predicate)
    else:
        PASSED_BY.emit(new.emit, place=place, taken_at=taken_at, kept=update.predicate)


def _first_branch(block: Block) -> Instruction | None:
    return next((i for i in block.instructions if i.is_terminator), None)


class _Inserted:
    """Instructions on their way into a block."""

    def __init__(self, function: Function) -> None:
        self.block = Block("", [], named=False)
        self.emit = Emitter(function, self.block, function.span)

    def put(self, block: Block, place: Instruction | None, *, behind: bool = False) -> None:
        """Put them before or behind an instruction of the block, or at its end."""
        end = len(block.statements)
        at = end if place is None else block.statements.index(place) + behind
        block.statements[at:at] = self.block.statements


def without_idle_numbers(kernel: Kernel) -> None:
    """Take those numbers out of a kernel whose loops stay as they were."""
    loops = (record.path.loop for record in kernel.records if record.applied)
    collected = {loop.marker.identifier for loop in loops if loop is not None}
    idle = {
        register
        for marker, registers in kernel.numbered.items()
        for register in registers
        if marker.identifier not in collected
    }
    if idle:
        _remove(kernel.function, idle)
        kernel.changed()


def _remove(function: Function, registers: Collection[Register]) -> None:
    for block in function.blocks:
        block.statements = [
            one
            for one in block.statements
            if not isinstance(one, Instruction) or not set(one.defined()) & set(registers)
        ]
