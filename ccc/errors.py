"""Source positions, and diagnostics that show them.

Every message a user sees prints as ``file:line:column: severity: text``, followed by the source
line and a caret under the column.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """A position in a text: ``line`` and ``column`` count from 1; 0 means unknown."""

    file: str = "<text>"
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.file] + [str(number) for number in (self.line, self.column) if number]
        return ":".join(parts)


class CccError(Exception):
    """A diagnostic about the user's input.

    Args:
        message: what is wrong, and what to do about it.
        span: where; None when no place in a file is at fault.
        source_line: the text of the line at ``span``, shown with a caret.
    """

    status = 1
    """That of a command which ends with it."""

    def __init__(self, message: str, span: Span | None = None, source_line: str | None = None):
        super().__init__(message)
        self.message = message
        self.span = span
        self.source_line = source_line

    def __str__(self) -> str:
        return render("error", self.message, self.span, self.source_line)


class UsageError(CccError):
    """The command line itself is wrong: a word in it, or one that is missing."""

    status = 2


class BuildError(CccError):
    """What compilers said of a source; each line of it names its place."""

    def __str__(self) -> str:
        return self.message


def in_words(error: OSError, missing: str = "file") -> str:
    """Why a file cannot be read or written, as all our messages say it; ``missing`` is what there
    is not where something is not there.

    >>> in_words(FileNotFoundError(2, "No such file or directory"))
    'there is no such file'
    """
    import errno  # noqa: PLC0415 - most commands do without it

    words = {errno.ENOENT: f"there is no such {missing}", errno.EISDIR: "it is a folder"}
    return words.get(error.errno or 0) or error.strerror or str(error)


def render(
    severity: str, message: str, span: Span | None = None, source_line: str | None = None
) -> str:
    """Format one diagnostic, with the source line and a caret where they are known.

    >>> print(render("error", "no such clause", Span("k.cu", 3, 13), "#pragma ccc fro"))
    k.cu:3:13: error: no such clause
        #pragma ccc fro
                    ^
    """
    head = f"{span}: {severity}: {message}" if span else f"ccc: {severity}: {message}"
    if source_line is None:
        return head
    text = printable(source_line.rstrip("\n").expandtabs(1))
    column = span.column if span else 0
    begin = max(0, column - 1 - _SHOWN // 2) if len(text) > _SHOWN else 0
    shown = text[begin : begin + _SHOWN]
    before, after = "..." * (begin > 0), "..." * (begin + _SHOWN < len(text))
    lines = [head, f"    {before}{shown}{after}"]
    if column:
        lines.append(
            " " * (4 + len(before) + _width(text[begin : column - 1], column - 1 - begin)) + "^"
        )
    return "\n".join(lines)


def printable(text: str) -> str:
    """A text of one line that a terminal shows as it is; what it would not show is ``?``."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _width(text: str, least: int) -> int:
    """How many columns a text takes; a place behind its end is that many characters along."""
    import unicodedata  # noqa: PLC0415 - most commands do without it

    marks = sum(unicodedata.combining(c) > 0 for c in text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return max(least, len(text)) + wide - marks


_SHOWN = 200
"""Characters of a source line that are shown, around the place."""


def short(text: str, length: int = 40) -> str:
    """A text for a message, in one line: of a long one its beginning, up to a space in it.

    >>> short("a  b"), short("x" * 50, 5), short("one two", 5)
    ('a b', 'xxxxx...', 'one...')
    """
    words = " ".join(text[: 2 * length].split())
    if len(text) <= 2 * length and len(words) <= length:
        return words
    whole, _, _ = words[: length + 1].rpartition(" ")
    return f"{whole or words[:length]}..."


def choices(word: str, known: Iterable[str]) -> str:
    """A hint that names the known word most like ``word``, or else all of them.

    >>> choices("zzz", ["for", "if"])
    '; known are for, if'
    """
    words = list(known)
    return nearest(word, words) or f"; known are {', '.join(words)}"


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint that names the known word most like ``word``, or the empty string.

    >>> nearest("fro", ["for", "if"])
    '; did you mean "for"?'
    >>> nearest("probability", ["priority", "prob"])
    '; did you mean "prob"?'
    """
    found = closest(word, known)
    return did_you_mean(found) if found else ""


def did_you_mean(word: str) -> str:
    """The hint that names a word."""
    return f'; did you mean "{word}"?'


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like ``word``, in whatever case, if one is much like it.

    >>> closest("SUM", ["total", "sum"])
    'sum'
    """
    import difflib  # noqa: PLC0415 - most commands do without it

    near = {} if len(word) > 100 else {one.lower(): one for one in reversed(list(known))}
    lower = word.lower()
    shortened = [one for one in reversed(near) if len(one) > 2 and lower.startswith(one)]
    matches = shortened or difflib.get_close_matches(lower, near, n=1, cutoff=0.6)
    return near[matches[0]] if matches else None
