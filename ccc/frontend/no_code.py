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
    return (one for one in found if _is_outside(code, one.start()))


def _is_outside(code: bytes, place: int) -> bool:
    """Whether a place is in none; what begins there is in none, either."""
    reaching = _reaching(code)
    before = bisect_left(reaching, place, key=_start)
    end = reaching[before - 1][1] if before else 0
    line_end = code.find(b"\n", place)
    return place >= end and not _around(code, place, end, len(code) if line_end < 0 else line_end)


@functools.lru_cache(maxsize=1)
def _reaching(code: bytes) -> list[tuple[int, int]]:
    """Where those begin and end that reach another line; a text is asked about several times."""
    found: list[tuple[int, int]] = []
    hints = (match.start() for one in _REACHES for match in one.finditer(code))
    for hint in sorted(hints):
        end = found[-1][1] if found else 0
        around = _around(code, hint + 1, end, len(code)) if hint >= end else None
        if around and b"\n" in around[0]:
            found.append(around.span())
    return found


def _around(code: bytes, place: int, begin: int, end: int) -> re.Match[bytes] | None:
    """What a place is in, of what begins in its line, and lies between two others."""
    begin = max(code.rfind(b"\n", 0, place) + 1, begin)
    for one in _NO_CODE.finditer(code, begin, end):
        if one.start() >= place:
            break
        if place < one.end():
            return one
    return None


def _start(span: tuple[int, int]) -> int:
    return span[0]
