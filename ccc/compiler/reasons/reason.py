"""A reason as a value: what it is about, the instructions that it shows, and where it advises what
the source tells more of.

It is read once of the text that a pass gives; whoever knows better fills a slot of it, or gives
other advice, and in the end it is written.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from ccc.compiler.advice import parts_of, with_rest
from ccc.compiler.reasons.hints import CLAUSES, PATTERNS, Hint
from ccc.compiler.reasons.shown import SHOWN, Shown
from ccc.compiler.reasons.topics import Topic, topic_of


@dataclass(frozen=True, slots=True)
class HintSlot:
    """Where a reason advises something.

    Attributes:
        hint: what.
        pieces: what stands there as long as nobody knows better.
        given: what it is said of.
    """

    hint: Hint
    pieces: tuple[Piece, ...]
    given: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What stands there."""
        return written(self.pieces)


_WITH_PIECES = (Hint.MISUSED, Hint.TO_READ_BEHIND)
"""Those that show instructions, or hold other hints."""
Piece: TypeAlias = str | Shown | HintSlot
"""Of which texts consist."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why nothing was done, or what else is to be said.

    Attributes:
        topic: what it is about, if variables may be to blame.
        head: what is the matter.
        advice: what a user can do about it.
        shown: the instructions that it showed as it was read.
    """

    topic: Topic | None
    head: tuple[Piece, ...]
    advice: tuple[Piece, ...]
    shown: tuple[Shown, ...]

    @staticmethod
    def read(text: str) -> Reason:
        """The reason that a text gives."""
        head, _, advice = parts_of(text)
        parts = tuple(_pieces(head)), tuple(_pieces(advice))
        shown = (one for part in parts for one in _every(part) if isinstance(one, Shown))
        return Reason(topic_of(text), *parts, tuple(shown))

    @property
    def clause(self) -> HintSlot | None:
        """Where it speaks of the clauses of the loop."""
        return self.slot(*CLAUSES)

    def slot(self, *hints: Hint) -> HintSlot | None:
        """Where it gives one of some hints."""
        every = (one for part in (self.head, self.advice) for one in _every(part))
        return next((one for one in every if isinstance(one, HintSlot) and one.hint in hints), None)

    def begins(self, words: str) -> bool:
        """Whether what is the matter begins with some words."""
        return str(self.head[0]).startswith(words) if self.head else False

    def says(self, words: str) -> bool:
        """Whether what is the matter has some words."""
        return words in written(self.head)

    def ends_with(self, slot: HintSlot) -> bool:
        """Whether nothing follows an advice."""
        if slot not in self.advice:
            return False
        return not written(self.advice[self.advice.index(slot) + 1 :])

    def filled(self, hint: Hint, piece: str | HintSlot) -> Reason:
        """The same with something else where it gives a hint."""
        head, advice = (tuple(_filled(part, hint, piece)) for part in (self.head, self.advice))
        return replace(self, head=head, advice=advice)

    def pointing(self, text: str) -> Reason:
        """The same with more of what is the matter."""
        return replace(self, head=(*self.head, text))

    def advising(self, text: str) -> Reason:
        """The same with other advice."""
        return replace(self, advice=(text,))

    def advising_first(self, text: str) -> Reason:
        """The same with other advice, but for what it says of a strategy that serves."""
        return self.advising(with_rest(text, written(self.advice)))

    def text(self, place: Callable[[Shown], str] = str) -> str:
        """What it says, with instructions as they are to be shown."""
        return "; ".join(filter(None, (written(self.head, place), written(self.advice, place))))


def written(pieces: Iterable[Piece], place: Callable[[Shown], str] = str) -> str:
    """The text of pieces, with instructions as they are to be shown."""
    leaves = (one for one in _every(pieces) if not isinstance(one, HintSlot))
    return "".join(place(one) if isinstance(one, Shown) else one for one in leaves)


def _every(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """All pieces, and those in them."""
    for piece in pieces:
        yield piece
        if isinstance(piece, HintSlot):
            yield from _every(piece.pieces)


def _filled(pieces: Iterable[Piece], hint: Hint, new: str | HintSlot) -> Iterator[Piece]:
    for piece in pieces:
        if not isinstance(piece, HintSlot):
            yield piece
        elif piece.hint is hint:
            yield new
        else:
            yield replace(piece, pieces=tuple(_filled(piece.pieces, hint, new)))


def _pieces(text: str, *without: Hint) -> Iterator[Piece]:
    """The pieces of a text, in which some hints are none."""
    at = 0
    for match in _pattern(without).finditer(text):
        if match.start() > at:
            yield text[at : match.start()]
        yield _piece(match[0], match.lastgroup)
        at = match.end()
    if at < len(text):
        yield text[at:]


def _piece(words: str, name: str | None) -> Piece:
    """The hint of a name, or an instruction that is shown."""
    hint = Hint[name] if name else None
    match = re.match(PATTERNS[hint] if hint else SHOWN, words)
    given = match.groups() if match else ()
    if hint is None:
        return Shown(int(given[0]), given[1])
    inner = _pieces(words, hint) if hint in _WITH_PIECES else (words,)
    return HintSlot(hint, tuple(inner), given)


@functools.cache
def _pattern(without: tuple[Hint, ...]) -> re.Pattern[str]:
    """What is looked for in a text: instructions that are shown, and hints by their names."""
    named = (f"(?P<{one.name}>{told})" for one, told in PATTERNS.items() if one not in without)
    return re.compile("|".join([SHOWN, *named]))
