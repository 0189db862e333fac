"""By which operations reductions would serve what a path hands on, where PTX tells.

max.f32  %f5, %f5, %f4;         // top = larger(top, x), whatever larger() is in the source
"""

from __future__ import annotations

from ccc.analysis.companion_search import find_companions
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import CheckedPath, instructions_of
from ccc.analysis.paths.reductions import OPERATIONS, find_sums
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register

SIGNS = dict(zip(OPERATIONS, ("+", "min", "max", "&", "|", "^"), strict=True))
"""What stands for them in clauses."""
NOTHING_ELSE = "if the loop does nothing else with {}, say so on the loop: {}"


def clauses_wanted(path: CheckedPath, maker: Instruction, facts: Facts) -> str:
    """What to say on the annotated loop; empty if what an instruction makes is nothing that a
    reduction serves. The operation of that comes first."""
    known = _updated(path, facts)
    made = {r for one in instructions_of(path.region, facts) for r in one.defined()}
    first = [by for by, web in known if not web.isdisjoint(maker.defined())]
    if not first:
        return ""
    every = [*dict.fromkeys((*first, *(by for by, web in known if not web.isdisjoint(made))))]
    variable = "variable" if len(every) == 1 else "variables"
    clauses = " ".join(f"reduction({SIGNS[one]}: {variable})" for one in every)
    return NOTHING_ELSE.format("it" if len(every) == 1 else "them", clauses)


def _updated(path: CheckedPath, facts: Facts) -> list[tuple[str, frozenset[Register]]]:
    """The registers that the annotated loop hands on which reductions would be of, and by what; of
    a minimum with what goes with it those of the minimum."""
    loop = path.loop.loop
    found = [(web.operation, web.registers) for web in find_sums(loop, facts)]
    for carried in sorted(facts.liveness.live_in(loop.header), key=lambda one: one.name):
        group = find_companions(carried, loop, facts)
        if group is not None:
            found.append((group.operation, frozenset(group.classes[0])))
    return found
