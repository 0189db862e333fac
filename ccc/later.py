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


SELDOM = ("hashlib", "inspect", "ipaddress", "pathlib", "shutil", "textwrap")
"""Modules that ours and Python's own import, and seldom use, or not before cicc runs."""


def load_later(*names: str) -> None:
    """Let whoever imports these modules load them when it asks for a name of them, not before."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = _Later(name)


class _Later(ModuleType):
    """What stands for a module that nobody has asked for anything."""

    def __getattr__(self, wanted: str) -> Any:
        name = self.__name__
        if sys.modules.get(name) is self:
            del sys.modules[name]
        return getattr(importlib.import_module(name), wanted)
