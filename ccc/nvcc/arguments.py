"""What functions of ours take from a user's program: strings, and text that can be compiled."""

from __future__ import annotations

from collections.abc import Iterable

from ccc.errors import CccError, Span


def strings(name: str, given: Iterable[str]) -> tuple[str, ...]:
    """The strings of an argument.

    Raises:
        TypeError: it holds something else, or is one string.
    """
    if isinstance(given, str):
        raise TypeError(f"{name} is a tuple of strings, such as ({given!r},)")
    found = tuple(given) if isinstance(given, Iterable) else None
    if found is None or not all(isinstance(one, str) for one in found):
        raise TypeError(f"{name} is a tuple of strings, not {given!r}")
    return found


def check_characters(text: str, shown: str, errors: str = "surrogateescape") -> None:
    """Look at a source that is to be written in UTF-8; ``errors`` are those of ``str.encode``.

    Raises:
        CccError: it holds half of a character, or a byte that is none.
    """
    try:
        text.encode(errors=errors)
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        what = ascii(text[error.start])
        raise CccError(f"{what} cannot be written in UTF-8", Span(shown, line)) from None
