"""Where what is kept between runs lies; read by each command, so nothing else is imported."""

from __future__ import annotations

import os
import stat


def folder() -> str:
    """``CCC_CACHE_DIR``, or the user's cache folder; it need not exist yet.

    Where the user's cannot be written, as in the builds of a distribution or a container, it is one
    of his own among temporary files.
    """
    named = os.environ.get("CCC_CACHE_DIR")
    if not named:
        base = os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.join(_home(), ".cache")
        named = os.path.abspath(os.path.join(base, "ccc"))
        if not _may_be_written(named):
            named = _temporary() or named
    return os.path.abspath(named)


def _home() -> str:
    """The user's folder; of a user whom the system does not know, as in a container, the root."""
    home = os.path.expanduser("~")
    return "/" if home == "~" else home


def _may_be_written(place: str) -> bool:
    """Whether a folder can be, or one that is to be made."""
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    return os.access(place, os.W_OK | os.X_OK)


def _temporary() -> str | None:
    """A folder that nobody else can have made, or can write; None if there is no such one."""
    place = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"ccc-{os.geteuid()}")
    try:
        os.mkdir(place, stat.S_IRWXU)
    except FileExistsError:
        pass
    except OSError:
        return None
    found = os.lstat(place)
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return place if is_own and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None
