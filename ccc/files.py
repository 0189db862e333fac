"""Reading and writing files that others may read meanwhile; what is kept between runs."""

from __future__ import annotations

import errno
import os
import pathlib
import stat
import sys
import threading

from ccc import cache
from ccc.errors import CccError, Span, UsageError, in_words


def folder() -> pathlib.Path:
    """``CCC_CACHE_DIR``, or the user's cache folder; it need not exist yet."""
    return pathlib.Path(cache.folder())


def refused(error: OSError) -> CccError:
    """What to say where the folder cannot be written."""
    return CccError(
        f"cannot write the cache folder {folder()}: {in_words(error)}; "
        "set CCC_CACHE_DIR to a folder that can be written"
    )


def keep(path: pathlib.Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a file of the cache: whoever reads it finds all of it, or none.

    Raises:
        CccError: the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data, mode)
    except OSError as error:
        raise refused(error) from error


def read_text(path: str) -> str:
    """The text of a file, whatever its encoding is."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def write(path: str | pathlib.Path, data: str | bytes) -> None:
    """Write a result; ``-`` is standard output.

    A file, and what a symbolic link leads to, is whole or as it was before; a device and a pipe
    stay what they are, and are written into.

    Raises:
        CccError: it cannot be written.
    """
    if str(path) == "-":
        _print(data)
        return
    content = _bytes(data)
    try:
        if _is_file(path):
            _replace(pathlib.Path(os.path.realpath(path)), content)
        else:
            pathlib.Path(path).write_bytes(content)
    except OSError as error:
        raise _unwritable(path, in_words(error, missing="folder")) from error


def check_writable(path: str | pathlib.Path) -> None:
    """Find out before the work whether its result could be written, as far as can be told.

    Raises:
        CccError: it could not.
    """
    if str(path) == "-":
        return
    try:
        place = pathlib.Path(path)
        changed = pathlib.Path(os.path.realpath(path)).parent if _is_file(path) else place
    except OSError as error:
        raise _unwritable(path, in_words(error, missing="folder")) from error
    if pathlib.Path(path).is_dir():
        raise _unwritable(path, "it is a folder")
    if not changed.exists():
        raise _unwritable(path, "there is no such folder")
    if not os.access(changed, os.W_OK):
        raise _unwritable(path, os.strerror(errno.EACCES))


def check_there(option: str, name: str, hint: str) -> None:
    """Complain of an option whose file there is not.

    Raises:
        UsageError: there is none; the message ends with the ``hint``.
    """
    if not os.path.exists(name):
        raise UsageError(f"{option}={name}: there is no such file; {hint}")


def put_text(path: str | pathlib.Path, text: str) -> None:
    """Write what :func:`read_text` reads, byte for byte.

    Raises:
        OSError: it cannot be written; the error names the file, also where the disk is full.
    """
    try:
        pathlib.Path(path).write_bytes(_bytes(text))
    except OSError as error:
        error.filename = str(path)
        raise


def _print(data: str | bytes) -> None:
    if isinstance(data, str):
        sys.stdout.write(data)
    else:
        sys.stdout.buffer.write(data)


def _bytes(data: str | bytes) -> bytes:
    return data.encode(errors="surrogateescape") if isinstance(data, str) else data


def _is_file(path: str | pathlib.Path) -> bool:
    """Whether this is a file, or will be one."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True


def _replace(path: pathlib.Path, data: bytes, mode: int | None = None) -> None:
    """Write beside, then rename: whoever reads finds the old file or the whole new one."""
    beside = path.with_name(f".ccc-{os.getpid()}-{threading.get_ident()}")
    try:
        beside.write_bytes(data)
        if mode is not None:
            beside.chmod(mode)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _unwritable(path: str | pathlib.Path, why: str) -> CccError:
    return CccError(f"cannot write the file: {why}", Span(str(path)))
