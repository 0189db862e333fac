"""Digraphs: ``<%`` for a brace, ``<:`` for a bracket, which the parser does not know."""

from __future__ import annotations

import re

from ccc.frontend.no_code import outside

_MEANT = {b"<%": b"{ ", b"%>": b"} ", b"<:": b"[ ", b":>": b"] "}
_HINTS = (re.compile(rb"<[%:]"), re.compile(rb">(?<=[%:]>)"))
"""One of them is in each; they begin with a character, which makes them fast."""
_DIGRAPH = re.compile(rb"<(?:%|:(?!:[^:>]))|%>|:(?<!::)>")
"""One of them, or in a literal what looks like one; behind ``<`` the name of something global may
begin with ``::``, as in ``vector<::Hit>``."""


def without_digraphs(code: bytes) -> bytes:
    """The code with what they stand for, and a space; every other byte stays where it is.

    >>> without_digraphs(b'a<:i:> <% f<::T>("%>"); %>')
    b'a[ i]  {  f<::T>("%>"); } '
    """
    if not any(one.search(code) for one in _HINTS):
        return code
    meant = None
    for found in outside(code, _DIGRAPH.finditer(code)):
        meant = meant or bytearray(code)
        meant[found.start() : found.end()] = _MEANT[found[0]]
    return bytes(meant) if meant else code
