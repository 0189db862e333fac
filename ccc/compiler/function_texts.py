"""The functions of PTX as it stands there, and what they call."""

from __future__ import annotations

import re
from functools import cached_property

_FUNCTION = re.compile(r"\.func\b[^;{}]*?\b([\w$]+)\([^;{}]*\{(.*?)\n\}\n", re.DOTALL)
_CALLEE = re.compile(r"\bcall(?!seq)\S*\s+(?:\([^()]*\),\s*)?([\w$]+)")


class FunctionTexts:
    """The functions of PTX, of which most are never asked for.

    Args:
        ptx: the PTX.
    """

    def __init__(self, ptx: str):
        self._ptx = ptx
        self._found: dict[str, tuple[int, str] | None] = {}

    def find(self, name: str) -> tuple[int, str] | None:
        """The first line and the text of a function, if it is there."""
        if name not in self._found:
            begin = max(self._ptx.find(f"{kind} {name}(") for kind in (".entry", ".func"))
            text = self._ptx[begin : self._ptx.find("\n}\n", begin)]
            first = self._ptx.count("\n", 0, begin) + 1
            self._found[name] = (first, text) if begin >= 0 else None
        return self._found[name]

    def lines_setting(self, register: str, name: str, *, by_copies: bool = True) -> list[int]:
        """The lines of a function that set a register, or those that compute it there."""
        first, text = self.find(name) or (0, "")
        sets = re.compile(rf"^\t(?:@!?%p\d+ )?([\w.]+)[ \t]+{re.escape(register)},", re.MULTILINE)
        every = (one for one in sets.finditer(text) if by_copies or not one[1].startswith("mov"))
        return [first + text.count("\n", 0, one.start()) for one in every]

    def called_in(self, name: str) -> set[str]:
        """The functions that one calls."""
        _, text = self.find(name) or (0, "")
        return callees(text)

    @cached_property
    def callees(self) -> dict[str, set[str]]:
        """The functions that each one calls that is no kernel."""
        return {one[1]: callees(one[2]) for one in _FUNCTION.finditer(self._ptx)}

    def calls_itself(self, name: str) -> bool:
        """Whether a function does, or one that it calls calls it."""
        found, size = set(self.callees.get(name, ())), -1
        while len(found) > size:
            size = len(found)
            found |= {one for callee in found for one in self.callees.get(callee, ())}
        return name in found


def callees(text: str) -> set[str]:
    """The functions that calls of PTX name."""
    return set(_CALLEE.findall(text))
