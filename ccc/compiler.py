"""The pipeline as a function: marked PTX in, collected PTX out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ccc.analysis.callees import Callees
from ccc.analysis.facts import Facts
from ccc.analysis.paths import Path
from ccc.analysis.regions import ARMS, INNER_LOOPS, find_paths
from ccc.errors import CccError, render
from ccc.ir.markers import DIRECTIVES, parse_marker
from ccc.ir.nodes import Function, FunctionText, Module
from ccc.ir.verify import verify
from ccc.parse import NotRepresentable, parse_function, parse_module, parse_variables
from ccc.passes import PIPELINE
from ccc.pipeline import Kernel, PathRecord, make_pass
from ccc.printer import print_function
from ccc.version import VERSION

DEBUG = "the code is compiled for the debugger (-G), whose tables describe it as it is"


@dataclass
class Transformed:
    """What :func:`transform` made.

    ``report`` is described in docs/annotations.md. ``diagnostics`` are lines to show the user.
    ``printed`` is the PTX after the passes named in ``print_after``.
    """

    ptx: str
    report: dict[str, Any]
    diagnostics: list[str] = field(default_factory=list)
    printed: str = ""


def transform(
    ptx: str,
    *,
    filename: str = "<ptx>",
    strict: bool = False,
    max_block: int | None = None,
    discipline: str = "auto",
    print_after: Sequence[str] = (),
) -> Transformed:
    """Run the pipeline over the functions of a PTX file that hold markers.

    Everything else goes through byte for byte.

    Args:
        ptx: the text of a PTX file.
        filename: what to call it in messages.
        strict: raise instead of warning when a path is left as it was.
        max_block: the most threads that a block will have, if the kernel does not say.
        discipline: ``queue``, ``merge`` or ``auto``.
        print_after: names of passes.

    Raises:
        CccError: the file is not valid PTX, an option is, or (with ``strict``) a path is refused.
    """
    if "// ccc." not in ptx:
        return Transformed(ptx, {"version": VERSION, "kernels": []})
    module = parse_module(ptx, filename)
    result = Transformed(ptx, {"version": VERSION, "kernels": []})
    shared = _module_shared_bytes(module)
    debug = re.search(r"^\s*\.target\b[^\n]*\bdebug\b", ptx, re.MULTILINE) is not None
    callees = Callees(_loader(module))
    for piece in module.functions:
        if piece.is_marked:
            try:
                kernel = _load(piece, callees, shared, max_block)
            except NotRepresentable as obstacle:
                _leave(piece, obstacle, strict, result)
                continue
            if debug:
                _refuse_all(kernel, DEBUG)
            if _run_passes(kernel, discipline, print_after, result):
                piece.text = print_function(kernel.function)
            _describe(kernel.function.name, kernel.records, strict, result)
    result.ptx = module.text
    return result


def _refuse_all(kernel: Kernel, reason: str) -> None:
    for record in kernel.records:
        record.path.reason = record.reason = reason


def _leave(
    piece: FunctionText, obstacle: NotRepresentable, strict: bool, result: Transformed
) -> None:
    """A function that cannot be read is left as it was, with all its paths."""
    found = (parse_marker(line) for line in piece.text.splitlines())
    paths = [Path(marker, "") for marker in found if marker and marker.kind in ARMS + INNER_LOOPS]
    records = [PathRecord(path, reason=f"{obstacle.span}: {obstacle.message}") for path in paths]
    _describe(piece.name, records, strict, result)


def _loader(module: Module) -> Callable[[str], Function | None]:
    texts = {piece.name: piece for piece in module.functions}
    known: dict[str, Function | None] = {}

    def load(name: str) -> Function | None:
        if name not in known:
            known[name] = parse_function(texts[name]) if name in texts else None
        return known[name]

    return load


def _module_shared_bytes(module: Module) -> int:
    return sum(v.bytes or 0 for v in parse_variables(module) if v.space == "shared")


def _load(piece: FunctionText, callees: Callees, shared: int, max_block: int | None) -> Kernel:
    function = parse_function(piece)
    verify(function)
    facts = Facts(function, callees)
    records = [PathRecord(path) for path in find_paths(facts)]
    return Kernel(function, facts, records, shared, max_block=max_block)


def _run_passes(
    kernel: Kernel, discipline: str, print_after: Sequence[str], result: Transformed
) -> bool:
    for kind in PIPELINE:
        one = make_pass(kind, {"discipline": discipline})
        one.run(kernel)
        verify(kernel.function)
        if one.name in print_after:
            result.printed += f"// after {one.name}\n{print_function(kernel.function)}\n"
    return any(record.applied for record in kernel.records)


def _describe(name: str, records: Sequence[PathRecord], strict: bool, result: Transformed) -> None:
    """Add the kernel to the report, and a diagnostic for each path that was left alone."""
    paths = []
    for record in records:
        marker = record.path.marker
        paths.append(
            {
                "file": marker.span.file,
                "line": marker.span.line,
                "column": marker.span.column,
                "directive": DIRECTIVES.get(marker.kind, marker.kind),
                "arm": marker.kind,
                "applied": record.applied,
                "reason": record.reason,
                **record.details,
            }
        )
        if record.reason is not None:
            message = f"path left as it was: {record.reason}"
            if strict:
                raise CccError(message, marker.span)
            result.diagnostics.append(render("warning", message, marker.span))
    result.report["kernels"].append({"name": name, "paths": paths})
