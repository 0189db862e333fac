"""Running nvcc with our pass inside, and compiling one source from Python."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ccc.compiler.said import DevicePass
from ccc.diagnostics import for_architectures
from ccc.errors import BuildError, CccError, Span
from ccc.files import put_text
from ccc.folder import OwnFolder
from ccc.nvcc import process
from ccc.nvcc.settings import shell_settings, without_ours
from ccc.options import Options
from ccc.remark import Report, report
from ccc.toolkit import places
from ccc.version import VERSION


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one nvcc command came to; ``stderr`` is nvcc's own, where it was captured.

    ``diagnostics`` and ``errors`` are rendered; what several device passes say alike is there once.
    ``original`` is the PTX of the source without annotations, if the only pass needed that.
    """

    code: int
    report: Report
    diagnostics: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    printed: str = ""
    stderr: str = ""
    original: str = ""


@dataclass(frozen=True, slots=True)
class Compiled:
    """PTX of one source: transformed, and ``original``, as plain nvcc makes it (but for empty lines
    at its end).

    ``diagnostics`` are rendered lines: paths left as they were, and nvcc's own warnings.
    """

    ptx: str
    original: str
    report: Report
    diagnostics: list[str]


def run(
    arguments: Sequence[str],
    options: Options,
    *,
    passes: Sequence[DevicePass] = (),
    capture: bool = False,
    dryrun: bool = False,
) -> Outcome:
    """Run one nvcc command with our shims inside; ``passes`` went before it.

    With ``dryrun`` nvcc only shows what it would run, and somebody else may run it: so what is
    asked for goes into what is shown.

    Raises:
        CccError: no usable nvcc was found.
    """
    nvcc = _hooked()
    with OwnFolder() as folder:
        asked = options if dryrun else replace(options, folder=folder)
        shims = _told(nvcc, options) if dryrun else nvcc.parent.parent / "shims"
        environment = {**without_ours(os.environ, folder), **asked.environment()}
        environment[places.SHIMS] = str(shims)
        code, stderr = _start([str(nvcc), *arguments], environment, capture)
        passes = [*passes, *DevicePass.load(folder)]
    return merge(passes, code, stderr)


def _hooked() -> Path:
    """The nvcc to start; what is known of one for sure need not be asked."""
    if known := places.recall():
        return Path(known, "bin", "nvcc")
    from ccc.toolkit import find, hook  # noqa: PLC0415 - seldom it is to be looked for

    nvcc = hook.hook(find.find())
    places.remember(str(nvcc.parent.parent))
    return nvcc


def _told(nvcc: Path, options: Options) -> Path:
    """The shims that do what is asked for, whoever starts them."""
    from ccc.toolkit import hook  # noqa: PLC0415 - seldom asked for

    return hook.told(nvcc, shell_settings(options))


def _start(command: list[str], environment: dict[str, str], capture: bool) -> tuple[int, str]:
    if not capture:
        return process.run(command, environment), ""
    with tempfile.TemporaryFile() as said:
        code = process.run(command, environment, said.fileno())
        said.seek(0)
        return code, said.read().decode(errors="replace")


def compile(  # noqa: A001 - the name that users see, as ccc.compile
    source: str | Path,
    arch: str = "sm_90",
    options: Sequence[str] = (),
    **asked: Any,
) -> Compiled:
    """Compile annotated CUDA to PTX, with and without our pass.

    Args:
        source: a path, or CUDA text, which holds a newline, a brace or a semicolon.
        arch: the architecture, as nvcc's ``-arch`` takes it.
        options: further options for nvcc.
        asked: fields of :class:`ccc.Options` by name, such as ``strategy``.

    Raises:
        CccError: no nvcc, an error in the source, or an annotation that is wrong.
        TypeError: there is no option of that name, or what should be a string is none.
    """
    _check_arguments(source, options)
    ours = Options(measure=True, **asked)
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        path = str(source)
        shown = path
        if _is_text(source):
            path, shown = str(Path(folder, "source.cu")), "source.cu"
            put_text(path, str(source))

        def ptx(name: str, ours: Options) -> tuple[str, Outcome]:
            text, outcome = _ptx(path, shown, arch, options, Path(folder, name), ours)
            return text.replace(path, shown), outcome

        text, outcome = ptx("transformed.ptx", ours)
        original = outcome.original.replace(path, shown)
        if not original:  # nothing was transformed, so that nobody has made it
            original, _ = ptx("original.ptx", Options(off=True))
    said = [*outcome.diagnostics, *outcome.stderr.splitlines()]
    report = json.loads(json.dumps(outcome.report).replace(json.dumps(path)[1:-1], shown))
    return Compiled(text, original, report, [line.replace(path, shown) for line in said])


def _check_arguments(source: str | Path, options: Sequence[str]) -> None:
    """Say what nvcc would say less clearly."""
    if isinstance(options, str):
        raise CccError(f'options are a sequence of strings: ["{options}"]')
    from ccc.nvcc.arguments import check_characters, strings  # noqa: PLC0415 - cccc does without it

    given = strings("options", options)
    ours = next((option for option in given if option.startswith("--ccc-")), None)
    if ours is not None:
        raise CccError(
            f"{ours} is for cccc and ccc.RawModule, and here go nvcc's options; "
            "compile with cccc -ptx, or give ccc.transform the argument of that name"
        )
    if not str(source).strip():
        raise CccError("the source is empty; it is a path, or CUDA text")
    if _is_text(source):
        check_characters(str(source), "source.cu")
    elif not Path(source).is_file():
        raise CccError("there is no such file", Span(str(source)))


def _is_text(source: str | Path) -> bool:
    """Whether this is CUDA, and no path."""
    if not isinstance(source, str):
        return False
    return "\n" in source or (any(c in source for c in "{};") and not Path(source).is_file())


def plain(source: Path, arch: str, options: Sequence[str] = ()) -> str:
    """The PTX that nvcc alone makes of CUDA, annotations ignored; arguments as of ``compile``.

    Raises:
        CccError: no nvcc, or an error in the source.
    """
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        output = Path(folder, "plain.ptx")
        return _ptx(str(source), str(source), arch, options, output, Options(off=True))[0]


def build(source: Path, arch: str, options: Sequence[str], ours: Options) -> tuple[str, Report]:
    """One PTX of annotated CUDA, and the report; arguments as of ``compile``.

    Raises:
        CccError: no nvcc, an error in the source, or an annotation that is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        output = Path(folder, "built.ptx")
        text, outcome = _ptx(str(source), str(source), arch, options, output, ours)
    return text, outcome.report


def _ptx(
    path: str, shown: str, arch: str, options: Sequence[str], output: Path, ours: Options
) -> tuple[str, Outcome]:
    """Compile to PTX in the file ``output``; messages name the source as ``shown``."""
    command = ["-ptx", f"-arch={arch}", *options, path, "-o", str(output)]
    outcome = run(command, ours, capture=True)
    if outcome.code:
        raise _failure(outcome, path, shown)
    return output.read_text(encoding="utf-8"), outcome


def _failure(outcome: Outcome, path: str, shown: str) -> CccError:
    """What to say of a command that failed: nvcc has no part in an annotation that is wrong."""
    said = "\n".join(filter(None, [*outcome.errors, outcome.stderr.strip()])).replace(path, shown)
    return BuildError(said) if outcome.errors else CccError(f"nvcc failed:\n{said}")


def merge(passes: Sequence[DevicePass], code: int, stderr: str = "") -> Outcome:
    """One outcome of several device passes, in their order."""
    kernels = [
        {**kernel, "source": one.unit[0], "arch": one.unit[1]}
        for one in passes
        for kernel in report(one.remarks)["kernels"]
    ]
    said: dict[str, list[str]] = {}
    for one in passes:
        said.setdefault(one.unit[1], []).extend((*one.diagnostics, *one.hints))
    return Outcome(
        code,
        {"version": VERSION, "kernels": kernels},
        for_architectures(said),
        _once(one.error for one in passes if one.error),
        "".join(one.printed for one in passes),
        stderr,
        passes[0].original if len(passes) == 1 else "",
    )


def _once(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(lines))
