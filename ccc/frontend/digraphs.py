"""Digraphs: ``<%`` for a brace, ``<:`` for a bracket, which the parser does not know."""

from __future__ import annotations

import re

from ccc.frontend.no_code import NO_CODE

_MEANT = {b"<%": b"{ ", b"%>": b"} ", b"<:": b"[ ", b":>": b"] "}
_HINTS = (re.compile(rb"<[%:]"), re.compile(rb">(?<=[%:]>)"))
"""One of them is in each; they begin with a character, which makes them fast."""
_DIGRAPH = re.compile(
    NO_CODE + rb"|<%|%>|<:(?!:[^:>])|(?<!:):>",
    re.DOTALL | re.VERBOSE,
)
"""One of them, or what holds none; behind ``<`` the name of something global begins with ``::``,
as in ``vector<::Hit>``."""


def without_digraphs(code: bytes) -> bytes:
    """The code with what they stand for, and a space; every other byte stays where it is.

    >>> without_digraphs(b'a<:i:> <% f<::T>("%>"); %>')
    b'a[ i]  {  f<::T>("%>"); } '
    """
    if not any(one.search(code) for one in _HINTS):
        return code
    return _DIGRAPH.sub(lambda found: _MEANT.get(found[0], found[0]), code)
