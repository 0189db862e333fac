"""The examples in docstrings give what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import ccc
import ccc.passes

ROOTS = {"ccc": Path(ccc.__file__).parent, "ccc.passes": Path(ccc.passes.__file__).parent}


def _name(path: Path, package: str, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join([package, *(one for one in parts if one != "__init__")])


MODULES = sorted(
    {
        _name(path, package, root)
        for package, root in ROOTS.items()
        for path in root.rglob("*.py")
        if "    >>> " in path.read_text()
    }
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted
    assert not found.failed
