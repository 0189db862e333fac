"""Where Python keeps the bytecode of what a short process of ours loads.

Where it may not stand beside the source, as an environment says (``PYTHONDONTWRITEBYTECODE``) or
since the folder cannot be written, each process would compile all that it loads, which takes longer
than all else that it does.
"""

from __future__ import annotations

import os
import sys

from ccc import cache


def keep_bytecode() -> None:
    """Have bytecode kept in the cache folder, unless it is kept beside this file."""
    beside = __spec__.cached
    if sys.dont_write_bytecode or beside is None or not os.path.exists(beside):
        sys.pycache_prefix = os.path.join(cache.folder(), "bytecode")
        sys.dont_write_bytecode = False
