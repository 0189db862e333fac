"""The methods of dataclasses, compiled once and not whenever a module is loaded.

``dataclass`` writes the methods of a class as text, and has Python compile that each time the class
is made. For ours this takes as long as all else that there is to loading them. So a process of our
own that is short takes what was compiled before from the cache folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import marshal
import os
import sys

from ccc import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_MOST = 4_000
"""Texts that are kept, some five for each class; of more, those that only others have used go."""


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Dataclasses that are made meanwhile take their methods from the cache, which learns others.

    A module's own ``exec`` goes before Python's. One of Python's versions that does without would
    find its classes made as ever.
    """
    compiled = _Compiled(os.path.join(cache.folder(), "dataclasses", _version()))
    vars(dataclasses)["exec"] = compiled.run
    try:
        yield
    finally:
        vars(dataclasses).pop("exec")
        compiled.save()


def _version() -> str:
    """A name that differs where compiled code may."""
    return f"{sys.implementation.cache_tag}-{sys.hexversion:x}-texts"


class _Compiled:
    """Code by its text, as it was in the file of this name, and as ``marshal`` writes it: that of
    a class is read when the class is made."""

    def __init__(self, path: str):
        self._path = path
        self._known = _load(path)
        self._used: dict[str, bytes] = {}

    def run(self, text: str, *names: dict[str, Any]) -> None:
        """What ``exec`` does with a text."""
        told = self._known.get(text)
        if told is None:
            told = marshal.dumps(compile(text, "<string>", "exec", dont_inherit=True))
        self._used[text] = told
        exec(marshal.loads(told), *names)

    def save(self) -> None:
        """Write what is new, where that can be written."""
        if self._used.keys() <= self._known.keys():
            return
        from pathlib import Path  # noqa: PLC0415 - seldom anything is new

        from ccc import files  # noqa: PLC0415
        from ccc.errors import CccError  # noqa: PLC0415

        every = {**self._known, **self._used}
        told = marshal.dumps(every if len(every) < _MOST else self._used)
        with contextlib.suppress(CccError):
            files.keep(Path(self._path), told)


def _load(path: str) -> dict[str, bytes]:
    """What a file holds; nothing where there is none, or it is damaged in any way."""
    try:
        with open(path, "rb") as file:
            found = marshal.loads(file.read())  # marshal.load asks for a few bytes at a time
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
