"""What is said of places that the loop updates through pointers, which nvcc keeps in registers: a
clause names variables."""

from __future__ import annotations

import re

from ccc.compiler.reasons.handing_on import all_of, else_remove
from ccc.compiler.reasons.hints import Hint
from ccc.compiler.reasons.inquiry import ON_LOOP, REMOVE, Inquiry
from ccc.compiler.reasons.reduction_clauses import KEEPS
from ccc.compiler.reasons.topics import Topic
from ccc.frontend.reductions import clauses_of
from ccc.frontend.updates import REDUCING

_KEPT = (
    "if the loop only updates {}, keep {} in {}, which {} written back behind the loop, and "
    f"{ON_LOOP}: {{}}"
)
_BASE = re.compile(r"\w+")


def of_pointers(asked: Inquiry) -> Inquiry:
    """Where nothing else may be meant."""
    in_memory = asked.reason.slot(Hint.OF_ONE)
    is_meant = in_memory or asked.reason.topic is Topic.CARRIED
    places = asked.suspects.led_to(asked.at) if is_meant else {}
    operations = list(dict.fromkeys(places.values()))
    if not all(by in REDUCING for by in operations):
        if KEEPS.keys().isdisjoint(operations):
            return asked
        known = [by for by in operations if by in REDUCING]
        operations = known if in_memory else asked.proven  # others go with the least, or the most
    bases = {found[0] for one in places if (found := _BASE.search(one))}
    if not (places and operations) or asked.is_settled or not {*asked.names} <= bases:
        return asked
    is_one = len(places) == 1
    it, kept, are = ("it", "a variable", "is") if is_one else ("them", "variables", "are")
    variables = "variable" if is_one else "variables"
    clauses = clauses_of((by, variables) for by in operations)
    told = _KEPT.format(all_of([*places]), it, kept, are, clauses)
    if in_memory:
        return asked.filled(Hint.OF_ONE, f"{told}; else {REMOVE}").naming(places)
    return asked.settled(told + else_remove(asked)).naming(places)
