"""What the words of nvcc's command line mean to us.

Nothing is imported here that takes time: each command reads it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

SOURCES = (".cu", ".cuh", ".cpp", ".cc")
"""How names of what holds kernels end."""
LIKE_OURS = ("--ccc-", "--ccc_", "--cc-", "--cccc-")
"""How our options begin, and what is meant to be one: no option of nvcc's begins so."""
PHASES = frozenset(
    {"ptx", "cubin", "c", "compile", "dc", "device-c", "dw", "device-w", "link", "dlink", "lib"}
    | {"device-link", "run", "cuda", "fatbin", "E", "preprocess", "M", "MM", "optix-ir"}
)
_WITHOUT_DEVICE_CODE = frozenset(
    {"E", "preprocess", "M", "MM", "generate-dependencies", "generate-nonsystem-dependencies"}
    | {"help", "h", "version", "V"}
)
DRYRUN = frozenset({"dryrun"})
HELP = frozenset({"help", "h"})
OUTPUT = ("-o", "--output-file")
RESPONSE = ("-optf", "--options-file")
_SOURCES = (".cu", ".cup", ".gpu", ".ii")
_LANGUAGE = ("-x", "--x")


def has(names: Collection[str], arguments: Sequence[str]) -> bool:
    """Whether one of the options is given, with one dash or two."""
    return any(word.startswith("-") and word.lstrip("-") in names for word in arguments)


def value(options: Sequence[str], arguments: Sequence[str]) -> str | None:
    """What follows the first of some options, as the next word or behind ``=``."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        if before in options:
            return argument
        name, equals, told = argument.partition("=")
        if equals and name in options:
            return told
    return None


def output(arguments: Sequence[str]) -> str | None:
    """The name that the result is to have."""
    return value(OUTPUT, arguments)


def with_phase(arguments: Sequence[str], seen: Sequence[str]) -> list[str]:
    """Add the phase that the name after ``-o`` asks for, unless ``seen`` chooses one."""
    suffix = os.path.splitext(output(seen) or "")[1]
    if suffix in (".ptx", ".cubin") and not has(PHASES, seen):
        return [f"-{suffix[1:]}", *arguments]
    return list(arguments)


def ptx_inputs(arguments: Sequence[str]) -> list[str]:
    """The files of PTX that are read."""
    return _inputs((".ptx",), arguments)


def source_inputs(arguments: Sequence[str]) -> list[str]:
    """The sources that are read."""
    return _inputs((*SOURCES, *_SOURCES), arguments)


def _inputs(suffixes: tuple[str, ...], arguments: Sequence[str]) -> list[str]:
    pairs = zip(["", *arguments], arguments, strict=False)
    return [
        word
        for before, word in pairs
        if word.endswith(suffixes) and before not in OUTPUT and not word.startswith("-")
    ]


def compiles(arguments: Sequence[str]) -> bool:
    """Whether device code is made of a source: not by a link, nor where text alone is made."""
    if has(_WITHOUT_DEVICE_CODE | DRYRUN, arguments):
        return False
    told = value(_LANGUAGE, arguments)
    return told == "cu" or any(
        word.endswith(_SOURCES) and not word.startswith("-") for word in arguments
    )
