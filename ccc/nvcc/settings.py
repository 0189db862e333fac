"""Where options of ours may stand besides the command line, and what of that nvcc gets.

nvcc reads ``NVCC_PREPEND_FLAGS``, ``NVCC_APPEND_FLAGS`` and the files of ``--options-file``; ours
may stand in all of them, and nvcc, which does not know them, must not see them there.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ccc import cache
from ccc.files import read_text
from ccc.nvcc import option_files
from ccc.nvcc.option_files import OURS, SettingsError
from ccc.options import Options
from ccc.version import VERSION

FLAGS = "CCC_FLAGS"
"""An environment variable with options of ours that go behind those of the command."""
PREPENDED, APPENDED = "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"
_REGISTRY = Path(__file__).parents[1] / "passes" / "strategies" / "registry.py"


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that one command is told.

    Args:
        arguments: its words, with all options of ours, in the order in which they count.
        seen: the words that nvcc sees in the end, those of files included.
        variables: the options of ours that stand in variables, by the variable's name.
    """

    arguments: list[str]
    seen: list[str]
    variables: Mapping[str, list[str]] = field(default_factory=dict)


def gather(arguments: Sequence[str], environment: Mapping[str, str]) -> Gathered:
    """Read the variables and the files that options may stand in.

    Raises:
        SettingsError: one of them cannot be read.
    """
    around = {
        name: option_files.split(environment.get(name, ""), name) for name in (PREPENDED, APPENDED)
    }
    ours = {
        name: [word for word in option_files.with_ours(words) if word.startswith(OURS)]
        for name, words in around.items()
    }
    ours[FLAGS] = _flags(environment)
    seen = option_files.expanded([*around[PREPENDED], *arguments, *around[APPENDED]])
    words = option_files.with_ours(arguments)
    return Gathered(
        [*ours[PREPENDED], *words, *ours[APPENDED], *ours[FLAGS]],
        [word for word in seen if not word.startswith(OURS)],
        ours,
    )


def without_ours(environment: Mapping[str, str], folder: str) -> dict[str, str]:
    """The variables for nvcc, which does not know our options.

    Raises:
        SettingsError: one of them cannot be read, or a file that it names.
    """
    changed = {}
    for name in (PREPENDED, APPENDED):
        if text := environment.get(name):
            option_files.expanded(option_files.split(text, name))  # some may name each other
            changed[name] = option_files.without_ours(text, name, folder)
    return {**environment, **changed}


def _flags(environment: Mapping[str, str]) -> list[str]:
    """Options of ours that a build does not pass on, as those of ``NVCC_APPEND_FLAGS``."""
    told = _shell_words(environment.get(FLAGS, ""), FLAGS)
    for option in told:
        if not option.startswith(OURS):
            raise SettingsError(f'"{option}" in {FLAGS}: options of nvcc go into {APPENDED}')
    return told


def _shell_words(text: str, place: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise SettingsError(f"{place}: {error}".replace("No", "no")) from None


# What a shim is told that somebody else starts.


def shell_settings(options: Options) -> str:
    """Lines of a shell by which a shim does what is asked for, whoever starts it.

    They differ where the result may: also if a file that is named has changed, or ccc.
    """
    files = [*options.use, *filter(None, [options.decisions])]
    options = replace(options, use=tuple(map(os.path.abspath, options.use)))
    lines = [f"# ccc {VERSION} {code_stamp()}", *(f"# {_digest(file)}" for file in files)]
    lines += [f"export {n}={shlex.quote(v)}" for n, v in options.environment().items()]
    return "".join(f"{line}\n" for line in lines)


def code_stamp() -> str:
    """When the code of ccc changed last: what its results depend on besides its version."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    changed = [
        os.stat(os.path.join(folder, name)).st_mtime_ns
        for folder, _, names in os.walk(root, followlinks=True)
        for name in names
        if name.endswith((".py", ".lark", ".cuh"))
    ]
    return str(max(changed))


def _digest(file: str) -> str:
    """What a file holds, in short."""
    return hashlib.sha256(read_text(file).encode(errors="surrogateescape")).hexdigest()


# Names of strategies that were found right: only loading all passes tells, which takes long.


def is_known(request: str) -> bool:
    """Whether a strategy of this name is known to be one."""
    try:
        return request in read_text(_known()).split("\n")
    except OSError:
        return False


def make_known(request: str) -> None:
    """Keep that there is a strategy of this name."""
    try:
        os.makedirs(os.path.dirname(_known()), exist_ok=True)
        with open(_known(), "a", encoding="utf-8") as file:
            file.write(f"{request}\n")
    except OSError:
        pass  # all passes are loaded again then


def _known() -> str:
    """The file of these names, which is another where their list may be."""
    told = os.stat(_REGISTRY)
    return os.path.join(cache.folder(), f"strategies-{VERSION}-{told.st_mtime_ns}-{told.st_size}")
