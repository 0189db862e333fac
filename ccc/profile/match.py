"""Matching of annotations by place: those that a file speaks of, found again in a source.

Since the file was made, the source may have been edited. So an annotation is known by several
things: where it stands, the function that it stands in, and the statement that it speaks of. In
each function those of the file and those of the source are aligned, in their order, so that as
many as possible agree, those before all whose statement is the same. What finds no partner in its
function is tried once more with the rest of the source file: a function may have been renamed.

    recorded = [Place("k.cu", 12, 5, "if", "shade", "if (hit)")]   # when the file was made
    present = [Place("k.cu", 15, 5, "if", "shade", "if (hit)")]    # now
    match(recorded, present)                                       # {recorded[0]: present[0]}

A wrong partner costs time and nothing else, as long as what the file says is mere advice.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from ccc.errors import CccError, Span
from ccc.ir.markers import DIRECTIVES, Marker

_Read = TypeVar("_Read")
_CHECKED = ("str", "int", "bool")
_SAME_DIRECTIVE, _SAME_LINE, _SAME_STATEMENT = 2, 3, 6
"""How much it speaks for two annotations being one: most, that the statement is the same."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where an annotation stands; its arms, and all copies of its code, have one place.

    Attributes:
        file: its name; the folder may be given in another way, or be a temporary one.
        line, column: of the pragma.
        directive: ``if``, ``for variable`` and so on.
        function: the plain name of the function in the source; empty if it is not known.
        statement: what it stands before, up to the body, in one line; likewise.
    """

    file: str
    line: int
    column: int
    directive: str
    function: str = ""
    statement: str = ""

    @staticmethod
    def of(marker: Marker, known: Mapping[int, Place] | None = None) -> Place:
        """The place of a marker's annotation.

        Args:
            marker: any of the annotation's.
            known: the places of a source by identifier, where it was read; without them function
                and statement are not known.
        """
        found = known.get(marker.identifier) if known else None
        return found or Place.at(marker.span, DIRECTIVES.get(marker.kind, marker.kind))

    @staticmethod
    def at(span: Span, directive: str, function: str = "", statement: str = "") -> Place:
        """The place of an annotation at a position."""
        name = os.path.basename(span.file)
        return Place(name, span.line, span.column, directive, function, statement)

    @staticmethod
    def read(entry: Mapping[str, Any]) -> Place:
        """The place that an entry of a profile, or of a report, tells of."""
        span = Span(entry["file"], entry["line"], entry["column"])
        told = entry.get("function", ""), entry.get("statement", "")
        return Place.at(span, entry["directive"], *told)

    def __str__(self) -> str:
        return f"line {self.line} of {self.file}, `ccc {self.directive}`"


def checked(entry: _Read) -> _Read:
    """An object of a dataclass that was read from a file, whose texts and whole numbers are such.

    Raises:
        TypeError: a field has not the type that it is declared to have.
    """
    for field in fields(entry):  # type: ignore[arg-type]
        value = getattr(entry, field.name)
        if field.type in _CHECKED and type(value).__name__ != field.type:
            raise TypeError(f"{field.name} is {value!r}")
    return entry


def match(recorded: Iterable[Place], present: Iterable[Place]) -> dict[Place, Place]:
    """For each recorded place the one of the source that it is now; those without one are left out.

    Args:
        recorded: as they were when the file was made.
        present: all annotations of the source, as they are.
    """
    found: dict[Place, Place] = {}
    before, after = set(recorded), set(present)
    for key in (_function, _file):
        old, new = before - set(found), after - set(found.values())
        for name, mine in _groups(old, key).items():
            found |= _aligned(mine, _groups(new, key).get(name, []))
    return found


def stale(
    file: str,
    what: str,
    remedy: str,
    places: Collection[Place],
    there: Collection[Place],
    now: Mapping[Place, Place],
) -> list[CccError]:
    """A warning for each place that a file tells of and the source lacks; one for all of them where
    the source has another name.

    Args:
        file: its name.
        what: it holds.
        remedy: what to do again.
        places: that it tells of.
        there: all annotations of the source.
        now: what the places are now.
    """
    before, after = ({place.file for place in some} for some in (places, there))
    if before and after and before.isdisjoint(after):
        old, new = (" and ".join(sorted(names)) for names in (before, after))
        message = f"the {what} is of {old}, and says nothing of {new}"
        return [CccError(f"{message}: {remedy} again, or compile it by that name", Span(file))]
    return [
        CccError(f"{place}, is not in the source any more: {remedy} again", Span(file))
        for place in sorted(set(places) - now.keys())
    ]


def _file(place: Place) -> tuple[str, ...]:
    return (place.file,)


def _function(place: Place) -> tuple[str, ...]:
    return place.file, place.function


def _groups(
    places: Collection[Place], key: Callable[[Place], tuple[str, ...]]
) -> dict[tuple[str, ...], list[Place]]:
    ordered = sorted(places, key=lambda place: (key(place), place.line, place.column, place))
    return {name: list(mine) for name, mine in itertools.groupby(ordered, key)}


def _likeness(old: Place, new: Place) -> int:
    """How much speaks for two places being one; 0: they are not."""
    if old.directive != new.directive:
        return 0
    told = bool(old.statement and old.statement == new.statement)
    elsewhere = bool(old.function and new.function and old.function != new.function)
    if elsewhere and not told:
        return 0
    same_line = (old.line, old.column) == (new.line, new.column)
    return _SAME_DIRECTIVE + _SAME_LINE * same_line + _SAME_STATEMENT * told


def _aligned(old: Sequence[Place], new: Sequence[Place]) -> dict[Place, Place]:
    """The pairs of two sequences that keep their order and are most alike in all."""
    best = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]  # of what is left of both
    for i, j in itertools.product(reversed(range(len(old))), reversed(range(len(new)))):
        like = _likeness(old[i], new[j])
        best[i][j] = max(best[i + 1][j], best[i][j + 1], like and like + best[i + 1][j + 1])
    found = {}
    i = j = 0
    while i < len(old) and j < len(new):
        like = _likeness(old[i], new[j])
        if like and best[i][j] == like + best[i + 1][j + 1]:
            found[old[i]] = new[j]
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found
