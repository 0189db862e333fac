"""PTX given to ptxas, several files at a time: most of what one takes is its start."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import breadth
from remembered import remembered

from ccc.parse import parse_module, parse_variables
from ccc.toolkit import find as toolchain

_TARGET = re.compile(r"^\.target (\w+)", re.M)
LEVEL = "-O3" if breadth.runs_long else "-O0"
"""What is taken hardly hangs on what is optimised, and that takes half of the time."""
_LINES = re.compile(r"^\s*\.(file|section|extern)\b", re.M)
"""What makes of several files another one than the sum of them."""


def failure(*texts: str) -> str:
    """What ptxas says of PTX files for one architecture; nothing where it takes all of them."""
    return remembered(["taken", LEVEL, *texts], lambda: _failure(*texts))


def _failure(*texts: str) -> str:
    found = _TARGET.search(texts[0])
    assert found is not None
    with tempfile.TemporaryDirectory() as folder:
        sources = [Path(folder, f"{number}.ptx") for number in range(len(texts))]
        for source, text in zip(sources, texts, strict=True):
            source.write_text(f"{text}\n")
        ptxas = toolchain.find().program("ptxas")
        output = Path(folder, "k.cubin")
        command: list[str | Path] = [ptxas, f"-arch={found[1]}", LEVEL, *sources, "-o", output]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr or f"{done.returncode}" if done.returncode else ""


def all_assemble(texts: Iterable[str]) -> bool:
    """Whether ptxas takes PTX files at once, each with names of its own."""
    by_target: dict[str, list[str]] = {}
    for number, text in enumerate(texts):
        found = _TARGET.search(text)
        if found is None:
            return False
        key = f"{found[1]} {number}" if _LINES.search(text) else found[1]
        by_target.setdefault(key, []).append(_renamed(text, number))
    return not any(failure(*group) for group in by_target.values())


def _renamed(text: str, number: int) -> str:
    """The same module with other names for all that it declares."""
    module = parse_module(text)
    declared = {piece.name for piece in module.functions}
    declared |= {variable.name for variable in parse_variables(module)}
    names = "|".join(map(re.escape, sorted(declared)))
    return re.sub(rf"(?<![\w$%.])({names})(?![\w$])", rf"\1_{number}", text)
