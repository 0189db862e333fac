"""Comments and literals: in them, nothing is code, whatever it looks like."""

from __future__ import annotations

import functools
import re

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


_REACHES = tuple(map(re.compile, (rb'R"', rb"/\*", rb"\\[\r\n]")))
"""Without any of these in a text, as a preprocessor leaves it, none reaches another line. A pattern
finds two bytes in half of the time that a search for them takes."""


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
    every = list(found)
    if every and _reach_further(code):
        return _in_all(code, every)
    return (one for one in every if _is_outside(code, one))


@functools.lru_cache(maxsize=1)
def _reach_further(code: bytes) -> bool:
    """Whether any may reach another line; a text is asked about several times."""
    return any(one.search(code) for one in _REACHES)


def _is_outside(code: bytes, match: re.Match[bytes]) -> bool:
    """The same of a text in which lines can be looked at by themselves."""
    begin = code.rfind(b"\n", 0, match.start()) + 1
    line = _NO_CODE.finditer(code, begin, match.end())
    return not any(one.start() < match.start() < one.end() for one in line)


def _in_all(code: bytes, found: Iterable[re.Match[bytes]]) -> Iterator[re.Match[bytes]]:
    """The same of any text, which is looked through from its beginning."""
    ends = ((one.start(), one.end()) for one in _NO_CODE.finditer(code))
    start = end = 0
    for match in found:
        while end <= match.start():
            start, end = next(ends, (len(code), len(code) + 1))
        if match.start() <= start:
            yield match
