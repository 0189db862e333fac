"""The folder for what is kept between runs, and writing files that others may read meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import platformdirs

from ccc.errors import CccError


def folder() -> Path:
    """``CCC_CACHE_DIR``, or the user's cache folder; it need not exist yet."""
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
