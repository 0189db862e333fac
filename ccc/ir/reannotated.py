"""A function as if its annotations were other ones: its code is the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from ccc.errors import Span
from ccc.ir.markers import Marker
from ccc.ir.nodes import Block, Function, MarkerNote

_SUPPOSED = "<supposed> "


def supposed(header: str) -> Span:
    """Where an annotation stands that nobody wrote, by the label of its loop's header."""
    return Span(f"{_SUPPOSED}{header}")


def is_supposed(place: Span) -> bool:
    """Whether nobody wrote what stands there."""
    return place.file.startswith(_SUPPOSED)


@dataclass(frozen=True, slots=True)
class Reannotated:
    """Other annotations of a function.

    Attributes:
        without: where those stand that are gone.
        marked: the kinds of new ones, by the labels of the loops' headers.
        entered: the blocks from which control comes to annotated loops, by the same.
        ends: where turns of the new ones end, for messages, by the same.
    """

    without: frozenset[Span] = frozenset()
    marked: Mapping[str, str] = field(default_factory=dict, hash=False)
    entered: Mapping[str, Collection[str]] = field(default_factory=dict, hash=False)
    ends: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)

    def then(self, other: Reannotated) -> Reannotated:
        """Those of other changes that are made after these."""
        return Reannotated(
            self.without | other.without,
            {**self.marked, **other.marked},
            {**self.entered, **other.entered},
            {**self.ends, **other.ends},
        )

    def only(self, headers: Collection[str]) -> Reannotated:
        """The same where of the new ones there are but those of some loops."""
        marked = {header: kind for header, kind in self.marked.items() if header in headers}
        return replace(self, marked=marked)

    def blocks_of(self, function: Function) -> list[Block]:
        """The blocks of a function with these annotations."""
        numbers = {block.label: number for number, block in enumerate(function.blocks, 1)}
        loops: dict[str, list[MarkerNote]] = {}
        for header, labels in self.entered.items():
            for label in labels:
                loops.setdefault(label, []).append(_note("loop", numbers[header], header))
        return [
            self._annotated(block, numbers[block.label], loops.get(block.label, ()))
            for block in function.blocks
        ]

    def _annotated(self, block: Block, number: int, loops: Iterable[MarkerNote]) -> Block:
        kept = [one for one in block.statements if not _is_of(one, self.without)]
        end = -1 if block.terminator else len(kept)
        kept[end:end] = loops
        if kind := self.marked.get(block.label):
            kept.insert(0, _note(kind, number, block.label))
        return replace(block, statements=kept)


def _note(kind: str, number: int, header: str) -> MarkerNote:
    return MarkerNote(Marker(kind, -number, supposed(header)))


def _is_of(statement: object, places: Collection[Span]) -> bool:
    return isinstance(statement, MarkerNote) and statement.marker.span in places
