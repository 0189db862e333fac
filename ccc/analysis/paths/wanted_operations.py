"""By which operations reductions would serve what a path hands on, where PTX tells.

max.f32  %f5, %f5, %f4;         // top = larger(top, x), whatever larger() is in the source
"""

from __future__ import annotations

from ccc.analysis.companion_search import find_companions
from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.model import Accumulator, CheckedPath, instructions_of
from ccc.analysis.paths.reductions import OPERATIONS, declared_operations, find_sums
from ccc.ir.nodes import Instruction
from ccc.ir.operands import Register
from ccc.ptx.operations import COPIES, EXTREMES

SIGNS = dict(zip(OPERATIONS, ("+", "min", "max", "&", "|", "^"), strict=True))
"""What stands for them in clauses."""
NOTHING_ELSE = "if the loop does nothing else with {}, say so on the loop: {}"
TAKES_NAN = "as it is, a NaN is taken, and then whatever comes next"
_BEGIN_WITH = (
    "let the flag begin with {}, and ask for what it begins with now behind the loop: by PTX that "
    "may be any number"
)
"""Of a parameter, say."""
_PUT_FIRST = TAKES_NAN + ': put the new value first, "new {0} old ? new : old", or use {1}'
_UNSET = {"or": "false", "and": "true"}
"""With what a flag begins."""
_SIGNS = {"min": "<", "max": ">"}
_FUNCTIONS = {"f32": "f{}f", "f64": "f{}"}


def clauses_wanted(
    path: CheckedPath, maker: Instruction, facts: Facts, taker: Accumulator | None
) -> str:
    """What to say on the annotated loop; empty if what an instruction makes is nothing that a
    reduction serves. The operation of that comes first; it may be a ``taker`` of what is no number.
    """
    known = _updated(path.loop.loop, facts, has_no_nan=taker is not None)
    made = {r for one in instructions_of(path.region, facts) for r in one.defined()}
    first = [by for by, web in known if not web.isdisjoint(maker.defined())]
    if not first:
        return ""
    every = [*dict.fromkeys((*first, *(by for by, web in known if not web.isdisjoint(made))))]
    variable = "variable" if len(every) == 1 else "variables"
    clauses = " ".join(f"reduction({SIGNS[one]}: {variable})" for one in every)
    wanted = NOTHING_ELSE.format("it" if len(every) == 1 else "them", clauses)
    return f"{put_first(taker)}, and {wanted}" if taker else wanted


def beginning_wanted(path: CheckedPath, maker: Instruction, facts: Facts) -> str:
    """What to do about a flag that an instruction makes, of which the annotated loop declares a
    reduction; empty if it is none, or begins with 0 or 1."""
    loop, made = path.loop.loop, set(maker.defined())

    def by_reduction(from_any: bool) -> Accumulator | None:
        every = find_sums(loop, facts, from_any=from_any)
        return next((one for one in every if not made.isdisjoint(one.registers)), None)

    flag = by_reduction(from_any=True)
    if flag is None or flag.operation not in declared_operations(path.loop.marker):
        return ""
    return "" if by_reduction(from_any=False) else _BEGIN_WITH.format(_UNSET[flag.operation])


def operation_of(maker: Instruction, loop: Loop, facts: Facts) -> str | None:
    """How a reduction of a loop would be written of what an instruction makes, if one serves."""
    known = _updated(loop, facts)
    return next((SIGNS[by] for by, web in known if not web.isdisjoint(maker.defined())), None)


def nan_taker(path: CheckedPath, maker: Instruction, facts: Facts) -> Accumulator | None:
    """What would be the least or the most but for what is no number, of what an instruction makes,
    as ``least < x ? least : x``, which keeps nothing of what came before a NaN."""
    if maker.name not in COPIES:
        return None
    loop, made = path.loop.loop, set(maker.defined())
    every = find_sums(loop, facts, has_no_nan=True)
    web = next((one for one in every if not made.isdisjoint(one.registers)), None)
    if web is None or web.operation not in EXTREMES or web.type not in _FUNCTIONS:
        return None
    is_one = any(not made.isdisjoint(one.registers) for one in find_sums(loop, facts))
    return None if is_one else web


def put_first(taker: Accumulator) -> str:
    """What to do about it."""
    by = taker.operation
    return _PUT_FIRST.format(_SIGNS[by], _FUNCTIONS[taker.type].format(by))


def _updated(
    loop: Loop, facts: Facts, *, has_no_nan: bool = False
) -> list[tuple[str, frozenset[Register]]]:
    """The registers that a loop hands on which reductions would be of, perhaps only if no NaN came,
    and by what; of a minimum with what goes with it those of the minimum."""
    sums = find_sums(loop, facts, has_no_nan=has_no_nan)
    found = [(web.operation, web.registers) for web in sums]
    for carried in sorted(facts.liveness.live_in(loop.header), key=lambda one: one.name):
        group = find_companions(carried, loop, facts)
        if group is not None:
            found.append((group.operation, frozenset(group.classes[0])))
    return found
