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
from dataclasses import dataclass
from pathlib import Path

from remembered import included, remembered

from ccc.nvcc.tool import input_of
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
    place, text = str(source.parent), source.read_text()
    preprocess, compile_ = _commands(source, options)
    includes = (
        "include" in text
    )  # whatever it reads then, and that reads, is told by what comes out
    if includes:
        preprocess()
        text = Path(source.parent, input_of(compile_.words)).read_text()

    def make() -> str:
        if not includes:
            preprocess()
        compile_()
        return (source.parent / "k.ptx").read_text().replace(place, FOLDER)

    told = ["device code", source.name, text.replace(place, FOLDER), *options]
    return remembered(told, make, included())


def compiled(source: Path, *options: str) -> str:
    """The same, made now; it is also in ``k.ptx`` beside the source."""
    for command in _commands(source, options):
        command()
    return (source.parent / "k.ptx").read_text()


@dataclass
class _Command:
    """A command, and the variables that nvcc sets for it."""

    words: list[str]
    environment: dict[str, str]

    def __call__(self) -> None:
        variables = {**os.environ, **self.environment}
        subprocess.run(self.words, env=variables, capture_output=True, check=True)


def _commands(source: Path, options: tuple[str, ...]) -> list[_Command]:
    """What preprocesses a source, and what compiles that."""
    flags = os.environ.get("NVCC_PREPEND_FLAGS", "")
    environment, (preprocess, compile_, *_) = steps(source.name, options, flags)
    return [
        _Command([word.replace(FOLDER, str(source.parent)) for word in step], environment)
        for step in (preprocess, compile_)
    ]


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
