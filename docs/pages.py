"""Pages of the documentation that are made from the source: what the passes say, the opcodes, and
how the emulator compares with a GPU.

python docs/pages.py writes them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import shell_pages

import ccc.passes
from ccc.emulator.semantics.table import NOT_EMULATED, NOTHING
from ccc.passes import PIPELINE
from ccc.ptx.opcodes import OPCODES, Effect, Opcode
from ccc.snippet import Snippet
from ccc.tools.agree.page import page
from ccc.tools.agree.record import read

DOCS = Path(__file__).resolve().parent
MADE = "<!-- Made from the source by `python docs/pages.py`. -->"


def passes() -> str:
    """Each pass in the order of the pipeline, then the files that help them."""
    parts = [
        "# Passes",
        MADE,
        "The passes in the order in which they run, and what their files say, with the code that"
        "\nthey generate: PTX, written as `ccc/snippet.py` says. How they fit together is in"
        "\n[design.md](design.md); how to write one in [add-a-pass.md](add-a-pass.md).",
    ]
    for kind in PIPELINE:
        parts += [f"## `{kind.name}`", *_file(kind.__module__), *_options(kind)]
    parts += ["## Files that help passes"]
    for name in _helpers():
        parts += [f"### `{name.rpartition('.')[2]}.py`", *_file(name)]
    return "\n\n".join(parts) + "\n"


def _helpers() -> list[str]:
    """The modules beside the passes that are none themselves."""
    found = pkgutil.walk_packages(ccc.passes.__path__, "ccc.passes.")
    passes = {kind.__module__ for kind in PIPELINE}
    return [one.name for one in found if not one.ispkg and one.name not in passes]


def _file(module: str) -> Iterator[str]:
    """What a module says of itself, and its snippets."""
    imported = importlib.import_module(module)
    yield _markdown(imported.__doc__ or "")
    for name, said in _constants(inspect.getsource(imported)):
        snippet = getattr(imported, name)
        if isinstance(snippet, Snippet):
            yield f"**`{name}`**" + (f":\n{_markdown(said)}" if said else "")
            yield textwrap.indent(textwrap.dedent(snippet.source).strip("\n").rstrip(), " " * 4)


def _constants(source: str) -> Iterator[tuple[str, str]]:
    """The names that a module gives values, each with the string behind it."""
    body = ast.parse(source).body
    for node, behind in zip(body, [*body[1:], ast.Pass()], strict=True):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = behind.value if isinstance(behind, ast.Expr) else None
            yield node.targets[0].id, str(value.value) if isinstance(value, ast.Constant) else ""


def _markdown(text: str) -> str:
    """A docstring as Markdown; its code stays as it is."""
    text = inspect.cleandoc(text)
    return re.sub(r":\w+:`([^`]*)`", r"`\1`", text).replace("``", "`")


def _options(kind: Any) -> Iterator[str]:
    own = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[2]
    if own:
        yield f"Options: {' '.join(own.split()).replace('``', '`')}"


def opcodes() -> str:
    """The opcode table."""
    head = [
        "# Opcodes",
        MADE,
        "What `ccc` knows of PTX, from the table in `ccc/ptx/opcodes.py`. A function that holds"
        "\nanother instruction is left alone; [add-an-opcode.md](add-an-opcode.md) says how to add"
        "\none. An effect is what an instruction does besides computing its destination. What the"
        "\nemulator leaves out is refused by name where it is executed; so are single forms.",
        "| instruction | operands | effects | unit | on the emulator |"
        "\n| --- | --- | --- | --- | --- |",
    ]
    return "\n\n".join(head) + "\n" + "".join(map(_row, OPCODES.values()))


def _row(row: Opcode) -> str:
    # Python 3.10 lists the empty and the combined ones, too.
    single = (
        effect for effect in Effect if effect.value.bit_count() == 1 and effect in row.effects
    )
    effects = ", ".join(effect.name.lower() for effect in single if effect.name)
    form = f"`{row.form}`".replace("|", r"\|") if row.form else ""
    there = "left out: " + NOT_EMULATED[row.name] if row.name in NOT_EMULATED else "yes"
    if row.name in NOTHING:
        there = f"does nothing: {NOTHING[row.name]}"
    return f"| [`{row.name}`]({row.doc}) | {form} | {effects} | {row.unit.value} | {there} |\n"


def agreement() -> str:
    """How the emulator compares with a GPU, from the record of `ccc agree`."""
    return page(read(DOCS / "agreement.json"))


PAGES: dict[str, Callable[[], str]] = {
    "passes.md": passes,
    "opcodes.md": opcodes,
    "agreement.md": agreement,
    "shell/cccc.1": shell_pages.manual,
    "shell/cccc": shell_pages.bash,
    "shell/_cccc": shell_pages.zsh,
    "shell/cccc.fish": shell_pages.fish,
}


def write(name: str) -> None:
    """Write one page."""
    (DOCS / name).write_text(PAGES[name]())


if __name__ == "__main__":
    for name in PAGES:
        write(name)
