"""A function as if its annotations were other ones: its code is the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ccc.errors import Span
from ccc.ir.markers import Marker
from ccc.ir.nodes import Function, MarkerNote

_NOWHERE = "<supposed>"
"""What to call the file of annotations that nobody wrote."""


@dataclass(frozen=True, slots=True)
class Reannotated:
    """Other annotations of a function.

    Attributes:
        without: where those stand that are gone.
        marked: the kinds of new ones, by the labels of the loops' headers.
    """

    without: frozenset[Span] = frozenset()
    marked: Mapping[str, str] = field(default_factory=dict, hash=False)

    def annotate(self, function: Function) -> None:
        """Change the markers of a function."""
        for number, block in enumerate(function.blocks, 1):
            kept = [one for one in block.statements if not _is_of(one, self.without)]
            if kind := self.marked.get(block.label):
                marker = Marker(kind, -number, Span(_NOWHERE, number))
                kept.insert(0, MarkerNote(marker))
            block.statements[:] = kept


def _is_of(statement: object, places: Collection[Span]) -> bool:
    return isinstance(statement, MarkerNote) and statement.marker.span in places
