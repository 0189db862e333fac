"""What is said of functions that nvcc never inlines, since they call themselves."""

from __future__ import annotations

import re

from ccc.analysis.paths.find import NOT_INLINED
from ccc.compiler.function_texts import FunctionTexts, callees
from ccc.demangle import demangle

_INLINE = re.compile(
    r"declare (?:it|the function) __forceinline__(?:, and call it directly|, in the same file)?"
)
_SHOWN = re.compile(r"PTX line \d+: (call\b.*?);\)")
_CALLS = re.compile(r"\bcalls ([\w$:]+)")
_AS_A_LOOP = "make it a loop with a stack: it calls itself, and nvcc inlines no such function"


class Recursive:
    """The functions of PTX that call themselves.

    Args:
        functions: those of the PTX.
    """

    def __init__(self, functions: FunctionTexts):
        self._functions = functions

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
        shown = [one for line in _SHOWN.findall(text) for one in callees(line)]
        meant = [kernel] if text.startswith(NOT_INLINED) else shown
        if named and not meant:
            meant = [one for one in self._functions.callees if demangle(one) == named[1]]
        return (
            text.replace(match[0], _AS_A_LOOP)
            if any(map(self._functions.calls_itself, meant))
            else text
        )
