"""What nvcc makes of device code, by those of its steps that make it.

nvcc itself, the shells that it starts, its questions to the host's compiler, and what ptxas then
says of the PTX take half of the time that a small kernel takes. That the result is the same is
tested in ``nvcc/test_few_headers.py``.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
from pathlib import Path

from remembered import included, remembered

from ccc.toolkit import find as toolchain

FOLDER = "/FOLDER"
"""Stands for that of a source in what nvcc tells of its steps."""


def device_code(source: Path, *options: str) -> str:
    """The PTX of a source, as ``nvcc -ptx`` makes it.

    Raises:
        CalledProcessError: it cannot be compiled.
    """
    return of_no_folder(source, *options).replace(FOLDER, str(source.parent))


def of_no_folder(source: Path, *options: str) -> str:
    """The same, as if the source were in ``FOLDER``."""
    place = str(source.parent)
    named = [Path(word[2:]) for word in options if word.startswith("-I")]
    told = ["device code", source.name, source.read_text().replace(place, FOLDER), *options]

    def make() -> str:
        return compiled(source, *options).replace(place, FOLDER)

    include = [source.parent, *named, *included()]
    return remembered(told, make, include)


def compiled(source: Path, *options: str) -> str:
    """The same, made now; it is also in ``k.ptx`` beside the source."""
    flags = os.environ.get("NVCC_PREPEND_FLAGS", "")
    environment, (preprocess, compile_, *_) = steps(source.name, options, flags)
    for step in (preprocess, compile_):
        words = [word.replace(FOLDER, str(source.parent)) for word in step]
        subprocess.run(words, env={**os.environ, **environment}, capture_output=True, check=True)
    return (source.parent / "k.ptx").read_text()


@functools.cache
def steps(
    name: str, options: tuple[str, ...], _: str, kept: str = FOLDER
) -> tuple[dict[str, str], list[list[str]]]:
    """The variables that nvcc sets, and the commands that preprocess, compile and check a source.

    What it makes is in the folder ``kept``.
    """
    words = ["--dryrun", "--keep", "--keep-dir", kept, "-ptx", *options, f"{FOLDER}/{name}"]
    command = [str(toolchain.find().nvcc), *words, "-o", f"{kept}/k.ptx"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    steps = "#$ "  # other lines warn
    lines = [line[len(steps) :] for line in told.splitlines() if line.startswith(steps)]
    set_ = re.compile(r"(\w+)=(.*)").fullmatch
    environment = {found[1]: found[2] for line in lines if (found := set_(line))}
    shown = [line for line in lines if not set_(line)]
    for variable, value in environment.items():
        shown = [line.replace(f"${variable}/", f"{value}/") for line in shown]
    return environment, [*map(shlex.split, shown)]
