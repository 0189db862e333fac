"""Memory divergence avoidance (dissertation section 4.1.3): coalesced loads are made early.

Tasks of several iterations run together, so that what lanes of one iteration read side by side is
read from several places. Such a load at the beginning of a path is made where the lane comes to
the branch, and its value is saved in place of what its address is made of.

Before, the context is %r1, the iteration:

            @!%p bra JOIN;
            // ccc.then 2 k.cu:9:5
            mul.wide.s32 %rd4, %r1, 4;
            add.s64 %rd5, %rd1, %rd4;
            ld.global.f32 %f1, [%rd5];
            <rest of the path, which reads %f1>
    JOIN:

After, it is %f1:

            @!%p bra JOIN;
            mul.wide.s32 %rd4, %r1, 4;
            add.s64 %rd5, %rd1, %rd4;
            ld.global.f32 %f1, [%rd5];
    LATE:   // ccc.then 2 k.cu:9:5
            <rest of the path>
    JOIN:

Nothing is read that was not read before, nor earlier than anything else with an effect: it is the
path that begins later. The price is that the lanes of one iteration wait for memory, few or many.
So this is done where many lanes take the path, as ``prob`` tells, and tasks of several iterations
are exchanged at once; and all stays as it was where the context would take more words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from ccc.analysis.facts import Facts
from ccc.analysis.lane_strides import Strides, is_coalesced, lane_strides
from ccc.analysis.paths.model import Path
from ccc.ir.edit import substitute
from ccc.ir.markers import ARMS
from ccc.ir.nodes import Block, Instruction, Statement
from ccc.ir.operands import Register
from ccc.passes.context_collection.node import move
from ccc.passes.policy import early_loads_pay, early_loads_wanted
from ccc.passes.strategies.registry import COLLECTING
from ccc.pipeline import Kernel, Pass
from ccc.ptx.opcodes import LOADS, Effect
from ccc.ptx.types import STRONG


class EarlyLoads(Pass):
    """Load before a path what neighbouring lanes load side by side."""

    name: ClassVar[str] = "early-loads"

    def run(self, kernel: Kernel) -> None:
        """Move the loads of one path after the other, as long as that pays."""
        if kernel.function.kind != "entry":
            return
        arms = [block for block in kernel.function.blocks if _is_wanted(block) and _loads(block)]
        strides = lane_strides(kernel.facts) if arms else {}
        for block in arms:
            _try(kernel, block, strides)


def _is_wanted(block: Block) -> bool:
    """Whether a path begins at a block whose loads should be made early."""
    return any(marker.kind in ARMS and early_loads_wanted(marker) for marker in block.markers)


def _try(kernel: Kernel, block: Block, strides: Strides) -> None:
    """Move all coalesced loads of a path that can be moved, or one of them, or none."""
    facts = kernel.facts
    loads = [one for one in _loads(block) if is_coalesced(one, strides)]
    slices = {one: made for one in loads if (made := _slice(one, block, facts)) is not None}
    if not slices or block.label not in facts.graph:
        return
    before = _paths_at(block, kernel)
    if not before:
        return
    every = list(slices)
    for chosen in [every] if len(every) == 1 else [every, *([one] for one in every)]:
        function = kernel.function
        blocks, statements = function.blocks, block.statements
        declared = dict(function.registers.ranges)
        late = _split(kernel, block, {i for one in chosen for i in slices[one]})
        kernel.changed()
        after = _paths_at(late, kernel)
        if after and early_loads_pay(before[0], after, kernel, COLLECTING):
            return
        function.blocks, block.statements = blocks, statements
        function.registers.ranges = declared
        kernel.changed()


def _loads(block: Block) -> list[Instruction]:
    """Its weak loads of global memory that nothing with another effect comes before."""
    found = []
    for instruction in block.instructions:
        if instruction.effects & ~Effect.READ:
            break
        is_weak = instruction.name == "ld" and STRONG.isdisjoint(instruction.modifiers)
        overwrites = not set(instruction.used()).isdisjoint(instruction.defined())  # or is guarded
        if is_weak and instruction.space == "global" and not overwrites:
            found.append(instruction)
    return found


def _slice(load: Instruction, block: Block, facts: Facts) -> list[Instruction] | None:
    """The load and what of the block its address is made by; None if that cannot stand first.

    What makes the address must be all that writes its results, and nobody may ask for what they
    were before.
    """
    own = list(block.instructions)
    live = facts.liveness.live_in(block.label)
    found: list[Instruction] = []
    worklist = [load]
    while worklist:
        instruction = worklist.pop()
        if instruction is not load and not _can_stand_first(instruction, live, facts):
            return None
        if instruction not in found:
            found.append(instruction)
            worklist += _made_in(own[: own.index(instruction)], instruction.used())
    return found


def _can_stand_first(instruction: Instruction, live: frozenset[Register], facts: Facts) -> bool:
    alone = all(facts.makers[r] == [instruction] and r not in live for r in instruction.defined())
    pure = instruction.effects == Effect.NONE and not instruction.reads_time
    return alone and pure and instruction.guard is None and instruction.name not in LOADS


def _made_in(earlier: Sequence[Instruction], registers: Iterable[Register]) -> list[Instruction]:
    wanted = set(registers)
    return [one for one in earlier if not wanted.isdisjoint(one.defined())]


def _split(kernel: Kernel, block: Block, early: set[Instruction]) -> Block:
    """Leave these instructions in the block; returns a new one behind it, with all the others.

    What is loaded goes to a register of its own: the other may hold something else, too, such as a
    counter that begins with it.
    """
    first: list[Statement] = []
    rest: list[Statement] = []
    for statement in block.statements:
        if not isinstance(statement, Instruction) or statement not in early:
            rest.append(statement)
        elif statement.name != "ld":
            first.append(statement)
        else:
            fresh = kernel.function.registers.fresh
            copies = {register: fresh(register.type, "early") for register in statement.defined()}
            first.append(substitute(statement, copies, {}))
            rest += [
                Instruction(move(r), (r, copy), None, statement.span, statement.location)
                for r, copy in copies.items()
            ]
    late = Block(kernel.function.fresh_label("late"), rest, named=False)
    blocks = kernel.function.blocks
    at = blocks.index(block) + 1
    block.statements = first
    kernel.function.blocks = [*blocks[:at], late, *blocks[at:]]
    return late


def _paths_at(entry: Block, kernel: Kernel) -> list[Path]:
    """The path that begins at a block, and the others of its loop that can be collected.

    None if that one cannot, or lies in another.
    """
    every = kernel.find_paths()
    found = [path for path in every if isinstance(path, Path)]
    mine = next((path for path in found if path.entry == entry.label), None)
    if mine is None or mine.parent is not None:
        return []
    return [mine, *(path for path in found if path.loop is mine.loop and path is not mine)]
