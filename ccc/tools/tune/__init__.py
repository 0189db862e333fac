"""``ccc tune``: builds and runs a program in several versions, and keeps which one is best.

Options reach ``cccc`` in the environment variable ``CCC_FLAGS``, so that a build need not pass them
on. What was found goes into a file of decisions (:mod:`ccc.decisions`).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ccc.decisions import AnnotationPlace, TunedDecisions, TunedPath, read_decisions
from ccc.demangle import demangle
from ccc.errors import CccError
from ccc.files import check_writable
from ccc.harness import provenance
from ccc.ir.markers import WHOLE_KERNEL
from ccc.options import AUTO
from ccc.passes.thresholds import TUNED_GAIN
from ccc.profile.times import RunTimes
from ccc.remark import Remark
from ccc.tools.arguments import positive
from ccc.tools.bench.progress import Steps
from ccc.tools.tune.project import Project, refused
from ccc.tools.tune.search import (
    LEAVE,
    Assignment,
    Search,
    TunedKernel,
    VersionFailed,
    VersionTimes,
)

DECISIONS = "ccc-decisions.json"
SHORT = 0.02
"""Milliseconds of a launch below which the way to the device is a good part of what is measured."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ccc tune``."""
    add = parser.add_argument
    add("--build", required=True, metavar="CMD", help="builds the program, with cccc")
    add("--clean", metavar="CMD", help="goes before each build, so that all is built anew")
    add("--builds", type=positive, default=8, metavar="N", help="builds, at most (8)")
    add("--repeat", type=positive, default=3, metavar="N", help="runs of each version (3)")
    add("--check", metavar="CMD", help="fails where what a run made is wrong")
    add(
        "--check-output",
        action="append",
        default=[],
        metavar="FILE",
        help="must be the same in all versions, byte for byte (- is what the program prints)",
    )
    add("-o", "--output", default=DECISIONS, metavar="FILE", help=f"decisions ({DECISIONS})")
    add("command", nargs="+", metavar="-- COMMAND", help="runs the program")


def run(args: argparse.Namespace) -> int:
    """Run ``ccc tune``; 130 where the user has stopped it, and what was known is written.

    Raises:
        CccError: the program as it was cannot be built, run, or timed.
    """
    check_writable(args.output)
    output = Path(args.output)
    before = read_decisions(output) if output.exists() else TunedDecisions()
    with tempfile.TemporaryDirectory(prefix="ccc-tune-") as folder:
        project = Project(
            args.build,
            args.command,
            Path(folder),
            clean=args.clean,
            check=args.check,
            outputs=args.check_output,
            repeat=args.repeat,
        )
        tuning = Tuning(project, args.builds)
        try:
            tuning.run()
            code = 0
        except KeyboardInterrupt:
            code = 130
    found = tuning.decisions(output)
    if found:
        before.merged(found, {path.place.kernel for path in found}).write(output)
    _show(tuning, args.output if found else None, Console())
    return code


class Tuning:
    """The tuning of one program.

    Args:
        project: the program.
        builds: how many may be made.
    """

    def __init__(self, project: Project, builds: int):
        self.project = project
        self.kernels: list[TunedKernel] = []
        self.notes: list[str] = []
        self._builds = builds
        self._done = 0
        self._planned = builds
        self._started = time.monotonic()
        self._steps = Steps({"": 2 * builds})
        self._times = RunTimes({}, "")

    def run(self) -> None:
        """Build, run and time versions.

        Raises:
            CccError: the program as it was cannot be built, run, or timed.
        """
        with self._steps.shown(), self._steps.sample(""):
            try:
                self._build("as it was", "--ccc-off")
                self._run("as it was")
            except VersionFailed as failure:
                raise CccError(f"the program as it was: {failure}") from None
            if self._builds > 1:
                self._try_others(self._times)

    def _try_others(self, before: RunTimes) -> None:
        """What the policy prefers, and what else applies."""
        try:
            remarks = self._build("what ccc prefers", *self._decided({}), "--ccc-alternatives")
        except VersionFailed as failure:
            raise CccError(f"with what ccc prefers: {failure}") from None
        self.kernels = self._kernels(remarks, before)
        search = Search(self.kernels, self._measure, self._builds - 2, self._say)
        for kernel in self.kernels:
            kernel.times[kernel.left] = before.kernels[kernel.name].milliseconds
        first = {kernel.name: kernel.first for kernel in self.kernels}
        try:
            search.note(first, VersionTimes(self._run("what ccc prefers")))
        except VersionFailed as failure:
            search.fail(first, str(failure))
        self._planned = self._done + search.planned
        search.run()

    def _measure(self, assignment: Assignment) -> VersionTimes:
        wanted = {place: s for place, s in assignment.items() if s != AUTO}
        names = " and ".join(sorted(set(wanted.values()))[:3])
        remarks = self._build(names, *self._decided(assignment))
        every = [remark for mine in remarks.values() for remark in mine]
        return VersionTimes(self._run(names), refused(every, wanted))

    def _build(self, name: str, *flags: str) -> dict[str, list[Remark]]:
        """Build a version with timers."""
        if self._done:
            left = (time.monotonic() - self._started) / self._done * (self._planned - self._done)
            about = f"about {_span(left)} left"
            self._say(f"build {self._done + 1} of at most {self._planned}, {about}: {name}")
        self._done += 1
        with self._steps.step(f"build, {name}"):
            return self.project.build(*flags, f"--ccc-time={self.project.folder / 'times.json'}")

    def _run(self, name: str) -> dict[str, float]:
        """The milliseconds of the kernels of what was built."""
        with self._steps.step(f"run, {name}"):
            self._times = self.project.run()
        found = self._times.kernels
        return {kernel: one.milliseconds for kernel, one in found.items() if one.launches}

    def _decided(self, assignment: Assignment) -> tuple[str, ...]:
        """The option that makes a build take these strategies, whatever else it is told."""
        file = self.project.folder / "decisions.json"
        TunedDecisions([TunedPath(*one) for one in sorted(assignment.items())]).write(file)
        return (f"--ccc-strategy={AUTO}", f"--ccc-decisions={file}")

    def _kernels(
        self, remarks: Mapping[str, Sequence[Remark]], before: RunTimes
    ) -> list[TunedKernel]:
        """The kernels that can be tuned; of the others it is noted why they cannot."""
        found = []
        for name, mine in remarks.items():
            kernel, shown = _tuned_kernel(name, mine), demangle(name)
            spent = before.kernels.get(name)
            if kernel is None:
                if mine and all(one.asked is not None for one in mine):
                    self._note(f"{shown} is not tuned: its annotations ask for strategies")
                continue
            if spent is None or not spent.launches:
                graph = spent is not None and spent.untimed
                why = "only as a part of graphs, which are not timed" if graph else "by no <<<>>>"
                self._note(f"{shown} is not tuned: this run launches it {why}")
                continue
            if spent.milliseconds < SHORT * spent.launches:
                each = 1000 * spent.milliseconds / spent.launches
                self._note(f"{shown} takes {each:.0f} us a launch, too short to be timed well")
            found.append(kernel)
        if not found:
            self._note("nothing to tune: no annotated kernel that was launched has an alternative")
        return found

    def _note(self, text: str) -> None:
        self.notes.append(text)
        self._say(text)

    def _say(self, text: str) -> None:
        self._steps.say(text)

    def decisions(self, output: Path) -> list[TunedPath]:
        """What is known of each kernel, for a file of that name."""
        date = provenance.date()[:10]
        return [
            TunedPath(
                _portable(one.place, output),
                one.strategy,
                one.card,
                one.date,
                one.milliseconds,
                one.ratio,
            )
            for kernel in self.kernels
            for one in kernel.decisions(TUNED_GAIN, self._times.card, date)
        ]


def _tuned_kernel(name: str, remarks: Sequence[Remark]) -> TunedKernel | None:
    """What there is to choose from for one kernel; None if that is nothing."""
    alternatives: dict[AnnotationPlace, list[str]] = {}
    first: dict[AnnotationPlace, str] = {}
    lengths: dict[AnnotationPlace, int] = {}
    for remark in remarks:
        place = AnnotationPlace.of_remark(remark)
        if remark.asked is not None:
            continue  # a clause of the source goes before all that is decided here
        whole = remark.arm in WHOLE_KERNEL
        names = [AUTO] if whole else remark.details.get("alternatives", [])
        mine = alternatives.setdefault(place, [])
        mine += [one for one in names if one not in mine]
        length = remark.details.get("path_instructions") or 0
        lengths[place] = max(length, lengths.get(place, 0))
        chosen = AUTO if whole else remark.strategy or LEAVE
        if remark.applied or place not in first:
            first[place] = chosen if remark.applied else LEAVE
    several = (place for place, names in alternatives.items() if names)
    places = sorted(several, key=lambda place: (-lengths[place], place))  # the longest path first
    if not any(place.arm not in WHOLE_KERNEL or first[place] != LEAVE for place in places):
        return None
    kept = [alternatives[place] for place in places]
    return TunedKernel(name, places, kept, tuple(first[place] for place in places))


def _portable(place: AnnotationPlace, output: Path) -> AnnotationPlace:
    """The place with its file named from the folder of the decisions, as others may have it."""
    file, base = Path(place.file).resolve(), output.resolve().parent
    name = os.path.relpath(file, base) if file.is_relative_to(base) else file.name
    return replace(place, file=name)


def _show(tuning: Tuning, written: str | None, console: Console) -> None:
    """Print what was found, and what to do with it."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("kernel", overflow="fold")
    table.add_column("is best with", overflow="fold")
    for name in ("before", "after", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    for kernel in tuning.kernels:
        chosen = kernel.decide(TUNED_GAIN)
        if chosen is not None:
            before, after = kernel.times[kernel.left], kernel.times[chosen]
            ratio = f"{before / after:.2f}x" if after else "-"
            numbers = (f"{before:.4g} ms", f"{after:.4g} ms", ratio)
            table.add_row(Text(demangle(kernel.name)), kernel.describe(chosen), *numbers)
    if table.row_count:
        console.print(table)
    for note in tuning.notes:
        console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    if not tuning.project.outputs and not tuning.project.check:
        text = "note: outputs were not compared (--check-output FILE, --check CMD)"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    if written:
        text = f"{written} is written; build with --ccc-decisions={written}, without the timers"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        console.print("no decisions were made, and no file is written")


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
