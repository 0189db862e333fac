"""Where the bytes of a preprocessed text came from.

A preprocessor leaves line markers, ``# 12 "kernel.cu" 2``. They cut the text into chunks; each
chunk knows its file, its first line there and whether it belongs to a system header.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from functools import partial
from typing import NamedTuple

_LINE_MARKER = re.compile(
    rb'#(?:[ \t]*line)?[ \t]+(\d{1,18})(?:[ \t]+"([^"\\\n]*(?:\\.[^"\\\n]*)*)")?([ \t\d]*)\r?$',
    re.MULTILINE,
)
"""What stands behind spaces in a line of its own; a pattern that begins with a character is found
much faster than one that begins with a line."""
_QUOTED = re.compile(
    rb"""(?<!\w)(?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<!\w)'(?:"|\\.)'""",
    re.DOTALL,
)
"""A string, one with a group being raw; or a character, lest a quote in one be taken for the first
of a string. What looks like a marker in a raw string is text, as of a source for NVRTC."""
MOST_READ = 1 << 20
"""Bytes up to which all of the user's files are read, which takes a second; of what is in some
libraries the parser does not come to an end."""
_UNNAMED = "<unnamed>"  # what messages call the file of #line 5 ""
_FIRST_HEADER = "cuda_runtime.h"  # nvcc includes it into everything


class Chunk(NamedTuple):
    """The bytes from ``start`` to ``end``, which begin at ``line`` of ``file``."""

    start: int
    end: int
    file: str
    line: int
    system: bool


class LineMap:
    """The chunks of one text."""

    def __init__(self, code: bytes, filename: str):
        self.code = code
        self.chunks = _without_toolkit(_chunks(code, filename))
        self._starts = [chunk.start for chunk in self.chunks]
        self._ends: dict[int, list[int]] = {}
        self.preprocessed = len(self.chunks) > 1

    def chunk(self, offset: int) -> Chunk:
        """The chunk that holds the byte at ``offset``."""
        return self.chunks[bisect_right(self._starts, offset) - 1]

    def line(self, offset: int) -> tuple[str, int]:
        """The file and line that the byte at ``offset`` came from."""
        chunk = self.chunk(offset)
        ends = self._ends.get(chunk.start)
        if ends is None:
            found = re.compile(b"\n").finditer(self.code, chunk.start, chunk.end)
            ends = self._ends[chunk.start] = [match.start() for match in found]
        return chunk.file, chunk.line + bisect_left(ends, offset)

    @property
    def user_files(self) -> frozenset[str]:
        """The names of the user's own files."""
        return frozenset(chunk.file for chunk in self.chunks if not chunk.system)

    def user_ranges(self, offsets: list[int]) -> list[tuple[int, int]]:
        """The byte ranges of the user's own files.

        A file that holds one of ``offsets`` counts as the user's, whatever its marker says. Where
        the user's are very long, as with a library's headers that ``-I`` names, those beside such
        files count alone, or else these.
        """
        wanted = {self.chunk(offset).file for offset in offsets}
        own = [
            chunk
            for chunk in self.chunks
            if chunk.start < chunk.end and (not chunk.system or chunk.file in wanted)
        ]
        for counts in (partial(_is_beside, files=wanted), wanted.__contains__):
            if sum(chunk.end - chunk.start for chunk in own) > MOST_READ:
                own = [chunk for chunk in own if counts(chunk.file)]
        return [(chunk.start, chunk.end) for chunk in own]


def _is_beside(file: str, files: Collection[str]) -> bool:
    """Whether a file stands in the folder of one of some, or in one within that."""
    folders = {posixpath.dirname(one) for one in files}
    own = posixpath.dirname(file)
    return own in folders or any(one and own.startswith(f"{one}/") for one in folders)


def _chunks(code: bytes, filename: str) -> list[Chunk]:
    chunks: list[Chunk] = []
    known: dict[bytes, tuple[bool, bool]] = {}
    names: dict[bytes | None, str] = {}
    start, file, line, system = 0, filename, 1, False
    for begin, match in _line_markers(code):
        chunks.append(Chunk(start, begin, file, line, system))
        number, quoted, flags = match.groups()
        start, line, names[None] = min(match.end() + 1, len(code)), int(number), file
        name = names.get(quoted) or names.setdefault(quoted, _name(quoted))
        # A macro of a system header, used in a user's file, is marked 3 as well: whose file it
        # is can be told only where the file is entered (1), returned to (2) or first named.
        moves, is_system = known.get(flags) or known.setdefault(flags, _meaning(flags))
        if moves or name != file:
            file, system = name, is_system
    chunks.append(Chunk(start, len(code), file, line, system))
    return chunks


def _meaning(flags: bytes) -> tuple[bool, bool]:
    """Whether a file is entered or returned to, and whether it is a system header."""
    words = flags.split()
    return b"1" in words or b"2" in words, b"3" in words


def _line_markers(code: bytes) -> Iterator[tuple[int, re.Match[bytes]]]:
    """Where the lines of line markers begin, and what they say."""
    quoted = _QUOTED.finditer(code) if b'R"' in code else ()
    raw = [match.span() for match in quoted if match[1] is not None]
    for match in _LINE_MARKER.finditer(code):
        at = match.start()
        before = bisect_right(raw, (at, len(code)))
        if before and at < raw[before - 1][1]:
            continue
        begin = at if code[at - 1 : at] == b"\n" else code.rfind(b"\n", 0, at) + 1
        if begin == at or not code[begin:at].strip(b" \t"):
            yield begin, match


def _without_toolkit(chunks: list[Chunk]) -> list[Chunk]:
    """Mark the toolkit's headers as system headers, which nvcc's ``-I`` hides."""
    files = {chunk.file for chunk in chunks}
    folders = {posixpath.dirname(f) for f in files if posixpath.basename(f) == _FIRST_HEADER}
    prefixes = tuple(folder + "/" for folder in folders if folder)
    hidden = {file for file in files if file.startswith(prefixes)}
    return [
        Chunk(c.start, c.end, c.file, c.line, True) if not c.system and c.file in hidden else c
        for c in chunks
    ]


def _name(quoted: bytes) -> str:
    return re.sub(rb"\\(.)", rb"\1", quoted).decode(errors="surrogateescape") or _UNNAMED


def column_of(source: str, pragma: str, before: str | None) -> int:
    """The column, from 1, of a pragma in its source line, or of the word after ``before``.

    Spaces differ between the two, so that the other characters are counted. A pragma that came
    out of a macro is not in the line: then it is the line's first word.
    """
    places = [place for place, letter in enumerate(source) if not letter.isspace()]
    squeezed = "".join(source.split())
    wanted = "".join(pragma.split())
    words = wanted[wanted.index("ccc") :]
    found = squeezed.find(words)
    if found < 0:
        return places[0] + 1 if places else 1
    if before is None:
        found = max(squeezed.rfind("#", 0, found), squeezed.rfind("_Pragma", 0, found), 0)
    else:
        found += len("ccc") + len("".join(before.split()))
    return places[min(found, len(places) - 1)] + 1
