"""What a bench found, and the file that keeps it.

``results.json`` is written after every entry, so that an interrupted bench loses nothing, and a
later one replaces the entries that it measures again and keeps the others.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ccc import files
from ccc.errors import CccError, Span
from ccc.harness.launch_config import LaunchConfig
from ccc.tools.bench.inputs import Inputs
from ccc.version import VERSION

ORIGINAL = "original"
CCC = "ccc"
PROFILED = "ccc with a profile"
TUNED = "ccc, tuned"
BOUND = "no divergence"
"""Labels of the treatments that every sample may have; all others are rivals.

``ccc`` is what the compiler chooses where nothing is known; with a profile of a run on the same
inputs it may choose otherwise; tuned is the fastest of all that it can make.
"""

CHOSEN = (CCC, PROFILED, TUNED)
"""The columns beside the original."""


def launched_as(label: str) -> str:
    """The label of the original in the launch that is best for another treatment."""
    return f"{ORIGINAL}, launched as {label} is"


SAME_LAUNCH = launched_as(CCC)
OWN_LABELS = (ORIGINAL, *map(launched_as, CHOSEN), *CHOSEN, BOUND)

FORMAT = 1
FILE = "results.json"


@dataclass
class KernelFootprint:
    """One kernel in one treatment: its name, and what it takes of a multiprocessor.

    ``registers`` are a thread's, ``shared`` is bytes of a block of ``block`` threads, ``occupancy``
    the share of the warps that a multiprocessor has room for.
    """

    name: str
    launches: int
    block: int
    registers: int
    shared: int
    occupancy: float

    @property
    def shared_per_thread(self) -> float:
        """Bytes."""
        return self.shared / self.block


@dataclass
class Treatment:
    """A sample's annotated kernels in one form.

    Args:
        label: one of those above, or what the sample calls a rival.
        configuration: how it was launched.
        costs: of each timed run, all annotated kernels and launches together, in the entry's unit.
        kernels: the annotated ones.
        efficiency: warp execution efficiency, 0 to 1; None where nobody counted.
    """

    label: str
    configuration: LaunchConfig
    costs: list[float]
    kernels: list[KernelFootprint]
    efficiency: float | None = None

    @property
    def cost(self) -> float:
        """The median."""
        return statistics.median(self.costs)


@dataclass
class Entry:
    """A sample on certain inputs.

    Args:
        sample: name of its folder.
        inputs: what it was run on.
        run: which of ``Results.runs`` measured it.
        unit: of the costs: ``"ms"``, or ``"warp instructions"`` on the emulator.
        paper: how many times as fast the kernel became there; None on other inputs than those that
            stand for the paper's, the sample's first.
        treatments: the original first.
        rejected: what is wrong with treatments that were left out, by label.
        efficiency_source: who counted the active lanes.
        paths: what became of each annotated path of the kernels that ran, as in ccc's report.
        error: why there are no treatments.
        same: the treatments that are the same code as another one, with which they were measured.
        profiled: as ``paths``, with a profile.
        tuned: the strategy with which it was fastest, or ``leave``.
        trials: what each strategy cost, in a few runs; ``leave`` is the original.
    """

    sample: str
    inputs: Inputs
    run: int
    unit: str
    paper: float | None = None
    treatments: list[Treatment] = field(default_factory=list)
    rejected: dict[str, str] = field(default_factory=dict)
    efficiency_source: str = ""
    paths: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    same: dict[str, str] = field(default_factory=dict)
    profiled: list[dict[str, Any]] = field(default_factory=list)
    tuned: str = ""
    trials: dict[str, float] = field(default_factory=dict)

    @property
    def gains_are(self) -> str:
        """What stands behind a speedup, in words: without a time nothing is fast."""
        if self.unit == "ms":
            return "times as fast as the original"
        return f"times fewer {self.unit} than the original"

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others."""
        return self.sample, self.inputs.name

    @property
    def name(self) -> str:
        """For people."""
        return ", ".join(filter(None, self.key))

    def __getitem__(self, label: str) -> Treatment:
        wanted = self.same.get(label, label)
        return next(one for one in self.treatments if one.label == wanted)

    def __contains__(self, label: str) -> bool:
        wanted = self.same.get(label, label)
        return any(one.label == wanted for one in self.treatments)

    @property
    def chosen(self) -> list[str]:
        """The labels of what ccc made, those that are the same code as another among them."""
        return [label for label in CHOSEN if label in self]

    @property
    def rivals(self) -> list[Treatment]:
        """The treatments by hand, the best first."""
        rivals = [one for one in self.treatments if one.label not in OWN_LABELS]
        return sorted(rivals, key=lambda one: one.cost)

    def speedup(self, label: str) -> float:
        """How many times as fast as the original a treatment is, by the medians."""
        return self[ORIGINAL].cost / self[label].cost

    def spread(self, label: str) -> tuple[float, float] | None:
        """The least and the largest ratio of runs that followed one another; None of one run."""
        if len(self[label].costs) < 2:
            return None
        pairs = zip(self[ORIGINAL].costs, self[label].costs, strict=True)
        ratios = [original / other for original, other in pairs]
        return min(ratios), max(ratios)


@dataclass
class Run:
    """One bench command: what told it what to do, and where and when it ran."""

    command: str
    date: str
    machine: dict[str, Any]


@dataclass
class Results:
    """All that the file holds: entries in the order of the benches, with the runs they refer to."""

    runs: list[Run] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)

    def begin(self, run: Run) -> int:
        """Add a run; its number. Runs that no entry refers to any more are forgotten."""
        used = sorted({entry.run for entry in self.entries})
        for entry in self.entries:
            entry.run = used.index(entry.run)
        self.runs = [*(self.runs[number] for number in used), run]
        return len(self.runs) - 1

    def put(self, entry: Entry) -> None:
        """Add an entry, or replace the one of the same sample and inputs where it stands.

        Failures of that sample are forgotten: it may have failed before it came to any inputs. So
        are entries of a time when it had one kind of inputs only.
        """
        has_kinds = entry.error is None and entry.inputs.kind != ""
        self.entries = [
            one
            for one in self.entries
            if one.key == entry.key
            or one.sample != entry.sample
            or (one.error is None and (one.inputs.name != "" or not has_kinds))
        ]
        keys = [one.key for one in self.entries]
        if entry.key in keys:
            self.entries[keys.index(entry.key)] = entry
        else:
            self.entries.append(entry)
            self.entries.sort(key=lambda one: one.sample)

    def save(self, folder: Path) -> None:
        """Write ``results.json`` in a folder.

        Files are named as they are seen from the current one, since others have it elsewhere.

        Raises:
            CccError: it cannot be written.
        """
        everything = {"format": FORMAT, "ccc": VERSION, **asdict(self)}
        text = json.dumps(everything, indent=1).replace(f"{Path.cwd()}/", "")
        files.write(folder / FILE, f"{text}\n")

    @staticmethod
    def load(folder: Path) -> Results:
        """Read ``results.json`` of a folder; without one there are no results yet.

        Raises:
            CccError: the file cannot be read, or is none of ours.
        """
        path = folder / FILE
        if not path.exists():
            return Results()
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["format"] != FORMAT:
                raise CccError(f"it has format {found['format']}, not {FORMAT}", Span(str(path)))
            runs = [Run(**one) for one in found["runs"]]
            return Results(runs, [_entry(one) for one in found["entries"]])
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"this is no file of ccc bench ({error!r}); give another folder"
            raise CccError(message, Span(str(path))) from error


def _entry(found: Mapping[str, Any]) -> Entry:
    treatments = [_treatment(one) for one in found["treatments"]]
    return Entry(**{**found, "inputs": Inputs(**found["inputs"]), "treatments": treatments})


def _treatment(found: Mapping[str, Any]) -> Treatment:
    configuration = LaunchConfig(**found["configuration"])
    kernels = [KernelFootprint(**one) for one in found["kernels"]]
    return Treatment(**{**found, "configuration": configuration, "kernels": kernels})
