"""What would become of paths were their annotations other ones: advice is tried before it is given.

Loops are examined as if they had markers, and others as if they had none. What nvcc makes of a
source with such annotations may differ a little, so that this is no proof.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from ccc.analysis.dominators import Loop
from ccc.analysis.facts import Facts
from ccc.analysis.paths.legality import OTHER_TURNS
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import FoundPath, LeftPath, Path, WayOut
from ccc.analysis.paths.unmarked_turns import IN_TURNS, IfMarked, is_final
from ccc.errors import Span
from ccc.ir.markers import Marker


class Examination(Protocol):
    """Examines the paths of a function one by one."""

    collected: list[Path]

    def examine(self, path: FoundPath) -> Path | LeftPath:
        """What becomes of a path."""


class Supposed:
    """What would become of the paths of a function; each change of its annotations is examined once
    for all of them.

    Args:
        begin: an examination with some loops marked, and some annotations removed.
    """

    def __init__(self, begin: Callable[[Sequence[FoundPath], Collection[Span]], Examination]):
        self._begin = begin
        self._begun: dict[Hashable, tuple[Examination, str | None]] = {}

    def if_marked(self, path: FoundPath, loops: Sequence[Loop], kind: str) -> IfMarked:
        """What would become of a path, and of the innermost of loops around it, were that marked
        so, and those around it as far as they have to be."""
        told = IfMarked()
        for number in range(1, len(loops) + 1):
            headers = [loop.header for loop in loops[:number]]
            told = self._supposing(_supposed(headers, kind, path), path)
            if told.loop is None or IN_TURNS not in told.loop:
                return replace(told, number=number)
        return told

    def serves(self, way: WayOut, path: FoundPath) -> bool:
        """Whether a path could be collected then, as far as can be told."""
        marked = _supposed(way.headers, way.kind, path)
        removed = [one.span for one in way.removed]
        return not is_final(self._supposing(marked, path, removed).path)

    def lost_in_order(
        self, loop: FoundPath, found: Collection[FoundPath], facts: Facts
    ) -> FoundPath | None:
        """A path in a loop that could not be collected if that were marked "ccc while"."""
        inside = extent(loop, facts)
        others = [one for one in found if one.entry in inside and one.marker != loop.marker]
        marked, removed = _supposed([loop.entry], "while", loop), [loop.marker.span]
        told = ((one, self._supposing(marked, one, removed).path or "") for one in others)
        return next((one for one, reason in told if OTHER_TURNS in reason), None)

    def _supposing(
        self, marked: Sequence[FoundPath], path: FoundPath, removed: Collection[Span] = ()
    ) -> IfMarked:
        """Why the first of loops, which nobody marked, and a path could not be collected, were some
        annotations removed."""
        key = tuple(one.key[1:] for one in marked), frozenset(removed)
        if key not in self._begun:
            trial = self._begin(marked, removed)
            outcomes = {one: trial.examine(one) for one in reversed(marked)}  # outer loops first
            self._begun[key] = trial, _reason(outcomes[marked[0]]) if marked else None
        trial, why_no_loop = self._begun[key]
        before = list(trial.collected)
        outcome = trial.examine(path)
        trial.collected = before
        return IfMarked(why_no_loop, _reason(outcome))


def _reason(outcome: Path | LeftPath) -> str | None:
    return outcome.reason if isinstance(outcome, LeftPath) else None


def _supposed(headers: Iterable[str], kind: str, path: FoundPath) -> list[FoundPath]:
    """Loops as if they had markers, in the place of a path of which there is to be said."""
    span = path.marker.span
    return [
        FoundPath(Marker(kind, -number, span), header, repeats=True)
        for number, header in enumerate(headers, 1)
    ]
