"""Shared memory that nobody writes any more while threads are in a loop.

    st.shared.u32 [%r1], %r2;           // a table is filled
    bar.sync 0;
    LOOP: ld.shared.u32 %r3, [%r4];     // and looked at

Who has passed a barrier of the whole block knows that each thread of the block has come to some
barrier, or has ended. So where nothing behind any barrier may write what is looked at, nobody does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT, reachable
from ccc.ir.nodes import Instruction
from ccc.ptx.barriers import BARRIERS, waits_for_the_block
from ccc.ptx.opcodes import BEYOND_THE_BLOCK, Effect

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts


def is_settled(load: Instruction, loop: Loop, facts: Facts) -> bool:
    """Whether what a load reads is the same as long as any thread of the block is in a loop."""
    return (
        load.name == "ld"
        and load.space == "shared"
        and facts.function.kind == "entry"
        and _is_behind_a_barrier(loop, facts)
        and not facts.once(_may_be_written_from_afar, facts.entry)
        and not facts.memory.conflict(facts.once(_late_writes, facts.entry), [load])
    )


def _is_behind_a_barrier(loop: Loop, facts: Facts) -> bool:
    """Whether each thread in a loop has passed a barrier for all of its block before."""
    return any(
        one.guard is None and waits_for_the_block(one.name, one.modifiers, one.operands)
        for label in set(facts.graph) - {EXIT} - loop.blocks
        if facts.dominators.dominates(label, loop.header)
        for one in facts.blocks[label].instructions
    )


def _may_be_written_from_afar(_entry: str, facts: Facts) -> bool:
    """Whether other blocks, or asynchronous copies, may write the block's shared memory."""
    calls = {callee(i) for i in facts.function.instructions if i.effects & Effect.CALL}
    called = (function for name in calls for function in facts.callees.reachable(name))
    return any(
        function is None or any(map(_reaches_afar, function.instructions))
        for function in (facts.function, *called)
    )


def _reaches_afar(instruction: Instruction) -> bool:
    """Whether it works asynchronously, or with blocks of a cluster."""
    waits = instruction.effects & Effect.BARRIER
    return (
        instruction.row is None
        or instruction.name in BEYOND_THE_BLOCK
        or "cluster" in instruction.opcode
        or bool(waits and instruction.name not in BARRIERS)
    )


def _late_writes(_entry: str, facts: Facts) -> list[Instruction]:
    """What may write memory when some thread has come to a barrier."""
    found: list[Instruction] = []
    ways: list[str] = []
    for label in set(facts.graph) - {EXIT}:
        own = list(facts.blocks[label].instructions)
        first = next((place for place, one in enumerate(own) if _may_meet(one, facts)), None)
        if first is not None:
            found += own[first:]
            ways += facts.graph.successors(label)
    later = reachable(facts.graph.successors, ways) - {EXIT}
    found += [i for label in later for i in facts.blocks[label].instructions]
    return [i for i in found if i.effects & (Effect.WRITE | Effect.CALL)]


def _may_meet(instruction: Instruction, facts: Facts) -> bool:
    return bool(instruction.effects & Effect.BARRIER) or facts.callees.waits(instruction)
