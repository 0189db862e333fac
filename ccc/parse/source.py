"""A text with positions, for messages; and the same text without its comments."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from ccc.errors import CccError, Span
from ccc.ir.markers import MARKER_PREFIX

_COMMENT = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"]*"|#[^\n]*', re.S)
"""Also the lines that a preprocessor leaves: ``# 1 "file.cu"``."""
_VISIBLE = re.compile(r"[^\n]")


class NotRepresentable(CccError):
    """Valid PTX that the IR has no place for; the function can only go through as text."""


class Source:
    """``text`` as it stands in ``file``, where its first character is at ``origin``."""

    def __init__(self, text: str, origin: Span):
        self.text = text
        self.origin = origin

    @cached_property
    def _newlines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def span(self, position: int) -> Span:
        """Line and column of a place in the text."""
        row = bisect_left(self._newlines, position)
        if row == 0:
            return Span(self.origin.file, self.origin.line, self.origin.column + position)
        column = position - self._newlines[row - 1]
        return Span(self.origin.file, self.origin.line + row, column)

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
        if not any(sign in self.text for sign in ("//", "/*", "#")):
            return self.text
        return _COMMENT.sub(self._blank, self.text)

    def _blank(self, match: re.Match[str]) -> str:
        comment = match[0]
        if comment.startswith(('"', MARKER_PREFIX)):
            return comment
        if comment.startswith("/*") and (len(comment) < 4 or not comment.endswith("*/")):
            raise self.fail('this comment is never closed; add a "*/"', match.start())
        return _VISIBLE.sub(" ", comment)
