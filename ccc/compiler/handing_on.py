"""What to do about a variable that iterations hand on, and that is no reduction."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    Where.BEHIND: (
        '; or ask at the branch for strategy(tile(3)), and let no "if" behind it set {}'
    ),
}
"""Rests of iterations are run in their order. An ``if`` there may be merged with the path."""


def by_tiles(suspects: Suspects | None, at: Span, name: str, *others: str) -> str:
    """How a branch can be collected all the same, for the end of advice; empty if it cannot.

    Args:
        suspects: what is known of the source.
        at: where the annotation stands.
        name: the variable.
        others: more that are made from it.
    """
    found = suspects.statements(at) if suspects and suspects.is_branch(at) else None
    where = behind.where_set(*found, name.encode()) if found else None
    quoted = " and ".join(f'"{one}"' for one in (name, *others))
    return _WAYS[where].format(quoted) if where else ""


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
