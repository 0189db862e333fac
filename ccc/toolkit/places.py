"""Where an nvcc may be, and what was found there before.

Each command asks this first, so nothing is imported here that takes time. What is known of an nvcc
is kept in the cache folder in a line of its own, and holds as long as its file is the same.
"""

from __future__ import annotations

import os
import sys

from ccc import cache
from ccc.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SHIMS = "CCC_SHIMS"
"""The variable that names the folder of the shims to nvcc."""
CCCC = "it is cccc, which needs the real nvcc"
RESOLVING = "CCC_RESOLVING"  # set while a candidate is asked who it is: cccc itself is no answer
_ELF = b"\x7fELF"
_FORWARDS = (b"#!/bin/sh\nexec ", b' "$@"\n')


def candidates() -> Iterator[str]:
    """The files that may be nvcc, in the order of preference.

    They are the one of ``CUDA_HOME``, of ``CUDA_PATH``, all on the ``PATH``, and those of the
    wheels of the running Python.
    """
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield os.path.join(os.environ[name], "bin", "nvcc")
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        yield os.path.join(folder or os.curdir, "nvcc")
    for folder in sys.path:
        try:
            names = sorted(os.listdir(os.path.join(folder or os.curdir, "nvidia")), reverse=True)
        except OSError:
            continue
        for name in names:
            if name.startswith("cu") and name[2:3].isdigit():
                yield os.path.join(folder, "nvidia", name, "bin", "nvcc")


def first() -> str | None:
    """The first file that may be nvcc; ``CCC_NVCC`` goes before all."""
    named = os.environ.get("CCC_NVCC")
    if named:
        return named
    return next((path for path in candidates() if os.access(path, os.X_OK)), None)


def recall() -> str | None:
    """The linked folder that was made for the nvcc to be used, if that is known for sure."""
    named = first()
    if named is None:
        return None
    try:
        mark = known_by(named)
        with open(_record(), encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().split("\n")
        home = next((line[len(mark) :] for line in lines if mark and line.startswith(mark)), None)
        if home and os.path.exists(os.path.join(home, "bin", "nvcc")):
            return home
    except (OSError, ValueError):
        pass
    return None


def remember(home: str) -> None:
    """Keep that this linked folder belongs to the nvcc that is found first.

    A script may choose another nvcc each time; so one is known by its file only if that is a
    program, or hands on to one.
    """
    named = first()
    try:
        mark = known_by(named) if named else ""
    except OSError:
        return
    if not mark or any(character in mark + home for character in "\n\r"):
        return
    try:
        with open(_record(), "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"{mark}{home}\n")
    except OSError:
        pass  # it is looked for again then


def _record() -> str:
    return os.path.join(cache.folder(), "known-nvcc")


def known_by(nvcc: str) -> str:
    """How its line begins: all that decides where it lives, and what its linked folder holds.

    Nothing, where that may change from one start to the next.

    Raises:
        OSError: there is no such file, or none that can be read.
    """
    if os.sep not in nvcc:
        return ""  # looked for on the path
    program = nvcc
    with open(nvcc, "rb") as file:
        head = file.read(4096)
    if head.startswith(_FORWARDS[0]) and head.endswith(_FORWARDS[1]):
        program = os.fsdecode(head[len(_FORWARDS[0]) : -len(_FORWARDS[1])])
        if any(character in program for character in " \t\n'\"\\$`;&|<>*?~"):
            return ""
        with open(program, "rb") as file:
            head = file.read(4)
    if not head.startswith(_ELF):
        return ""
    parts = [nvcc, program, *map(_stamp, (nvcc, program, _profile(program)))]
    return "\t".join([*parts, sys.executable, VERSION, _stamp(_HOOK), ""])


def _profile(program: str) -> str:
    return os.path.join(os.path.dirname(os.path.realpath(program)), "nvcc.profile")


def _stamp(path: str) -> str:
    told = os.stat(path)
    return f"{told.st_mtime_ns}.{told.st_size}.{told.st_ino}"


_HOOK = os.path.join(os.path.dirname(__file__), "hook.py")
