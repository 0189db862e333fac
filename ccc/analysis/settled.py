"""Memory that others change no more while a thread is in a loop, or not so that it matters.

    st.shared.u32 [%r1], %r2;           // a table is filled
    bar.sync 0;
    LOOP: ld.shared.u32 %r3, [%r4];     // and looked at

Who has passed a barrier of the whole block knows that each thread of the block has come to some
barrier, or has ended. So where nothing behind any barrier may write what is looked at, nobody does.
Where all threads come to the same barriers, one after the other, the others are between the same
two: what stands behind the next one, as what fills the table for another row, comes later.

    NEXT: atom.global.cas.b32 %r1, [%rd1], -1, %r2;     // a place of a table is taken if it is free
    setp.ne.s32 %p1, %r1, -1;                           // else another one is tried

Where all that may write there are such swaps, a place that is taken stays as it is: who finds it so
would find it so whatever the others did, and who finds it free has taken it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ccc.analysis.callees import callee
from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.polled import are_apart
from ccc.ir.nodes import Instruction
from ccc.ptx.barriers import BARRIERS, waits_for_the_block
from ccc.ptx.opcodes import BEYOND_THE_BLOCK, Effect
from ccc.ptx.types import OWN_SPACES, TYPES

if TYPE_CHECKING:
    from ccc.analysis.dominators import Loop
    from ccc.analysis.facts import Facts

_MAY_WRITE = Effect.WRITE | Effect.CALL | Effect.OPAQUE


def is_settled(load: Instruction, loop: Loop, facts: Facts) -> bool:
    """Whether what a load reads is the same as long as any thread of the block is in a loop."""
    return (
        load.name == "ld"
        and load.space == "shared"
        and _is_filled_before(loop, facts)
        and not facts.memory.conflict(facts.once(_writes_beside, loop), [load])
    )


def stays_taken(swap: Instruction, loop: Loop, facts: Facts) -> bool:
    """Whether what a compare-and-swap does not find free stays as it is from then on.

    What is free is the same number for all, and nothing else writes there while a thread of the
    block, or if the memory is not the block's any thread, is in the loop.
    """
    if swap.name != "atom" or "cas" not in swap.modifiers or facts.function.kind != "entry":
        return False
    if facts.literal_in(swap, swap.operands[2]) is None:
        return False
    is_late = swap.space == "shared" and _is_filled_before(loop, facts)
    writes = facts.once(_writes_beside, loop) if is_late else facts.once(_writes, facts.entry)
    others = [
        one
        for one in writes
        if not _takes_alike(one, swap, facts) and not are_apart(swap, one, facts, is_anew=True)
    ]
    return not facts.memory.conflict(others, [swap])


def _takes_alike(other: Instruction, swap: Instruction, facts: Facts) -> bool:
    """Whether it takes the places, as large as those of a compare-and-swap, that are free to it."""
    if other.name != "atom" or "cas" not in other.modifiers or other.types != swap.types:
        return False
    bits = TYPES[swap.types[-1]].bits
    free = [facts.literal_in(one, one.operands[2]) for one in (other, swap)]
    return len({one and one.unsigned(bits) for one in free}) == 1


def _writes(_entry: str, facts: Facts) -> list[Instruction]:
    """What may write memory that others see."""
    return [
        one
        for one in facts.function.instructions
        if one.effects & _MAY_WRITE and one.space not in OWN_SPACES
    ]


def _is_filled_before(loop: Loop, facts: Facts) -> bool:
    """Whether only what the block's threads do behind a barrier may change its shared memory."""
    return (
        facts.function.kind == "entry"
        and _is_behind_a_barrier(loop, facts)
        and not facts.once(_may_be_written_from_afar, facts.entry)
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


def _writes_beside(loop: Loop, facts: Facts) -> list[Instruction]:
    """What may write memory while a thread is in a loop that lies behind a barrier."""
    from ccc.analysis.block_meetings import all_meet_alike  # noqa: PLC0415 - of facts of the block

    before = _last_meetings(loop, facts)
    if before is None or not all_meet_alike(facts):
        return facts.once(_late_writes, facts.entry)
    found: list[Instruction] = []
    ways: list[str] = []
    for label in before:
        own = list(facts.blocks[label].instructions)
        last = max(place for place, one in enumerate(own) if _may_meet(one, facts))
        found += own[last + 1 :]
        ways += facts.graph.successors(label)

    def step(label: str) -> Iterable[str]:
        meets = label == EXIT or any(_may_meet(i, facts) for i in facts.blocks[label].instructions)
        return () if meets else facts.graph.successors(label)

    for label in reachable(step, ways) - {EXIT}:
        for one in facts.blocks[label].instructions:
            if _may_meet(one, facts):
                break
            found.append(one)
    return [i for i in found if i.effects & (Effect.WRITE | Effect.CALL)]


def _last_meetings(loop: Loop, facts: Facts) -> set[str] | None:
    """The blocks with the barriers that may be the last that a thread in a loop has come to; None
    if it comes to one there, or may have come to none."""
    found: set[str] = set()
    seen, pending = set(loop.blocks), [loop.header]
    if any(_may_meet(i, facts) for label in seen for i in facts.blocks[label].instructions):
        return None
    while pending:
        label = pending.pop()
        if label == facts.entry:
            return None
        for before in set(facts.graph.predecessors(label)) - seen:
            seen.add(before)
            if any(_may_meet(one, facts) for one in facts.blocks[before].instructions):
                found.add(before)
            else:
                pending.append(before)
    return found


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
