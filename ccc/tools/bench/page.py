"""``results.md``: the tables and plots of a bench, and what people wrote about the programs.

The page is made anew each time. What is written by hand is the section "Results" of the samples'
``README.md``, shown under the program's name, and that of the ``README.md`` beside their folders,
shown at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ccc import files
from ccc.tools.bench import families, predictions, sensitivity, tables
from ccc.tools.bench.results import BOUND, ORIGINAL, Entry, Results, Run

PAGE = "results.md"

HEAD = f"""\
# Results

<!-- Made by `ccc bench`. Do not edit: run it again, or `ccc bench --redraw`. The words on a program
are the section "Results" of its README.md, those at the end that of the samples' README.md. -->

Each program is compiled by nvcc alone (*{ORIGINAL}*), by `ccc`, and by nvcc after its divergence
was dealt with by hand (*rivals*). `ccc` chooses by itself what it does at each annotation: where
*nothing is known* but the code; *with a profile* of a run on the same inputs; or *tuned*, where all
that it can make is tried, and the fastest is kept, which may be to *leave* the code as it was.
*{BOUND}* is the original with the same work where the lanes of a warp do not part: what there is to
gain from divergence alone. A rival can be faster that also reads memory in another order. Each is
checked before it is timed; `ccc` has to give the original's results bit for bit. What counts is the
annotated kernels, all their launches together, and all versions run in turn. docs/bench.md tells
how to measure this.
"""

SPEEDUP = """\
How many times as fast as the original: medians, and the range of runs that followed one another.
The range is that of *tuned*. The original, and each of the others, runs in its fastest launch: a
grid that fills the device once, or a thread for each task, and the best size of a block where the
program permits several. The paper's figures are those
of an NVIDIA GeForce GTX 780 (figure 4.12 of F. Khorasani's dissertation, 2016).
"""

EMULATED = """\
There is no time here: the emulator ran the kernels, and what is compared is the number of warp
instructions that were issued. Size and launch are the emulator's, too.
"""

EFFICIENCY = """\
Active lanes of an issued instruction, of 32; a lane that a predicate switches off is not active
(figure 4.13).
"""

OVERHEAD = """\
What a thread of the annotated kernels takes (table 4.1); in the paper, occupancy was 100 % in all
cases.
"""

LANES = f"""\
The sample `synthetic`: a loop whose branch of {sensitivity.LENGTH} multiply-additions is taken by
some lanes of each warp (figure 4.14).
"""

LENGTHS = """\
The same, with other lengths of the branch (figure 4.15). The speedup cannot exceed 32 / lanes.
"""

PATTERNS = """\
Short kernels in the shapes that users write, which say where the compiler wins and where it loses.
Nothing above counts them.
"""

PREDICTED = f"""\
How many times as fast as the original a kernel was expected with a strategy, by the profile of a
run on the same inputs, and what was measured in a few runs. Of `{sensitivity.SAMPLE}` the strategy
of which most was expected, at some points. What was measured within
{100 * predictions.CLOSE:.0f} % of 1 agrees with everything. An expectation that reads 1.00 is that
nothing changes.
"""


def write(results: Results, folder: Path, samples: Path, plots: Mapping[str, str]) -> None:
    """Write the page.

    Args:
        results: what is on it.
        folder: where it goes.
        samples: where the samples' folders are, for what people wrote.
        plots: the files of the plots that were drawn, by their names in ``ccc.tools.bench.plots``.

    Raises:
        CccError: it cannot be written.
    """
    files.write(folder / PAGE, "\n".join(_page(results, samples, plots)))


def _page(results: Results, samples: Path, plots: Mapping[str, str]) -> Iterator[str]:
    sound = [entry for entry in results.entries if entry.error is None]
    programs = families.programs(sound)
    yield HEAD
    yield from runs(results)
    if programs:
        yield "## Speedup\n"
        yield SPEEDUP
        if any(entry.unit != "ms" for entry in programs):
            yield EMULATED
        yield from image(plots, "speedup", "Speedups of all programs")
        yield tables.speedups(programs)
        yield "## Warp execution efficiency\n"
        yield EFFICIENCY
        yield _sources(programs)
        yield from image(plots, "efficiency", "Warp execution efficiency with and without ccc")
        yield tables.efficiencies(programs)
        yield "## Overhead\n"
        yield OVERHEAD
        yield tables.overheads(programs)
        yield from _left_alone(programs)
    yield from _studies(sound, plots, samples)
    yield from _patterns(families.patterns(sound), plots, samples)
    yield from _predictions(sound)
    yield from _programs(programs, samples)
    if words := section(samples):
        yield "## Other figures\n"
        yield words
    yield from _failures(results.entries)


def runs(results: Results) -> Iterator[str]:
    """Where, when and how: a line for each command that contributed."""
    for number, run in enumerate(results.runs):
        entries = [entry.sample for entry in results.entries if entry.run == number]
        if entries:
            yield f"- {', '.join(dict.fromkeys(entries))}: {_run(run)}"
    yield ""


def _run(run: Run) -> str:
    machine = run.machine
    parts = [str(machine.get("gpu", "emulator")), str(machine.get("arch", ""))]
    if "cuda_driver" in machine:
        version = int(machine["cuda_driver"])
        parts.append(f"driver for CUDA {version // 1000}.{version % 1000 // 10}")
    return f"{', '.join(filter(None, parts))}; {run.date[:10]}; `{run.command}`"


def image(plots: Mapping[str, str], name: str, text: str) -> Iterator[str]:
    """A plot, if it was drawn."""
    if name in plots:
        yield f"![{text}]({plots[name]})\n"


def _sources(entries: Sequence[Entry]) -> str:
    """Who counted, and of which programs."""
    by_source: dict[str, list[str]] = {}
    for entry in entries:
        by_source.setdefault(entry.efficiency_source or "nobody", []).append(entry.name)
    if len(by_source) == 1:
        return f"Counted by {next(iter(by_source))}.\n"
    parts = [f"by {source}: {', '.join(names)}" for source, names in by_source.items()]
    return f"Counted {'; '.join(parts)}.\n"


def _left_alone(entries: Sequence[Entry]) -> Iterator[str]:
    if lines := tables.left_alone(entries):
        yield "Paths that `ccc` left alone, and why:\n"
        yield "\n".join(lines) + "\n"


def _studies(entries: Sequence[Entry], plots: Mapping[str, str], samples: Path) -> Iterator[str]:
    over_lanes = sensitivity.over_lanes(entries)
    if over_lanes:
        yield "## How many lanes take the branch\n"
        yield LANES
        yield from image(plots, "lanes", "Cost and efficiency by the number of lanes")
        yield tables.study("lanes", over_lanes, [one.point.lanes for one in over_lanes])
    over_lengths = {lanes: sensitivity.over_lengths(entries, lanes) for lanes in sensitivity.SHARES}
    if any(over_lengths.values()):
        yield "## How long the branch is\n"
        yield LENGTHS
        yield from image(plots, "lengths", "Cost and speedup by the length of the branch")
        for lanes, points in over_lengths.items():
            head = f"operations, {lanes} lanes"
            yield tables.study(head, points, [one.point.length for one in points])
        if words := section(samples / sensitivity.SAMPLE):
            yield words


def _patterns(entries: Sequence[Entry], plots: Mapping[str, str], samples: Path) -> Iterator[str]:
    """The patterns, which are no part of what is said of the programs."""
    if not entries:
        return
    yield "## Patterns\n"
    yield PATTERNS
    if words := section(samples / families.PATTERNS):
        yield words
    yield from image(plots, "patterns", "Speedups of all patterns")
    yield tables.patterns(entries)
    yield from _left_alone(entries)
    yield from _programs(entries, samples, "###")


def _predictions(entries: Sequence[Entry]) -> Iterator[str]:
    """How good the cost model is: all programs and patterns, and some points of the studies."""
    every = predictions.predictions(entries)
    if not every:
        return
    sides = [one for one in every if one.takes_side]
    agreed = sum(one.agrees for one in sides)
    few = {point.kind for point in sensitivity.points(quick=True)}
    points = [one for one in every if one.entry.sample == sensitivity.SAMPLE]
    shown = [one for one in predictions.best(points) if one.entry.inputs.kind in few]
    others = [one for one in every if one.entry.sample != sensitivity.SAMPLE]
    yield "## What the compiler expected\n"
    yield PREDICTED
    yield f"Of {len(sides)} expectations of a gain or a loss, {agreed} were on the right side of 1."
    yield from _unchanged([one for one in every if not one.takes_side])
    yield tables.predicted([*others, *shown])


def _unchanged(found: Sequence[predictions.Prediction]) -> Iterator[str]:
    """What was measured where nothing was expected to change."""
    if found:
        measured, kept = [one.measured for one in found], sum(one.agrees for one in found)
        yield (
            f"Of {len(found)} that nothing changes, {kept} came within "
            f"{100 * predictions.CLOSE:.0f} % of 1, and all between {min(measured):.2f} and "
            f"{max(measured):.2f}."
        )
    yield ""


def _programs(entries: Sequence[Entry], samples: Path, level: str = "##") -> Iterator[str]:
    """Each program: all treatments, and what its README.md says about them."""
    for sample in dict.fromkeys(entry.sample for entry in entries):
        yield f"{level} {sample.rpartition('/')[2]}\n"
        if words := section(samples / sample):
            yield words
        yield tables.treatments([entry for entry in entries if entry.sample == sample])


def section(folder: Path) -> str:
    """The section "Results" of a folder's README, without its heading; empty without one."""
    readme = folder / "README.md"
    if not readme.is_file():
        return ""
    text = readme.read_text(encoding="utf-8")
    found = re.search(r"^## Results\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() + "\n" if found else ""


def _failures(entries: Sequence[Entry]) -> Iterator[str]:
    lines = [f"- {entry.name}: {_one_line(entry.error)}" for entry in entries if entry.error]
    lines += [
        f"- {entry.name}, {label}: {_one_line(why)}"
        for entry in entries
        for label, why in entry.rejected.items()
    ]
    if lines:
        yield "## What could not be measured\n"
        yield "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
