"""The way into a loop, and what of the loop can be computed there: it is the same in all turns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import independent_loops
from ccc.analysis.paths.model import instructions_of
from ccc.ir.edit import jump, make_explicit, remove_jumps_to_next, retarget
from ccc.ir.nodes import Block, Function, Instruction
from ccc.ir.operands import Register
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import Effect

ORDERS = Effect.FENCE | Effect.BARRIER | Effect.COLLECTIVE | Effect.CALL | Effect.OPAQUE
"""Of what a thread may wait at, or end in; nothing is moved over it."""


def independent_in_turn(kernel: Kernel) -> Iterator[tuple[Loop, Facts]]:
    """The loops whose turns are independent, each as it is when the one before may have changed
    the kernel; none where something in it is not known."""
    if kernel.facts.unknown is not None or not kernel.facts.is_reducible:
        return
    for header in [loop.header for loop in independent_loops(kernel.facts)]:
        yield next(loop for loop in kernel.facts.loops if loop.header == header), kernel.facts


def invariants(
    own: Iterable[Instruction], can_move: Callable[[Instruction], bool], loop: Loop, facts: Facts
) -> list[Instruction]:
    """Of some of a loop's instructions those that make the same in each turn, operands first.

    What they write, nothing else in the loop does, and nobody asks for what that was before.
    """
    writers: dict[Register, int] = {}
    for instruction in instructions_of(loop.blocks, facts):
        for register in instruction.defined():
            writers[register] = writers.get(register, 0) + 1
    carried = facts.liveness.live_in(loop.header)
    found: list[Instruction] = []
    known: set[Register] = set()
    for instruction in own:
        makes = set(instruction.defined())
        if (
            makes
            and instruction.guard is None
            and not any(True for _ in instruction.specials())
            and can_move(instruction)
            and all(register in known or register not in writers for register in instruction.used())
            and all(writers[register] == 1 for register in makes)
            and makes.isdisjoint(carried)
        ):
            found.append(instruction)
            known |= makes
    return found


def with_operands(
    wanted: Collection[Instruction], movable: Iterable[Instruction]
) -> list[Instruction]:
    """Those of what can be moved that are wanted, or make an operand of one that is."""
    movable = list(movable)
    found = set(wanted)
    needed: set[Register] = set()
    for instruction in reversed(movable):  # operands come first
        if instruction in found or not needed.isdisjoint(instruction.defined()):
            found.add(instruction)
            needed.update(instruction.used())
    return [instruction for instruction in movable if instruction in found]


def put_before(
    function: Function, loop: Loop, moved: Collection[Instruction], facts: Facts
) -> None:
    """Put instructions of a loop on the way into it."""
    make_explicit(function)
    for label in loop.blocks:
        block = facts.blocks[label]
        block.statements = [one for one in block.statements if one not in moved]
    before = Block(function.fresh_label("preheader"), [*moved, jump(loop.header)], named=False)
    for source in facts.graph.predecessors(loop.header):
        if source not in loop.blocks:
            retarget(function, facts.blocks[source], loop.header, before.label)
    place = next(n for n, block in enumerate(function.blocks) if block.label == loop.header)
    function.blocks.insert(place, before)
    remove_jumps_to_next(function)
