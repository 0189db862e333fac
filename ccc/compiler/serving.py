"""In which functions of PTX annotations stand, by their markers.

A path in a function that is inlined into an annotated loop is served by that: only the PTX tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ccc.compiler.calls import Calls
from ccc.ir.markers import MARKER_PREFIX, identifiers
from ccc.parse import parse_module

_BY_POINTER = re.compile(r"\.callprototype\b")


class Standing:
    """Where the annotations of marked PTX stand.

    Raises:
        CccError: the PTX cannot be cut into functions.
    """

    def __init__(self, ptx: str):
        module = parse_module(ptx)
        self._calls = Calls(module)
        self._texts = {piece.name: piece.text for piece in module.functions}
        marked = (name for name, text in self._texts.items() if MARKER_PREFIX in text)
        self._numbers = {name: identifiers(self._texts[name]) for name in marked}

    def around(self, number: int) -> set[str]:
        """The functions that an annotation stands in, those that these call, and all that call
        them."""
        own = self._homes(number)
        callers = {one for one in self._texts if not own.isdisjoint(self._calls.reached(one))}
        return callers | self._reached(own)

    def may_hold(self, loop: int, paths: Iterable[int]) -> bool:
        """Whether one of the paths may stand in a loop, or in what that calls."""
        reached = self._reached(self._homes(loop))
        if any(_BY_POINTER.search(self._texts[name]) for name in reached):
            return True
        found = set[int]().union(*(self._numbers.get(name, set()) for name in reached))
        return not found.isdisjoint(paths)

    def _homes(self, number: int) -> set[str]:
        """The functions that an annotation stands in."""
        return {name for name, numbers in self._numbers.items() if number in numbers}

    def _reached(self, names: Iterable[str]) -> set[str]:
        """These functions, and all that they call."""
        return {one for name in names for one in self._calls.reached(name)}
