"""Rematerialization: tasks make anew what is the same for all of them (no pass; ``bins`` uses it).

nvcc computes before a loop what does not change in it, such as an address that only the path reads.
That takes registers all the time, of which long paths with several loads under way have too few.
ptxas does not compute such values again by itself.
"""

from __future__ import annotations

from dataclasses import replace

from ccc.analysis.between import written_behind, written_between
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Path
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register
from ccc.ptx.opcodes import CHEAP, Effect

WIDE = 64
"""Bits of a register that is worth an instruction in each task: it takes two of the machine's."""


def rematerialize(path: Path, facts: Facts) -> Path:
    """The path, whose tasks make the wide values that are the same for all, and read by them alone,
    by one cheap instruction each.
    """
    loop = path.loop.loop
    outside = [facts.blocks[label] for label in loop.blocks - path.region]
    used = {r for block in outside for one in block.instructions for r in one.used()}
    behind = (facts.liveness.live_in(target) for _, target in loop.exits(facts.graph))
    used = used.union(path.context, path.compressed, *behind)
    mine = {r for r in facts.liveness.live_in(path.entry) - used if r.bits == WIDE}
    mine -= facts.divergence.divergent_at(path.entry)
    made = {_maker(register, path, facts) for register in mine}
    again = (one for one in facts.function.instructions if one in made)
    return replace(path, recomputed=(*path.recomputed, *again))


def _maker(register: Register, path: Path, facts: Facts) -> Instruction | None:
    """What made a register once for all tasks, if each of them can do that as well: something
    cheap, of what nothing has written since, nor does while tasks wait."""
    found = facts.reaching.at_top(path.entry, register)
    if len(found) != 1 or not facts.dominators.dominates(found[0].label, path.entry):
        return None
    maker, label = found[0].instruction, found[0].label
    is_cheap = maker.unit in CHEAP and maker.effects == Effect.NONE and not maker.loads
    plain = maker.guard is None and len(maker.defined()) == 1 and not list(maker.specials())
    if not is_cheap or not plain or not maker.used():
        return None
    written = written_between(label, list(facts.graph.predecessors(path.entry)), facts)
    written |= written_behind(maker, label, facts)
    return maker if written.isdisjoint(maker.used()) else None
