"""Modules that are loaded when something of them is first used.

``importlib.util.LazyLoader`` loads them when they are imported a second time.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_later(name: str) -> None:
    """Let whoever imports a module load it when it asks for a name of it, and not before."""
    if name in sys.modules:
        return
    later = ModuleType(name)

    def load(wanted: str) -> Any:
        if sys.modules.get(name) is later:
            del sys.modules[name]
        return getattr(importlib.import_module(name), wanted)

    vars(later)["__getattr__"] = load
    sys.modules[name] = later
