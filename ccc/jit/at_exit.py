"""Profiles that a Python program writes when it ends, as programs do that ``cccc`` compiled."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

from ccc import profile
from ccc.errors import CccError
from ccc.profile.data import Profile

_counting: dict[str, list[Any]] = {}
"""The modules whose counts go into each file."""


def write_at_exit(file: str, module: Any) -> None:
    """Write what a loaded module will have counted when the program ends.

    All modules that name one file go into it; the environment variable ``CCC_PROFILE`` names
    another one.

    Args:
        file: that ``--ccc-profile`` names, relative to the working folder of this moment.
        module: for ``ccc.profile.of``; it is kept until then.
    """
    if not _counting:
        atexit.register(write)
    name = os.path.abspath(os.environ.get("CCC_PROFILE") or file)
    _counting.setdefault(name, []).append(module)


def write() -> None:
    """Write all profiles of which anything was counted; say so where that fails."""
    for file, modules in _counting.items():
        try:
            found = [told for module in modules for told in profile.of(module).modules]
            if any(any(told["counters"]) for told in found):
                Profile(found).write(file)
        except CccError as error:
            print(f"ccc: no profile: {error}", file=sys.stderr)
