"""A folder of our own for the files of one run."""

from __future__ import annotations

import os

_ODD = '",\\'
"""Characters in names that nvcc, which splits texts at some of them, may take off."""


class OwnFolder:
    """Such a folder: ``with`` makes it, and behind that it is gone, with the files in it."""

    def __init__(self) -> None:
        self._path = ""

    def __enter__(self) -> str:
        self._path = make_folder()
        return self._path

    def __exit__(self, *_: object) -> None:
        remove_folder(self._path)


def make_folder() -> str:
    """Make one; nothing is loaded for that where it can be made as usual.

    Where the name of the folder of temporary files is an odd one, it is another folder.
    """
    base = os.path.abspath(os.environ.get("TMPDIR") or "/tmp")
    if any(character in base for character in _ODD):
        base = "/tmp"
    folder = os.path.join(base, f"ccc-{os.getpid()}-{os.urandom(6).hex()}")
    try:
        os.mkdir(folder, 0o700)
    except OSError:
        import tempfile  # noqa: PLC0415 - it knows more places, and takes long to load

        return tempfile.mkdtemp(prefix="ccc-")
    return folder


def remove_folder(folder: str) -> None:
    """Remove one, and the files in it."""
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)
