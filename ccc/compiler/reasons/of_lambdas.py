"""What is said of variables that a lambda knows, where the loop that runs it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ccc.compiler.reasons.inquiry import REMOVE, Inquiry
from ccc.compiler.reasons.topics import Topic
from ccc.frontend.lambdas import is_handed_on, is_reached, outermost, updates_of
from ccc.frontend.syntax import function_around, identifiers_in
from ccc.frontend.updates import REDUCING, text_of
from ccc.frontend.uses import may_hold

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node

_ATOMIC = "or let the branch update memory by an atomic"
_WRITTEN_OUT = (
    'write the loop in the function that declares "{}", where a reduction may name {}, ' + _ATOMIC
)


def of_lambdas(asked: Inquiry) -> Inquiry:
    """With what serves variables that a path updates through a lambda, which is handed to the
    function of the loop: no clause can name them there."""
    found = asked.statements if asked.reason.topic is Topic.CARRIED else None
    function = function_around(found[0]) if found else None
    if found is None or function is None:
        return asked
    if not is_handed_on(function):
        return _of_given(asked, function)
    known = {one.text for one in identifiers_in(found[0]) if is_reached(function, one)}
    if found[0] != found[1] or not known.issuperset(_base(one) for one in asked.names):
        return asked
    every = [one for one in asked.names if asked.suspects.operation(asked.at, one) in REDUCING]
    if not every:
        return asked
    return _written_out(asked, every)


def _of_given(asked: Inquiry, function: Node) -> Inquiry:
    """The same of a lambda that the function of the loop is given, where the line at fault is."""
    if not asked.places:
        return asked
    home, line = outermost(function) or function, asked.places[0]
    made = [
        one
        for each in asked.suspects.lambdas_on(line)
        if outermost(each) != home and is_handed_on(each)
        for one in updates_of(each, lambda node: asked.suspects.is_on(node, line))
    ]
    kind = asked.reason.shown[0].made if asked.reason.shown else ""
    fitting = [one for one in made if may_hold(kind, one[0])] or made
    names = {text_of(base).decode(errors="replace"): by for base, by in fitting}
    if not names:
        return asked
    if not all(by in REDUCING for by in names.values()):
        return asked.with_clause(REMOVE).naming(names)
    return _written_out(asked, [*names])


def _written_out(asked: Inquiry, names: Sequence[str]) -> Inquiry:
    """With the advice to have the loop where some variables have names."""
    told = _WRITTEN_OUT.format('" and "'.join(names), "it" if len(names) == 1 else "them")
    return asked.with_clause(f"{told}; else {REMOVE}").naming(names)


def _base(name: str) -> bytes:
    """The variable of which a member is spoken."""
    return name.partition(".")[0].encode()
