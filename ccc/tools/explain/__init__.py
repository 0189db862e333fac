"""``ccc explain``: the source, with what became of each annotation beside it."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ccc.demangle import demangle
from ccc.errors import CccError, UsageError, nearest
from ccc.files import check_writable, write
from ccc.nvcc import command as nvcc
from ccc.nvcc.run import run as run_nvcc
from ccc.nvcc.words import PHASES, SOURCES, has
from ccc.options import Options
from ccc.remark import Report, architectures
from ccc.tools.explain.notes import Note, notes_of
from ccc.tools.explain.page import page
from ccc.tools.explain.sarif import log
from ccc.tools.explain.show import show

_OWN = {"--kernel": "kernel", "--sarif": "sarif", "-o": "output", "--output-file": "output"}
_PHASES = ("-c", "-dc", "-dw", "-ptx", "-cubin", "-fatbin", "-dlink", "-link", "-lib", "-run")
_LONG_PHASES = ("--compile", "--device-c", "--device-w", "--ptx", "--cubin", "--fatbin")
_PAGES = (".html", ".htm")
_MADE = ("", ".exe", ".out", ".o", ".obj", ".so", ".dll", ".a", ".lib", ".ptx", ".cubin", ".fatbin")
"""How the name ends of what a compilation makes that is told no phase."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a command asks for: options for the compiler, and what to write."""

    arguments: tuple[str, ...] = ()
    kernel: str | None = None
    output: str | None = None
    sarif: str | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ccc explain``, for its help."""
    parser.add_argument("--kernel", metavar="K", help="of one kernel, or those that contain K")
    parser.add_argument("-o", dest="output", metavar="FILE.html", help="write a page instead")
    parser.add_argument("--sarif", metavar="FILE", help="write a log for editors and code hosts")
    parser.add_argument(
        "arguments",
        nargs=argparse.REMAINDER,
        metavar="FILE.cu [options of nvcc and cccc ...]",
        help="what is compiled, as cccc takes it; a phase, and what -o names beside pages, is not",
    )


def main(given: Sequence[str]) -> int:
    """Run ``ccc explain``, whose options may stand among those of the compiler.

    Raises:
        CccError: a wrong option, or no compiler.
        OSError: a file cannot be written.
    """
    asked = _asked(given)
    for name in filter(None, (asked.output, asked.sarif)):
        check_writable(name)
    command = nvcc.parse(asked.arguments)
    _check_options(command.options)
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        arguments = ["-fatbin", *command.arguments, "-o", str(Path(folder, "made.fatbin"))]
        options = replace(command.options, measure=True, strict=False)
        outcome = run_nvcc(arguments, options, capture=True)
    notes = notes_of(outcome, asked.kernel)
    if outcome.code and not outcome.errors:
        raise _failure(outcome.stderr.strip(), command.arguments)
    if asked.kernel and not notes:
        raise UsageError(_no_kernel(asked.kernel, outcome.report, command.arguments))
    _write(notes, asked, architectures(outcome.report))
    return outcome.code


def _check_options(options: Options) -> None:
    """Refuse those with which no annotation is followed.

    Raises:
        UsageError: there is one.
    """
    if options.off:
        raise UsageError("--ccc-off ignores the annotations, which are to be explained")
    if options.mark_only:
        raise UsageError("--ccc-mark-only follows no annotation, so that none can be explained")


def _failure(said: str, arguments: Sequence[str]) -> CccError:
    """What nvcc says; of an option that it does not know, which of ours may be meant."""
    if "A single input file is required" in said:
        sources = ", ".join(word for word in arguments if word.endswith(SOURCES))
        return UsageError(f"one source at a time is explained, not {sources}")
    unknown = re.search(r"Unknown option '(.+?)'", said)
    hint = nearest(unknown[1], _OWN) if unknown else ""
    return CccError(f"nvcc failed:\n{said}{hint}")


def _no_kernel(name: str, report: Report, arguments: Sequence[str]) -> str:
    """That no kernel with annotations is called so, and which there are."""
    text = "".join(
        Path(word).read_text(encoding="utf-8", errors="replace")
        for word in arguments
        if word.endswith(SOURCES) and Path(word).is_file()
    )
    is_callee = re.search(rf"\b__device__\b[^;{{}}()]*\b{re.escape(name)}\s*\(", text)
    callee = ", which is a device function: its annotations are told of with its kernels"
    kernels = ", ".join(dict.fromkeys(demangle(one["name"]) for one in report["kernels"]))
    found = f"there are annotations in {kernels}" if kernels else "there are none in any"
    what = f'no annotation is in a kernel that is called "{name}"{callee if is_callee else ""}'
    return f"{what}; {found}"


def _write(notes: Sequence[Note], asked: _Asked, archs: Sequence[str]) -> None:
    if asked.sarif:
        write(asked.sarif, log(notes, Path.cwd()))
    if asked.output:
        write(asked.output, page(notes, archs))
    if not (asked.sarif or asked.output):
        show(notes, sys.stdout, archs)


def _asked(given: Sequence[str]) -> _Asked:
    """Take a command apart.

    Raises:
        UsageError: there is no file, a value is missing, or it is not known what to write.
    """
    found: dict[str, str] = {}
    others: list[str] = []
    words = iter(given)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            others += words
        elif name in _OWN:
            value = value if equals else next(words, "")
            if not value:
                raise UsageError(f"{name} needs a value")
            found[_OWN[name]] = value
        elif name == "--html":
            raise UsageError("there is no --html: a page is written with -o FILE.html")
        elif word not in (*_PHASES, *_LONG_PHASES):
            others.append(word)
    output = found.get("output", "")
    if output and not output.endswith(_PAGES):
        if Path(output).suffix not in _MADE and not has(PHASES, given):
            raise UsageError(
                f"-o {output}: what is written is a page, FILE.html or FILE.htm; "
                "--sarif FILE writes a log for editors and code hosts"
            )
        del found["output"]  # of a compilation that is pasted here
        if not Path(output).suffix:
            told = f"ccc: note: nothing is written to {output}; -o FILE.html writes a page"
            print(told, file=sys.stderr)
    if not any(word.endswith(SOURCES) for word in others):
        named = next(
            (word for word in others if not word.startswith("-") and Path(word).suffix), None
        )
        what = f"{named} is no source of CUDA" if named else "no file is given"
        raise UsageError(f"{what}; ccc explain FILE.cu [options of nvcc and cccc ...]")
    return _Asked(tuple(others), **found)


def run(_args: argparse.Namespace) -> int:
    """Run ``ccc explain``; whoever asks for no help goes to :func:`main` at once."""
    return main(sys.argv[2:])
