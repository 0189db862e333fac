"""The short way of a command that asks nothing of us: nvcc, with our shims inside.

Most files of a build hold no annotation. For them nothing is loaded that takes time; where a shim
has something to tell, the long way tells it.
"""

from __future__ import annotations

import os
import sys

from ccc.folder import make_folder, remove_folder
from ccc.nvcc import process, words
from ccc.toolkit import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OURS = ("CCC_FLAGS", "CCC_RESOLVING")
_FLAGS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
_LONG = ("--ccc-", "dryrun", *words.RESPONSE)
"""What in these asks something of us, or may."""


def run(arguments: Sequence[str]) -> int | None:
    """Run a command in which nothing is asked of us; None: it takes the long way."""
    if _is_ours(arguments):
        return None
    home = places.recall()
    if home is None:
        return None
    try:
        folder = make_folder()
    except OSError:
        return None
    try:
        if not _is_simple(folder):
            return None
        environment = {
            **os.environ,
            "CCC_OPTIONS": f'{{"folder": "{folder}"}}',
            places.SHIMS: os.path.join(home, "shims"),
        }
        nvcc = os.path.join(home, "bin", "nvcc")
        code = process.run([nvcc, *words.with_phase(arguments, arguments)], environment)
        return _tell(folder, code)
    finally:
        remove_folder(folder)


def _tell(folder: str, code: int) -> int:
    """Say what shims have left in a folder; the status."""
    names = os.listdir(folder)
    said = set()
    for name in names:
        if name.endswith(".said"):
            with open(os.path.join(folder, name), "rb") as file:
                said.add(file.read())
    if len(said) > 1:  # what is said of several architectures is put together
        from ccc.nvcc import command  # noqa: PLC0415 - seldom they differ

        return command.tell(folder, code)
    for text in said:
        sys.stderr.write(text.decode(errors="surrogateescape"))
    return code


def _is_ours(arguments: Sequence[str]) -> bool:
    return (
        any(name in os.environ for name in _OURS)
        or any(part in os.environ.get(name, "") for name in _FLAGS for part in _LONG)
        or any(word.startswith(words.LIKE_OURS) for word in arguments)
        or any(word.partition("=")[0] in words.RESPONSE for word in arguments)
        or words.has(words.HELP | words.DRYRUN, arguments)
        or bool(words.ptx_inputs(arguments))
    )


def _is_simple(name: str) -> bool:
    """Whether a name needs no quoting."""
    return name.isascii() and name.isprintable() and '"' not in name and "\\" not in name
