"""No file and no function is long: who reads one finds one idea."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from folders import ROOT

LINES_OF_FILE = 500
LINES_OF_FUNCTION = 60
FOLDERS = ("ccc", "passes", "grammars", "samples", "docs", "tests")
SOURCES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_and_no_function_is_long(folder: str) -> None:
    for path in SOURCES:
        if not path.is_relative_to(ROOT / folder):
            continue
        text, name = Path(path).read_text(encoding="utf-8"), path.relative_to(ROOT)
        assert text.count("\n") <= LINES_OF_FILE, name
        long = [
            f"{one.name}, line {one.lineno}"
            for one in functions(text)
            if (one.end_lineno or 0) - one.lineno >= LINES_OF_FUNCTION
        ]
        assert not long, name
