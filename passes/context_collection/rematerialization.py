"""Rematerialization: tasks make anew what is the same for all of them (no pass; ``bins`` uses it).

nvcc computes before a loop what does not change in it, such as an address that only the path reads.
That takes registers all the time, of which long paths with several loads under way have too few.
ptxas does not compute such values again by itself.
"""

from __future__ import annotations

from dataclasses import replace

from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.ir.nodes import Instruction
from ccc.ptx.opcodes import Effect, Unit

CHEAP = (Unit.ALU, Unit.FMA)
WIDE = 64
"""Bits of a register that is worth an instruction in each task: it takes two of the machine's."""


def rematerialize(path: Path, facts: Facts) -> Path:
    """The path, whose tasks make the wide values that are the same for all, and read by them alone.

    One cheap instruction each, of what nothing else writes.
    """
    loop = path.loop.loop
    outside = [facts.blocks[label] for label in loop.blocks - path.region]
    used = {r for block in outside for one in block.instructions for r in one.used()}
    behind = (facts.liveness.live_in(target) for _, target in loop.exits(facts.graph))
    used = used.union(path.context, path.compressed, *behind)
    mine = {r for r in facts.liveness.live_in(path.entry) - used if r.bits == WIDE}
    mine -= facts.divergence.divergent_at(path.entry)
    made = (one for one in facts.function.instructions if mine.intersection(one.defined()))
    return replace(path, recomputed=(*path.recomputed, *(i for i in made if _is_for_all(i, facts))))


def _is_for_all(maker: Instruction, facts: Facts) -> bool:
    """Whether each task can do what was done once: something cheap, of what nothing else writes."""
    registers = (*maker.defined(), *maker.used())
    once = all(len(facts.makers.get(register, [])) == 1 for register in registers)
    is_cheap = maker.unit in CHEAP and maker.effects == Effect.NONE and not maker.loads
    plain = maker.guard is None and len(maker.defined()) == 1 and not list(maker.specials())
    return once and is_cheap and plain and bool(maker.used())
