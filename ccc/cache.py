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
    """A folder that nobody else can have made, or can write; None if there is no such one.

    Where somebody has taken its name, it has one that nobody can know before, and is found by that
    in the next run.
    """
    base = os.environ.get("TMPDIR") or "/tmp"
    usual = f"ccc-{os.geteuid()}"
    try:
        if _is_own(os.path.join(base, usual)):
            return os.path.join(base, usual)
        others = sorted(name for name in os.listdir(base) if name.startswith(f"{usual}."))
        others.append(f"{usual}.{os.urandom(6).hex()}")
        places = (os.path.join(base, name) for name in others)
        return next(filter(_is_own, places), None)
    except OSError:
        return None


def _is_own(place: str) -> bool:
    """Whether nobody else can write a folder, which is made where there is none.

    Raises:
        OSError: it cannot be made.
    """
    try:  # noqa: SIM105 - contextlib takes time to load
        os.mkdir(place, stat.S_IRWXU)
    except FileExistsError:
        pass
    found = os.lstat(place)
    is_owner = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return is_owner and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
