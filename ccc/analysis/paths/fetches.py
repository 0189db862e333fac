"""Atomic operations by which a thread fetches its next iteration from a counter.

    for (int i = atomicAdd(next, 1); i < n; i = atomicAdd(next, 1)) {
        if (...) { ... }                    // the path
    }                                       // atom.global.add.u32 %i, [%next], 1;

What is fetched behind the path belongs to the next iteration, and iterations are independent: a
path does not use the counter. So the lane that gives a task away may fetch at once, and must do so
itself, once. Other memory of the iteration may be the same as what the path uses, whatever its
name; so nothing else of the iteration may depend on what was fetched, and the counter must have a
name, of a parameter or a variable, that nothing else in the iteration uses, but for what certainly
lies elsewhere: other elements of a table, whose numbers are known.
"""

from __future__ import annotations

import functools

from ccc.analysis.facts import Facts
from ccc.analysis.fields import are_other_fields
from ccc.analysis.paths.model import PlacedPath, instructions_of
from ccc.analysis.slicing import Region, slice_region
from ccc.ir.nodes import Instruction, decode
from ccc.ir.operands import Register
from ccc.ptx.opcodes import Effect

_ORDERS = Effect.FENCE | Effect.OPAQUE
_SIDE = Effect.WRITE | Effect.FENCE | Effect.OPAQUE | Effect.CALL


def find_fetches(
    path: PlacedPath, facts: Facts, accumulators: frozenset[Register]
) -> frozenset[Instruction]:
    """The fetches behind a path, in the rest of its iteration; none if one of them may be none.

    Args:
        path: the path, of which the blocks and the rest are known.
        facts: the function's analyses.
        accumulators: registers whose values at the end of the iteration are not asked for.
    """
    atomics = {i for i in instructions_of(path.rest, facts) if i.name == "atom"}
    if not atomics or path.turn is not path.loop.loop:
        return frozenset()
    everything = list(instructions_of(path.blocks | path.rest, facts))
    region = Region(path.blocks | path.rest, facts.graph)
    reaching = facts.reaching_within(region.blocks)
    onward = slice_region(
        region, facts.blocks, reaching, [],
        lambda sink: facts.liveness.live_in(sink) - accumulators, decide_sinks=True,
    )  # fmt: skip
    found = frozenset(atomics & onward.instructions)
    effects = slice_region(
        region, facts.blocks, reaching,
        [i for i in everything if has_side_effect(i) and i not in found],
        lambda _sink: frozenset(), decide_sinks=False,
    )  # fmt: skip
    if found & effects.instructions:
        return frozenset()
    others = [i for i in everything if i not in found]
    if any(_may_meet(fetch, other, facts) for fetch in found for other in others):
        return frozenset()
    return found


def has_side_effect(instruction: Instruction) -> bool:
    """Whether it does something that others may see."""
    # A loop may wait for a clock and do nothing else.
    return _does_more(instruction.opcode) or instruction.reads_time


@functools.lru_cache(maxsize=4096)
def _does_more(opcode: str) -> bool:
    """Whether it does more than to make a result."""
    # The parts of a call sequence belong to the call; results that nobody needs do no harm.
    decoded = decode(opcode)
    return bool(decoded.effects & _SIDE) or "param" in decoded.modifiers


def _may_meet(fetch: Instruction, other: Instruction, facts: Facts) -> bool:
    """Whether the order of the two may matter."""
    if any(one.effects & _ORDERS and not one.effects & Effect.CALL for one in (fetch, other)):
        return True
    if not facts.memory.conflict([fetch], [other]) or are_other_fields(fetch, other, facts):
        return False
    mine, others = (facts.memory.origins.of_access(one) for one in (fetch, other))
    return mine is None or others is None or not mine.isdisjoint(others)
