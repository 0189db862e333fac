"""The pipeline as a function: marked PTX in, collected PTX out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ccc.analysis.paths.find import ARMS, INNER_LOOPS
from ccc.analysis.paths.model import LeftPath
from ccc.compiler.module import Preparation
from ccc.errors import CccError, render
from ccc.ir.markers import DIRECTIVES, WHOLE_KERNEL, parse_marker
from ccc.ir.nodes import FunctionText, Module
from ccc.ir.printer import print_function
from ccc.ir.verify import verify
from ccc.parse import NotRepresentable, parse_module
from ccc.passes import PIPELINE
from ccc.pipeline import Kernel, KernelRecord, Pass, PathRecord, make_pass
from ccc.version import VERSION

if TYPE_CHECKING:
    from ccc.profile.instrument import Counting

_CALL = re.compile(r"\bcall(?:\.uni)?\s+(?:\([^()]*\)\s*,\s*)?([\w$]+)")


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
    callee_shared: int | None = None,
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
        discipline: the name of a strategy that collects, or ``auto``.
        dynamic_shared: the most bytes of dynamic shared memory that a launch asks for, if a kernel
            uses any. Without it such kernels are left alone: with the stack they might have more
            than a launch gets.
        callee_shared: the most bytes of static shared memory that functions take which a kernel
            calls and the file does not show. Without it such kernels are left alone.
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
    kernels = Preparation(module, max_block, dynamic_shared, callee_shared, registers or {})
    options = {"discipline": discipline, "multiprocessors": multiprocessors}
    idle = off or kernels.is_debugged
    passes = () if idle else tuple(make_pass(kind, options) for kind in PIPELINE)
    counting = _counting(module, kernels, profile, off) if profile else None
    outcomes: list[_Outcome] = []
    for piece in _concerned(module):
        try:
            outcome = _run(passes, partial(kernels.prepare, piece), print_after)
        except NotRepresentable as obstacle:
            _leave(piece, obstacle, strict, result)
            continue
        result.printed += outcome.printed
        if any(record.applied for record in outcome.records):
            piece.text = print_function(outcome.kernel.function)
            _declare(module, piece, outcome.kernel.declarations)
        if piece.is_marked or outcome.inlined:
            outcomes.append(outcome)
    _drop_copies(outcomes)
    for outcome in outcomes:
        if counting:
            counting.add(outcome.kernel.function, outcome.kernel.records)
        _describe(outcome.kernel.function.name, outcome.records, strict, result)
    if counting:
        result.diagnostics += counting.finish()
    result.ptx = module.text
    return result


def _counting(module: Module, kernels: Preparation, profile: str, off: bool) -> Counting:
    """What adds code that counts."""
    from ccc.profile.instrument import Counting  # noqa: PLC0415 - NumPy takes long to load

    return Counting(module, kernels.load, profile, transformed=not off)


@dataclass
class _Outcome:
    """What became of one function: all its records, and the names of functions inlined in it."""

    kernel: Kernel
    printed: str
    records: list[KernelRecord | PathRecord]
    inlined: frozenset[str]


def _run(
    passes: Sequence[Pass], prepare: Callable[[frozenset[int]], Kernel], print_after: Sequence[str]
) -> _Outcome:
    """Run the passes over one function.

    A call that was inlined for paths that were refused in the end has to stay as it was: then
    everything is done again without it. One at a time, the last one first, since what it brought
    with it may be why the paths before it were refused.
    """
    left: list[PathRecord] = []
    names: frozenset[str] = frozenset()
    kept: frozenset[int] = frozenset()
    while True:
        kernel = prepare(kept)
        printed = _run_passes(passes, kernel, print_after)
        applied = {record.path.entry for record in kernel.records if record.applied}
        idle = [call for call in kernel.inlined if applied.isdisjoint(call.labels)]
        names = names.union(*(call.names for call in kernel.inlined))
        if not idle:
            return _Outcome(kernel, printed, [*kernel.annotations, *kernel.records, *left], names)
        last = idle[-1]
        left += [record for record in kernel.records if record.path.entry in last.labels]
        kept |= {last.line}


def _drop_copies(outcomes: Sequence[_Outcome]) -> None:
    """A device function whose paths are in kernels, and collected there, has none of its own."""
    inlined = frozenset().union(*(outcome.inlined for outcome in outcomes))
    applied = {record.marker for o in outcomes for record in o.records if record.applied}
    for outcome in outcomes:
        function = outcome.kernel.function
        if function.kind == "entry":
            continue
        kept = set() if function.name in inlined else {r.marker for r in outcome.records} - applied
        outcome.records = [record for record in outcome.records if record.marker in kept]
        paths = outcome.kernel.records
        paths[:] = [record for record in paths if record.marker in kept]


def _concerned(module: Module) -> list[FunctionText]:
    """The functions that hold markers, and those that call such, themselves or through others."""
    found = {piece.name for piece in module.functions if piece.is_marked}
    device = {piece.name for piece in module.functions if piece.is_marked and piece.kind == "func"}
    calls = {p.name: set(_CALL.findall(p.text)) for p in module.functions} if device else {}
    size = 0
    while size < len(found):
        size = len(found)
        found |= {name for name, called in calls.items() if not called.isdisjoint(found)}
    return [p for p in module.functions if p.name in found and (p.is_marked or p.kind == "entry")]


def _declare(module: Module, piece: FunctionText, declarations: Sequence[str]) -> None:
    """Put what a function needs before it, unless the module has it already."""
    place = module.pieces.index(piece)
    module.pieces[place:place] = [text for text in declarations if text not in module.pieces]


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
            records.append(PathRecord(LeftPath(marker, "", False, reason), reason=reason))
    _describe(piece.name, records, strict, result)


def _run_passes(passes: Sequence[Pass], kernel: Kernel, print_after: Sequence[str]) -> str:
    """The code after the passes of these names."""
    printed = ""
    for one in passes:
        one.run(kernel)
        verify(kernel.function)
        if one.name in print_after:
            printed += f"// after {one.name}\n{print_function(kernel.function)}\n"
    return printed


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
