"""The program that is tuned: building it with options, running it, and checking what it makes."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ccc.decisions import AnnotationPlace
from ccc.errors import CccError
from ccc.nvcc.settings import FLAGS
from ccc.profile.times import KernelTime, RunTimes, read_times
from ccc.remark import Remark, read_report
from ccc.tools.tune.search import LEAVE, VersionFailed

STANDARD_OUTPUT = "-"
SLOWEST = 10
"""A run that takes so many times as long as the first one, and ``GRACE`` seconds, is ended."""
GRACE = 60.0
NO_GPU = (
    "the program found no GPU, and nothing is timed without one; ccc compare FOLDER --strategy "
    "NAME counts the instructions of a strategy on the emulator"
)
_SHOWN = 12
"""Lines of what a command said that are shown where it failed."""


def has_gpu() -> bool:
    """Whether there is one that the driver knows."""
    try:
        return bool(ctypes.CDLL("libcuda.so.1").cuInit(0) == 0)
    except OSError:
        return False


@dataclass
class Project:
    """A program, and the commands to build, run and check it.

    Attributes:
        build: makes the program, with ``cccc``.
        command: runs it.
        folder: for what is needed meanwhile.
        clean: goes before each build.
        check: says by its exit status whether the output is right.
        outputs: files that have to be the same, byte for byte; ``-`` is standard output.
        repeat: how often a version is run.
    """

    build_command: str
    command: Sequence[str]
    folder: Path
    clean: str | None = None
    check: str | None = None
    outputs: Sequence[str] = ()
    repeat: int = 3
    _expected: dict[str, str] = field(default_factory=dict)
    _limit: float | None = None
    _builds: int = 0

    def build(self, *flags: str) -> dict[str, list[Remark]]:
        """Build it; returns the remarks of all its sources, by kernel.

        Args:
            flags: for ``cccc``.

        Raises:
            VersionFailed: the build failed.
            CccError: it did not run ``cccc``.
        """
        self._builds += 1
        place = self.folder / f"reports-{self._builds}"
        place.mkdir()
        given = os.environ.get(FLAGS, "")
        told = " ".join([given, *map(shlex.quote, (*flags, f"--ccc-report={place}/"))])
        for command in filter(None, (self.clean, self.build_command)):
            log = self.folder / "build.log"
            if self._run(command, log, {FLAGS: told}):
                raise VersionFailed(f"the build failed: {command}\n{_tail(log)}".strip())
        reports = sorted(place.iterdir())
        if not reports:
            raise CccError(_not_built(first=self._builds == 1))
        found: dict[str, list[Remark]] = {}
        for report in reports:
            for name, mine in read_report(json.loads(report.read_text(encoding="utf-8"))).items():
                found.setdefault(name, []).extend(mine)
        return found

    def run(self) -> RunTimes:
        """Run it some times, and check each time; returns the least time of each kernel.

        The first time it is run, what it makes is what is expected from then on.

        Raises:
            VersionFailed: it failed, or made something else.
            CccError: no time was taken, or the output of the first version differs from run to run.
        """
        best: dict[str, KernelTime] = {}
        card = ""
        for turn in range(self.repeat):
            found = self._run_once(turn)
            card = found.card or card
            for name, spent in found.kernels.items():
                known = best.get(name)
                if known is None or spent.milliseconds < known.milliseconds:
                    best[name] = spent
        return RunTimes(best, card)

    def _run_once(self, turn: int) -> RunTimes:
        place = self.folder / f"times-{self._builds}-{turn}"
        place.mkdir()
        printed, log = self.folder / "printed", self.folder / "run.log"
        before = self._written()
        start = time.monotonic()
        with printed.open("wb") as output:
            code = self._run(self.command, log, {"CCC_TIME": str(place)}, output)
        if code:
            if self._builds == 1 and not has_gpu():
                raise CccError(f"{NO_GPU}; its exit status was {code}\n{_tail(log)}".strip())
            raise VersionFailed(f"the program failed (exit status {code})\n{_tail(log)}".strip())
        if self._limit is None:
            self._limit = SLOWEST * (time.monotonic() - start) + GRACE
        for name, when in self._written().items():
            if when is not None and when == before[name]:
                raise VersionFailed(f"{name} was not written")
        self._compare(printed)
        files = sorted(place.iterdir())
        if not files:
            untimed = CccError if self._builds == 1 else VersionFailed
            raise untimed(_not_timed(log))
        times = read_times(files)
        if not times.card:
            raise CccError(NO_GPU)
        return times

    def _written(self) -> dict[str, int | None]:
        """When each output file was written last; what is left of an earlier run is no output."""
        files = [Path(name) for name in self.outputs if name != STANDARD_OUTPUT]
        return {str(one): one.stat().st_mtime_ns if one.exists() else None for one in files}

    def _compare(self, printed: Path) -> None:
        """Whether the output is as that of the first run, and the check is content."""
        for name in self.outputs:
            try:
                data = (printed if name == STANDARD_OUTPUT else Path(name)).read_bytes()
            except OSError as error:
                raise VersionFailed(f"no output {name}: {error.strerror}") from None
            digest = hashlib.sha256(data).hexdigest()
            if self._expected.setdefault(name, digest) != digest:
                said = "standard output" if name == STANDARD_OUTPUT else name
                if self._builds == 1:
                    raise CccError(f"{said} differs from run to run: give --check in its place")
                raise VersionFailed(f"{said} is not what it was")
        if self.check and self._run(self.check, self.folder / "check.log", {}):
            raise VersionFailed(f"the check failed: {self.check}")

    def _run(
        self,
        command: str | Sequence[str],
        log: Path,
        environment: Mapping[str, str],
        output: IO[bytes] | None = None,
    ) -> int:
        """Run a command, or the text of one for a shell; returns its exit status."""
        with log.open("wb") as said:
            process = subprocess.Popen(
                command,
                shell=isinstance(command, str),
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output or said,
                stderr=said,
                start_new_session=True,
            )
            try:
                return process.wait(self._limit if output else None)
            except subprocess.TimeoutExpired:
                raise VersionFailed(f"it takes more than {self._limit:.0f} seconds") from None
            finally:
                if process.poll() is None:  # it takes too long, or the user has had enough
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def refused(
    remarks: Sequence[Remark], wanted: Mapping[AnnotationPlace, str]
) -> dict[AnnotationPlace, str]:
    """Why what was wanted was not done, by annotation, where no copy of its code has it."""
    found: dict[AnnotationPlace, str] = {}
    done: set[AnnotationPlace] = set()
    for remark in remarks:
        place = AnnotationPlace.of_remark(remark)
        asked = wanted.get(place, remark.strategy)
        if remark.strategy == asked or (asked == LEAVE and not remark.applied):
            done.add(place)
        else:
            found[place] = remark.declined or remark.reason or f"it got {remark.strategy}"
    return {place: why for place, why in found.items() if place not in done}


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-_SHOWN:])


def _not_built(first: bool) -> str:
    if first:
        return (
            "the build did not run cccc: have it compile with cccc (--build 'make NVCC=cccc'), and "
            "where everything is built already, say how to begin anew (--clean 'make clean')"
        )
    return (
        "the build did not run cccc again, with other options: say how to begin anew "
        "(--clean 'make clean'), and leave out what keeps objects, as ccache does"
    )


def _not_timed(log: Path) -> str:
    said = [
        line for line in log.read_text(errors="replace").splitlines() if "ccc: no times" in line
    ]
    return "\n".join(
        said
        or [
            "no kernel was timed: the program launches none, by <<<>>>, of a source with "
            "annotations, or ends in a way that leaves it no time to write (see docs/tuning.md)"
        ]
    )
