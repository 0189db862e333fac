"""Atomic operations by which a thread fetches its next iteration from a counter.

    for (int i = atomicAdd(next, 1); i < n; i = atomicAdd(next, 1)) {
        if (...) { ... }                    // the path
    }                                       // atom.global.add.u32 %i, [%next], 1;

What is fetched behind the path belongs to the next iteration, and iterations are independent: a
path does not use the counter. So the lane that gives a task away may fetch at once, and must do so
itself, once. Other memory of the iteration may be the same as what the path uses, whatever its
name; so nothing else of the iteration may depend on what was fetched, and the counter must have a
name, of a parameter or a variable, that nothing else in the iteration uses.
"""

from __future__ import annotations

from ccc.analysis.defuse import trace
from ccc.analysis.facts import Facts
from ccc.analysis.memory import conflict
from ccc.analysis.paths.model import PlacedPath, instructions_of
from ccc.analysis.slicing import Region, slice_region
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Address, Operand, Register, Symbol, Vector
from ccc.ptx.opcodes import Effect

_ORDERS = Effect.FENCE | Effect.CALL | Effect.OPAQUE
_COMPUTED = ("add", "sub", "mad", "mul", "shl", "cvt", "cvta", "mov", "selp", "min", "max", "and")
"""What makes an address of others, or an index for one."""


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
    names = _Names(facts)
    if any(names.may_meet(fetch, other) for fetch in found for other in others):
        return frozenset()
    return found


def has_side_effect(instruction: Instruction) -> bool:
    """Whether it does something that others may see."""
    side = Effect.WRITE | Effect.FENCE | Effect.OPAQUE | Effect.CALL
    # The parts of a call sequence belong to the call; results that nobody needs do no harm.
    # A loop may wait for a clock and do nothing else.
    of_a_call = "param" in instruction.modifiers
    return bool(instruction.effects & side) or of_a_call or instruction.reads_time


class _Names:
    """The names that addresses are made from: parameters with their offsets, and variables."""

    def __init__(self, facts: Facts):
        self.parameters = {parameter.name for parameter in facts.function.parameters}
        self.makers = facts.makers

    def may_meet(self, fetch: Instruction, other: Instruction) -> bool:
        """Whether the order of the two may matter."""
        if fetch.effects & _ORDERS or other.effects & _ORDERS:
            return True
        if not conflict([fetch], [other]):
            return False
        mine, others = self._of(fetch), self._of(other)
        return mine is None or others is None or not mine.isdisjoint(others)

    def _of(self, access: Instruction) -> frozenset[Symbol] | None:
        """The names that the address of an access is made from; None if it is not known."""
        addresses = [operand for operand, role in access.roles() if role == "addr"]
        if len(addresses) != 1 or not isinstance(addresses[0], Address):
            return None
        base = addresses[0].base
        start = Symbol(base.name) if isinstance(base, Symbol) else base
        found = trace([start], self.makers, self._parts) or ()
        return frozenset(one for one in found if isinstance(one, Symbol)) or None

    def _parts(self, definition: Instruction, made: Register) -> list[Operand] | None:
        """What a register that is as wide as an address was made from, but for narrower ones.

        These hold indexes. None if it is not known, as of a pointer that was read from memory.
        """
        target, *sources = definition.operands
        if definition.name == "ld" and definition.space == "param":
            return self._parameter(sources[0], target, made)
        if definition.name not in _COMPUTED or any(isinstance(s, Vector) for s in sources):
            return None
        return [s for s in sources if not isinstance(s, Register) or s.bits >= made.bits]

    def _parameter(self, source: Operand, target: Operand, made: Register) -> list[Operand] | None:
        match source:
            case Address(Symbol(name, start), offset) if name in self.parameters:
                element = target.elements.index(made) if isinstance(target, Vector) else 0
                return [Symbol(name, start + offset + element * made.bits // 8)]
        return None
