"""Reading and writing files that others may read meanwhile; what is kept between runs."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from ccc.errors import CccError


def folder() -> Path:
    """``CCC_CACHE_DIR``, or the user's cache folder; it need not exist yet."""
    import platformdirs  # noqa: PLC0415 - most commands keep nothing

    named = os.environ.get("CCC_CACHE_DIR") or platformdirs.user_cache_dir("ccc", False)
    return Path(named).absolute()


def refused(error: OSError) -> CccError:
    """What to say where the folder cannot be written."""
    return CccError(
        f"cannot write the cache folder {folder()}: {error.strerror}; "
        "set CCC_CACHE_DIR to a folder that can be written"
    )


def write(path: Path, data: bytes) -> None:
    """Write a file of the cache: whoever reads it finds all of it, or none.

    Raises:
        CccError: the folder cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(data)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise refused(error) from error


def read_text(path: str) -> str:
    """The text of a file, whatever its encoding is."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def write_text(path: str, text: str) -> None:
    """Write a file so that it is whole or not there; ``-`` is standard output."""
    if path == "-":
        sys.stdout.write(text)
        return
    target = Path(path)
    if target.exists() and not target.is_file():  # a device or a pipe
        put_text(target, text)
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        put_text(beside, text)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def put_text(path: Path, text: str) -> None:
    """Write what :func:`read_text` reads, byte for byte."""
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
