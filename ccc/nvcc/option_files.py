"""Options in texts: what of a variable, or of a file of options, is ours, and what nvcc gets.

nvcc splits such texts by rules of its own: a ``'`` is a character as any other, and quotes within
quotes are lost. So what is not ours goes to it as it stands there, letter for letter.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from ccc.errors import CccError
from ccc.files import put_text, read_text
from ccc.nvcc.words import RESPONSE

OURS = "--ccc-"
_BLANKS = " \t\r\n"
_QUOTED = r'"(?:[^"\\]|\\.)*"|\\.'
_OURS = rf"""(?=["']?{OURS})(?:{_QUOTED}|'[^']*'|[^{_BLANKS}"'\\])+"""
_WORD = re.compile(rf"""({_OURS})|(?:{_QUOTED}|[^{_BLANKS}"\\])+""", re.DOTALL)
_DEEPEST = 15
"""How deep such files may stand in each other, as nvcc has it."""


class SettingsError(CccError):
    """What stands in a variable or a file is no option."""


def split(text: str, place: str) -> list[str]:
    """The words of a text: ours as a shell has them, all others as nvcc.

    Raises:
        SettingsError: it ends within one; the message begins with ``place``.
    """
    return [word for word, _ in _words(text, place)]


def without_ours(text: str, place: str, folder: str) -> str:
    """The text for nvcc, which does not know our options: also what it names holds none of them.

    Copies of the files of options that hold some are put into ``folder``.
    """
    found = list(_words(text, place))
    instead = {span: "" for word, span in found if word.startswith(OURS)}
    for index, names in files_in([word for word, _ in found]).items():
        word, span = found[index]
        copies = _copies(names, folder)
        if ",".join(copies) != names:
            told = ",".join(f'"{copy}"' for copy in copies)
            instead[span] = f"{word.removesuffix(names)}{told}"
    return _changed(text, instead)


def with_ours(arguments: Sequence[str]) -> list[str]:
    """The words, and behind each that names files of options what of ours these hold."""
    files = files_in(arguments)
    words: list[str] = []
    for index, word in enumerate(arguments):
        held = _held(files.get(index, ""), 0)
        words += [word, *(one for one in held if one.startswith(OURS))]
    return words


def expanded(arguments: Sequence[str], depth: int = 0) -> list[str]:
    """The words, and in place of a file of options those that it holds.

    Raises:
        SettingsError: a file cannot be read.
    """
    files = files_in(arguments)
    words: list[str] = []
    for index, word in enumerate(arguments):
        if index in files:
            words += _held(files[index], depth)
        elif word not in RESPONSE:
            words.append(word)
    return words


def files_in(words: Sequence[str]) -> dict[int, str]:
    """The names of files of options, by the index of the word that tells them."""
    found = {}
    for index, word in enumerate(words):
        name, equals, told = word.partition("=")
        if name in RESPONSE and (equals or index + 1 < len(words)):
            found[index if equals else index + 1] = told if equals else words[index + 1]
    return found


def for_nvcc(arguments: Sequence[str], folder: str) -> list[str]:
    """The words with copies, in ``folder``, of the files of options that hold some of ours."""
    words = list(arguments)
    for index, names in files_in(arguments).items():
        words[index] = words[index].removesuffix(names) + ",".join(_copies(names, folder))
    return words


def _copies(names: str, folder: str) -> list[str]:
    return [_copy(name, folder) for name in names.split(",")]


def _copy(name: str, folder: str) -> str:
    """The file itself, or if it or one in it holds options of ours, a copy without these.

    Also of a pipe, which nobody can read again.
    """
    if not _is_read(name):
        return name
    text = _text(name)
    changed = without_ours(text, name, folder)
    if changed == text and os.path.isfile(name):
        return name
    copy = os.path.join(folder, f"options-{len(os.listdir(folder))}")
    put_text(copy, changed)
    return copy


def _held(names: str, depth: int) -> list[str]:
    """The words of some files of options; none where nvcc will say that there is no such file."""
    words: list[str] = []
    for name in filter(_is_read, names.split(",")):
        if depth == _DEEPEST:
            raise SettingsError(
                f"{name}: files of options name each other more than {_DEEPEST} deep; "
                "does one name itself?"
            )
        words += expanded(split(_text(name), name), depth + 1)
    return words


def _is_read(name: str) -> bool:
    """Whether there is something for nvcc to read."""
    return os.path.isfile(name) or Path(name).is_fifo()


def _text(name: str) -> str:
    """What a file holds, or a pipe held when it was read."""
    return read_text(name) if os.path.isfile(name) else _drained(name)


_drained = functools.cache(read_text)


def _words(text: str, place: str) -> list[tuple[str, tuple[int, int]]]:
    """The words, and where each stands."""
    found = []
    end = 0
    for match in _WORD.finditer(text):
        if text[end : match.start()].strip(_BLANKS) or match.start() == end > 0:
            break
        raw, end = match[0], match.end()
        word = _as_nvcc(raw)
        found.append((shlex.split(raw)[0] if match[1] else word, match.span()))
    if text[end:].strip(_BLANKS):
        raise SettingsError(f"{place}: no closing quotation")
    return found


def _as_nvcc(raw: str) -> str:
    """What nvcc makes of a word: it takes quotes off two times."""
    return re.sub(r'\\(.)|"', r"\1", re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL), flags=re.DOTALL)


def _changed(text: str, instead: dict[tuple[int, int], str]) -> str:
    """The text with others in the place of some of its words."""
    for (start, end), new in sorted(instead.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return text
