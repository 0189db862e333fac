"""``--ccc-explain``: a table of what was considered for annotated paths, and what was chosen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from ccc.demangle import demangle
from ccc.remark import BY_ITS_CODE, Remark, Report, architectures, read_report, span_of
from ccc.tables import narrowest

_WIDTH = 100


class _Row(NamedTuple):
    """What is told of a path; the names of its parts are those of the columns."""

    line: str
    path: str
    lanes: str
    source: str
    instructions: str
    expected: str
    chosen: str


_COLUMNS = _Row("line", "path", "lanes", "from", "instr.", "loop expected with", "chosen")


def explain(report: Report) -> str:
    """A short table for each kernel: its paths, their lanes and where that figure is from, the
    strategies that were considered with what was expected of them, and the one that was chosen.

    Behind a kernel's name stand the architectures of which the table tells.
    """
    width = min(_WIDTH, shutil.get_terminal_size((_WIDTH, 0)).columns)
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        for (name, rows), archs in _told(report).items():
            told = f" ({', '.join(archs)})" if any(archs) else ""
            title = f"{demangle(name)}{told}"
            console.print(title, markup=False, highlight=False, soft_wrap=True)
            table = _table(rows)
            if narrowest(table) <= width:
                console.print(table)
            else:
                console.print(_listed(rows), markup=False, highlight=False)
    return capture.get()


def _told(report: Report) -> dict[tuple[str, tuple[_Row, ...]], list[str]]:
    """The kernels with what is told of their paths; the architectures for which that is so."""
    found: dict[tuple[str, tuple[_Row, ...]], list[str]] = {}
    for arch in architectures(report):
        mine = [one for one in report["kernels"] if one.get("arch", "") == arch]
        for name, remarks in read_report({"kernels": mine}).items():
            if remarks:
                found.setdefault((name, tuple(_rows(remarks))), []).append(arch)
    return found


def _table(rows: Sequence[_Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in _COLUMNS:
        table.add_column(name, overflow="fold", no_wrap=name != _COLUMNS.source)
    for row in rows:
        table.add_row(*row)
    return table


def _listed(rows: Sequence[_Row]) -> str:
    """The same, one under the other."""
    lines = []
    for row in rows:
        lines += ["", f"{row.line}   {row.path}: {row.chosen}"]
        parts = [f"{row.lanes} lanes ({row.source})"] if row.source else []
        parts += [f"{row.instructions} {_COLUMNS.instructions}"] if row.instructions else []
        lines += [f"  {', '.join(parts)}"] if parts else []
        if row.expected:
            lines += [f"  {_COLUMNS.expected}", *(f"    {one}" for one in row.expected.split("\n"))]
    return "\n".join([*lines, ""])


def _rows(remarks: Sequence[Remark]) -> Iterator[_Row]:
    """The paths. Figures are of the loop, with all that was chosen for others: paths that got
    strategies together have the same, which are told once."""
    firsts: dict[tuple[str | None, str], str] = {}
    for remark in remarks:
        told = remark.details
        lanes, case = told.get("expected_lanes"), told.get("case")
        guess = "~" if told.get("instructions_from") == BY_ITS_CODE else ""
        line = f"{os.path.basename(remark.position.file)}:{remark.position.line}"
        expected = considered(remark)
        if remark.applied and expected:
            first = firsts.setdefault((remark.strategy, expected), case or line)
            expected = expected if first == (case or line) else f"as for {first}"
        yield _Row(
            line,
            case or f"{remark.annotation} {remark.arm_name}".rstrip(),
            "?" if lanes is None else f"{lanes:.1f}",
            str(told.get("expected_from", "")),
            f"{guess}{told.get('path_instructions', '')}",
            expected,
            _chosen(remark),
        )


def considered(remark: Remark) -> str:
    """Each strategy with the ratio that is expected of it, from the worst case on if unknown.

    Stacks are made for all arms of an annotation, and all paths for which the same was asked: where
    one of several got them, what does not fit is all together.
    """
    told = remark.details
    worst, too_large = told.get("at_worst", {}), told.get("does_not_fit", ())
    too_much = "not all fit" if remark.strategy in too_large else "does not fit"
    rows = []
    for name, ratio in told.get("considered", {}).items():
        span = span_of(worst[name], ratio) if name in worst else f"{ratio:.2f}"
        rows.append(f"{name} {span}{f' ({too_much})' if name in too_large else ''}")
    return "\n".join(rows)


def _chosen(remark: Remark) -> str:
    if remark.strategy is None:
        return "none applies" if remark.reason else "nothing"
    if remark.asked is not None and remark.asked in (remark.strategy, "collect"):
        return f"{remark.strategy} (asked for)"
    return remark.strategy
