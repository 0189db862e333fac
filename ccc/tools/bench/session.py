"""One bench at work: sample after sample, each result saved as soon as it is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ccc.device.choose import Device
from ccc.errors import CccError
from ccc.harness import provenance as record
from ccc.harness.sample import Sample
from ccc.tools.bench import efficiency, measuring, sensitivity
from ccc.tools.bench.inputs import Inputs, made
from ccc.tools.bench.progress import Steps
from ccc.tools.bench.results import BOUND, CCC, PROFILED, TUNED, Entry, Results, Run
from ccc.tools.bench.treatments import Subject, prepare
from ccc.tools.bench.versions import Versions

FAILURES = (CccError, RuntimeError, MemoryError)
"""What ends a sample, and not the bench; CuPy's errors are RuntimeErrors."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured."""

    seed: int = 0
    quick: bool = False
    paper: bool = False
    graphs: tuple[Path, ...] = ()

    def repeat(self, device: Device) -> int:
        """Timed runs of a treatment; on the emulator all are alike."""
        return 1 if device.kind != "gpu" else 3 if self.quick else 7

    def size(self, sample: Sample, device: Device) -> int:
        """Of the problem, as the sample understands it."""
        if self.quick and device.kind == "emulator":
            return sample.sizes["quick"]
        return sample.sizes["paper" if self.paper else device.kind]

    def inputs(self, name: str, sample: Sample, device: Device) -> list[Inputs]:
        """What the sample is run on: each kind that it has, each graph that it can read."""
        usual = Inputs(self.size(sample, device), self.seed)
        if self.graphs and sample.takes_graph:
            return [replace(usual, graph=str(graph)) for graph in self.graphs]
        kinds = list(sample.kinds) or [""]
        if name == sensitivity.SAMPLE:
            kinds = [point.kind for point in sensitivity.points(self.quick)]
        elif self.quick:
            kinds = kinds[:1]
        return [replace(usual, kind=kind) for kind in kinds]


@dataclass
class Session:
    """What is measured where, by name, and where results go."""

    device: Device
    folders: Mapping[str, Path]
    extent: Extent
    results: Results
    out: Path

    def run(self) -> bool:
        """Measure everything; whether all of it could be."""
        now = Run(record.command(), record.date(), record.machine(self.device))
        self.number = self.results.begin(now)
        self.steps = Steps({name: self._planned(name) for name in self.folders})
        complete = True
        pool = ThreadPoolExecutor(max(os.cpu_count() or 1, 1))
        try:
            self.versions = {name: self._begin(name, pool) for name in self.folders}
            with self.steps.shown():
                for name in self.folders:
                    with self.steps.sample(name):
                        complete &= self._measure(name)
                    del self.versions[name]  # its modules stay on the device no longer
        finally:
            pool.shutdown(cancel_futures=True)
        return complete

    def _begin(self, name: str, pool: ThreadPoolExecutor) -> Versions | CccError:
        """Have a sample compiled while others are measured; or why it cannot be."""
        try:
            versions = Versions(Sample(self.folders[name]), self.device, pool)
            versions.begin()
        except CccError as error:
            return error
        return versions

    def _planned(self, name: str) -> int:
        """About how many steps a sample takes."""
        try:
            sample = Sample(self.folders[name])
            others = len(sample.rivals) + (sample.bound is not None)
        except CccError:
            return 1
        is_gpu = self.device.kind == "gpu"
        runs = (3 + others + 2 * is_gpu) * (self.device.warmups + self.extent.repeat(self.device))
        inputs = len(self.extent.inputs(name, sample, self.device))
        return 1 + inputs * (2 + 3 + others + 2 * is_gpu + 2 * runs) + is_gpu

    def _measure(self, name: str) -> bool:
        """Measure a sample on all its inputs; whether that worked."""
        versions = self.versions[name]
        try:
            if isinstance(versions, CccError):
                raise versions
            with self.steps.step("compiling"):
                subject = prepare(versions)
        except FAILURES as error:
            failed = Entry(name, Inputs(0, self.extent.seed), self.number, "")
            self._keep(failed, error)
            return False
        every = self.extent.inputs(name, subject.sample, self.device)
        profiles = [self._profile(versions, inputs) for inputs in every]
        found = [
            self._entry(name, subject, inputs, profile)
            for inputs, profile in zip(every, profiles, strict=True)
        ]
        for failure in efficiency.fill(found, self.steps.step):
            self.steps.say(f"{name}: active lanes could not be counted by {failure}")
        self.results.save(self.out)
        return not any(entry.error or entry.rejected for entry, _ in found)

    def _profile(self, versions: Versions, inputs: Inputs) -> str | CccError:
        """The file of a profile on some inputs, or why there is none."""
        try:
            with self.steps.step("counting for a profile"):
                return versions.profile(made(inputs, versions.sample))
        except FAILURES as error:
            return error if isinstance(error, CccError) else CccError(str(error))

    def _entry(
        self, name: str, subject: Subject, inputs: Inputs, profile: str | CccError
    ) -> tuple[Entry, Subject]:
        device = self.device
        unit = measuring.UNITS[device.kind]
        entry = Entry(name, inputs, self.number, unit, papers(subject.sample, inputs))
        failure, mine = None, subject.on(profile)
        try:
            measuring.fill(entry, mine, device, self.extent.repeat(device), self.steps.step)
        except FAILURES as error:
            failure = error
        self._keep(entry, failure)
        return entry, mine

    def _keep(self, entry: Entry, failure: Exception | None) -> None:
        if failure is not None:
            entry.error = str(failure) or type(failure).__name__
        self.results.put(entry)
        self.results.save(self.out)
        self.steps.say(_line(entry))


def papers(sample: Sample, inputs: Inputs) -> float | None:
    """The paper's speedup; None on kinds of inputs other than the first, which is like its own."""
    return sample.paper if inputs.kind in ("", *sample.kinds[:1]) else None


def _line(entry: Entry) -> str:
    """What was found, in a line or a few."""
    if entry.error is not None:
        return f"{entry.name}: failed: {entry.error}"
    spread = entry.spread(CCC)
    facts = ["{:.2f} to {:.2f}".format(*spread)] if spread else []
    facts += [f"{one} {entry.speedup(one):.2f}" for one in (PROFILED, TUNED) if one in entry]
    facts += [f"paper {entry.paper:.2f}"] if entry.paper else []
    facts += [f"{one.label} {entry.speedup(one.label):.2f}" for one in entry.rivals[:1]]
    facts += [f"{BOUND} {entry.speedup(BOUND):.2f}"] if BOUND in entry else []
    behind = f" ({', '.join(facts)})" if facts else ""
    lines = [f"{entry.name}: {entry.speedup(CCC):.2f} {entry.gains_are}{behind}"]
    lines += [f"{entry.name}: {label} is left out: {why}" for label, why in entry.rejected.items()]
    return "\n".join(lines)
