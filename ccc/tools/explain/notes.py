"""What there is to say of each annotation, in a form that all outputs share."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from rich.syntax import Syntax
from rich.text import Text

from ccc.compiler.advice import parts_of
from ccc.compiler.launchable import SMALLER
from ccc.demangle import demangle
from ccc.diagnostics import without_idle_copies
from ccc.errors import Span
from ccc.likewise import copies, likewise, with_copy
from ccc.nvcc.explain import considered
from ccc.nvcc.run import Outcome
from ccc.ptx.types import MAX_BLOCK_THREADS, TYPES
from ccc.remark import (
    ASKED_IN,
    DECLINED,
    ENDS_LATER,
    MAY_LOSE,
    PLACE,
    STACK_THREADS,
    TIMES_WAITING,
    Remark,
    Report,
    architectures,
    in_instructions,
    read_report,
    saved,
    silent_among,
)

Kind = Literal["applied", "left", "refused", "declined", "warning", "error"]
MARKS: dict[Kind, str] = {
    "applied": "+",
    "left": "~",
    "refused": "-",
    "declined": "!",
    "warning": "!",
    "error": "x",
}
"""How a note begins."""
_SEVERITIES = ("warning", "error")
_COUNTED_AS: dict[Kind, str] = {
    "applied": "applied",
    "left": "not worth it",
    "refused": "refused",
    "declined": "warning",
    "warning": "warning",
    "error": "error",
}
"""What the summary calls notes."""
_SAID = re.compile(r"^(.+?):(\d+)(?::(\d+))?: (warning|error): (.*)")
_LEFT = "left as it was: "
_OTHER_ARM = "the other arm"
_OF_REMARKS = (f" {_LEFT}", DECLINED)
_STATED = re.compile(r"prob\(([\d.e-]+)\)")
_LOOPS = ("while", "for variable", "recursion")
"""Directives of which a length is that of a turn."""


@dataclass(frozen=True, slots=True)
class Note:
    """What is said of an annotation, or of an arm of it.

    Attributes:
        span: where it stands.
        kind: ``left`` is what was not worth it, or asked for; ``refused``, what cannot be done;
            ``declined``, the strategy that was asked for, in whose place something else was done.
        directive: what is annotated.
        title: one line: the strategy, or the reason.
        lines: what else there is to know.
        of_all: those of the lines that may be true of all arms of an annotation together.
        way_out: what a user can do.
        kernels: the kernels that this is true of.
        culprits: the places at fault.
        name: what it is called by beside the others of an annotation: its case, or which copy.
    """

    span: Span
    kind: Kind
    directive: str
    title: str
    lines: tuple[str, ...] = ()
    way_out: str = ""
    kernels: tuple[str, ...] = ()
    culprits: tuple[Span, ...] = field(default=())
    of_all: frozenset[str] = frozenset()
    name: str = _OTHER_ARM

    @property
    def head(self) -> str:
        """What is annotated, and what became of it."""
        return f"{self.directive}: {self.title}" if self.directive else self.title

    def more(self) -> Iterator[str]:
        """What stands below that."""
        yield from self.lines
        if self.way_out.startswith("did you mean"):
            yield self.way_out.capitalize()
        elif self.way_out:
            yield f"What to do: {self.way_out}"


def notes_of(outcome: Outcome, kernel: str | None = None) -> list[Note]:
    """The notes of a compilation, by file and line; alike ones of several kernels are one.

    Args:
        outcome: what was compiled.
        kernel: the name of one, or a part of it.
    """
    archs = architectures(outcome.report)
    notes = [
        (note, arch)
        for arch in archs
        for note in _numbered(
            note
            for remark in _remarks_of(outcome.report, arch)
            if not kernel or kernel in demangle(remark.kernel)
            for note in _of_remark(remark)
        )
    ]
    if not kernel:
        said = [*outcome.diagnostics, *outcome.errors]
        lines = (_of_line(line) for text in said for line in text.splitlines())
        notes += [(note, "") for note in lines if note is not None]
    merged = sorted(_merged(notes, len(archs)), key=lambda one: (one.span.file, one.span.line))
    return list(_told_once(merged))


def _remarks_of(report: Report, arch: str) -> list[Remark]:
    """The remarks of an architecture, but for code that vanished while a copy of it did not, and
    for copies that would gain nothing while others cannot be transformed."""
    mine = [one for one in report["kernels"] if one.get("arch", "") == arch]
    remarks = [one for told in read_report({"kernels": mine}).values() for one in told]
    is_silent = silent_among(remarks)
    return [one for one in without_idle_copies(remarks) if not is_silent(one)]


def _numbered(notes: Iterable[Note]) -> list[Note]:
    """The notes of an architecture, with numbers for copies of which not the same is said."""
    groups: dict[Hashable, list[Note]] = {}
    for note in notes:
        groups.setdefault((note.span, note.kernels, note.kind, note.directive), []).append(note)
    return [
        _with_number(note, copy)
        for mine in groups.values()
        for note, copy in zip(mine, copies([PLACE.sub("", n.title) for n in mine]), strict=True)
    ]


def _with_number(note: Note, copy: str) -> Note:
    if not copy:
        return note
    name = note.name if note.name != _OTHER_ARM else copy.partition(" of ")[0]
    return replace(note, directive=with_copy(note.directive, copy), name=name)


def in_short(notes: Iterable[Note]) -> Iterator[Note]:
    """The notes as one reads them in a row: of the cases, arms and copies of one annotation the
    first says all, and the others in a line what differs."""
    firsts: dict[Hashable, Note] = {}
    for note in notes:
        first = firsts.setdefault((note.span, note.kernels, note.kind), note)
        if note is first or not note.title.startswith(_LEFT):
            yield note
            continue
        told, title = (one.title.removeprefix(_LEFT) for one in (first, note))
        short = likewise(told, title, first.name)
        lines = note.lines if short == title else ()
        way_out = "" if note.way_out == first.way_out else note.way_out
        yield replace(note, title=f"{_LEFT}{short}", lines=lines, way_out=way_out)


def _told_once(notes: Iterable[Note]) -> Iterator[Note]:
    """The notes; what is told of all arms of an annotation stands at the first of them."""
    told: set[tuple[Span, tuple[str, ...], str]] = set()
    for note in notes:
        shared = {(note.span, note.kernels, line) for line in note.of_all}
        gone = {line for *_, line in shared & told}
        told |= shared
        yield replace(note, lines=tuple(line for line in note.lines if line not in gone))


def files_of(notes: Iterable[Note]) -> dict[str, list[Note]]:
    """The notes by the file that they are of."""
    found: dict[str, list[Note]] = {}
    for note in notes:
        found.setdefault(note.span.file, []).append(note)
    return found


def lines_of(file: str) -> list[str]:
    """The lines of a source; none if it cannot be read."""
    if not os.path.isfile(file):
        return []
    code = Path(file).read_text(encoding="utf-8", errors="replace").expandtabs(4)
    return code.splitlines()


def coloured(lines: Sequence[str]) -> list[Text]:
    """Lines of CUDA in colours."""
    syntax = Syntax("", "cuda", theme="ansi_dark")
    text = syntax.highlight("\n".join(lines))
    return list(text.split("\n", allow_blank=True))[: len(lines)]


def summary(notes: Sequence[Note], archs: Sequence[str]) -> str:
    """How many annotations, or arms of them, came to what, and for which architectures."""
    counts = Counter(_COUNTED_AS[note.kind] for note in notes)
    told = [
        f"{counts[what]} {what}{'s' * (counts[what] > 1 and what in _SEVERITIES)}"
        for what in dict.fromkeys(_COUNTED_AS.values())
        if counts[what]
    ]
    counted = ", ".join(told) or "nothing is annotated"
    return f"compiled for {', '.join(archs)}: {counted}" if any(archs) else counted


def _merged(notes: Sequence[tuple[Note, str]], count: int) -> Iterator[Note]:
    """Notes that say the same of several kernels, or of copies at other places of the PTX, as one;
    each with its architecture, which is told where the note is not true of all of them, which are
    so many."""
    found: dict[Note, dict[str, dict[str, None]]] = {}
    firsts: dict[Note, Note] = {}
    for note, arch in notes:
        bare = replace(note, kernels=(), culprits=(), title=PLACE.sub("", note.title))
        kernels = found.setdefault(firsts.setdefault(bare, note), {})
        for kernel in note.kernels:
            kernels.setdefault(kernel, {})[arch] = None
    for note, kernels in found.items():
        names = (
            kernel if len(archs) == count else f"{kernel} for {', '.join(archs)}"
            for kernel, archs in kernels.items()
        )
        yield replace(note, kernels=tuple(names))


def _of_line(line: str) -> Note | None:
    """What the command says that is in no report."""
    match = _SAID.match(line)
    if match is None or any(words in line for words in _OF_REMARKS):
        return None
    file, number, column, severity, text = match.groups()
    title, _, way_out = parts_of(text)
    kind: Kind = "error" if severity == "error" else "warning"
    span = Span(file, int(number), int(column or 0))
    return Note(span, kind, "", title, way_out=way_out)


def _of_remark(remark: Remark) -> list[Note]:
    """What became of the code, and what did not come of a strategy that was asked for."""
    note = _of_code(remark)
    if remark.declined is None:
        return [note]
    head, _, way_out = parts_of(remark.declined)
    file = f"{remark.details[ASKED_IN]}: " if ASKED_IN in remark.details else ""
    title = f"{file}strategy({remark.asked}) does not apply: {head}"
    if remark.is_wish:
        return [replace(note, lines=(*note.lines, title))]
    declined = replace(note, kind="declined", title=title, lines=(), way_out=way_out)
    return [replace(note, culprits=()), declined]


def _of_code(remark: Remark) -> Note:
    told = remark.details
    culprits = tuple(Span(**place) for place in told.get("culprits", ()))
    arm = f" ({remark.arm_name})" if remark.arm_name else ""
    note = Note(
        remark.position,
        "applied",
        remark.annotation + arm,
        "",
        kernels=(demangle(remark.kernel),),
        culprits=culprits,
        name=told.get("case", _OTHER_ARM),
    )
    if remark.applied:
        together = tuple(_of_all(remark))
        lines = (*_lines(remark), *together)
        of_all = frozenset([*together, *_speed(remark)])
        return replace(note, title=f"applied: {remark.strategy}", lines=lines, of_all=of_all)
    if remark.reason:
        head, _, way_out = parts_of(remark.reason)
        return replace(note, kind="refused", title=f"{_LEFT}{head}", way_out=way_out)
    head, _, way_out = parts_of(remark.advice or "that was asked for")
    lanes, title = tuple(_expected(remark)), f"{_LEFT}{head}"
    return replace(note, kind="left", title=title, way_out=way_out, lines=lanes)


def _lines(remark: Remark) -> Iterator[str]:
    """What there is to know of code that was transformed."""
    told = remark.details
    yield from _expected(remark)
    if "context" in told:
        yield _saved(told["context"], told.get("local_bytes", 0))
    if told.get("continuation"):
        yield "the rest of the iteration runs with the task"
    if told.get("reductions"):
        yield f"adds up {', '.join(told['reductions'])}"
    if ENDS_LATER in told:
        yield f"the loop may end later: {told[ENDS_LATER]}"
    if MAY_LOSE in told:
        yield f"what it writes may be lost: {told[MAY_LOSE]}"
    if TIMES_WAITING in told:
        yield f"it takes the time that it waits: {told[TIMES_WAITING]}"
    if "schedule" in told:
        yield f"schedule {told['schedule']}, barrier: {told.get('barrier') or 'none'}"


def _of_all(remark: Remark) -> Iterator[str]:
    """What all arms of an annotation come to, and the kernel."""
    told = remark.details
    if told.get("stack_bytes"):
        place = f"bytes of {told['placement']} shared memory"
        threads = told.get("block_threads", 0)
        size = f" of {threads:,} threads" if threads else ""
        larger = "; larger blocks run the loop as it was" if STACK_THREADS in told else ""
        yield f"all tasks take {told['stack_bytes']} {place} a block{size}{larger}"
    before, after = told.get("registers_before"), told.get("registers_after")
    if before is not None and after is not None:
        yield f"registers: {before} before, {after} after"
    before, after = told.get("occupancy_before"), told.get("occupancy_after")
    if before is not None and after is not None:
        way_out = _smaller(told) if after < before else ""
        yield f"occupancy: {before} before, {after} after{way_out}"


def _smaller(told: Mapping[str, Any]) -> str:
    """What may help a kernel that has fewer warps, where nobody said how large its blocks are."""
    is_largest = told.get("block_threads") == MAX_BLOCK_THREADS
    return f"; {SMALLER}" if told.get("stack_bytes") and is_largest else ""


def _expected(remark: Remark) -> Iterator[str]:
    """The lanes that are expected, and what of each strategy."""
    told = remark.details
    lanes, length = told.get("expected_lanes"), ""
    if "instructions_from" in told:
        per_turn = " a turn" if remark.annotation in _LOOPS else ""
        number = in_instructions(told["path_instructions"])
        length = f"{number}{per_turn} {told['instructions_from']}"
    if lanes is None and length and remark.applied:  # else it is told why it was left
        yield f"{length}, and nothing is known of its lanes"
    elif lanes is not None:
        source = told.get("expected_from") or "a guess"
        stated = _STATED.fullmatch(source)
        if stated and lanes < 32 * float(stated[1]) - 0.5:
            source += " of those that come to it"
        yield f"{lanes:.1f} of 32 lanes expected ({source}){length and f', {length}'}"
    yield from _speed(remark)
    if unshared := told.get("shared_out_reason"):
        head, _, way_out = parts_of(unshared)
        is_told = way_out and way_out.rpartition(": ")[2] in (remark.advice or "")
        yield f"turns are not shared out: {head if is_told else unshared}"


def _speed(remark: Remark) -> Iterator[str]:
    if remark.details.get("considered"):
        against = "" if remark.applied else ", against that without it"
        yield f"expected speed{against}: {considered(remark).replace(chr(10), ', ')}"


def _saved(context: Sequence[Mapping[str, str]], local_bytes: int) -> str:
    """What a task saves: variables where they are known, what it takes along of the thread's own
    arrays, and the bytes of all that."""
    size = local_bytes + sum(
        TYPES[one["type"]].bits // 8 for one in context if one["type"] in TYPES
    )
    parts = saved(context) + ([f"{local_bytes} bytes of arrays"] if local_bytes else [])
    return f"saves {', '.join(parts)} for each task ({size} bytes)" if parts else "saves nothing"
