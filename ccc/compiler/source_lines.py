"""The user's lines that PTX was made of."""

from __future__ import annotations

import os
from collections.abc import Collection

from ccc.compiler.lines import LineTable
from ccc.errors import Span


class SourceLines:
    """Where lines of PTX come from, in files as messages call them.

    Args:
        table: the places that PTX was made of.
        files: those of the user.
    """

    def __init__(self, table: LineTable, files: Collection[str]):
        self._table = table
        self._files = {os.path.abspath(name): name for name in files}

    def of(self, number: int) -> Span | None:
        """The innermost place in the user's files that a line of PTX was made of, if any."""
        for span in self._table.places.get(number, ()):
            if name := self._files.get(os.path.abspath(span.file)):
                return span._replace(file=name)
        return None

    def every(self, number: int) -> list[Span]:
        """All the places that a line of PTX was made of, the innermost call first."""
        places = self._table.places.get(number, ())
        names = (self._files.get(os.path.abspath(span.file), span.file) for span in places)
        return [span._replace(file=name) for span, name in zip(places, names, strict=True)]
