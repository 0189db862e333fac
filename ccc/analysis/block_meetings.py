"""Whether all threads of a block come to a loop, so that its warps can wait for one another there.

Warps wait at a barrier without a thread count, which lets them go when all threads have come that
have not ended (CUDA C++ Programming Guide, independent thread scheduling). So what is asked of the
lanes of a warp before a vote (:mod:`ccc.analysis.convergence`) is asked of the threads of a block
here. What lanes of a warp get from one another, and the number of a warp, is the same in a warp,
but not in a block.
"""

from __future__ import annotations

from functools import cached_property

from ccc.analysis.callees import called
from ccc.analysis.cfg import EXIT, reachable
from ccc.analysis.convergence import find_reconvergence
from ccc.analysis.divergence import Divergence, is_broadcast
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path, Refused, at, instructions_of
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Immediate, Special
from ccc.ptx.barriers import is_of_block, number_and_counts
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import WARP


class BlockDivergence(Divergence):
    """Which registers may differ between the threads of a block."""

    def is_source(self, instruction: Instruction) -> bool:
        """Whether the result may differ although all operands agree."""
        if is_broadcast(instruction, self.literals) or any(map(_of_warp, instruction.specials())):
            return True
        return super().is_source(instruction)


class BlockFacts(Facts):
    """Analyses in which what differs, differs between threads of a block."""

    @staticmethod
    def of(facts: Facts) -> BlockFacts:
        """Those of the same function."""
        return facts.once(_of_block, BlockFacts)

    @cached_property
    def divergence(self) -> Divergence:
        """Which registers differ between threads."""
        return BlockDivergence(self.function, self.graph, self.loops, self.liveness)


def _of_block(kind: type[BlockFacts], facts: Facts) -> BlockFacts:
    return kind(facts.function, facts.callees, facts.files)


def check_block_meets(loop: Loop, facts: BlockFacts) -> None:
    """That the warps of a block can wait for one another before and behind a loop.

    Raises:
        Refused: they cannot; the reason says why.
    """
    for spin in facts.spins:
        way_out = spin.way_out(facts)
        raise Refused(
            f"threads may wait for one another{at(spin.poll)}, and would now wait for their whole "
            f"block, too{'; ' * bool(way_out)}{way_out}"
        )
    for label in sorted(set(facts.graph) - {EXIT}):
        for instruction in facts.blocks[label].instructions:
            _check_barriers(instruction, label, facts)
    outcome = find_reconvergence(facts, loop)
    if isinstance(outcome, str) or not outcome.of_all:
        raise Refused(
            "some threads of a block may pass by the annotated loop while others wait for them"
        )
    if len({target for _, target in loop.exits(facts.graph)}) > 1:
        raise Refused("the annotated loop may be left to several places")


def all_meet_alike(facts: Facts) -> bool:
    """Whether all threads of a block come to the same barriers, one after the other."""
    of_block = BlockFacts.of(facts)
    try:
        for label in set(facts.graph) - {EXIT}:
            for instruction in facts.blocks[label].instructions:
                _check_barriers(instruction, label, of_block)
    except Refused:
        return False
    return True


def check_any_warp_may_run(
    path: Path, facts: Facts, of_block: BlockFacts, *, adds: bool = False
) -> None:
    """That a path's tasks can be run by another warp of the block; with ``adds`` what they add to
    reductions comes to the warp that they are of.

    Raises:
        Refused: they cannot; the reason says why.
    """
    if path.accumulators and not adds:
        raise Refused("its tasks add to a reduction, for lanes of their own warp")
    body = [*instructions_of(path.region, facts), *path.recomputed]
    for instruction in body:
        if any(map(_of_warp, instruction.specials())):
            raise Refused(f"its tasks ask for their warp{at(instruction)}")
    between = of_block.divergence.divergent_at(path.entry)
    between -= facts.divergence.divergent_at(path.entry)
    between = (between & path.live).difference(path.context, path.compressed)
    for instruction in body:
        if not between.isdisjoint(instruction.used()):
            raise Refused(f"its tasks need what differs from warp to warp only{at(instruction)}")


def _of_warp(special: Special) -> bool:
    return special.register.varies == WARP


def _check_barriers(instruction: Instruction, label: str, facts: BlockFacts) -> None:
    """That all threads of the block come to a barrier, if it is one, or comes to one."""
    if facts.callees.waits(instruction):
        raise Refused(
            f"the kernel calls {called(instruction)}, which may "
            f"wait for other threads, or end its own{at(instruction)}"
        )
    if instruction.effects & Effect.BARRIER and not _is_of_all(instruction, label, facts):
        raise Refused(f"the kernel has a barrier for some threads of a block only{at(instruction)}")


def _is_of_all(instruction: Instruction, label: str, facts: BlockFacts) -> bool:
    """Whether all threads of the block come to a barrier, and wait there for all."""
    modifiers = instruction.modifiers
    if not is_of_block(instruction.name, modifiers):
        return False
    number, *counts = number_and_counts(modifiers, instruction.operands)
    deciding = reachable(facts.controllers.__getitem__, facts.controllers[label])
    return (
        isinstance(number, Immediate)
        and not counts
        and instruction.guard is None
        and deciding.isdisjoint(facts.divergence.divergent_branches)
    )
