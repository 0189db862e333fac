"""Where what is kept between runs lies; read by each command, so nothing else is imported."""

from __future__ import annotations

import os


def folder() -> str:
    """``CCC_CACHE_DIR``, or the user's cache folder; it need not exist yet."""
    named = os.environ.get("CCC_CACHE_DIR")
    if not named:
        base = os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.join(_home(), ".cache")
        named = os.path.join(base, "ccc")
    return os.path.abspath(named)


def _home() -> str:
    """The user's folder; of a user whom the system does not know, as in a container, the root."""
    home = os.path.expanduser("~")
    return "/" if home == "~" else home
