"""The tables of a bench, in Markdown; each takes entries without errors."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ccc.ir.markers import WHOLE_KERNEL
from ccc.remark import Remark
from ccc.tools.bench import paper
from ccc.tools.bench.predictions import Prediction
from ccc.tools.bench.results import (
    BOUND,
    CCC,
    CHOSEN,
    ORIGINAL,
    PROFILED,
    TUNED,
    Entry,
    KernelFootprint,
    Treatment,
)
from ccc.tools.bench.sensitivity import Measured

NOTHING = "-"

CHOICES = ("ccc, nothing known", "with a profile", "tuned")
"""How the tables call what ``ccc`` makes."""

PLACE = r" \((?:[^()]*, )?PTX line \d+: [^;]*;\)"
"""In the reason why a path was left alone."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table; all columns but the first ``words`` are numbers, set to the right."""
    lines = [head, [*["---"] * words, *["---:"] * (len(head) - words)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def speedups(entries: Sequence[Entry]) -> str:
    """Figure 4.12 in numbers: the original, ccc and what it is compared with."""
    head = (
        *("program", "original", *CHOICES, "range", "tuned is"),
        *("paper", "best rival", BOUND),
    )
    rows = [
        [
            entry.name,
            _cost(entry, ORIGINAL),
            *_chosen(entry),
            ratio(entry.paper),
            _best_rival(entry),
            gain(entry, BOUND),
        ]
        for entry in entries
    ]
    return table(head, [*rows, *_mean(entries, len(head))])


def patterns(entries: Sequence[Entry]) -> str:
    """Speedups of kernels that have no place in the paper."""
    head = ("pattern", "original", *CHOICES, "range", "tuned is", "best rival", BOUND)
    rows = [
        [
            entry.name.partition("/")[2],
            _cost(entry, ORIGINAL),
            *_chosen(entry),
            _best_rival(entry),
            gain(entry, BOUND),
        ]
        for entry in entries
    ]
    return table(head, rows)


def _chosen(entry: Entry) -> list[str]:
    """The three columns, the range of the last one that there is, and what tuning came to."""
    gains = [gain(entry, label) for label in CHOSEN]
    gains[2] = gains[2] if gains[2] == NOTHING else f"**{gains[2]}**"
    return [*gains, _range(entry), _tuned(entry)]


def _tuned(entry: Entry) -> str:
    """What was fastest: a strategy, or what served the paths of one of the choices."""
    if entry.tuned == CCC:
        return _served(entry.paths)
    return _served(entry.profiled) if entry.tuned == PROFILED else entry.tuned or NOTHING


def _served(paths: Iterable[Mapping[str, Any]]) -> str:
    """The strategies of paths; a loop over blocks is none."""
    remarks = [Remark.read(path) for path in paths]
    those = [remark for remark in remarks if remark.annotation not in WHOLE_KERNEL]
    names = [str(one.strategy) if one.applied else "leave" for one in those]
    return ", ".join(dict.fromkeys(names)) or NOTHING


def _mean(entries: Sequence[Entry], columns: int) -> list[list[str]]:
    """The paper's programs' means, on the inputs that come first, beside the paper's own."""
    first = {entry.sample: entry for entry in reversed(entries) if entry.sample in paper.PROGRAMS}
    if len(first) < len(paper.PROGRAMS):
        return []
    cells = [f"mean of the paper's {len(first)}", ""]
    for label in CHOSEN:
        gains = [entry.speedup(label) for entry in first.values() if label in entry]
        known = len(gains) == len(first)
        cells.append(f"**{statistics.mean(gains):.2f}**" if known else NOTHING)
    cells += ["", "", ratio(paper.MEAN_SPEEDUP)]
    return [[*cells, *[""] * (columns - len(cells))]]


def efficiencies(entries: Sequence[Entry]) -> str:
    """Figure 4.13 in numbers."""
    head = ("program", ORIGINAL, *CHOICES, "paper, without", "paper, with")
    rows = []
    for entry in entries:
        theirs = paper.PROGRAMS.get(entry.sample) if entry.paper else None
        own = [entry[label].efficiency if label in entry else None for label in (ORIGINAL, *CHOSEN)]
        rows.append(
            [entry.name, *map(percent, (*own, *(theirs.efficiency if theirs else (None,) * 2)))]
        )
    return table(head, rows)


def overheads(entries: Sequence[Entry]) -> str:
    """Table 4.1: what the annotated kernels take, registers and shared memory of a thread."""
    head = (
        *("kernel", "registers, original", "tuned", "paper"),
        *("shared bytes, original", "tuned", "paper", "occupancy, original", "tuned"),
    )
    rows = []
    seen = set()
    for entry in entries:
        theirs = paper.PROGRAMS.get(entry.sample)
        last = entry[entry.chosen[-1]]
        for before, after in zip(entry[ORIGINAL].kernels, last.kernels, strict=True):
            if (entry.sample, before.name) in seen:  # the same on other inputs
                continue
            seen.add((entry.sample, before.name))
            rows.append([
                f"{entry.sample}, `{before.name}`",
                *(str(before.registers), str(after.registers)),
                "{} to {}".format(*theirs.registers) if theirs else NOTHING,
                *(_bytes(before), _bytes(after)),
                "{} to {}".format(*theirs.shared) if theirs else NOTHING,
                *(percent(before.occupancy), percent(after.occupancy)),
            ])  # fmt: skip
    return table(head, rows)


def treatments(entries: Sequence[Entry]) -> str:
    """Everything that was timed."""
    gains = " or ".join(dict.fromkeys(entry.gains_are for entry in entries))
    head = ("inputs", "treatment", "launch", "median", "range", gains)
    rows = [
        [
            _inputs(entry),
            one.label,
            str(one.configuration),
            _cost(entry, one.label),
            _costs(entry, one),
            ratio(entry.speedup(one.label)),
        ]
        for entry in entries
        for one in entry.treatments
    ]
    return table(head, rows, words=3)


def study(head: str, points: Sequence[Measured], values: Sequence[int]) -> str:
    """One study of sensitivity: ``values`` of the points under ``head``."""
    rows = [
        [
            str(value),
            _cost(one.entry, ORIGINAL),
            *(gain(one.entry, label) for label in CHOSEN),
            _tuned(one.entry),
            ratio(one.point.bound),
            *(percent(one.entry[label].efficiency) for label in (ORIGINAL, one.labels[-1])),
        ]
        for value, one in zip(values, points, strict=True)
    ]
    names = (ORIGINAL, *CHOICES, "tuned is", "32 / lanes", "efficiency, original", "tuned")
    return table((head, *names), rows)


def predicted(found: Sequence[Prediction]) -> str:
    """What the cost model expected, and what came of it."""
    head = ("kernel", "strategy", "lanes", "expected", "measured", "same side of 1")
    rows = [
        [
            one.entry.name,
            one.strategy,
            NOTHING if one.lanes is None else f"{one.lanes:.0f}",
            *(ratio(one.predicted), ratio(one.measured)),
            "yes" if one.agrees else "no" if one.takes_side else "neither expected",
        ]
        for one in found
    ]
    return table(head, rows, words=2)


def left_alone(entries: Iterable[Entry]) -> list[str]:
    """A line for each annotation with a path that ccc left alone, without its place in the PTX."""
    return list(
        dict.fromkeys(
            f"- {entry.sample}, {Path(remark.position.file).name}:{remark.position.line}, "
            f"`ccc {remark.annotation}`: {re.sub(PLACE, '', remark.reason)}"
            for entry in entries
            for remark in map(Remark.read, entry.paths)
            if not remark.applied and remark.reason
        )
    )


def _inputs(entry: Entry) -> str:
    size = "" if entry.inputs.graph else f"size {entry.inputs.size:,}"
    return ", ".join(filter(None, (entry.inputs.name, size)))


def _cost(entry: Entry, label: str) -> str:
    return amount(entry[label].cost, entry.unit)


def _costs(entry: Entry, treatment: Treatment) -> str:
    if len(treatment.costs) < 2:
        return NOTHING
    low, high = min(treatment.costs), max(treatment.costs)
    return f"{amount(low, entry.unit)} to {amount(high, entry.unit)}"


def amount(cost: float, unit: str) -> str:
    """A cost with its unit."""
    return f"{cost:.4g} ms" if unit == "ms" else f"{cost:,.0f}"


def _range(entry: Entry) -> str:
    spread = entry.spread(TUNED if TUNED in entry else CCC)
    return "{:.2f} to {:.2f}".format(*spread) if spread else NOTHING


def _best_rival(entry: Entry) -> str:
    if not entry.rivals:
        return NOTHING
    best = entry.rivals[0].label
    return f"{entry.speedup(best):.2f} ({best})"


def gain(entry: Entry, label: str) -> str:
    """How many times as fast as the original a treatment is, if it is there."""
    return ratio(entry.speedup(label) if label in entry else None)


def ratio(number: float | None) -> str:
    """A ratio, if it is known."""
    return NOTHING if number is None else f"{number:.2f}"


def percent(share: float | None) -> str:
    """A share, if it is known."""
    return NOTHING if share is None else f"{100 * share:.1f} %"


def _bytes(kernel: KernelFootprint) -> str:
    return f"{kernel.shared_per_thread:g}"
