"""Where what is kept between runs lies; read by each command, so nothing else is imported."""

from __future__ import annotations

import os


def folder() -> str:
    """``CCC_CACHE_DIR``, or the user's cache folder; it need not exist yet."""
    named = os.environ.get("CCC_CACHE_DIR")
    if not named:
        base = os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")
        named = os.path.join(base, "ccc")
    return os.path.abspath(named)
