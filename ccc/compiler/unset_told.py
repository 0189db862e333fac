"""What is said of variables that may have no value: which they are, and what gives them one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ccc.analysis.paths.carried_values import SET_IN_LOOP
from ccc.frontend.syntax import identifiers_in
from ccc.frontend.uses import may_hold

if TYPE_CHECKING:
    from ccc.errors import Span
    from ccc.frontend.variables import Suspects

SET_WHOLE = "give all of it a value where it is declared"
"""Of an array in registers, which is declared in the loop, but of which not all is set."""


def names_of_unset(suspects: Suspects, at: Span, places: Sequence[Span], kind: str) -> list[str]:
    """The variables that may be meant where none is declared without a value in the loop: of those
    that the path leaves to later iterations, what the iteration reads outside of it; or arrays.

    Args:
        suspects: what is known of the source.
        at: where the annotation stands.
        places: the line at fault, and the calls that it is in.
        kind: the PTX type of what is set there, if that is of floating-point.
    """
    carried = suspects.names(at, "carried", places)
    return read_outside(suspects, at, carried, kind) or suspects.names(at, "arrays", places)


def read_outside(suspects: Suspects, at: Span, names: list[str], kind: str) -> list[str]:
    """Those of some variables that the annotated loop around a statement reads outside of that, and
    that may have some type; all of them if it reads none."""
    found = suspects.statements(at)
    if found is None:
        return names
    path, loop = found
    uses = list(identifiers_in(loop))
    read = {u.text for u in uses if not path.start_byte <= u.start_byte < path.end_byte}
    held = {u.text for u in uses if may_hold(kind, u)}
    likely = [one for one in names if one.partition(".")[0].encode() in read & held]
    return likely or names


def with_whole(suspects: Suspects | None, at: Span, text: str, names: Sequence[str]) -> str:
    """A reason that speaks of variables without a value, of an array: that is declared already."""
    arrays = suspects.names(at, "arrays") if suspects and SET_IN_LOOP in text else []
    return text.replace(SET_IN_LOOP, SET_WHOLE) if names and {*names} <= {*arrays} else text
