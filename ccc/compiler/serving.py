"""In which functions of PTX annotations stand, by their markers.

A path in a function that is inlined into an annotated loop is served by that: only the PTX tells.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ccc.analysis.callees import callee
from ccc.analysis.facts import Facts
from ccc.analysis.paths.locate import annotated_loops
from ccc.compiler.calls import Calls
from ccc.ir.markers import MARKER_PREFIX, identifiers
from ccc.parse import parse_function, parse_module
from ccc.ptx.opcodes import Effect

_BY_POINTER = re.compile(r"\.callprototype\b")


class Standing:
    """Where the annotations of marked PTX stand.

    Raises:
        CccError: the PTX cannot be cut into functions.
    """

    def __init__(self, ptx: str):
        module = parse_module(ptx)
        self._calls = Calls(module)
        self._pieces = {piece.name: piece for piece in module.functions}
        self._texts = {name: piece.text for name, piece in self._pieces.items()}
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
        wanted = set(paths)
        if self._marked_in(reached).isdisjoint(wanted):
            return False
        return any(self._holds(home, loop, wanted) for home in self._homes(loop))

    def _holds(self, home: str, loop: int, paths: Collection[int]) -> bool:
        """The same of the function that it stands in, where others may stand beside it."""
        facts = Facts(parse_function(self._pieces[home]))
        found = [one.loop.blocks for one in annotated_loops(facts) if one.marker.identifier == loop]
        blocks = [facts.blocks[label] for label in frozenset[str]().union(*found)]
        inside = {marker.identifier for block in blocks for marker in block.markers}
        called = {callee(i) for b in blocks for i in b.instructions if i.effects & Effect.CALL}
        inside |= self._marked_in(self._reached(called & self._texts.keys()))
        return not blocks or not inside.isdisjoint(paths)

    def _marked_in(self, names: Iterable[str]) -> set[int]:
        """The annotations that stand in some functions."""
        return set[int]().union(*(self._numbers.get(name, set()) for name in names))

    def _homes(self, number: int) -> set[str]:
        """The functions that an annotation stands in."""
        return {name for name, numbers in self._numbers.items() if number in numbers}

    def _reached(self, names: Iterable[str]) -> set[str]:
        """These functions, and all that they call."""
        return {one for name in names for one in self._calls.reached(name)}
