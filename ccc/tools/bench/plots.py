"""The plots of a bench: figures 4.12 to 4.15, to be read on paper and without colour.

Those of nested patterns are in ``nested_plots``.

Bars are told apart by their filling, lines by their markers and by words beside them. The same
results and the same matplotlib give the same bytes.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccc import files
from ccc.errors import CccError
from ccc.tools.bench import families, paper, sensitivity
from ccc.tools.bench.results import BOUND, CCC, ORIGINAL, PROFILED, TUNED, Entry, Results
from ccc.tools.bench.sensitivity import Measured

WIDTH = 7.2  # inches: between the margins of a page
DPI = 200

STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9,
    "hatch.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
}

BAR = 0.19  # inches, with the gap to the next
GROUP = 0.16  # inches between programs
MARGIN = 0.95  # inches for the axis and the legend

RIVAL, PAPER, PAPER_BEFORE = "best rival", "paper (GTX 780)", "paper, without CCC"
BARS: Mapping[str, dict[str, Any]] = {
    TUNED: {"facecolor": "0.25"},
    PROFILED: {"facecolor": "0.5"},
    CCC: {"facecolor": "0.75"},
    RIVAL: {"facecolor": "0.9", "hatch": "...."},
    PAPER: {"facecolor": "white", "hatch": "//////"},
    BOUND: {"facecolor": "none", "linestyle": "--"},
    ORIGINAL: {"facecolor": "white"},
    PAPER_BEFORE: {"facecolor": "white", "hatch": "//"},
}
LINES: Mapping[str, dict[str, Any]] = {
    ORIGINAL: {"color": "0.45", "marker": "s", "linestyle": "--", "markerfacecolor": "white"},
    CCC: {"color": "0.45", "marker": "^", "linestyle": ":", "markerfacecolor": "white"},
    PROFILED: {"color": "0.25", "marker": "x", "linestyle": "-."},
    TUNED: {"color": "black", "marker": "o", "linestyle": "-"},
}
LIMIT = {"color": "black", "linestyle": ":", "linewidth": 1}


@dataclass(frozen=True, slots=True)
class Bar:
    """One of a group: which of ``BARS`` it is, how long, and the words at its end."""

    kind: str
    length: float
    words: str


class NoMatplotlib(CccError):
    """Plots need matplotlib, and it is not installed."""


Plot = Callable[[Any, Sequence[Entry]], bool]
"""Draws into a figure, and says whether there was anything to draw."""


def draw(results: Results, folder: Path, more: Mapping[str, Plot] | None = None) -> dict[str, str]:
    """Draw what there are results for.

    Args:
        results: of a bench.
        folder: where the plots go, as ``results-NAME.png``.
        more: plots besides those of this module.

    Returns:
        The names of the files, by the names of the plots: ``speedup``, ``patterns``,
        ``efficiency``, ``lanes``, ``lengths`` and those of ``more``.

    Raises:
        NoMatplotlib: matplotlib is not installed.
        CccError: a file cannot be written.
    """
    try:
        matplotlib = importlib.import_module("matplotlib")
        figures = importlib.import_module("matplotlib.figure")
        images = importlib.import_module("PIL.Image")  # comes with matplotlib
    except ImportError as error:
        raise NoMatplotlib(
            "no plots without matplotlib: pip install '.[plot]' in the clone, "
            "then ccc bench --redraw"
        ) from error
    entries = [entry for entry in results.entries if entry.error is None]
    drawn = {}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        for name, plot in {**PLOTS, **(more or {})}.items():
            figure = figures.Figure(layout="constrained")
            if plot(figure, entries):
                drawn[name] = f"results-{name}.png"
                files.write(folder / drawn[name], _png(figure, images))
    return drawn


def _png(figure: Any, images: Any) -> bytes:
    """The figure in shades of grey, which take a third of the bytes; without names of programs."""
    coloured, grey = io.BytesIO(), io.BytesIO()
    figure.savefig(coloured, format="png", dpi=DPI)
    images.open(coloured).convert("L").save(grey, "PNG", optimize=True, dpi=(DPI, DPI))
    return grey.getvalue()


def _speedup(figure: Any, entries: Sequence[Entry]) -> bool:
    """Figure 4.12, of all programs."""
    return _ratios(figure, {entry.name: entry for entry in families.programs(entries)})


def _patterns(figure: Any, entries: Sequence[Entry]) -> bool:
    """The same of the patterns."""
    shown = families.patterns(entries)
    return _ratios(figure, {entry.name.partition("/")[2]: entry for entry in shown})


def _ratios(figure: Any, entries: Mapping[str, Entry]) -> bool:
    """A bar for each of ccc's choices, the best rival, the paper, and the bound."""
    groups: dict[str, list[Bar]] = {}
    for name, entry in entries.items():
        bars = [ratio_bar(label, entry.speedup(label)) for label in reversed(entry.chosen)]
        bars += [ratio_bar(RIVAL, entry.speedup(one.label), one.label) for one in entry.rivals[:1]]
        bars += [ratio_bar(PAPER, entry.paper)] if entry.paper else []
        bars += [ratio_bar(BOUND, entry.speedup(BOUND))] if BOUND in entry else []
        groups[name] = bars
    if not groups:
        return False
    axes = grouped(figure, groups)
    axes.axvline(1, zorder=0.5, **LIMIT)
    axes.set_xlim(0, 1.35 * max(bar.length for bars in groups.values() for bar in bars))
    axes.set_xlabel(" or ".join(dict.fromkeys(one.gains_are for one in entries.values())))
    return True


def _efficiency(figure: Any, entries: Sequence[Entry]) -> bool:
    """Figure 4.13: a bar each for the original and ccc at its best, here and in the paper."""
    groups: dict[str, list[Bar]] = {}
    for entry in families.programs(entries):
        program = paper.PROGRAMS.get(entry.sample)
        theirs = program.efficiency if program and entry.paper else (None, None)
        last = entry.chosen[-1]
        ours = entry[ORIGINAL].efficiency, entry[last].efficiency
        labelled = zip((ORIGINAL, last, PAPER_BEFORE, PAPER), (*ours, *theirs), strict=True)
        if None not in ours:
            groups[entry.name] = [share_bar(kind, share) for kind, share in labelled if share]
    if not groups:
        return False
    axes = grouped(figure, groups)
    axes.set_xlim(0, 1.1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("warp execution efficiency")
    return True


def _lanes(figure: Any, entries: Sequence[Entry]) -> bool:
    """Figure 4.14: cost and efficiency over the number of lanes that take the branch."""
    points = sensitivity.over_lanes(entries)
    if len(points) < 2:
        return False
    figure.set_size_inches(WIDTH, 3)
    costs, shares = figure.subplots(1, 2)
    lanes = [one.point.lanes for one in points]
    scale, unit = _scale(points)
    for label in _labels(points):
        _line(costs, lanes, [one.cost(label) / scale for one in points], label)
        efficiencies = [one.entry[label].efficiency for one in points]
        if None not in efficiencies:
            _line(shares, lanes, [100 * (share or 0) for share in efficiencies], label)
    for axes, what, top in ((costs, unit, None), (shares, "warp execution efficiency, %", 102)):
        axes.set_ylim(0, top)
        axes.set_xticks([1, 8, 16, 24, 32])
        axes.set_xlabel("lanes of a warp that take the branch")
        axes.set_ylabel(what)
        _name_lines(axes)
    return True


def _lengths(figure: Any, entries: Sequence[Entry]) -> bool:
    """Figure 4.15: cost and speedup over the length of the branch, for two numbers of lanes."""
    studies = {lanes: sensitivity.over_lengths(entries, lanes) for lanes in sensitivity.SHARES}
    if any(len(points) < 2 for points in studies.values()):
        return False
    figure.set_size_inches(WIDTH, 5)
    panels = figure.subplots(2, len(studies), sharex=True, sharey="row")
    for column, (lanes, points) in enumerate(studies.items()):
        costs, speedups = panels[0][column], panels[1][column]
        lengths = [one.point.length for one in points]
        scale, unit = _scale(points)
        for label in _labels(points):
            _line(costs, lengths, [one.cost(label) / scale for one in points], label)
        for label in _labels(points)[1:]:
            _line(speedups, lengths, [one.entry.speedup(label) for one in points], label)
        limit = points[0].point.bound
        speedups.axhline(limit, **LIMIT)
        speedups.text(lengths[0], limit, f"32 / {lanes} = {limit:.2f}", va="bottom")
        speedups.axhline(1, **LIMIT)
        costs.set_title(f"{lanes} of 32 lanes take the branch", fontsize=9)
        costs.set_xscale("log", base=2)
        _logarithmic(costs)
        _name_lines(costs)
        speedups.set_xticks(lengths, [str(length) for length in lengths])
        speedups.set_ylim(0)
        speedups.set_xlabel("operations in the branch")
        if not column:
            costs.set_ylabel(unit)
            speedups.set_ylabel(points[0].entry.gains_are)
    return True


PLOTS: Mapping[str, Plot] = {
    "speedup": _speedup,
    "patterns": _patterns,
    "efficiency": _efficiency,
    "lanes": _lanes,
    "lengths": _lengths,
}


def _labels(points: Sequence[Measured]) -> list[str]:
    """What all points of a study have."""
    return [label for label in points[0].labels if all(label in one.entry for one in points)]


def ratio_bar(kind: str, ratio: float, words: str = "") -> Bar:
    """A bar of a ratio, with more words behind it."""
    return Bar(kind, ratio, f"{ratio:.2f} {words}".strip())


def share_bar(kind: str, share: float) -> Bar:
    """A bar of a share."""
    return Bar(kind, share, f"{100 * share:.0f} %")


def grouped(
    figure: Any, groups: Mapping[str, Sequence[Bar]], styles: Mapping[str, dict[str, Any]] = BARS
) -> Any:
    """Axes with horizontal bars in groups, one below the other, each with words at its end."""
    y, middles = 0.0, []  # inches
    rows: list[tuple[float, Bar]] = []
    for bars in groups.values():
        middles.append(y + BAR * (len(bars) - 1) / 2)
        rows += [(y + BAR * number, bar) for number, bar in enumerate(bars)]
        y += BAR * len(bars) + GROUP
    figure.set_size_inches(WIDTH, y + MARGIN)
    axes = figure.subplots()
    axes.set_ylim(y - GROUP, -BAR)
    axes.set_yticks(middles, list(groups))
    axes.tick_params(axis="y", length=0)
    for kind in dict.fromkeys(bar.kind for _, bar in rows):
        mine = [(height, bar.length) for height, bar in rows if bar.kind == kind]
        axes.barh(
            *zip(*mine, strict=True), height=0.8 * BAR, edgecolor="black", lw=0.8, label=kind,
            **styles[kind],
        )  # fmt: skip
    for height, bar in rows:
        axes.annotate(
            bar.words, (bar.length, height), xytext=(3, 0), textcoords="offset points",
            va="center", fontsize=8, fontweight="bold" if bar.kind == TUNED else "normal",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6}, zorder=1,
        )  # fmt: skip
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False, fontsize=8)
    return axes


def _line(axes: Any, x: Sequence[float], y: Sequence[float], label: str) -> None:
    axes.plot(x, y, label=label, markersize=4, linewidth=1.2, **LINES[label])


def _name_lines(axes: Any) -> None:
    """Name the lines, in the order of their ends."""
    handles, _ = axes.get_legend_handles_labels()
    ordered = sorted(handles, key=lambda line: -line.get_ydata()[-1])
    axes.legend(handles=ordered, frameon=False, fontsize=8)


def _logarithmic(axes: Any) -> None:
    """Count the vertical axis 1, 2, 5, 10 and so on."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    steps = [step * 10.0**power for power in range(-9, 10) for step in (1, 2, 5)]
    ticks = [step for step in steps if low <= step <= high]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _scale(points: Sequence[Measured]) -> tuple[float, str]:
    """What to divide costs by, and what they are called then."""
    if points[0].entry.unit == "ms":
        return 1, "time, ms"
    return 1e6, f"million {points[0].entry.unit}"
