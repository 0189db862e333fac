"""Notes between the lines of the source, as a page: the browser wraps them, and says whether it is
dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from rich.console import Console
from rich.text import Text

from ccc.tools.explain.notes import MARKS, Note, coloured, files_of, in_short, lines_of, summary

_STYLE = """
:root { color-scheme: light dark; --text: #24292f; --page: #ffffff; --faint: #6e7781;
  --note: #f6f8fa; --good: #3c7a52; --calm: #57708c; --warn: #8a6516; --bad: #a33a32;
  --keyword: #4a5f9e; --string: #55703f; }
@media (prefers-color-scheme: dark) {
  :root { --text: #d0d4da; --page: #17191d; --faint: #8b929b; --note: #202328; --good: #86b797;
    --calm: #93abc6; --warn: #cdad6a; --bad: #d98f88; --keyword: #9db0e0; --string: #a8bf93; }
}
body { color: var(--text); background: var(--page); margin: 1.5rem; }
body, code { font: 0.85rem/1.45 ui-monospace, Menlo, Consolas, monospace; }
h1 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
.source { overflow-x: auto; }
.line { white-space: pre; }
.number { display: inline-block; width: 5ch; margin-right: 1ch; text-align: right;
  color: var(--faint); user-select: none; }
.note { margin: 0.2rem 0 0.4rem; padding: 0.2rem 0.8rem; max-width: 110ch; overflow-wrap: anywhere;
  background: var(--note); border-left: 3px solid var(--kind); }
.note b { color: var(--kind); }
.note i, .dim { color: var(--faint); font-style: normal; }
.applied { --kind: var(--good); } .left { --kind: var(--calm); } .error { --kind: var(--bad); }
.refused, .declined, .warning { --kind: var(--warn); }
.bright_blue, .bright_cyan, .bright_magenta { color: var(--keyword); }
.yellow { color: var(--string); }
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(notes: Sequence[Note], archs: Sequence[str] = ()) -> str:
    """The page, with all lines of the files that have notes, and what they were compiled for."""
    files = files_of(in_short(notes))
    body = [part for file, mine in files.items() for part in _file(file, mine)]
    body.append(f"<p><b>{escape(summary(notes, archs))}</b></p>")
    title = escape(", ".join(files) or "ccc explain")
    return _PAGE.format(title=title, style=_STYLE, body="\n".join(body))


def _file(name: str, notes: Sequence[Note]) -> Iterator[str]:
    lines = [_line(line) for line in coloured(lines_of(name))]
    beyond = {note.span.line for note in notes if note.span.line > len(lines)}
    yield f'<h1>{escape(name)}</h1>\n<div class="source">'
    for number in (*range(1, len(lines) + 1), *sorted(beyond)):
        code = lines[number - 1] if number <= len(lines) else ""
        yield f'<div class="line"><span class="number">{number}</span><code>{code}</code></div>'
        yield from (_note(note) for note in notes if note.span.line == number)
    yield "</div>"


def _line(line: Text) -> str:
    """A coloured line; the names of its colours are classes of the page."""
    parts = ""
    for text, style, _ in line.render(Console(), end=""):
        dim = style is not None and style.dim
        name = "dim" if dim else style.color.name if style is not None and style.color else ""
        shown = escape(text, quote=False)
        parts += f'<span class="{name}">{shown}</span>' if name and text.strip() else shown
    return parts


def _note(note: Note) -> str:
    kernels = f" <i>in {escape(', '.join(note.kernels))}</i>" if note.kernels else ""
    more = "".join(f"<br>{escape(line)}" for line in note.more())
    indent = 5 + max(note.span.column, 1)
    return (
        f'<div class="note {note.kind}" style="margin-left: min({indent}ch, 20%)">'
        f"<b>{MARKS[note.kind]} {escape(note.head)}</b>{kernels}{more}</div>"
    )
