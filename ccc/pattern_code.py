"""Regular expressions, compiled once and not whenever a module is loaded.

Python reads a pattern in Python: those of our modules take a seventh of the time that loading all
of them does. So a process of our own that is short takes what was made of them before from the
cache folder.
"""

from __future__ import annotations

import contextlib
import re
import sys
from types import SimpleNamespace

from ccc.kept_code import KeptCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import ModuleType
    from typing import Any

_MOST = 2_000
"""Patterns that are kept."""


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Patterns that are compiled meanwhile are taken from the cache, which learns others.

    One of Python's versions that compiles them otherwise does so as ever.
    """
    compiler = _compiler()
    if compiler is None:
        yield
        return
    compiled, real, engine = KeptCode("patterns", _MOST), compiler.compile, compiler._sre
    listening = SimpleNamespace(**{**vars(engine), "compile": _plain})

    def ask(pattern: str, flags: int) -> Any:
        vars(compiler)["_sre"] = listening
        try:
            return real(pattern, flags)
        finally:
            vars(compiler)["_sre"] = engine

    def compile_(pattern: Any, flags: int = 0) -> Any:
        if type(pattern) is not str:
            return real(pattern, flags)
        told = compiled.of(f"{int(flags)} {pattern}", lambda: ask(pattern, flags))
        return engine.compile(*told)

    vars(compiler)["compile"] = compile_
    try:
        yield
    finally:
        vars(compiler)["compile"] = real
        compiled.save()


def _compiler() -> ModuleType | None:
    """The module in which Python's ``re`` compiles a pattern, if it does so as those known do."""
    found = getattr(re, "_compiler", None) or sys.modules.get("sre_compile")
    return found if hasattr(found, "compile") and hasattr(found, "_sre") else None


def _plain(
    pattern: str,
    flags: int,
    code: Iterable[int],
    groups: int,
    names: Mapping[str, int],
    numbers: Iterable[str | None],
) -> tuple[Any, ...]:
    """What the engine is told of a pattern, as ``marshal`` can write it."""
    return pattern, int(flags), [int(one) for one in code], groups, dict(names), tuple(numbers)
