"""Notes between the lines of the source, in a terminal."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from ccc.tools.explain.notes import MARKS, Note, coloured, files_of, in_short, lines_of, summary

_BEFORE, _AFTER = 3, 8
_STYLES = {
    "applied": "bold green",
    "left": "bold cyan",
    "refused": "bold yellow",
    "declined": "bold yellow",
    "warning": "bold yellow",
    "error": "bold red",
}


def show(notes: Sequence[Note], stream: TextIO, archs: Sequence[str] = ()) -> None:
    """Print the annotated parts of the source, in colours where the stream is a terminal, and what
    they were compiled for.

    Notes are wrapped where it is, or where ``COLUMNS`` says how wide the text is to be.
    """
    console = Console(file=stream, soft_wrap=True, highlight=False)
    width = console.width if console.is_terminal or "COLUMNS" in os.environ else None
    for file, mine in files_of(in_short(notes)).items():
        console.print(Text(file, style="bold underline"))
        lines = _source(file, console)
        before = 0
        for number in sorted(_near(mine, len(lines))):
            if number != before + 1 and before:
                console.print(Text("      ...", style="dim"))
            console.print(_numbered(number, lines))
            for note in (note for note in mine if note.span.line == number):
                _print_note(note, console, width)
            before = number
        console.print()
    console.print(Text(summary(notes, archs), style="bold"))


def _source(file: str, console: Console) -> list[Text]:
    """The lines of a file, coloured where that is seen."""
    lines = lines_of(file)
    return coloured(lines) if console.is_terminal else [Text(line) for line in lines]


def _near(notes: Sequence[Note], count: int) -> set[int]:
    """The lines around annotations."""
    return {
        line
        for note in notes
        for line in range(note.span.line - _BEFORE, note.span.line + _AFTER + 1)
        if 1 <= line <= count or line == note.span.line
    }


def _numbered(number: int, lines: Sequence[Text]) -> Text:
    line = lines[number - 1] if number <= len(lines) else Text("")
    return Text.assemble((f"{number:5} ", "dim"), line)


def _print_note(note: Note, console: Console, width: int | None) -> None:
    kernels = f" [in {', '.join(note.kernels)}]" if note.kernels else ""
    head = Text.assemble((note.head, _STYLES[note.kind]), (kernels, "dim"))
    more = [Text(line, style="italic") for line in note.more()]
    indent = 7 + max(note.span.column, 1)
    if width is not None:
        indent = min(indent, width // 3)
    texts = [line for text in (head, *more) for line in _wrapped(text, console, width, indent)]
    mark = f"{MARKS[note.kind]} ".rjust(indent)
    for begin, text in zip([mark, *[" " * indent] * len(texts)], texts, strict=False):
        console.print(Text.assemble((begin, _STYLES[note.kind]), text))


def _wrapped(text: Text, console: Console, width: int | None, indent: int) -> list[Text]:
    """The lines of a text."""
    lines = [text] if width is None else list(text.wrap(console, width - indent))
    for line in lines:
        line.rstrip()
    return lines
