"""Comments and literals: in them, nothing is code, whatever it looks like."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NO_CODE = rb"""["'/](?:
      (?:(?<=\bR")|(?<=\b[uUL]R")|(?<=\bu8R"))(?P<end>[^()\\\s]{0,16})\(.*?\)(?P=end)"
    | (?<=")(?:\\\r?\n|\\.|[^"\\\n])*"
    | (?<=')(?:(?<!\w')|(?<=\b[uUL]')|(?<=\bu8'))(?:\\\r?\n|\\.|[^'\\\n])*'  # else digits
    | (?<=/)/(?:\\\r?\n|[^\n])*
    | (?<=/)\*.*?\*/
)"""
"""One of them; a pattern that begins with a character is found much faster than one that begins
with a choice."""
_NO_CODE = re.compile(NO_CODE, re.DOTALL | re.VERBOSE)


def outside(code: bytes, found: Iterable[re.Match[bytes]]) -> Iterator[re.Match[bytes]]:
    """Those of some matches, in their order, that do not begin in a comment or a literal."""
    ends = ((one.start(), one.end()) for one in _NO_CODE.finditer(code))
    start = end = 0
    for match in found:
        while end <= match.start():
            start, end = next(ends, (len(code), len(code) + 1))
        if match.start() <= start:
            yield match
