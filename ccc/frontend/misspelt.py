"""Pragmas that are meant for us, by their looks: ``#pragma CCC FOR``, ``#pragma ccc_if``.

A compiler passes over what it does not know. So what differs from ours by the case of its letters,
or by one of them, is told; pragmas of others are left to others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ccc.frontend.no_code import outside

_LIKE_OURS = re.compile(
    rb"""\#[ \t]*pragma[ \t]+(?!(?-i:ccc)\b)
    (?P<ours>(?:[a-z]?cc|c[a-z]c|cc[a-z]|[a-z]ccc|c[a-z]cc|cc[a-z]c|ccc[a-z])[ \t]+|ccc_?)
    (?P<directive>[a-z]\w*)""",
    re.VERBOSE | re.IGNORECASE,
)


def misspelt(code: bytes) -> Iterator[re.Match[bytes]]:
    """Such pragmas in a text: the word that is ``ours`` if spelt so, and the ``directive``."""
    from ccc.frontend.pragmas import DIRECTIVES  # noqa: PLC0415 - most texts need no list

    known = {name.split()[0].encode() for name in DIRECTIVES}
    for found in outside(code, _LIKE_OURS.finditer(code)):
        line = code[code.rfind(b"\n", 0, found.start()) + 1 : found.start()]
        if not line.strip() and found["directive"].lower() in known:
            yield found


def message(found: re.Match[bytes]) -> str:
    """What is to be said of one."""
    ours, directive = (found[name].decode() for name in ("ours", "directive"))
    return f'"#pragma {ours}{directive}" is no annotation; write "#pragma ccc {directive.lower()}"'
