"""Kernels on a GPU, in a process of its own: one that hangs or faults takes nothing else along."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ccc.tools.fuzz.build import BuiltKernels, Failure, name_of
from ccc.tools.fuzz.tree import RandomKernel

WORKER = (sys.executable, "-m", "ccc.tools.fuzz.worker")
"""The command that runs a folder of kernels, from a number on."""

START = 90.0
"""Seconds that the process may take to start and to assemble, or to read the next kernel."""

HANG = 20.0
"""Seconds after which a launch hangs, of which most take milliseconds."""

RESTARTS = 20
"""How many kernels of one file may take the process down."""


def failures(
    built: BuiltKernels, variants: Sequence[Sequence[RandomKernel]]
) -> list[Failure | None]:
    """Run both versions of each kernel in each of its launches; what is wrong, by kernel."""
    found: list[Failure | None] = [None] * len(variants)
    with tempfile.TemporaryDirectory(prefix="ccc-fuzz-") as folder:
        write(folder, built, variants)
        first = 0
        for _ in range(RESTARTS):
            first = _run(folder, first, found)
            if first >= len(variants):
                return found
    message = f"{RESTARTS} kernels before this one took the process down"
    for number in range(first, len(variants)):
        found[number] = Failure("generator: not run", message)
    return found


def write(folder: str, built: BuiltKernels, variants: Sequence[Sequence[RandomKernel]]) -> None:
    """Leave the process its work: both versions, and how to launch each kernel on what."""
    Path(folder, "original.ptx").write_text(built.original, encoding="utf-8")
    Path(folder, "transformed.ptx").write_text(built.transformed, encoding="utf-8")
    work = [
        {"name": name_of(n), "launches": [[k.run_line(), k.data] for k in launches]}
        for n, launches in enumerate(variants)
    ]
    Path(folder, "work.json").write_text(json.dumps(work), encoding="utf-8")


def _run(folder: str, first: int, found: list[Failure | None]) -> int:
    """Run the kernels from ``first`` on; returns the first one that is still to be run."""
    errors = Path(folder, "errors.txt")
    with errors.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [*WORKER, folder, str(first)], stdout=subprocess.PIPE, stderr=log
        )
        try:
            assert process.stdout is not None
            last, ended = _listen(_Lines(process.stdout.fileno()), first, found)
        finally:
            _end(process)
    if last is None:
        return len(found)
    # Silence: whoever spoke last is at fault, if it did not say itself what is wrong.
    number = int(last["kernel"])
    if found[number] is None and ended:
        lines = errors.read_text(encoding="utf-8").strip().splitlines()
        found[number] = _failure(last, "the process ended", lines[-1] if lines else "no message")
    elif found[number] is None:
        found[number] = _failure(last, "hang", f"no end after {HANG:g} s")
    return number + 1


def _listen(
    said: _Lines, first: int, found: list[Failure | None]
) -> tuple[dict[str, Any] | None, bool]:
    """Note failures until the process has done its work or falls silent.

    Returns the launch it spoke of last, None if all is done; and whether it closed the pipe.
    """
    last: dict[str, Any] = {"kernel": first, "launch": 0, "version": "transformed"}
    patience = START
    while (word := said.next(patience)) is not None:
        if word["is"] == "end":
            return None, True
        if word["is"] == "launch":
            last, patience = word, HANG
        else:
            found[int(last["kernel"])] = _failure(last, word["kind"], word["detail"])
    return last, said.ended


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process; one that the driver does not let go of is left to itself."""
    process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=10)
    if process.stdout is not None:
        process.stdout.close()


def _failure(last: dict[str, Any], kind: str, detail: str) -> Failure:
    """What went wrong in the launch that was spoken of last."""
    if kind == "order":
        kind = "generator: the original depends on the order"
    elif kind == "compiler":
        kind = "generator: the original's PTX means what ccc makes, and the device does not do it"
    elif last["version"] == "original":
        kind = f"generator: the original fails: {kind}"
    elif kind != "memory":
        kind = f"run: {kind}"
    return Failure(kind, detail, variant=last["launch"])


class _Lines:
    """JSON lines from a pipe; ``ended`` once it was closed."""

    def __init__(self, pipe: int):
        self._pipe = pipe
        self._selector = selectors.DefaultSelector()
        self._selector.register(pipe, selectors.EVENT_READ)
        self._rest = b""
        self.ended = False

    def next(self, seconds: float) -> dict[str, Any] | None:
        """The next line; None if none comes in time, or ever."""
        while b"\n" not in self._rest:
            if not self._selector.select(seconds):
                return None
            got = os.read(self._pipe, 1 << 16)
            if not got:
                self.ended = True
                return None
            self._rest += got
        line, _, self._rest = self._rest.partition(b"\n")
        word: dict[str, Any] = json.loads(line)
        return word
