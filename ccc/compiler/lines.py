"""Where PTX came from: the table of lines that the compiler adds on request.

The compiler is asked for it whatever the user asks for, and what it adds is taken out again before
anything else looks at the PTX: the code is the same with and without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from ccc.errors import Span

_ADDED = re.compile(
    r"^[ \t]*\.(?:loc|file)[ \t][^\n]*\n|^\$L__func_(?:begin|end)\d+:\n"
    r"|^[ \t]*\.section[ \t]+\.debug_\w+[ \t\n]*\{.*?^[ \t]*\}\n",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_LOC = re.compile(
    r"^[ \t]*\.loc[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+)"
    r"(?:.*\binlined_at[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+))?"
)
_Place = tuple[int, int, int]


class LineTable:
    """The places that the lines of a PTX text were made of, read when somebody first asks.

    Args:
        ptx: the text.
        kept: whether lines count as they stand there, and not as they do in what :func:`split`
            leaves.
    """

    def __init__(self, ptx: str, *, kept: bool = True):
        self._ptx = ptx
        self._kept = kept

    @cached_property
    def places(self) -> Mapping[int, tuple[Span, ...]]:
        """The places by the number of the line, the innermost call first."""
        return _read(self._ptx, kept=self._kept)


def split(ptx: str) -> tuple[str, LineTable]:
    """PTX without what tells of lines, and the table of its lines."""
    parts, at = [], 0
    for match in _ADDED.finditer(ptx):
        parts.append(ptx[at : match.start()])
        at = match.end()
    return "".join([*parts, ptx[at:]]), LineTable(ptx, kept=False)


def _read(ptx: str, *, kept: bool) -> dict[int, tuple[Span, ...]]:
    names = {int(number): _unescape(name) for number, name in _FILE.findall(ptx)}
    callers: dict[_Place, _Place] = {}
    places: dict[int, tuple[Span, ...]] = {}
    here: tuple[Span, ...] = ()
    number = 0
    for text, is_added in _lines(ptx):
        number += kept or not is_added
        if is_added and (match := _LOC.match(text)):
            words = tuple(map(int, filter(None, match.groups())))
            place = words[0], words[1], words[2]
            callers.pop(place, None)  # one place is inlined into many, one after the other
            if len(words) > len(place):
                callers[place] = words[3], words[4], words[5]
            here = tuple(_chain(place, callers, names))
        elif here:
            places[number] = here
    return places


def _lines(ptx: str) -> Iterator[tuple[str, bool]]:
    """The lines of a text, and whether they are added."""
    at = 0
    for match in _ADDED.finditer(ptx):
        yield from ((line, False) for line in ptx[at : match.start()].split("\n")[:-1])
        yield from ((line, True) for line in match[0].split("\n")[:-1])
        at = match.end()
    yield from ((line, False) for line in ptx[at:].split("\n"))


def _chain(
    place: _Place, callers: Mapping[_Place, _Place], names: Mapping[int, str]
) -> Iterator[Span]:
    """A place, and where that was inlined; line 0 is nowhere."""
    seen: set[_Place] = set()
    now: _Place | None = place
    while now is not None and now not in seen:
        seen.add(now)
        file, line, column = now
        if line and file in names:
            yield Span(names[file], line, column)
        now = callers.get(now)


def _unescape(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)
