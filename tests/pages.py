"""Pages of the documentation that are made from the source: what the passes say, and the opcodes.

python tests/pages.py writes them.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from test_imports import HELPERS

from ccc.passes import PIPELINE
from ccc.ptx.opcodes import OPCODES, Effect, Opcode

DOCS = Path(__file__).resolve().parent.parent / "docs"
MADE = "<!-- Made from the source by `python tests/pages.py`. -->"


def passes() -> str:
    """Each pass in the order of the pipeline, then the files that help them."""
    parts = [
        "# Passes",
        MADE,
        "The passes in the order in which they run, and what their files say. How they fit together"
        "\nis in [design.md](design.md); how to write one in [add-a-pass.md](add-a-pass.md).",
    ]
    for kind in PIPELINE:
        parts += [f"## `{kind.name}`", _text(kind.__module__), *_options(kind)]
    parts += ["## Files that help passes"]
    for name in HELPERS:
        parts += [f"### `{name.rpartition('.')[2]}.py`", _text(name)]
    return "\n\n".join(parts) + "\n"


def _text(module: str) -> str:
    """A module's docstring as Markdown; its code stays as it is."""
    text = inspect.cleandoc(importlib.import_module(module).__doc__ or "")
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
        "\none. An effect is what an instruction does besides computing its destination.",
        "| instruction | operands | effects | unit |\n| --- | --- | --- | --- |",
    ]
    return "\n\n".join(head) + "\n" + "".join(map(_row, OPCODES.values()))


def _row(row: Opcode) -> str:
    # Python 3.10 lists the empty and the combined ones, too.
    single = (
        effect for effect in Effect if effect.value.bit_count() == 1 and effect in row.effects
    )
    effects = ", ".join(effect.name.lower() for effect in single if effect.name)
    form = f"`{row.form}`".replace("|", r"\|") if row.form else ""
    return f"| [`{row.name}`]({row.doc}) | {form} | {effects} | {row.unit.value} |\n"


PAGES: dict[str, Callable[[], str]] = {"passes.md": passes, "opcodes.md": opcodes}


def write(name: str) -> None:
    """Write one page."""
    (DOCS / name).write_text(PAGES[name]())


if __name__ == "__main__":
    for page in PAGES:
        write(page)
