"""What is said of places that the loop updates through pointers, which nvcc keeps in registers: a
clause names variables."""

from __future__ import annotations

import re

from ccc.compiler.reasons.handing_on import all_of, else_remove
from ccc.compiler.reasons.inquiry import ON_LOOP, Inquiry
from ccc.compiler.reasons.reduction_clauses import clauses_of
from ccc.compiler.reasons.topics import Topic

_KEPT = (
    "if the loop only updates {}, keep {} in {}, which {} written back behind the loop, and "
    f"{ON_LOOP}: {{}}"
)
_BASE = re.compile(r"\w+")


def of_pointers(asked: Inquiry) -> Inquiry:
    """Where nothing else may be meant."""
    places = asked.suspects.led_to(asked.at) if asked.reason.topic is Topic.CARRIED else {}
    bases = {found[0] for one in places if (found := _BASE.search(one))}
    if not places or asked.is_settled or not {*asked.names} <= bases:
        return asked
    is_one = len(places) == 1
    it, kept, are = ("it", "a variable", "is") if is_one else ("them", "variables", "are")
    variables = "variable" if is_one else "variables"
    clauses = clauses_of((by, variables) for by in dict.fromkeys(places.values()))
    told = _KEPT.format(all_of([*places]), it, kept, are, clauses)
    return asked.settled(told + else_remove(asked)).naming(places)
