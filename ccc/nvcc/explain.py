"""``--ccc-explain``: a table of what was considered for annotated paths, and what was chosen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ccc.demangle import demangle
from ccc.remark import BY_ITS_CODE, Remark, Report, read_report, span_of

_WIDTH = 100
_COLUMNS = ("line", "path", "lanes", "from", "instr.", "expected with", "chosen")


def explain(report: Report) -> str:
    """A short table for each kernel: its paths, their lanes and where that figure is from, the
    strategies that were considered with what was expected of them, and the one that was chosen."""
    console = Console(width=_WIDTH, color_system=None, force_terminal=False)
    with console.capture() as capture:
        for name, remarks in read_report(report).items():
            console.print(demangle(name), markup=False, highlight=False, soft_wrap=True)
            console.print(_table(remarks))
    return capture.get()


def _table(remarks: list[Remark]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in _COLUMNS:
        table.add_column(name, overflow="fold", no_wrap=name != "from")
    for remark in remarks:
        table.add_row(*_row(remark))
    return table


def _row(remark: Remark) -> Iterator[str]:
    told = remark.details
    lanes = told.get("expected_lanes")
    yield f"{os.path.basename(remark.position.file)}:{remark.position.line}"
    yield told.get("case") or f"{remark.annotation} {remark.arm_name}".rstrip()
    yield "?" if lanes is None else f"{lanes:.1f}"
    yield str(told.get("expected_from", ""))
    guess = "~" if told.get("instructions_from") == BY_ITS_CODE else ""
    yield f"{guess}{told.get('path_instructions', '')}"
    yield considered(told)
    yield _chosen(remark)


def considered(told: Mapping[str, Any]) -> str:
    """Each strategy with the ratio that is expected of it, from the worst case on if unknown."""
    worst, too_large = told.get("at_worst", {}), told.get("does_not_fit", ())
    rows = []
    for name, ratio in told.get("considered", {}).items():
        span = span_of(worst[name], ratio) if name in worst else f"{ratio:.2f}"
        rows.append(f"{name} {span}{', does not fit' if name in too_large else ''}")
    return "\n".join(rows)


def _chosen(remark: Remark) -> str:
    if remark.strategy is None:
        return "none applies" if remark.reason else "nothing"
    if remark.asked is not None and remark.asked in (remark.strategy, "collect"):
        return f"{remark.strategy} (asked for)"
    return remark.strategy
