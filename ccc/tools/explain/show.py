"""Notes between the lines of the source: in a terminal, and as a page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from ccc.tools.explain.notes import Note

_BEFORE, _AFTER = 3, 8
_WIDTH = 110
_LANGUAGE, _THEME = "cuda", "ansi_dark"
_MARKS = {
    "applied": ("+", "bold green"),
    "left": ("~", "bold cyan"),
    "refused": ("-", "bold yellow"),
    "declined": ("!", "bold yellow"),
    "warning": ("!", "bold yellow"),
    "error": ("x", "bold red"),
}


def show(notes: Sequence[Note], stream: TextIO) -> None:
    """Print the annotated parts of the source, in colours where the stream is a terminal."""
    console = Console(file=stream, soft_wrap=True, highlight=False)
    _print(notes, console, whole=False)


def page(notes: Sequence[Note]) -> str:
    """The same as an HTML page, with all lines of the files."""
    console = Console(
        file=StringIO(), record=True, force_terminal=True, width=_WIDTH, highlight=False,
        color_system="truecolor", legacy_windows=False,
    )  # fmt: skip
    _print(notes, console, whole=True)
    return console.export_html(inline_styles=True)


def _print(notes: Sequence[Note], console: Console, *, whole: bool) -> None:
    for file in dict.fromkeys(note.span.file for note in notes):
        mine = [note for note in notes if note.span.file == file]
        console.print(Text(file, style="bold underline"))
        lines = _source(file, console)
        shown = set(range(1, len(lines) + 1)) if whole and lines else _near(mine, len(lines))
        before = 0
        for number in sorted(shown):
            if number != before + 1 and before:
                console.print(Text("      ...", style="dim"))
            console.print(_numbered(number, lines))
            for note in (note for note in mine if note.span.line == number):
                _print_note(note, console)
            before = number
        console.print()
    console.print(Text(_summary(notes), style="bold"))


def _source(file: str, console: Console) -> list[Text]:
    """The lines of a file, coloured where that is seen; none if it cannot be read."""
    if not os.path.isfile(file):
        return []
    code = Path(file).read_text(encoding="utf-8", errors="replace").expandtabs(4)
    if not console.is_terminal:
        return [Text(line) for line in code.splitlines()]
    syntax = Syntax("", _LANGUAGE, theme=_THEME)
    return list(syntax.highlight(code).split("\n", allow_blank=True))


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


def _print_note(note: Note, console: Console) -> None:
    mark, style = _MARKS[note.kind]
    indent = " " * (5 + max(note.span.column, 1))
    kernels = f" [in {', '.join(note.kernels)}]" if note.kernels else ""
    head = f"{note.directive}: {note.title}" if note.directive else note.title
    console.print(Text.assemble(indent, (f"{mark} {head}", style), (kernels, "dim")))
    for text in _more(note):
        console.print(Text(f"{indent}  {text}", style="italic"))


def _more(note: Note) -> Iterator[str]:
    yield from note.lines
    if note.way_out:
        yield f"What to do: {note.way_out}"


def _summary(notes: Sequence[Note]) -> str:
    """How many annotations, or arms of them, came to what."""
    words = {"applied": "applied", "left": "not worth it", "refused": "refused"}
    counts = {what: sum(note.kind == kind for note in notes) for kind, what in words.items()}
    wrong = sum(note.kind in ("declined", "warning", "error") for note in notes)
    told = [f"{count} {what}" for what, count in counts.items() if count]
    told += [f"{wrong} warnings or errors" if wrong > 1 else "1 warning or error"] if wrong else []
    return ", ".join(told) or "nothing is annotated"
