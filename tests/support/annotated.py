"""Annotated source for tests, and the markers that come of it."""

from __future__ import annotations

import re

import pytest

from ccc.frontend.marking import Marked, SourceError, mark
from ccc.ir.markers import Marker, parse_marker


def loop(body: str) -> str:
    """A kernel whose annotated loop holds ``body``, from its line 4 on."""
    return (
        "__global__ void k(int *x, int n) {\n#pragma ccc for\nfor (int i = 0; i < n; i++) {\n"
        f"{body}\n}}\n}}\n"
    )


def markers(marked: Marked) -> list[Marker]:
    found = (parse_marker(text) for text in re.findall(r'asm volatile\("([^"]*)"\);', marked.text))
    return [marker for marker in found if marker]


def complaint(text: str) -> str:
    with pytest.raises(SourceError) as caught:
        mark(text, "k.cu")
    return str(caught.value)
