"""Where Python keeps the bytecode of what a short process of ours loads.

Where it may not stand beside the source, as an environment says (``PYTHONDONTWRITEBYTECODE``) or
since the folder cannot be written, each process would compile all that it loads, which takes longer
than all else that it does.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib_external import SourceFileLoader, cache_from_source

from ccc import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

_load = SourceFileLoader.get_code


def keep_bytecode() -> None:
    """Have bytecode kept in the cache folder, unless it is kept beside this file."""
    beside = __spec__.cached
    if sys.dont_write_bytecode or beside is None or not os.path.exists(beside):
        sys.pycache_prefix = os.path.join(cache.folder(), "bytecode")
        sys.dont_write_bytecode = False
        SourceFileLoader.get_code = _load_or_compile  # type: ignore[assignment]


def _load_or_compile(self: SourceFileLoader, name: str) -> CodeType | None:
    """A module's code, also where its bytecode ends too early or cannot be read.

    Python takes it for whole what it has written to a disk that is full, and would end by an error
    whenever it reads that.
    """
    try:
        return _load(self, name)
    except (EOFError, ValueError, TypeError, SystemError, MemoryError, ImportError):
        # as marshal says it, and who has read something else than code
        path = self.get_filename(name)
        try:  # noqa: SIM105 - contextlib takes time to load
            os.unlink(cache_from_source(path))
        except OSError:
            pass  # else whoever comes next writes it anew
        return self.source_to_code(self.get_data(path), path)
