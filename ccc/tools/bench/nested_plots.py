"""Figures 4.21 to 4.25: nested patterns by who does the fine tasks, the paper's numbers beside."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ccc.harness.decompositions import AUTOMATIC, BLOCK, ENGAGED
from ccc.tools.bench import nested
from ccc.tools.bench.plots import LIMIT, WIDTH, Bar, Plot, grouped, ratio_bar, share_bar
from ccc.tools.bench.results import ORIGINAL, Entry

SUB_WARP, LIBRARY_SUB_WARP = "best sub-warp by hand", "best cte::sub_warp"
COMPILER, VENDOR, PAPER = "marked loop, ccc", "vendor's library", "paper, GTX 780"
STYLES: Mapping[str, dict[str, Any]] = {
    ENGAGED: {"facecolor": "0.25"},
    AUTOMATIC: {"facecolor": "0.5"},
    BLOCK: {"facecolor": "0.5", "hatch": "||||"},
    SUB_WARP: {"facecolor": "0.9", "hatch": "...."},
    LIBRARY_SUB_WARP: {"facecolor": "0.9"},
    COMPILER: {"facecolor": "0.75"},
    VENDOR: {"facecolor": "white", "hatch": "xxxx"},
    PAPER: {"facecolor": "white", "hatch": "//////"},
    ORIGINAL: {"facecolor": "white"},
    "line": {"facecolor": "0.75"},
    "quad": {"facecolor": "0.25"},
}


def _speedups(figure: Any, entries: Sequence[Entry], shown: nested.Figure) -> bool:
    """How many times as fast as one thread a task."""
    groups = {
        entry.name.rpartition("/")[2]: list(_bars(entry))
        for entry in nested.of_figure(entries, shown)
    }
    if not groups:
        return False
    axes = grouped(figure, groups, STYLES)
    axes.axvline(1, zorder=0.5, **LIMIT)
    axes.set_xlim(0, 1.35 * max(bar.length for bars in groups.values() for bar in bars))
    axes.set_xlabel("times as fast as one thread a task")
    return True


def _bars(entry: Entry) -> Iterator[Bar]:
    """What is shown of an entry, the library's own first."""
    for label in (ENGAGED, AUTOMATIC, BLOCK):
        if label in entry:
            yield ratio_bar(label, entry.speedup(label))
    kinds = {
        LIBRARY_SUB_WARP: nested.best(entry, nested.SUB_WARPS),
        SUB_WARP: nested.best(entry, nested.BY_HAND),
        COMPILER: nested.best(entry, entry.chosen),
        VENDOR: nested.best(entry, nested.vendors(entry)),
    }
    for kind, found in kinds.items():
        if found:
            words = "" if kind == COMPILER else found.removeprefix("cte::")
            yield ratio_bar(kind, entry.speedup(found), words)
    paper = nested.paper(entry)
    if paper and paper.over_thread:
        yield ratio_bar(PAPER, paper.over_thread, paper.where)


def _efficiency(figure: Any, entries: Sequence[Entry]) -> bool:
    """Figure 4.22: active lanes of one thread a task, the best sub-warp, and the warp together."""
    groups: dict[str, list[Bar]] = {}
    for entry in nested.of_figure(entries, nested.FIGURES[0]):
        sub_warp = nested.best(entry, nested.BY_HAND)
        kinds = {ORIGINAL: ORIGINAL, SUB_WARP: sub_warp, ENGAGED: ENGAGED, AUTOMATIC: AUTOMATIC}
        shares = {
            kind: entry[one].efficiency for kind, one in kinds.items() if one and one in entry
        }
        paper = nested.paper(entry)
        shares[PAPER] = paper.efficiencies[-1] if paper and paper.efficiencies else None
        bars = [share_bar(kind, share) for kind, share in shares.items() if share]
        if len(bars) > 1:
            groups[entry.name.rpartition("/")[2]] = bars
    if not groups:
        return False
    axes = grouped(figure, groups, STYLES)
    axes.set_xlim(0, 1.1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("warp execution efficiency")
    return True


def _sizes(figure: Any, entries: Sequence[Entry]) -> bool:
    """Figure 4.25: how long LINE and QUAD take in each decomposition, and with which lanes."""
    found = nested.sizes(entries)
    labels = [
        label
        for label in nested.DECOMPOSITIONS
        if found and all(label in entry for entry in found.values())
    ]
    if not labels:
        return False
    figure.set_size_inches(WIDTH, 4)
    costs, shares = figure.subplots(1, 2, sharey=True)
    for number, (kind, entry) in enumerate(sorted(found.items())):
        places = [place + 0.4 * (number - 0.5) for place in range(len(labels))]
        style = {"height": 0.36, "edgecolor": "black", "lw": 0.8, **STYLES[kind]}
        costs.barh(places, [entry[label].cost for label in labels], label=kind.upper(), **style)
        lanes = [100 * (entry[label].efficiency or 0) for label in labels]
        shares.barh(places, lanes, **style)
    names = ["one thread a task" if label == ORIGINAL else label for label in labels]
    costs.set_yticks(range(len(labels)), names)
    costs.invert_yaxis()
    costs.set_xlabel(f"time, {next(iter(found.values())).unit}")
    costs.legend(frameon=False, fontsize=8)
    shares.set_xlim(0, 102)
    shares.set_xlabel("warp execution efficiency, %")
    return True


PLOTS: Mapping[str, Plot] = {
    **{f"nested-{one.name}": functools.partial(_speedups, shown=one) for one in nested.FIGURES},
    "nested-efficiency": _efficiency,
    "nested-sizes": _sizes,
}
"""Beside those of ``plots``."""
