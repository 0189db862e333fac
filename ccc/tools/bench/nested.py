"""Collaborative Task Engagement: what of a bench belongs to it, and what the paper measured.

F. Khorasani, High Performance Vertex-Centric Graph Analytics on GPUs, dissertation, 2016, section
4.2: figures 4.21 to 4.25 and table 4.2, as far as the text tells their numbers. NVIDIA GeForce GTX
780, CUDA 7.0. Its matrices and graphs are downloads; each is set beside inputs of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ccc.harness.decompositions import AUTOMATIC, BLOCK, ENGAGED, LIBRARY, THREAD, by_hand
from ccc.tools.bench.results import ORIGINAL, OWN_LABELS, Entry

BY_HAND = tuple(by_hand())
SUB_WARPS = tuple(label for label in LIBRARY if label.startswith("cte::sub_warp"))
SIZES = "nested/task_sizes"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the paper: its number, what it shows, and the samples that repeat it."""

    name: str
    number: str
    title: str
    samples: tuple[str, ...]


FIGURES = (
    Figure("matrices", "4.21", "Sparse matrices", ("nested/spmv", "nested/diagonal")),
    Figure("near", "4.23", "Near points", ("nested/u_list", "quadrature_grid")),
    Figure("graphs", "4.24", "Graphs", ("bfs", "nested/pagerank", "sssp")),
)

COUNTED = ("nested/spmv", "nested/diagonal", SIZES)
"""Samples of which active lanes are counted in all decompositions: figures 4.22 and 4.25."""


@dataclass(frozen=True, slots=True)
class PaperEntry:
    """What the paper's text says of a program on an input.

    Args:
        where: the input.
        over_thread: how many times as fast the warp together was as one thread a task.
        over_sub_warp: as the best sub-warp.
        efficiencies: of warps, 0 to 1: one thread a task, the five sub-warps, the warp together.
    """

    where: str
    over_thread: float | None = None
    over_sub_warp: float | None = None
    efficiencies: tuple[float | None, ...] = ()


PAPER = {
    ("nested/spmv", "web"): PaperEntry(
        "Wb-edu", 2.8, efficiencies=(0.166, 0.368, 0.411, 0.498, 0.504, 0.289, 0.87)
    ),
    ("nested/spmv", "uniform"): PaperEntry(
        "Delaunay_n24", 1.9, 1.28, (0.570, 0.634, 0.665, 0.613, 0.527, 0.387, 0.82)
    ),
    ("nested/spmv", "banded"): PaperEntry("Rajat31", 1.18, 1.0),
    ("nested/diagonal", "web"): PaperEntry(
        "Wb-edu", 2.3, efficiencies=(None, None, None, None, None, None, 0.96)
    ),
    ("nested/diagonal", "uniform"): PaperEntry("Delaunay_n24", 1.3, 1.3),
    ("bfs", "rmat"): PaperEntry("LiveJournal", None, 1.30),
    ("nested/pagerank", "rmat"): PaperEntry("LiveJournal", None, 1.08),
    ("sssp", "rmat"): PaperEntry("LiveJournal", None, 1.34),
    ("bfs", "uniform"): PaperEntry("RoadNet-CA", 0.92),
    ("nested/pagerank", "banded"): PaperEntry("RoadNet-CA", 0.96),
    ("sssp", "uniform"): PaperEntry("RoadNet-CA", 1.03),
}

PAPER_SIZES = {THREAD: "1.00", "sub-warps": "0.76 to 0.88", ENGAGED: "0.67"}
"""How long QUAD took, of LINE; there are 40.5 and 60.8 pieces a task."""


def of_figure(entries: Iterable[Entry], figure: Figure) -> list[Entry]:
    """Those that it shows, in its order."""
    mine = [entry for entry in entries if entry.sample in figure.samples and ENGAGED in entry]
    return sorted(mine, key=lambda entry: figure.samples.index(entry.sample))


def paper(entry: Entry) -> PaperEntry | None:
    """What the paper has beside it."""
    return PAPER.get(entry.key)


def best(entry: Entry, labels: Sequence[str]) -> str | None:
    """The fastest of some treatments, if there is one."""
    there = [label for label in labels if label in entry]
    return min(there, key=lambda label: entry[label].cost) if there else None


def vendors(entry: Entry) -> list[str]:
    """Treatments by a library: those that were launched as no kernel."""
    return [
        one.label
        for one in entry.treatments
        if one.label not in OWN_LABELS and one.kernels and not one.kernels[0].registers
    ]


def over_sub_warp(entry: Entry, label: str) -> float | None:
    """How many times as fast as the best sub-warp by hand a treatment is."""
    sub_warp = best(entry, BY_HAND)
    return entry[sub_warp].cost / entry[label].cost if sub_warp and label in entry else None


def near_best(entry: Entry) -> float | None:
    """What ``automatic`` reaches of the fastest decomposition that a warp can choose by itself."""
    fastest = best(entry, [label for label in LIBRARY if label not in (AUTOMATIC, BLOCK)])
    known = fastest is not None and AUTOMATIC in entry
    return entry[fastest].cost / entry[AUTOMATIC].cost if known and fastest else None


def counted(sample: str, label: str) -> bool:
    """Whether the active lanes of a rival are shown."""
    return sample in COUNTED and (label in BY_HAND or label in LIBRARY)


def sizes(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The study of figure 4.25: LINE and QUAD, where both were measured."""
    found = {
        entry.inputs.kind: entry for entry in entries if entry.sample == SIZES and ENGAGED in entry
    }
    return found if {"line", "quad"} <= found.keys() else {}


DECOMPOSITIONS = (ORIGINAL, *BY_HAND, *LIBRARY)
"""What the study shows."""
