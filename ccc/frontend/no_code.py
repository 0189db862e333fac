"""Comments and literals: in them, nothing is code, whatever it looks like."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORDS = (b"case", b"return", b"else", b"do", b"throw", b"sizeof", b"if", b"elif")
"""What a literal of a character may stand behind without a space, besides its prefixes: behind any
other word, and digits, ``'`` stands between digits."""
_BEHIND_A_WORD = b"|".join(rb"(?<=\b%b')" % word for word in _WORDS)
NO_CODE = (
    rb"""["'/](?:
      (?:(?<=\bR")|(?<=\b[uUL]R")|(?<=\bu8R"))(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)"
    | (?<=")(?:\\\r?\n|\\.|[^"\\\n])*"
    | (?<=')(?:(?<!\w')|(?<=\b[uUL]')|(?<=\bu8')|"""
    + _BEHIND_A_WORD
    + rb""")(?:\\\r?\n|\\.|[^'\\\n])*'
    | (?<=/)/(?:\\\r?\n|[^\n])*
    | (?<=/)\*.*?\*/
)"""
)
"""One of them; a pattern that begins with a character is found much faster than one that begins
with a choice."""
_NO_CODE = re.compile(NO_CODE, re.DOTALL | re.VERBOSE)
_CONTINUED = re.compile(rb"\\[ \t]*\r?\n")
HASH = rb"^[^\S\n]*(?:#|%:)[^\S\n]*"
"""What a directive begins with, in a text as :func:`in_directives` gives it."""


_REACHES = tuple(map(re.compile, (rb'"(?<=R")', rb"/\*", rb"\\[\r\n]")))
"""In each that reaches another line is one of these. A pattern finds two bytes in half of the time
that a search for them takes."""


def in_directives(code: bytes) -> bytes:
    r"""A text as a preprocessor sees its directives: lines that go on are joined, and comments are
    blanks.

    >>> in_directives(b"/* */#def\\\nine A // is it\n")
    b' #define A  \n'
    """
    joined = _CONTINUED.sub(b"", code).replace(b"\r", b"\n")
    return _NO_CODE.sub(lambda found: b" " if found[0].startswith(b"/") else found[0], joined)


def outside(code: bytes, found: Iterable[re.Match[bytes]]) -> Iterator[re.Match[bytes]]:
    """Those of some matches, in their order, that do not begin in a comment or a literal."""
    reaching, look = _reaching(code), _Look(code)
    for one in found:
        place = one.start()
        before = bisect_left(reaching, place, key=_start)
        end = reaching[before - 1][1] if before else 0
        if place >= end and look.around(place, end) is None:
            yield one


@functools.lru_cache(maxsize=1)
def _reaching(code: bytes) -> list[tuple[int, int]]:
    """Where those begin and end that reach another line; a text is asked about several times."""
    found: list[tuple[int, int]] = []
    look = _Look(code, whole=True)
    hints = (match.start() for one in _REACHES for match in one.finditer(code))
    for hint in sorted(hints):
        end = found[-1][1] if found else 0
        around = look.around(hint + 1, end) if hint >= end else None
        if around and b"\n" in code[slice(*around)]:
            found.append(around)
    return found


class _Look:
    """What places of a text are in, one behind the other, by the lines that they are in.

    Args:
        code: the text.
        whole: whether what reaches another line is looked for, too.
    """

    def __init__(self, code: bytes, *, whole: bool = False):
        self._code, self._whole = code, whole
        self._line = (0, -1)
        self._last = (0, 0)
        self._free = (0, 0)

    def around(self, place: int, begin: int) -> tuple[int, int] | None:
        """Where what a place is in begins and ends, if it begins behind ``begin``."""
        if self._last[0] < place < self._last[1]:
            return self._last
        if self._free[0] <= place <= self._free[1]:
            return None
        start, stop = self._line_of(place)
        start, stop = max(start, begin, self._last[1]), len(self._code) if self._whole else stop
        for one in _NO_CODE.finditer(self._code, start, stop):
            if one.start() >= place:
                stop = one.start()
                break
            self._last = one.span()
            if place < one.end():
                return self._last
        self._free = place, stop
        return None

    def _line_of(self, place: int) -> tuple[int, int]:
        start, stop = self._line
        if not start <= place <= stop:
            start, stop = self._code.rfind(b"\n", 0, place) + 1, self._code.find(b"\n", place)
            self._line = start, len(self._code) if stop < 0 else stop
        return self._line


def _start(span: tuple[int, int]) -> int:
    return span[0]
