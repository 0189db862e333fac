"""A text with positions, for messages; and the same text without its comments."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from functools import cached_property
from io import StringIO
from itertools import accumulate

from ccc.errors import CccError, Span
from ccc.ir.markers import MARKER_PREFIX

_COMMENT = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"]*"|#[^\n]*', re.S)
"""Also the lines that a preprocessor leaves: ``# 1 "file.cu"``."""
_LINE_COMMENT = re.compile(rf"//(?!{re.escape(MARKER_PREFIX[2:])})[^\n]*")
"""All there is in most texts, and found several times as fast. A marker is none."""
_VISIBLE = re.compile(r"[^\n]")


class NotRepresentable(CccError):
    """Valid PTX that the IR has no place for; the function can only go through as text."""


class Source:
    """``text`` as it stands in ``file``, where its first character is at ``origin``."""

    def __init__(self, text: str, origin: Span):
        self.text = text
        self.origin = origin

    @cached_property
    def starts(self) -> list[int]:
        """Where lines begin, and a place behind all; the first may have begun before the text."""
        lines = map(len, StringIO(self.text, newline="\n"))
        starts = [1 - self.origin.column, *accumulate(lines)]
        if self.text[-1:] not in ("", "\n"):
            starts.pop()
        return [*starts, sys.maxsize]

    def span(self, position: int) -> Span:
        """Line and column of a place in the text."""
        starts, (file, line, _) = self.starts, self.origin
        row = bisect_right(starts, position, 1) - 1
        return Span(file, line + row, position - starts[row] + 1)

    def fail(self, message: str, position: int, kind: type[CccError] = CccError) -> CccError:
        """An error at a place in the text, with its line."""
        begin = self.text.rfind("\n", 0, position) + 1
        end = self.text.find("\n", position)
        span = self.span(position)
        # The first line may begin in the middle of the file's: pad it, so that the caret fits.
        pad = " " * (self.origin.column - 1) if begin == 0 else ""
        return kind(message, span, pad + self.text[begin : end if end >= 0 else None].rstrip("\r"))

    @cached_property
    def code(self) -> str:
        """The text with blanks for its comments, except markers; every position stays.

        Raises:
            CccError: a comment is never closed.
        """
        if any(sign in self.text for sign in ("/*", "#", '"')):
            return _COMMENT.sub(self._blank, self.text)
        return _LINE_COMMENT.sub(_spaces, self.text)

    def _blank(self, match: re.Match[str]) -> str:
        comment = match[0]
        if comment.startswith(('"', MARKER_PREFIX)):
            return comment
        if comment.startswith("/*") and (len(comment) < 4 or not comment.endswith("*/")):
            raise self.fail('this comment is never closed; add a "*/"', match.start())
        return _VISIBLE.sub(" ", comment)


def _spaces(comment: re.Match[str]) -> str:
    return " " * len(comment[0])
