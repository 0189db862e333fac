"""What is said of functions that nvcc never inlines, since they call themselves."""

from __future__ import annotations

import re
from functools import cached_property

from ccc.analysis.paths.find import NOT_INLINED
from ccc.demangle import demangle

_INLINE = re.compile(
    r"declare (?:it|the function) __forceinline__(?:, and call it directly|, in the same file)?"
)
_SHOWN = re.compile(r"PTX line \d+: (call\b.*?);\)")
_CALLS = re.compile(r"\bcalls ([\w$:]+)")
_FUNCTION = re.compile(r"\.func\b[^;{}]*?\b([\w$]+)\([^;{}]*\{(.*?)\n\}\n", re.DOTALL)
CALLEE = re.compile(r"call\S*\s+(?:\([^()]*\),\s*)?([\w$]+)")
"""The function that a call of PTX names."""
_AS_A_LOOP = "make it a loop with a stack: it calls itself, and nvcc inlines no such function"


class Recursive:
    """The functions of PTX that call themselves.

    Args:
        ptx: the PTX.
    """

    def __init__(self, ptx: str):
        self._ptx = ptx

    @cached_property
    def _callees(self) -> dict[str, set[str]]:
        """The functions that each one calls."""
        return {one[1]: {*CALLEE.findall(one[2])} for one in _FUNCTION.finditer(self._ptx)}

    def calls_itself(self, name: str) -> bool:
        """Whether a function does, or one that it calls calls it."""
        found, size = set(self._callees.get(name, ())), -1
        while len(found) > size:
            size = len(found)
            found |= {one for callee in found for one in self._callees.get(callee, ())}
        return name in found

    def told(self, kernel: str, text: str) -> str:
        """A reason without the advice to inline a function that nvcc cannot.

        Args:
            kernel: the function that it is said of.
            text: the reason.
        """
        match = _INLINE.search(text)
        if match is None:
            return text
        named = _CALLS.search(text)
        shown = [one for line in _SHOWN.findall(text) for one in CALLEE.findall(line)]
        meant = [kernel] if text.startswith(NOT_INLINED) else shown
        if named and not meant:
            meant = [one for one in self._callees if demangle(one) == named[1]]
        return text.replace(match[0], _AS_A_LOOP) if any(map(self.calls_itself, meant)) else text
