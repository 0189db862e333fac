"""What nvcc and ptxas made of a text is kept for whoever asks the same, later or in another run.

Most tests ask what ccc makes of PTX, and take for granted that compilers make the same of the same
text. What is kept is found by all that they read; so a changed header, option or compiler makes it
anew. ``pytest --cache-clear`` forgets it, and ``--long`` does without.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import shutil
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import ccc
from ccc import files
from ccc.toolkit import find as toolchain
from ccc.toolkit import ptxas
from ccc.toolkit.ptxas import Assembled

folder: Path | None = None
"""Where it is kept; nowhere if None."""
UNUSED_DAYS = 14
"""What nobody has asked for so long goes."""

_SUFFIXES = {".cuh", ".h", ".hpp", ".inl"}
_VARIABLES = (
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
)
_FILE = re.compile(r"^\s*\.file\s.*\n?", re.M)
_Made = TypeVar("_Made")


def remembered(
    told: Sequence[object], make: Callable[[], _Made], include: Iterable[Path] = ()
) -> _Made:
    """What ``make`` returns, or did when it was asked the same.

    Args:
        told: all that it depends on besides the toolkit, its variables, and headers.
        make: runs a compiler; where it raises an error nothing is kept.
        include: folders whose headers may be read.
    """
    if folder is None:
        return make()
    variables = [os.environ.get(name) for name in _VARIABLES]
    key = repr((list(told), variables, _compilers(), [_headers(one) for one in include]))
    place = folder / hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
    with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError, zlib.error):
        found: _Made = pickle.loads(zlib.decompress(place.read_bytes()))
        os.utime(place)
        return found
    made = make()
    files.keep(place, zlib.compress(pickle.dumps(made), 1))
    return made


def forget_unused() -> None:
    """Remove what nobody has asked for in a while."""
    oldest = time.time() - UNUSED_DAYS * 86_400
    for place in folder.iterdir() if folder else ():
        with contextlib.suppress(OSError):  # another run was first
            if place.stat().st_mtime < oldest:
                place.unlink()


def included() -> list[Path]:
    """Folders whose headers nvcc may read besides those of the toolkit and of the system."""
    named = os.environ.get("NVCC_PREPEND_FLAGS", "").split()
    return [Path(ccc.include()), *(Path(word[2:]) for word in named if word.startswith("-I"))]


@functools.cache
def _compilers() -> tuple[object, ...]:
    """What tells compilers from others, and from later ones in the same place."""
    toolkit = toolchain.find()
    host = shutil.which("gcc")
    programs = [toolkit.nvcc, toolkit.cicc / "cicc", toolkit.program("ptxas")]
    programs += [Path(host)] if host else []
    return tuple((str(one), _state(one)) for one in programs)


def _state(file: Path) -> tuple[int, int]:
    told = file.stat()
    return told.st_size, told.st_mtime_ns


def _headers(where: Path) -> list[tuple[str, str]]:
    """The headers in a folder and what they are."""
    found = sorted(one for one in where.iterdir() if one.suffix in _SUFFIXES)
    return [(one.name, hashlib.sha256(one.read_bytes()).hexdigest()) for one in found]


def assemble_all(texts: Sequence[str], arch: str, program: str | Path) -> list[Assembled]:
    """As of the compiler, for who asks what kernels need: the code is of no concern, nor where the
    source was."""
    which = shutil.which(str(program))
    if which is None:
        return ptxas.assemble_all(texts, arch, program)
    told = [arch, which, _state(Path(which)), *(_FILE.sub("", text) for text in texts)]

    def make() -> list[Assembled]:
        made = ptxas.assemble_all(texts, arch, program)
        return [Assembled(b"", one.resources) for one in made]

    return remembered(["needs", *told], make)
