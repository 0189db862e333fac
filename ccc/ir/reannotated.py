"""A function as if its annotations were other ones: its code is the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from ccc.errors import Span
from ccc.ir.markers import Marker
from ccc.ir.nodes import Block, Function, MarkerNote

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

    def blocks_of(self, function: Function) -> list[Block]:
        """The blocks of a function with these annotations."""
        return [self._annotated(*one) for one in enumerate(function.blocks, 1)]

    def _annotated(self, number: int, block: Block) -> Block:
        kept = [one for one in block.statements if not _is_of(one, self.without)]
        if kind := self.marked.get(block.label):
            kept.insert(0, MarkerNote(Marker(kind, -number, Span(_NOWHERE, number))))
        return replace(block, statements=kept)


def _is_of(statement: object, places: Collection[Span]) -> bool:
    return isinstance(statement, MarkerNote) and statement.marker.span in places
