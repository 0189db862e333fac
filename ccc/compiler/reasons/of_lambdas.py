"""What is said of variables that a lambda knows, where the loop that runs it does not."""

from __future__ import annotations

from ccc.compiler.reasons.inquiry import REMOVE, Inquiry
from ccc.compiler.reasons.topics import Topic
from ccc.frontend.lambdas import is_handed_on, is_reached
from ccc.frontend.syntax import function_around, identifiers_in
from ccc.frontend.updates import REDUCING

_ATOMIC = "or let the branch update memory by an atomic"
_WRITTEN_OUT = (
    'write the loop in the function that declares "{}", where a reduction may name {}, ' + _ATOMIC
)


def of_lambdas(asked: Inquiry) -> Inquiry:
    """With what serves variables that a path updates through a lambda, which is handed to the
    function of the loop: no clause can name them there."""
    found = asked.statements if asked.reason.topic is Topic.CARRIED else None
    function = function_around(found[0]) if found else None
    if found is None or function is None or not is_handed_on(function):
        return asked
    known = {one.text for one in identifiers_in(found[0]) if is_reached(function, one)}
    if found[0] != found[1] or not known.issuperset(_base(one) for one in asked.names):
        return asked
    every = [one for one in asked.names if asked.suspects.operation(asked.at, one) in REDUCING]
    if not every:
        return asked
    told = _WRITTEN_OUT.format('" and "'.join(every), "it" if len(every) == 1 else "them")
    return asked.with_clause(f"{told}; else {REMOVE}").naming(every)


def _base(name: str) -> bytes:
    """The variable of which a member is spoken."""
    return name.partition(".")[0].encode()
