"""What is said of variables that are structures: a reduction is of members, which it may name."""

from __future__ import annotations

from ccc.compiler.reasons.inquiry import REMOVE, Inquiry
from ccc.frontend.updates import REDUCING

_OPEN = 'if the loop only updates members of "{}", name those on the loop: reduction({}: {})'
_HIDDEN = (
    'if the loop only updates members of "{}", update plain variables in their place, or make them '
    "public, and name these on the loop: reduction({}: variables)"
)


def of_members(asked: Inquiry) -> Inquiry:
    """Where it speaks of a reduction of a whole structure, or of a member that only methods may
    name, with what can be named in its place."""
    hint = next(filter(None, (_hint(asked, name) for name in asked.names)), None)
    return asked if hint is None else asked.with_clause(hint)


def _hint(asked: Inquiry, name: str) -> str | None:
    base, _, member = name.partition(".")
    found = asked.suspects.structure(asked.at, base)
    if found is None or (member and not found.hides(member)):
        return None
    by = asked.suspects.operation(asked.at, name)
    if by not in REDUCING:  # no reduction serves what else is done
        return None
    every = ", ".join(f"{base}.{one}" for one in found.open)
    is_hidden = not every and found.private
    hint = (_HIDDEN if is_hidden else _OPEN).format(base, by, every or f"{base}.member")
    return f"{hint}; else {REMOVE}"
