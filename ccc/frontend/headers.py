"""What a CUDA source includes and defines, as far as its text tells: no preprocessor is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ccc.frontend.no_code import HASH, in_directives

_HASH = HASH.decode()
_INCLUDE = re.compile(_HASH + r'include[^\S\n]*(["<])([^">\n]+)[">]', re.MULTILINE)
_DEFINE = re.compile(_HASH + r"define[^\S\n]+([\w$]+)([^\n]*)", re.MULTILINE)
_FOLDER = re.compile(r"(?:-I|--?isystem|--include-path|--system-include)[= ]?(.*)", re.DOTALL)
_MACRO = re.compile(r"(?:-D|--define-macro)[= ]?(.*)", re.DOTALL)


def reachable(text: str, folders: Sequence[str]) -> dict[str, str]:
    """The text of each header in ``folders`` that ``text`` may include, by path.

    Conditions are not looked at, so that there may be too many; an include whose name is a macro
    is not found.
    """
    found: dict[str, str] = {}
    waiting = [(text, list(folders))]
    while waiting:
        text, places = waiting.pop()
        every = (*_INCLUDE.findall(_directives(text)), *_INCLUDE.findall(text))  # as <a//b.h>
        for quote, name in every:
            path = _find(name, places if quote == '"' else folders)
            if path is not None and str(path) not in found:
                found[str(path)] = path.read_text(encoding="utf-8", errors="replace")
                waiting.append((found[str(path)], [str(path.parent), *folders]))
    return found


def folders(options: Sequence[str]) -> Iterator[str]:
    """The folders that options for nvcc or NVRTC name for headers."""
    return _values(_FOLDER, options)


def definitions(texts: Iterable[str], options: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The macros that texts and options define: the name, and what follows it."""
    for text in texts:
        yield from _DEFINE.findall(_directives(text))
    for value in _values(_MACRO, options):
        name = re.match(r"\w*", value)
        yield (name[0], value[name.end() :]) if name else (value, "")


def together(definitions: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What each of these macros may stand for: all that it is defined as, line by line."""
    found: dict[str, str] = {}
    for name, text in definitions:
        found[name] = f"{found.get(name, '')}\n{text.removeprefix('=')}"
    return found


def _directives(text: str) -> str:
    """A text in which directives stand as a preprocessor sees them."""
    code = text.encode(errors="surrogateescape")
    return in_directives(code).decode(errors="surrogateescape")


def _values(option: re.Pattern[str], options: Sequence[str]) -> Iterator[str]:
    """The values of an option, written in one word with it or in the next."""
    words = iter(options)
    for word in words:
        if match := option.match(word):
            yield match[1] or next(words, "")


def _find(name: str, places: Sequence[str]) -> Path | None:
    for place in places:
        path = Path(place, name).resolve()  # so that a header has one name, however it is reached
        if path.is_file():
            return path
    return None
