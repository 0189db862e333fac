"""What a function may name that stands outside of it."""

from __future__ import annotations

import re
from functools import cached_property

from ccc.errors import CccError
from ccc.ir.nodes import FunctionText, Variable
from ccc.parse.module import parse_variables
from ccc.parse.source import NotRepresentable
from ccc.ptx.types import TYPES

_FUNCTION = re.compile(
    r"\.(?:entry|func)\b(?:\s*\.\w+(?:\s*\([^()]*\))?)*\s*(?:\([^()]*\)\s*)?([\w$%]+)"
)
_LABEL = re.compile(r"(?<![\w$%])([\w$%]+)\s*:(?!:)")


class Outside:
    """The names around a function, and the labels in it; looked up only where they are asked for.

    Args:
        piece: the function.
    """

    def __init__(self, piece: FunctionText):
        self._text = piece.text
        self._module = piece.module

    def knows(self, name: str) -> bool:
        """Whether this is a variable or a function of the module, or a label of the function."""
        return name in self._labels or name in self._functions or name in self._variables

    def element_bytes(self, name: str) -> int:
        """The size of an element of a variable of the module.

        Raises:
            NotRepresentable: it has none, or is not declared.
        """
        variable = self._variables.get(name)
        if variable is None:
            raise NotRepresentable(f"the size of an element of {name} is not known")
        return element_bytes(variable)

    @cached_property
    def _labels(self) -> frozenset[str]:
        return frozenset(_LABEL.findall(self._text))

    @cached_property
    def _functions(self) -> frozenset[str]:
        return frozenset(_FUNCTION.findall(self._module.text)) if self._module else frozenset()

    @cached_property
    def _variables(self) -> dict[str, Variable]:
        if self._module is None:
            return {}
        try:
            return {variable.name: variable for variable in parse_variables(self._module)}
        except CccError as error:
            raise NotRepresentable(error.message, error.span, error.source_line) from None


def element_bytes(variable: Variable) -> int:
    """The size of what a subscript counts: a scalar, also in arrays of vectors and of arrays."""
    return TYPES[variable.type].bytes if variable.type in TYPES else 8
