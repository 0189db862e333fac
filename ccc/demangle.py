"""The names of kernels as users write them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_LIBRARIES = (None, "libstdc++.so.6", "libc++abi.so.1", "libc++.1.dylib")
"""Where C++'s own function for this may be; first, in the running program itself."""
_OF_ONE_FILE = re.compile(r"__nv_static_\d+__\w+?_(?=_Z)")
"""What nvcc puts before the name of a static kernel that is linked."""

_INNERMOST = re.compile("<[^<>]+>")
_ELIDED = "\0...\0"
"""In place of template arguments, till no more are too long."""


@lru_cache(maxsize=1024)
def demangle(name: str) -> str:
    """A function's name with its scopes and template arguments, without parameters.

    Where no C++ library is at hand, template arguments are missing.

    >>> demangle("_ZN4mesh4walkEPKfi"), demangle("main")
    ('mesh::walk', 'main')
    >>> demangle("__nv_static_27__7d8f2f90_4_a_cu_1f5a3c77_75__Z4walkPKfi")  # linked, of one file
    'walk'
    """
    name = _OF_ONE_FILE.sub("", name)
    if not name.startswith("_Z"):
        return name
    whole = _by_library(name)
    return _without_parameters(whole) if whole else _by_lengths(name)


def in_short(name: str, most: int = 100) -> str:
    """A demangled name, of a long one without the innermost template arguments, as far as needed.

    >>> in_short("sort<int>"), in_short("sort<pair<int, float>, less<int>>", 30)
    ('sort<int>', 'sort<pair<...>, less<...>>')
    >>> in_short("sort<pair<int, float>, less<int>>", 12), in_short("quite_a_name", 9)
    ('sort<...>', 'quite_...')
    """
    while len(name) > most and _INNERMOST.search(name):
        name = _INNERMOST.sub(_ELIDED, name)
    name = name.replace(_ELIDED, "<...>")
    return name if len(name) <= most else f"{name[: most - 3]}..."


def _by_library(name: str) -> str | None:
    function = _function()
    if function is None:
        return None
    import ctypes  # noqa: PLC0415 - of many sources nothing is said

    status = ctypes.c_int()
    text = function(name.encode(errors="replace"), None, None, ctypes.byref(status))
    return None if status.value or not text else bytes(text).decode(errors="replace")


@lru_cache(maxsize=1)
def _function() -> Any:
    """``__cxa_demangle``; what it returns stays in memory, which is little."""
    import ctypes  # noqa: PLC0415 - as above

    for library in _LIBRARIES:
        try:
            function = ctypes.CDLL(library).__cxa_demangle
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_char_p
        return function
    return None


def _without_parameters(text: str) -> str:
    """What stands before the parameters, without the type of what a template returns."""
    depth, begin = 0, 0
    text = text.replace("(anonymous namespace)", "{anonymous}")
    for at, letter in enumerate(text):
        if letter in "<{":
            depth += 1
        elif letter in ">}":
            depth -= 1
        elif depth == 0 and letter == " ":
            begin = at + 1
        elif depth == 0 and letter == "(":
            return text[begin:at]
    return text[begin:]


def _by_lengths(name: str) -> str:
    """The words of a mangled name, each of which stands behind its length."""
    words, at = [], len("_ZN") if name.startswith("_ZN") else len("_Z")
    while found := re.match(r"\d+", name[at:]):
        end = at + found.end() + int(found[0])
        words.append(name[at + found.end() : end])
        at = end
        if not name.startswith("_ZN"):
            break
    return "::".join(words) or name
