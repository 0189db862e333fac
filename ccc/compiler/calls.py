"""Which functions of a module name which, by their text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ccc.ir.nodes import FunctionText, Module

_WORD = re.compile(r"[\w$]+")


class Calls:
    """Which functions of a module name which."""

    def __init__(self, module: Module):
        self._pieces: dict[str, FunctionText] = {piece.name: piece for piece in module.functions}
        self._named: dict[str, tuple[str, ...]] = {}

    def reached(self, name: str) -> tuple[str, ...]:
        """A function, and those that it names, itself or through others."""
        if name not in self._named:
            found = dict.fromkeys([name])
            queue = [name]
            while queue:
                words = self._pieces.keys() & _WORD.findall(self._pieces[queue.pop()].text)
                queue += sorted(words - found.keys())
                found.update(dict.fromkeys(queue))
            self._named[name] = tuple(found)
        return self._named[name]

    def texts(self, name: str) -> tuple[tuple[str, str], ...]:
        """Their names and texts."""
        return tuple((one, self._pieces[one].text) for one in self.reached(name))

    def together(self, names: Iterable[str]) -> set[str]:
        """These functions, and all that are assembled together with them: those that they name, and
        kernels that name the same, which may leave these fewer registers."""
        found = {one for name in names for one in self.reached(name)}
        size = 0
        while size < len(found):
            size = len(found)
            for name in self._pieces:
                if name not in found and not found.isdisjoint(self.reached(name)):
                    found.update(self.reached(name))
        return found
