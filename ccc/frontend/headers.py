"""What a CUDA source includes and defines, as far as its text tells: no preprocessor is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ccc.frontend.no_code import HASH, NO_CODE, in_directives

_HASH = HASH.decode()
_INCLUDE = re.compile(_HASH + r'include[^\S\n]*(["<])([^">\n]+)[">]', re.MULTILINE)
_DEFINE = re.compile(_HASH + r"define[^\S\n]+([\w$]+)([^\n]*)", re.MULTILINE)
_FOLDER = re.compile(r"(?:-I|--?isystem|--include-path|--system-include)[= ]?(.*)", re.DOTALL)
_WORD = re.compile(r"[\w$]+")
_PARAMETERS = re.compile(r"\(([^)]*)\)")
_CHAIN = re.compile(r"[\w$]+(?:\s*(?:#|%:){2}\s*[\w$]+)+")
_NO_CODE = re.compile(NO_CODE.decode(), re.DOTALL | re.VERBOSE)
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


def used(text: str, macros: Mapping[str, str]) -> set[str]:
    """The macros that a text may use: those that it names, and what they may stand for; also by a
    name that is put together from parts."""
    found: set[str] = set()
    chains: set[tuple[str, ...]] = set()
    words = set(_WORD.findall(_code(text)))
    while named := {
        name
        for name in macros.keys() - found
        if name in words or any(_is_made(name, chain, words) for chain in chains)
    }:
        found |= named
        for code in map(_code, (macros[name] for name in named)):
            words.update(_WORD.findall(code))
            chains.update(chain for line in code.splitlines() for chain in _chains(line))
    return found


def _chains(definition: str) -> Iterator[tuple[str, ...]]:
    """What the names are made of that a macro puts together; of any arguments nothing is known."""
    parameters = _PARAMETERS.match(definition)
    free = {"__VA_ARGS__", *_WORD.findall(parameters[1] if parameters else "")}
    for chain in _CHAIN.findall(definition):
        yield tuple("" if one in free else one for one in _WORD.findall(chain))


def _is_made(name: str, parts: tuple[str, ...], words: set[str]) -> bool:
    """Whether a name may be made of some parts, for an unknown one of which any words may stand."""
    if not parts:
        return not name
    first, rest = parts[0], parts[1:]
    if first:
        return name.startswith(first) and _is_made(name[len(first) :], rest, words)
    return _is_made(name, rest, words) or any(
        name[:end] in words and _is_made(name[end:], parts, words)
        for end in range(1, len(name) + 1)
    )


def _code(text: str) -> str:
    """A text in whole lines, without comments and literals."""
    return _NO_CODE.sub(" ", _directives(text))


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
