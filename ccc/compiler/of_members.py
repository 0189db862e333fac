"""What is said of variables that are structures: a reduction is of members, which it may name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ccc.analysis.paths.carried_values import REDUCTION_HINT
from ccc.compiler.handing_on import REMOVE
from ccc.compiler.respelled import MISUSED
from ccc.frontend.updates import REDUCING

if TYPE_CHECKING:
    from ccc.errors import Span
    from ccc.frontend.variables import Suspects

_OPEN = 'if the loop only updates members of "{}", name those on the loop: reduction({}: {})'
_HIDDEN = (
    'if the loop only updates members of "{}", update plain variables in their place, or make them '
    "public, and name these on the loop: reduction({}: variables)"
)


def with_members(suspects: Suspects | None, at: Span, text: str, names: Sequence[str]) -> str:
    """A reason that speaks of a reduction of a whole structure, or of a member that only methods
    may name, with what can be named in its place."""
    if suspects is None or not (REDUCTION_HINT in text or MISUSED.search(text)):
        return text
    hint = next(filter(None, (_hint(suspects, at, name) for name in names)), None)
    return text if hint is None else MISUSED.sub(hint, text.replace(REDUCTION_HINT, hint))


def _hint(suspects: Suspects, at: Span, name: str) -> str | None:
    base, _, member = name.partition(".")
    found = suspects.structure(at, base)
    if found is None or (member and not found.hides(member)):
        return None
    by = suspects.operation(at, name)
    if by not in REDUCING:  # no reduction serves what else is done
        return None
    every = ", ".join(f"{base}.{one}" for one in found.open)
    is_hidden = not every and found.private
    hint = (_HIDDEN if is_hidden else _OPEN).format(base, by, every or f"{base}.member")
    return f"{hint}; else {REMOVE}"
