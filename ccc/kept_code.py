"""A file of the cache folder that holds compiled code by what it is compiled of."""

from __future__ import annotations

import contextlib
import marshal
import os
import sys

from ccc import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class KeptCode:
    """What was compiled in this process or before, as ``marshal`` writes it.

    Args:
        kind: the name of its folder.
        most: how many texts are kept; of more, those that only others have used go.
    """

    def __init__(self, kind: str, most: int):
        self._path = os.path.join(cache.folder(), kind, _version())
        self._most = most
        self._known = _load(self._path)
        self._used: dict[str, bytes] = {}

    def of(self, text: str, compile_: Callable[[], Any]) -> Any:
        """What was compiled of a text, or is now."""
        told = self._known.get(text)
        if told is None:
            told = marshal.dumps(compile_())
        self._used[text] = told
        return marshal.loads(told)

    def save(self) -> None:
        """Write what is new, where that can be written."""
        if self._used.keys() <= self._known.keys():
            return
        from pathlib import Path  # noqa: PLC0415 - seldom anything is new

        from ccc import files  # noqa: PLC0415
        from ccc.errors import CccError  # noqa: PLC0415

        every = {**self._known, **self._used}
        told = marshal.dumps(every if len(every) < self._most else self._used)
        with contextlib.suppress(CccError):
            files.keep(Path(self._path), told)


def _version() -> str:
    """A name that differs where compiled code may."""
    return f"{sys.implementation.cache_tag}-{sys.hexversion:x}-texts"


def _load(path: str) -> dict[str, bytes]:
    """What a file holds; nothing where there is none, or it is damaged in any way."""
    try:
        with open(path, "rb") as file:
            found = marshal.loads(file.read())  # marshal.load asks for a few bytes at a time
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}
