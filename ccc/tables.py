"""Tables in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

_WIDE = 1000
"""Columns of a terminal in which any cell of ours stands as it likes."""


def narrowest(table: Table) -> int:
    """The columns that a table takes in which no word is broken, and nothing that is not to be
    wrapped is; from then on it is not made narrower."""
    console = Console(width=_WIDE)
    for column in table.columns:
        if column.no_wrap:
            cells = (column.header, *column.cells)
            column.min_width = max(console.measure(cell).maximum for cell in cells)
    return console.measure(table).minimum
