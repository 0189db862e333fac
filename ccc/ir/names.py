"""Names for what is put into PTX: none that its text holds already.

Whatever has a name there may be seen from a function that gets new code: variables and functions,
also those that are only declared, registers, labels, and what stands in assembly that nvcc copied.
So nothing is asked of the text but whether it holds a name anywhere.
"""

from __future__ import annotations


class Names:
    """The names that may be put into a text. Asked twice for the same, it gives the same."""

    def __init__(self, text: str = ""):
        self._text = text
        self._given: dict[tuple[str, str], str] = {}

    def free(self, name: str, end: str = "") -> str:
        """``name + end``, with a number between them if need be: the text does not hold that.

        >>> Names("mov.u32 %r1, stack;").free("stack"), Names("%r1").free("%r", "_")
        ('stack1', '%r_')
        """
        if (name, end) not in self._given:
            free, number = f"{name}{end}", 0
            while free in self._text or free in self._given.values():
                number += 1
                free = f"{name}{number}{end}"
            self._given[name, end] = free
        return self._given[name, end]
