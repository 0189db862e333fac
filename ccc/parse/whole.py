"""Whether a file is PTX at all, and whole, whatever is in its functions."""

from __future__ import annotations

import re

from ccc.errors import CccError, Span
from ccc.parse.module import parse_module
from ccc.parse.source import Source

_VERSION = re.compile(r"(?:^|\*/)\s*\.version\b", re.MULTILINE)
_STRING = re.compile(r'"[^"]*"|//[^\n]*')
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f\x7f]|[^\x00-\x7f]")


def _no_ptx(text: str) -> str:
    if not text.strip():
        return "the file is empty"
    if text.startswith(("\udcff\udcfe", "\udcfe\udcff")):
        return "the file is UTF-16, and PTX is ASCII"
    if text.startswith("\ufeff"):
        return "the file begins with a byte order mark, and PTX is ASCII"
    if "\0" in text:
        return "the file is binary"
    return "" if _VERSION.search(text) else "there is no .version directive"


def check_file(text: str, name: str) -> None:
    """Refuse what is no PTX file: binary data, other text, or the beginning of one.

    Args:
        text: all of it; a byte that is no UTF-8 is a surrogate.
        name: of the file.

    Raises:
        CccError: it is none.
    """
    source = Source(text, Span(name, 1, 1))
    if why := _no_ptx(text):
        raise CccError(f"this is no PTX: {why}", Span(name))
    code = _STRING.sub(lambda found: " " * len(found[0]), source.code)
    if wrong := _NO_TEXT.search(code):
        raise source.fail(
            f"the {_named(wrong[0])} stands in no comment and no string; "
            "PTX is ASCII, and is the file whole?",
            wrong.start(),
        )
    parse_module(text, name)


def _named(character: str) -> str:
    byte = ord(character) - 0xDC00
    return f"byte 0x{byte:02x}" if 0x80 <= byte <= 0xFF else f"character {character!a}"
