"""CUDA without our pragmas, for whoever has no use for them; nothing is loaded for that."""

from __future__ import annotations

import re

from ccc.frontend.no_code import NO_CODE, outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BOM = "\ufeff"
"""A byte order mark, with which a text may begin; inside one it is no code."""
REST = rb"(?:\\\r?\n|(?sx:" + NO_CODE + rb")|[^\n])*"
"""The rest of a line, with what continues it: a backslash, or a comment that ends in another."""
GAP = rb"(?:[ \t]|\\\r?\n|/\*(?:[^*]|\*(?!/))*\*/)"
"""A space between the words of a directive, which may go on in the next line."""
_OURS = rb"#" + GAP + rb"*pragma" + GAP + rb"+ccc(?!\w)"
_PRAGMA = re.compile(rb"^([ \t]*)(" + _OURS + rb")(" + REST + rb")$", re.MULTILINE)
_NO_CODE = re.compile(NO_CODE.decode() + r"|/\*.*", re.DOTALL | re.VERBOSE)
_SPLICE = re.compile(r"\\\r?\n")
_WORDS = re.compile(_OURS)


def pragmas(code: bytes) -> Iterator[re.Match[bytes]]:
    """Our pragmas in a text: what stands before them, their first words, and the rest."""
    return outside(code, _alike(code))


def _alike(code: bytes) -> Iterator[re.Match[bytes]]:
    """The same, and what only looks like them, in comments and strings.

    A pattern that begins with a character is found much faster than one that begins with a line.
    """
    at = 0
    while words := _WORDS.search(code, at):
        begin = code.rfind(b"\n", 0, words.start()) + 1
        found = _PRAGMA.match(code, begin) if begin >= at else None
        if found:
            yield found
        at = found.end() if found else words.end()


def stripped(code: bytes) -> bytes:
    """The code without our pragmas; lines stay where they are.

    >>> stripped(b"#pragma ccc if\\nif (x) y();\\n")
    b'\\nif (x) y();\\n'
    """
    parts, at = [], 0
    for found in pragmas(code):
        parts += [code[at : found.start()], newlines(found[0])]
        at = found.end()
    return b"".join([*parts, code[at:]])


def newlines(text: bytes) -> bytes:
    """As many lines, without what stands in them."""
    return b"\n" * text.count(b"\n")


def without_comments(words: str) -> str:
    """The words of a pragma with spaces, as many, for comments."""
    return _NO_CODE.sub(lambda m: " " * len(m[0]) if m[0].startswith("/") else m[0], words)


def as_operator(words: bytes) -> bytes:
    """What stands behind ``#pragma``, as a pragma that may stand inside a line.

    >>> as_operator(b'unroll \\\\\\n sizeof("ab") // 3')
    b'_Pragma("unroll  sizeof(\\\\"ab\\\\")")'
    """
    line = _SPLICE.sub("", words.decode(errors="surrogateescape"))
    text = without_comments(line).strip().replace("\\", r"\\").replace('"', r"\"")
    return f'_Pragma("{text}")'.encode(errors="surrogateescape")
