"""What to do about a variable that iterations hand on, and that is no reduction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ccc.analysis.paths.carried_values import BY_ATOMIC, REDUCTION_HINT
from ccc.analysis.paths.continuation import OF_ATOMIC
from ccc.frontend import behind
from ccc.frontend.behind import Where
from ccc.frontend.updates import REDUCING

if TYPE_CHECKING:
    from ccc.errors import Span
    from ccc.frontend.variables import Suspects

_WAYS = {
    Where.INSIDE: (
        "; or if the branch can do without it, have that set another variable, update {} by that "
        'behind the branch, without an "if", and ask there for strategy(tile(3))'
    ),
    Where.ASKED: (
        "; or, if that serves as well, set {} behind the branch to what is known before it"
    ),
    Where.BEHIND: (
        '; or ask at the branch for strategy(tile(3)), and let no "if" behind it set {}'
    ),
}
"""Rests of iterations are run in their order. An ``if`` there may be merged with the path."""
_BY_TILE = (Where.INSIDE, Where.BEHIND)
"""What asks for a strategy that no switch can have of which a case goes on in the next one."""


_ELSEWHERE = (
    "if the loop only adds up what comes of it, or keeps the least or the most, say so on the "
    "loop, by the variable's name there: reduction(op: variable)"
)
REMOVE = "remove the annotation"
"""Where the strategy that may serve is asked for already: why it does not is told by itself."""


def is_for_tiles(asked: str | None) -> bool:
    """Whether what was asked for is what would be advised here."""
    return asked is not None and asked.startswith("tile(")


def way_out(
    suspects: Suspects | None,
    at: Span,
    names: Sequence[str],
    *,
    is_in_path: bool,
    is_asked: bool = False,
) -> str:
    """How a branch can be collected all the same, for the end of advice; empty if it cannot.

    Args:
        suspects: what is known of the source.
        at: where the annotation stands.
        names: the variable, and others that are made from it.
        is_in_path: whether nvcc keeps what is set behind the path in a register that the path
            writes.
        is_asked: whether the strategy that may serve is asked for already.
    """
    found = suspects.statements(at) if suspects and suspects.is_branch(at) else None
    where = behind.where_set(*found, names[0].encode()) if found else None
    if where is None or (is_in_path and where is Where.BEHIND):
        return ""
    if where in _BY_TILE and (is_asked or (found and behind.goes_on(found[0]))):
        return ""
    return _WAYS[where].format(" and ".join(f'"{one}"' for one in names))


def elsewhere(suspects: Suspects | None, at: Span, text: str) -> str:
    """A reason that would offer reductions, of a path in a function without its annotated loop,
    where variables have other names, or none."""
    found = suspects.statements(at) if suspects else None
    is_alone = found is not None and found[0] == found[1]
    if not is_alone:
        return text
    more = f"; else {REMOVE}" * text.endswith(REDUCTION_HINT)
    text = text.replace(OF_ATOMIC, f"{_ELSEWHERE}; else {REMOVE}")
    return text.replace(REDUCTION_HINT, _ELSEWHERE + more)


def with_atomic(suspects: Suspects | None, at: Span, text: str, names: Sequence[str]) -> str:
    """A reason without the advice to use an atomic operation, where the source tells that what is
    done to the variables is none."""
    if suspects is None or BY_ATOMIC not in text or not names:
        return text
    kept = suspects.extreme(at)
    is_one = all(suspects.operation(at, one) in REDUCING for one in names)
    return text if is_one or (kept and [*names] == [kept[1]]) else text.replace(BY_ATOMIC, "")


def hindrance(suspects: Suspects | None, at: Span, name: str) -> str | None:
    """What a variable is made from that iterations hand on and that no reduction serves, so that
    none would serve the variable, which else one would."""
    found = suspects.statements(at) if suspects else None
    if suspects is None or found is None or not _is_served(suspects, at, name):
        return None
    every = (one.decode(errors="replace") for one in behind.made_from(found[1], name.encode()))
    return next((one for one in every if not _is_served(suspects, at, one)), None)


def _is_served(suspects: Suspects, at: Span, name: str) -> bool:
    """Whether a reduction would serve a variable, as far as its own updates tell."""
    return suspects.operation(at, name) in REDUCING and not suspects.no_reduction(at, name)
