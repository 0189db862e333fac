"""``cte-results.md``: nested patterns by who does the fine tasks, the paper's numbers beside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ccc import files
from ccc.harness.decompositions import AUTOMATIC, BLOCK, ENGAGED, THREAD
from ccc.tools.bench import nested, page
from ccc.tools.bench.nested import PaperEntry
from ccc.tools.bench.results import ORIGINAL, Entry, Results
from ccc.tools.bench.tables import amount, gain, percent, ratio, table

PAGE = "cte-results.md"
SAMPLES = "nested/"
"""How the names of the samples begin that the page is made for. Others that call the library stand
on it beside them, and alone are told in ``results.md``."""

HEAD = """\
# Results of Collaborative Task Engagement

<!-- Made by `ccc bench`. Do not edit: run it again, or `ccc bench --redraw`. -->

Nested patterns, a list of fine tasks for each coarse one, by who does the fine tasks: one thread a
task, which is `kernel.cu` as nvcc compiles it; sub-warps that step over the tasks, by hand; the
calls of `cte.cuh` (docs/cte.md), of which `cte::warp` is the paper's technique; and `ccc` with the
same plain loop marked, the fastest of its choices. All in one bench, as docs/bench.md tells, each
checked first. The paper's figures are those of F. Khorasani's dissertation, 2016, section 4.2, on
an NVIDIA GeForce GTX 780, as far as its text tells the numbers; its matrices and graphs are
downloads, set beside inputs of their kind.
"""

SPEEDUP = """\
How many times as fast as one thread a task, by medians.
"""

EFFICIENCY = """\
Active lanes of an issued instruction, of 32 (figure 4.22 and table 4.2).
"""

SIZES = """\
The study of section 4.2.4 (figure 4.25): tasks of four times the number of the lane (LINE) and of
an eighth of its square (QUAD) pieces, with 20 multiply-additions to make a piece and 20 to add it.
One thread a task takes as long for both, since the longest of a warp are about alike; of pieces
QUAD has two thirds.
"""


def write(results: Results, folder: Path, plots: Mapping[str, str], samples: Path) -> None:
    """Write the page where there is anything to show.

    Args:
        results: of a bench.
        folder: where it goes.
        plots: the files of the plots that were drawn, by their names in ``nested_plots``.
        samples: where the samples' folders are, for what people wrote.

    Raises:
        CccError: it cannot be written.
    """
    sound = [entry for entry in results.entries if entry.error is None]
    parts = [part for one in nested.FIGURES for part in _figure(one, sound, plots)]
    parts += [*_efficiencies(sound, plots), *_sizes(sound, plots)]
    if parts:
        shown = [entry for entry in results.entries if ENGAGED in entry]
        runs = page.runs(Results(results.runs, shown))
        words = page.section(samples / "nested")
        files.write(folder / PAGE, "\n".join([HEAD, *runs, *parts, *_words(words)]))


def _words(words: str) -> Iterator[str]:
    if words:
        yield "## What the figures say\n"
        yield words


def _figure(
    figure: nested.Figure, entries: Sequence[Entry], plots: Mapping[str, str]
) -> Iterator[str]:
    """A figure of speedups, with its tables."""
    shown = nested.of_figure(entries, figure)
    if not shown:
        return
    yield f"## {figure.title} (figure {figure.number})\n"
    yield SPEEDUP
    yield from page.image(plots, f"nested-{figure.name}", f"Speedups, {figure.title.lower()}")
    yield _speedups(shown)
    yield _beside(shown)


def _speedups(entries: Sequence[Entry]) -> str:
    """A row an input."""
    head = (
        *("input", "one thread a task", "best sub-warp by hand", "best `cte::sub_warp`"),
        *("`cte::thread`", "`cte::warp`", "`cte::automatic`", "`cte::block`", "marked loop, ccc"),
        "library",
    )
    return table(
        head,
        [
            [
                entry.name.rpartition("/")[2],
                amount(entry[ORIGINAL].cost, entry.unit),
                _named(entry, nested.BY_HAND),
                _named(entry, nested.SUB_WARPS),
                *(gain(entry, label) for label in (THREAD, ENGAGED, AUTOMATIC, BLOCK)),
                _named(entry, entry.chosen, of="tuned is"),
                _named(entry, nested.vendors(entry)),
            ]
            for entry in entries
        ],
    )


def _named(entry: Entry, labels: Sequence[str], of: str = "") -> str:
    """The ratio of the fastest of some, and which one that is."""
    found = nested.best(entry, labels)
    if found is None:
        return "-"
    name = "" if of else found.removeprefix("cte::").removeprefix("sub-warp ")
    return f"{entry.speedup(found):.2f}{f' ({name})' if name else ''}"


def _beside(entries: Sequence[Entry]) -> str:
    """What the paper says of the like, and how near ``automatic`` comes to the best."""
    head = (
        *("input", "`cte::warp` over the best sub-warp", "paper", "over one thread a task"),
        *("paper", "the paper's input", "`cte::automatic`, of the best decomposition of a warp"),
    )
    return table(
        head,
        [
            [
                entry.name.rpartition("/")[2],
                ratio(nested.over_sub_warp(entry, ENGAGED)),
                ratio(theirs.over_sub_warp),
                gain(entry, ENGAGED),
                ratio(theirs.over_thread),
                theirs.where,
                percent(nested.near_best(entry)),
            ]
            for entry in entries
            for theirs in [nested.paper(entry) or PaperEntry("-")]
        ],
    )


def _efficiencies(entries: Sequence[Entry], plots: Mapping[str, str]) -> Iterator[str]:
    """Figure 4.22."""
    shown = nested.of_figure(entries, nested.FIGURES[0])
    if not any(entry[ENGAGED].efficiency for entry in shown):
        return
    yield "## Warp execution efficiency (figure 4.22)\n"
    yield EFFICIENCY
    yield from page.image(plots, "nested-efficiency", "Warp execution efficiency")
    labels = (ORIGINAL, *nested.BY_HAND, ENGAGED)
    head = ("input", "one thread a task", *labels[1:], AUTOMATIC)
    rows = []
    for entry in shown:
        ours = [entry[one].efficiency if one in entry else None for one in (*labels, AUTOMATIC)]
        rows.append([entry.name.rpartition("/")[2], *map(percent, ours)])
        theirs = nested.paper(entry)
        if theirs and theirs.efficiencies:
            rows.append([f"paper, {theirs.where}", *map(percent, theirs.efficiencies), "-"])
    yield table(head, rows)


def _sizes(entries: Sequence[Entry], plots: Mapping[str, str]) -> Iterator[str]:
    """Figure 4.25."""
    found = nested.sizes(entries)
    if not found:
        return
    line, quad = found["line"], found["quad"]
    yield "## Sizes of tasks (figure 4.25)\n"
    yield SIZES
    yield from page.image(plots, "nested-sizes", "Time and efficiency by decomposition")
    head = ("decomposition", "LINE", "QUAD", "QUAD / LINE", "paper", "lanes, LINE", "lanes, QUAD")
    rows = [
        [
            "one thread a task" if label == ORIGINAL else label,
            *(amount(entry[label].cost, entry.unit) for entry in (line, quad)),
            ratio(quad[label].cost / line[label].cost),
            _paper_sizes(label),
            *(percent(entry[label].efficiency) for entry in (line, quad)),
        ]
        for label in nested.DECOMPOSITIONS
        if label in line and label in quad
    ]
    yield table(head, rows)


def _paper_sizes(label: str) -> str:
    """How long QUAD took of LINE in the paper."""
    known = {ORIGINAL: nested.PAPER_SIZES[THREAD], ENGAGED: nested.PAPER_SIZES[ENGAGED]}
    if label in nested.BY_HAND:
        return nested.PAPER_SIZES["sub-warps"]
    return known.get(label, "-")
