"""``ccc fuzz``: random annotated kernels, with and without the transformation.

Each kernel is compiled by nvcc, transformed in both disciplines, assembled, and run against its
original in several schedules; all memory is compared. What fails is made smaller and kept.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ccc import gpu, toolchain
from ccc.fuzz.comparison import Comparison, Failure, Verdict, check
from ccc.fuzz.generate import kernel
from ccc.fuzz.shrinking import shrink
from ccc.fuzz.tree import Kernel, case

BATCH = 15
"""Kernels of one file: nvcc's start-up is shared."""

PATIENCE = 1.0
"""Seconds before progress is shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``ccc fuzz``."""
    add = parser.add_argument
    add("--seed", type=int, default=0, help="the same seed, the same kernels [%(default)s]")
    add("--count", type=_positive, default=100, metavar="N", help="how many [%(default)s]")
    add("--first", type=int, default=0, metavar="N", help="number of the first one [%(default)s]")
    add("--device", choices=("emulator", "gpu"), default="emulator", help="[%(default)s]")
    add("--schedules", type=int, default=2, metavar="K",
        help="random orders that the emulator tries besides lockstep [%(default)s]")  # fmt: skip
    add("--keep", type=Path, default=Path("fuzz-failures"), metavar="DIR",
        help="where failing kernels go [%(default)s]")  # fmt: skip
    add("--jobs", type=_positive, default=os.cpu_count() or 1, metavar="J",
        help="processes; a GPU is used by one [%(default)s]")  # fmt: skip
    add("--no-shrink", action="store_true", help="keep failing kernels as they are")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return number


def run(args: argparse.Namespace) -> int:
    """Try kernels; 1 if some are transformed wrongly, 2 if some are no good by themselves.

    Raises:
        CccError: no nvcc, or no GPU where one was asked for.
    """
    toolchain.find()
    task = Task(args.seed, args.schedules, args.device, not args.no_shrink)
    tally = Tally()
    try:
        _try_all(task, args, tally)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    tally.show(Console())
    return tally.status


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker process must know."""

    seed: int
    schedules: int
    device: str
    shrinks: bool

    def comparison(self) -> Comparison:
        """How to compare."""
        schedules = ("lockstep", *range(1, self.schedules + 1))
        if self.device == "emulator":
            return Comparison(schedules=schedules)
        device = gpu.Device(toolchain.find().bin / "ptxas")
        return Comparison(arch=device.arch, schedules=("lockstep",), device=device)


@dataclass(frozen=True, slots=True)
class Finding:
    """A kernel that failed, made smaller."""

    index: int
    kernel: Kernel
    failure: Failure


def attempt(task: Task, indices: range) -> tuple[list[Verdict], list[Finding]]:
    """Check the kernels of these numbers as one file, and shrink what fails."""
    how = task.comparison()
    verdicts = check([kernel(task.seed, index) for index in indices], how)
    findings = []
    for index, verdict in zip(indices, verdicts, strict=True):
        if verdict.failure is not None:
            findings.append(_smaller(task, index, verdict.failure, how))
    return verdicts, findings


def _smaller(task: Task, index: int, failure: Failure, how: Comparison) -> Finding:
    found = kernel(task.seed, index)
    if not task.shrinks or failure.at_fault != "ccc":
        return Finding(index, found, failure)
    narrow = how
    if failure.discipline:
        narrow = replace(narrow, disciplines=(failure.discipline,))
    if failure.schedule != "":
        narrow = replace(narrow, schedules=(failure.schedule,))

    def fails(kernels: Sequence[Kernel]) -> list[bool]:
        verdicts = check(kernels, narrow)
        return [v.failure is not None and v.failure.kind == failure.kind for v in verdicts]

    found = shrink(found, fails)
    return Finding(index, found, check([found], narrow)[0].failure or failure)


def _try_all(task: Task, args: argparse.Namespace, tally: Tally) -> None:
    numbers = range(args.first, args.first + args.count)
    batches = [numbers[start : start + BATCH] for start in range(0, len(numbers), BATCH)]
    started = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("kernels", total=args.count, visible=False)
        for verdicts, findings in _results(task, batches, args.jobs):
            tally.add(verdicts, findings)
            for finding in findings:
                progress.console.print(_keep(finding, task.seed, args.keep), markup=False)
            late = time.monotonic() - started > PATIENCE
            progress.update(bar, advance=len(verdicts), visible=late)


def _results(
    task: Task, batches: list[range], jobs: int
) -> Iterator[tuple[list[Verdict], list[Finding]]]:
    if jobs == 1 or len(batches) == 1 or task.device == "gpu":
        for batch in batches:
            yield attempt(task, batch)
        return
    # Ctrl-C is for this process alone, which then ends the others.
    ignore = (signal.SIGINT, signal.SIG_IGN)
    with get_context("spawn").Pool(min(jobs, len(batches)), signal.signal, ignore) as pool:
        yield from pool.imap_unordered(partial(attempt, task), batches)


def _keep(finding: Finding, seed: int, folder: Path) -> str:
    """Write a failing kernel; returns what to tell."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed{seed}_{finding.index}.cu"
    path.write_text(case(finding.kernel, str(finding.failure)), encoding="utf-8")
    return f"{path}: {finding.failure}"


@dataclass(slots=True)
class Tally:
    """What was tried and what came of it."""

    kernels: int = 0
    reasons: Counter[str | None] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, verdicts: list[Verdict], findings: list[Finding]) -> None:
        """Count one file."""
        self.kernels += len(verdicts)
        self.findings += findings
        for verdict in verdicts:
            self.reasons.update(map(_without_place, verdict.reasons))

    @property
    def status(self) -> int:
        """The exit status."""
        faults = {finding.failure.at_fault for finding in self.findings}
        return 1 if "ccc" in faults else 2 if faults else 0

    def show(self, console: Console) -> None:
        """Print the statistics."""
        applied = self.reasons[None]
        table = Table("paths", "what became of them", box=None)
        table.columns[0].justify = "right"
        table.add_row(str(applied), "collected")
        for reason, count in self.reasons.most_common():
            if reason is not None:
                table.add_row(str(count), reason)
        console.print(table)
        wrong = sum(finding.failure.at_fault == "ccc" for finding in self.findings)
        useless = len(self.findings) - wrong
        said = f"{self.kernels} kernels, {self.reasons.total()} paths, {applied} collected, "
        said += f"{wrong} kernels wrong"
        console.print(said + (f", {useless} no good by themselves" if useless else ""))


def _without_place(reason: str | None) -> str | None:
    """A reason without what differs from kernel to kernel."""
    if reason is None:
        return None
    return re.sub(r"\d+", "N", re.sub(r" \(PTX line .*\)$", "", reason))
