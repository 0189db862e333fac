"""networkx without the parts that nobody here uses, for a process of our own that is short.

``import networkx`` loads all its algorithms, generators and formats, and looks through all packages
for plugins, which takes as long as loading all of ccc. What is left out is loaded as soon as
anybody asks for a name of it; no plugin is.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

_LATER = (
    "generators",
    "readwrite",
    "relabel",
    "convert_matrix",
    "linalg",
    "drawing",
    "algorithms",
    "algorithms.traversal",
)
"""Modules of networkx that it loads when it is imported, before those that they need."""
_USED = (
    "algorithms.dag",
    "algorithms.dominance",
    "algorithms.traversal.breadth_first_search",
    "algorithms.traversal.depth_first_search",
)
"""Those of them that the analyses need."""
_METADATA = "importlib.metadata"


def load_graphs() -> None:
    """Import networkx, if nobody has."""
    found = find_spec("networkx") if "networkx" not in sys.modules else None
    if found is None or not found.submodule_search_locations:
        return
    home = Path(found.submodule_search_locations[0])
    for name in _LATER:
        sys.modules[f"networkx.{name}"] = _empty(name, home)
    metadata = sys.modules.get(_METADATA)
    sys.modules[_METADATA] = without_plugins = ModuleType(_METADATA)
    vars(without_plugins)["entry_points"] = lambda **_: ()
    try:
        whole = importlib.import_module("networkx")
    finally:
        del sys.modules[_METADATA]
        if metadata is not None:
            sys.modules[_METADATA] = metadata
    vars(whole)["__getattr__"] = _load_rest
    for name in _USED:
        _take_names(whole, importlib.import_module(f"networkx.{name}"))


def _empty(name: str, home: Path) -> ModuleType:
    """A module without names, whose submodules can be imported."""
    made = ModuleType(f"networkx.{name}")
    made.__path__ = [str(home.joinpath(*name.split(".")))]
    vars(made)["__all__"] = []
    return made


def _load_rest(name: str) -> Any:
    """A name of networkx that is not there yet."""
    whole = sys.modules["networkx"]
    vars(whole).pop("__getattr__", None)
    for part in _LATER:
        sys.modules.pop(f"networkx.{part}", None)
    for part in _LATER:
        _take_names(whole, importlib.import_module(f"networkx.{part}"))
    return getattr(whole, name)


def _take_names(whole: ModuleType, part: ModuleType) -> None:
    public = [name for name in vars(part) if not name.startswith("_")]
    for name in getattr(part, "__all__", public):
        setattr(whole, name, getattr(part, name))
