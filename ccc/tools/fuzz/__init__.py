"""``ccc fuzz``: random annotated kernels, with and without the transformation.

Kernels are compiled by nvcc, transformed, assembled, and run against their originals; all memory
is compared. What fails is made smaller and kept.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from ccc import files
from ccc.device import gpu
from ccc.errors import UsageError
from ccc.toolkit import find as toolchain
from ccc.tools.arguments import natural, positive
from ccc.tools.fuzz.build import SEPARATE, TABLES, Failure
from ccc.tools.fuzz.comparison import Comparison, Verdict, check
from ccc.tools.fuzz.coverage import Coverage
from ccc.tools.fuzz.generate import kernel
from ccc.tools.fuzz.requests import FILES, request_of_file
from ccc.tools.fuzz.shrinking import shrink
from ccc.tools.fuzz.tree import RandomKernel, case

BATCH = 20
"""Kernels of one file: nvcc's start-up is shared. Files take turns with the strategies, and with
nvcc's options."""

OPTIONS: tuple[tuple[str, ...], ...] = ((), TABLES, (), SEPARATE)

PATIENCE = 1.0
"""Seconds before progress is shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``ccc fuzz``."""
    add = parser.add_argument
    add("--seed", type=natural, default=0, help="the same seed, the same kernels [%(default)s]")
    add("--count", type=positive, default=100, metavar="N", help="how many [%(default)s]")
    add(
        "--first",
        type=natural,
        default=0,
        metavar="N",
        help="number of the first one [%(default)s]",
    )
    add("--device", choices=("emulator", "gpu"), default="emulator", help="[%(default)s]")
    add("--schedules", type=positive, default=2, metavar="K",
        help="orders in which the emulator runs each kernel [%(default)s]")  # fmt: skip
    add("--launches", type=positive, metavar="L",
        help="inputs and block shapes for each kernel [1; 5 on a GPU]")  # fmt: skip
    add("--keep", type=Path, default=Path("fuzz-failures"), metavar="DIR",
        help="where failing kernels go [%(default)s]")  # fmt: skip
    add("--jobs", type=positive, default=os.cpu_count() or 1, metavar="J",
        help="processes [%(default)s]")  # fmt: skip
    add("--no-shrink", action="store_true", help="keep failing kernels as they are")


def run(args: argparse.Namespace) -> int:
    """Try kernels; 1 if some are transformed wrongly, 2 if some are no good by themselves.

    Raises:
        CccError: no nvcc, or no GPU where one was asked for; no folder to keep kernels in.
    """
    _check_folder(args.keep)
    toolchain.find()
    on_gpu = args.device == "gpu"
    how = Comparison(
        arch=gpu.GpuDevice().arch if on_gpu else "sm_90",
        schedules=args.schedules,
        launches=args.launches or (5 if on_gpu else 1),
        gpu=on_gpu,
    )
    job = WorkerJob(args.seed, how, not args.no_shrink)
    summary = FuzzSummary()
    started = time.monotonic()
    try:
        _try_all(job, args, summary)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    summary.show(Console(), time.monotonic() - started, how)
    return summary.status


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """What a worker process must know."""

    seed: int
    how: Comparison
    shrinks: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """A kernel that failed, made smaller."""

    index: int
    kernel: RandomKernel
    failure: Failure


def attempt(job: WorkerJob, indices: range) -> tuple[range, list[Verdict], list[Finding]]:
    """Check the kernels of these numbers as one file, and shrink what fails."""
    number = indices[0] // BATCH
    how = replace(
        job.how,
        strategy=request_of_file(number),
        options=OPTIONS[number // len(FILES) % len(OPTIONS)],
    )
    verdicts = check([kernel(job.seed, index) for index in indices], how)
    findings = []
    for index, verdict in zip(indices, verdicts, strict=True):
        if verdict.failure is not None:
            findings.append(_smaller(job, index, verdict.failure, how))
    return indices, verdicts, findings


def _smaller(job: WorkerJob, index: int, failure: Failure, how: Comparison) -> Finding:
    found = kernel(job.seed, index).variant(failure.variant)
    if not job.shrinks or failure.at_fault != "ccc":
        return Finding(index, found, failure)
    narrow = replace(how, launches=1, only=failure.schedule or None)

    def fails(kernels: Sequence[RandomKernel]) -> list[bool]:
        verdicts = check(kernels, narrow)
        return [v.failure is not None and v.failure.kind == failure.kind for v in verdicts]

    found = shrink(found, fails)
    return Finding(index, found, check([found], narrow)[0].failure or failure)


def batches(first: int, count: int) -> list[range]:
    """The numbers of the kernels of each file: a kernel's strategy depends on its number."""
    cuts = range(first // BATCH * BATCH, first + count, BATCH)
    return [range(max(cut, first), min(cut + BATCH, first + count)) for cut in cuts]


def _try_all(job: WorkerJob, args: argparse.Namespace, summary: FuzzSummary) -> None:
    started = time.monotonic()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("kernels", total=args.count, visible=False)
        for indices, verdicts, findings in _results(job, args):
            for index, verdict in zip(indices, verdicts, strict=True):
                summary.coverage.add(kernel(args.seed, index), verdict)
            summary.findings += findings
            for finding in findings:
                progress.console.print(_keep(finding, args.seed, args.keep), markup=False)
            late = time.monotonic() - started > PATIENCE
            progress.update(bar, advance=len(verdicts), visible=late)


def _results(
    job: WorkerJob, args: argparse.Namespace
) -> Iterator[tuple[range, list[Verdict], list[Finding]]]:
    files = batches(args.first, args.count)
    if args.jobs == 1 or len(files) == 1:
        yield from (attempt(job, file) for file in files)
        return
    # Ctrl-C is for this process alone, which then ends the others.
    ignore = (signal.SIGINT, signal.SIG_IGN)
    with get_context("spawn").Pool(min(args.jobs, len(files)), signal.signal, ignore) as pool:
        yield from pool.imap_unordered(partial(attempt, job), files)


def _check_folder(folder: Path) -> None:
    """Fail before the work if what fails could not be kept."""
    file = next((one for one in (folder, *folder.parents) if one.is_file()), None)
    if file is not None:
        raise UsageError(f"--keep={folder}: {file} is a file; failing kernels go into a folder")


def _keep(finding: Finding, seed: int, folder: Path) -> str:
    """Write a failing kernel; returns what to tell."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed{seed}_{finding.index}.cu"
    remark = f"{finding.failure}\nccc fuzz --seed {seed} --first {finding.index} --count 1"
    if finding.kernel.data:
        remark += f"\nThe seed of the inputs is {finding.kernel.data}."
    files.write(path, case(finding.kernel, remark))
    return f"{path}: {finding.failure}"


@dataclass(slots=True)
class FuzzSummary:
    """What was tried and what came of it."""

    coverage: Coverage = field(default_factory=Coverage)
    findings: list[Finding] = field(default_factory=list)

    @property
    def status(self) -> int:
        """The exit status."""
        faults = {finding.failure.at_fault for finding in self.findings}
        return 1 if "ccc" in faults else 2 if faults else 0

    def show(self, console: Console, seconds: float, how: Comparison) -> None:
        """Print the statistics."""
        self.coverage.show(console)
        wrong = sum(finding.failure.at_fault == "ccc" for finding in self.findings)
        useless = len(self.findings) - wrong
        kernels, paths = self.coverage.kernels, self.coverage.paths.total()
        launches = f"{kernels * how.launches} launches on the {'GPU' if how.gpu else 'emulator'}, "
        said = f"{kernels} kernels, {launches}{paths} paths, {self.coverage.collected} collected, "
        said += f"{wrong} kernels wrong"
        said += f", {useless} no good by themselves" if useless else ""
        console.print(f"{said}, {seconds:.0f} s", soft_wrap=True)
