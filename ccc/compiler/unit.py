"""One source for one architecture: marked, compiled, transformed, and what there is to say of it.

An annotation none of whose paths was transformed is compiled again without its markers, so that its
code is as the compiler makes it.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccc.errors import CccError, render
from ccc.files import read_text
from ccc.frontend import marking as source
from ccc.ir.markers import MARKER_PREFIX
from ccc.options import Options

if TYPE_CHECKING:
    from ccc.toolkit.ptxas import Resources

Report = dict[str, Any]

LTO_REFUSED = (
    "link-time optimisation stores code that ccc does not see; "
    "leave out -dlto (-lto, code=lto_*), or give --ccc-off"
)


@dataclass(slots=True)
class Pass:
    """What one device pass has to say; ``unit`` names its source and architecture."""

    unit: tuple[str, str] = ("", "")
    report: Report = field(default_factory=dict)
    diagnostics: list[str] = field(default_factory=list)
    printed: str = ""
    error: str | None = None

    def save(self, folder: str) -> None:
        """Leave this for the command that started nvcc."""
        handle, _ = tempfile.mkstemp(suffix=".json", dir=folder)
        with os.fdopen(handle, "w") as file:
            json.dump(asdict(self), file)

    @staticmethod
    def load(folder: str) -> list[Pass]:
        """All passes left in a folder, by source and architecture, whatever ran first."""
        passes = [Pass(**json.loads(path.read_text())) for path in Path(folder).glob("*.json")]
        for one in passes:
            one.unit = (one.unit[0], one.unit[1])
        return sorted(passes, key=lambda one: one.unit)


def translate(
    text: str,
    name: str,
    compiler: Callable[[str, bool], str],
    options: Options,
    done: Pass,
    *,
    output: str = "<ptx>",
    macros: Collection[str] | None = None,
) -> str:
    """CUDA -> transformed PTX; what there is to say is added to ``done``.

    Args:
        text: CUDA, preprocessed or not; see ``source.mark``, also for ``macros``.
        name: of its file, where no line marker tells.
        compiler: makes PTX of marked CUDA; the second argument says that it did so before, with
            more markers, so that what it warns of is known.
        options: of the command.
        done: takes the report and the diagnostics.
        output: what to call the PTX in messages.
        macros: those that text which is not preprocessed may use.

    Raises:
        CccError: an annotation is wrong, or (with ``strict``) one could not be followed.
    """
    left: set[int] = set()
    while True:
        marked = source.mark(text, name, without=left, macros=macros)
        if not left and not options.off:
            _warn(marked.warnings, options, done)
        ptx = compiler(marked.text, bool(left))
        if not left and not options.off:
            _warn(_never_taken(marked.annotations, ptx), options, done)
        if options.mark_only:
            return ptx
        if marked.annotations:
            ptx = _transform(ptx, output, options, done)
        refused = _refused(marked.annotations, done.report)
        _check_strict(options, done)
        if not refused or options.profile:  # what is left alone is counted all the same
            return ptx
        left |= refused


def transform_file(done: Pass, options: Options) -> str:
    """Transform the PTX file that ``done.unit`` names; what there is to say is added to ``done``.

    Raises:
        OSError: the file cannot be read.
    """
    name = done.unit[0]
    try:
        ptx = _transform(read_text(name), name, options, done)
        _check_strict(options, done)
    except CccError as error:
        done.error = str(error)
        return ""
    return ptx


def _check_strict(options: Options, done: Pass) -> None:
    if options.strict and done.diagnostics:
        raise CccError("not every annotation could be followed, which --ccc-strict demands")


def _never_taken(annotations: Sequence[source.Annotation], ptx: str) -> list[CccError]:
    """Of each path that left no code, although its annotated loop did."""
    kept = {int(number) for number in re.findall(rf"{MARKER_PREFIX}\w+ (\d+) ", ptx)}
    said = "no code is left of this path: the compiler found that it is never taken"
    return [CccError(said, a.span) for a in annotations if a.loop in kept and a.id not in kept]


def _warn(warnings: Sequence[CccError], options: Options, done: Pass) -> None:
    severity = "error" if options.strict else "warning"
    done.diagnostics += [render(severity, w.message, w.span, w.source_line) for w in warnings]


def _transform(ptx: str, output: str, options: Options, done: Pass) -> str:
    """Transform, and add what was said to ``done``."""
    from ccc.compiler.transform import transform  # noqa: PLC0415 - a pass that fails earlier needs none of it

    told = replace(options, strict=False)  # all that was missed is to be seen, not the first alone
    result = transform(ptx, told, filename=output)
    if _counts_blocks(result.report) and (found := _resources(result.ptx)):
        registers = {name: resources.registers for name, resources in found[0].items()}
        result = transform(ptx, told, filename=output, registers=registers)
    if options.measure:
        _measure(ptx, result.ptx, result.report)
    done.report = _merged(done.report, result.report)
    for line in result.diagnostics:
        said = line.replace(": warning: ", ": error: ", 1) if options.strict else line
        if said not in done.diagnostics:
            done.diagnostics.append(said)
    done.printed = result.printed
    return result.ptx


def _measure(before: str, after: str, report: Report) -> None:
    """Add to each applied path the registers a thread of its kernel takes, before and after.

    They stay out where ptxas alone cannot assemble the file, as with separate compilation.
    """
    pair = _resources(before, after)
    for kernel in report["kernels"]:
        counts = [found[kernel["name"]].registers for found in pair if kernel["name"] in found]
        for path in kernel["paths"]:
            if path["applied"] and len(counts) == 2:
                path["registers_before"], path["registers_after"] = counts


def _resources(*texts: str) -> list[dict[str, Resources]]:
    """What the kernels of PTX files need, by name; nothing where ptxas alone cannot tell."""
    from ccc.toolkit import find as toolchain  # noqa: PLC0415 - seldom asked for
    from ccc.toolkit.ptxas import resources  # noqa: PLC0415 - seldom asked for

    try:
        ptxas = toolchain.find().bin / "ptxas"
        return [resources(text, _target(text), ptxas) for text in texts]
    except CccError:
        return []


def _target(ptx: str) -> str:
    target = re.search(r"^\s*\.target\s+(\w+)", ptx, re.MULTILINE)
    return target[1] if target else "sm_90"


def _counts_blocks(report: Report) -> bool:
    """Whether a kernel counts how many of its blocks are resident, for which registers matter."""
    paths = [path for kernel in report["kernels"] for path in kernel["paths"]]
    return any(path.get("resident") for path in paths)


def _refused(annotations: Sequence[source.Annotation], report: Report) -> set[int]:
    """The annotations that no copy of their code could be transformed for."""
    paths = [path for kernel in report.get("kernels", ()) for path in kernel["paths"]]
    applied = {_place(path) for path in paths if path["applied"]}
    refused = {_place(path) for path in paths} - applied
    left = {a.id for a in annotations if (a.span.file, a.span.line, a.span.column) in refused}
    paths_here = [a.id for a in annotations if a.directive not in ("for", "grid_stride")]
    for loop in reversed(annotations):  # inner loops first
        # A loop that holds none lexically serves the paths of inlined functions.
        held = [a.id for a in annotations if a.loop == loop.id] or paths_here
        if loop.directive == "for" and left.issuperset(held):
            left.add(loop.id)
    return left


def _merged(old: Report, new: Report) -> Report:
    """The new report, with the paths that were refused before and are not tried any more."""
    kernels = {kernel["name"]: kernel for kernel in new["kernels"]}
    for kernel in old.get("kernels", ()):
        paths = kernels.setdefault(kernel["name"], {**kernel, "paths": []})["paths"]
        known = {_place(path) for path in paths}
        paths += [p for p in kernel["paths"] if not p["applied"] and _place(p) not in known]
        paths.sort(key=_place)
    return {**new, "kernels": list(kernels.values())}


def _place(path: Report) -> tuple[str, int, int]:
    return path["file"], path["line"], path["column"]
