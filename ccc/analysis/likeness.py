"""What the lanes of a warp likely have in common, though nothing proves it.

What is computed from the upper bits of a lane's number, as the tile of a pixel is (``i >> 6``), is
the same for all lanes of a warp, or for most of them, and so is what memory holds at such a place.
An estimate, which never says whether something may be done.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ccc.analysis.cfg import reachable
from ccc.analysis.constant_trip_count import only_exit, trip_count
from ccc.analysis.defuse import trace
from ccc.analysis.divergence import Divergence
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.lane_strides import is_coarse, lane_strides
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register
from ccc.ptx.opcodes import Effect
from ccc.ptx.operations import ORDERED
from ccc.ptx.types import BLOCK, COMMON_SPACES


class LikelyDivergence(Divergence):
    """Which registers likely differ between the lanes of a warp."""

    def __init__(self, facts: Facts):
        self._strides = lane_strides(facts)
        self._coarse = {
            one for one in facts.function.instructions if is_coarse(one, self._strides, facts)
        }
        super().__init__(facts.function, facts.graph, facts.loops, facts.liveness)

    @classmethod
    def of(cls, facts: Facts) -> LikelyDivergence:
        """That of a function."""
        return facts.once(cls._made, facts.entry)

    @classmethod
    def _made(cls, _: str, facts: Facts) -> LikelyDivergence:
        return cls(facts)

    def is_source(self, instruction: Instruction) -> bool:
        """Whether the result likely differs although all operands agree."""
        if instruction.effects == Effect.READ and instruction.space in COMMON_SPACES:
            return False
        return super().is_source(instruction)

    def agrees(self, instruction: Instruction) -> bool:
        """Whether the result agrees although operands differ."""
        return instruction in self._coarse or super().agrees(instruction)


class WithinBounds(LikelyDivergence):
    """The same of the lanes that are within the bounds of what all share out, as ``i < n`` is for
    all but those of the last warp."""

    def __init__(self, facts: Facts):
        self._facts = facts
        super().__init__(facts)

    def agrees(self, instruction: Instruction) -> bool:
        """Whether the result agrees although operands differ."""
        return self._is_of_bounds(instruction) or super().agrees(instruction)

    def _is_of_bounds(self, instruction: Instruction) -> bool:
        """Whether it tells the order of what moves from lane to lane and what all have, which is no
        constant."""
        if instruction.name != "setp" or instruction.modifiers[0] not in ORDERED:
            return False
        strides = {register: self._strides.get(register) for register in instruction.used()}
        moving = [register for register, stride in strides.items() if stride != 0]
        is_known = len(strides) == 2 and None not in strides.values()
        return is_known and len(moving) == 1 and self._is_shared_out(moving[0])

    def _is_shared_out(self, number: Register) -> bool:
        """Whether a number is not one of the threads of a block alone, which comes again."""
        makers = self._facts.makers
        found = trace([number], makers, lambda maker, _: maker.used()) or ()
        every = [makers.get(one, ()) for one in found if isinstance(one, Register)]
        return any(
            len(made) > 1 or any(s.register.varies == BLOCK for one in made for s in one.specials())
            for made in every
        )


class TurnDivergence(Divergence):
    """Which registers may differ between lanes that are in different turns of a loop, as those are
    to which tasks of it are handed on: also what changes from turn to turn."""

    def __init__(self, facts: Facts, header: str):
        loop = next(one for one in facts.loops if one.header == header)
        carried = facts.liveness.live_in(header)
        self._carried = {
            one
            for label in loop.blocks
            for one in facts.blocks[label].instructions
            if not carried.isdisjoint(one.defined())
        }
        super().__init__(facts.function, facts.graph, facts.loops, facts.liveness)

    def is_source(self, instruction: Instruction) -> bool:
        """Whether the result differs although all operands agree."""
        return instruction in self._carried or super().is_source(instruction)


def go_round_alike_in_turns(loop: Loop, header: str, facts: Facts) -> bool:
    """Whether all lanes that begin a loop go round as often, whichever turns of the loop with that
    header they are in."""
    divergence = facts.once(_between_turns, header)
    return facts.deciding(loop).isdisjoint(divergence.divergent_branches)


def _between_turns(header: str, facts: Facts) -> TurnDivergence:
    return TurnDivergence(facts, header)


def turns_likely_agree(loop: Loop, facts: Facts) -> bool:
    """Whether all lanes that begin a loop likely go round as often."""
    likely = LikelyDivergence.of(facts).divergent_branches
    return facts.deciding(loop).isdisjoint(likely)


def go_round_alike(loop: Loop, facts: Facts) -> bool:
    """The same, or whether its turns are a constant."""
    return trip_count(loop, facts) is not None or turns_likely_agree(loop, facts)


def begin_alike(loop: Loop, facts: Facts) -> bool:
    """Whether the lanes of a warp likely begin each iteration of a loop together, but for those
    that are beyond its bound."""
    divergent = WithinBounds.of(facts).divergent_branches
    return only_exit(loop, facts) is not None and facts.deciding(loop).isdisjoint(divergent)


def has_nothing_to_fill(inner: Loop, around: Loop, facts: Facts) -> bool:
    """Whether all lanes of a warp that are in an iteration likely take the same turns of a loop in
    it."""
    return (
        go_round_alike(inner, facts)
        and begin_alike(around, facts)
        and likely_taken_together(inner.header, around, facts, within_bounds=True)
    )


def likely_taken_together(
    entry: str, loop: Loop, facts: Facts, *, within_bounds: bool = False
) -> bool:
    """Whether the lanes of a warp likely come to a block of a loop together, or none of them; or
    those of them that are within the bounds of what all share out."""
    kind = WithinBounds if within_bounds else LikelyDivergence

    def inside(label: str) -> set[str]:
        before = facts.controllers[label] & loop.blocks
        return {one for one in before if loop.blocks.issuperset(facts.graph.successors(one))}

    deciding = reachable(inside, inside(entry))
    return bool(deciding) and deciding.isdisjoint(kind.of(facts).divergent_branches)


def parts_others(blocks: AbstractSet[str], facts: Facts) -> bool:
    """Whether blocks hold a loop in which lanes of a warp likely go round as often, while lanes of
    several warps need not."""
    inside = (loop for loop in facts.loops if loop.blocks <= blocks)
    return any(turns_likely_agree(one, facts) and not facts.turns_agree(one) for one in inside)
