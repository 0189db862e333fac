"""The pipeline as a function: marked PTX in, collected PTX out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ccc.analysis.callees import Callees
from ccc.analysis.facts import Facts
from ccc.analysis.paths import Path
from ccc.analysis.regions import ARMS, INNER_LOOPS
from ccc.counting import Counting
from ccc.errors import CccError, render
from ccc.ir.markers import DIRECTIVES, WHOLE_KERNEL, parse_marker
from ccc.ir.nodes import Function, FunctionText, Module
from ccc.ir.verify import verify
from ccc.parse import NotRepresentable, parse_function, parse_module, parse_variables
from ccc.passes import PIPELINE
from ccc.pipeline import Kernel, KernelRecord, PathRecord, make_pass
from ccc.printer import print_function
from ccc.ptx.opcodes import Effect
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
    dynamic_shared: int | None = None,
    multiprocessors: int | None = None,
    registers: Mapping[str, int] | None = None,
    print_after: Sequence[str] = (),
    profile: str | None = None,
    off: bool = False,
) -> Transformed:
    """Run the pipeline over the functions of a PTX file that hold markers.

    Everything else goes through byte for byte.

    Args:
        ptx: the text of a PTX file.
        filename: what to call it in messages.
        strict: raise instead of warning when a path is left as it was.
        max_block: the most threads that a block will have, if the kernel does not say.
        discipline: ``cases``, ``queue``, ``merge`` or ``auto``.
        dynamic_shared: the most bytes of dynamic shared memory that a launch asks for, if a kernel
            uses any. Without it such kernels are left alone: with the stack they might have more
            than a launch gets.
        multiprocessors: how many the device has; without it, kernels ask the device.
        registers: how many a thread of each kernel takes, by name, as far as that is known.
        print_after: names of passes.
        profile: make the functions count what they run, for a profile in the file of this name.
        off: run no pass.

    Raises:
        CccError: the file is not valid PTX, an option is, or (with ``strict``) a path is refused.
    """
    if "// ccc." not in ptx:
        return Transformed(ptx, {"version": VERSION, "kernels": []})
    module = parse_module(ptx, filename)
    result = Transformed(ptx, {"version": VERSION, "kernels": []})
    shared = [v for v in parse_variables(module) if v.space == "shared"]
    open_ended = {v.name for v in shared if v.bytes is None}
    static_shared = sum(v.bytes or 0 for v in shared)
    target = re.search(r"^\s*\.target\s+(\w+)([^\n]*)", ptx, re.MULTILINE)
    arch, others = target.groups() if target else ("", "")
    load = _loader(module)
    callees = Callees(load)
    options = {"discipline": discipline, "multiprocessors": multiprocessors}
    known = registers or {}
    counting = Counting(module, load, profile, transformed=not off) if profile else None
    for piece in filter(lambda piece: piece.is_marked, module.functions):
        try:
            function = parse_function(piece)
        except NotRepresentable as obstacle:
            _leave(piece, obstacle, strict, result)
            continue
        verify(function)
        facts = Facts(function, callees)
        kernel = Kernel(function, facts, static_shared, max_block=max_block, arch=arch, load=load)
        kernel.registers = known.get(function.name)
        if any(map(open_ended.__contains__, _names(function, load))):
            kernel.dynamic_shared_bytes = dynamic_shared
        if re.search(r"\bdebug\b", others):
            _refuse_all(kernel, DEBUG)
        if not off and _run_passes(kernel, options, print_after, result):
            piece.text = print_function(kernel.function)
        if counting:
            counting.add(kernel.function, kernel.records)
        _describe(function.name, [*kernel.annotations, *kernel.records], strict, result)
    if counting:
        result.diagnostics += counting.finish()
    result.ptx = module.text
    return result


def _refuse_all(kernel: Kernel, reason: str) -> None:
    for annotation in kernel.annotations:
        annotation.reason = reason
    for record in kernel.records:
        record.path.reason = record.reason = reason


def _leave(
    piece: FunctionText, obstacle: NotRepresentable, strict: bool, result: Transformed
) -> None:
    """A function that cannot be read is left as it was, with all its paths."""
    reason = f"{obstacle.span}: {obstacle.message}"
    records: list[KernelRecord | PathRecord] = []
    for marker in filter(None, map(parse_marker, piece.text.splitlines())):
        if marker.kind in WHOLE_KERNEL:
            records.append(KernelRecord(marker, reason=reason))
        elif marker.kind in ARMS + INNER_LOOPS:
            records.append(PathRecord(Path(marker, ""), reason=reason))
    _describe(piece.name, records, strict, result)


def _loader(module: Module) -> Callable[[str], Function | None]:
    texts = {piece.name: piece for piece in module.functions}
    known: dict[str, Function | None] = {}

    def load(name: str) -> Function | None:
        if name not in known:
            known[name] = parse_function(texts[name]) if name in texts else None
        return known[name]

    return load


def _names(function: Function, load: Callable[[str], Function | None]) -> Iterator[str]:
    """The names of what a function uses, itself or in the functions that it calls."""
    seen, worklist = {function.name}, [function]
    while worklist:
        for instruction in worklist.pop().instructions:
            for symbol in instruction.symbols():
                yield symbol.name
                called = load(symbol.name) if instruction.effects & Effect.CALL else None
                if called is not None and called.name not in seen:
                    seen.add(called.name)
                    worklist.append(called)


def _run_passes(
    kernel: Kernel, options: Mapping[str, Any], print_after: Sequence[str], result: Transformed
) -> bool:
    for kind in PIPELINE:
        one = make_pass(kind, options)
        one.run(kernel)
        verify(kernel.function)
        if one.name in print_after:
            result.printed += f"// after {one.name}\n{print_function(kernel.function)}\n"
    return any(record.applied for record in (*kernel.annotations, *kernel.records))


def _describe(
    name: str, records: Sequence[KernelRecord | PathRecord], strict: bool, result: Transformed
) -> None:
    """Add the kernel to the report, and a diagnostic for each annotation that was left alone."""
    paths = []
    for record in records:
        marker = record.marker
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
            what = "kernel" if isinstance(record, KernelRecord) else "path"
            message = f"{what} left as it was: {record.reason}"
            if strict:
                raise CccError(message, marker.span)
            result.diagnostics.append(render("warning", message, marker.span))
    result.report["kernels"].append({"name": name, "paths": paths})
