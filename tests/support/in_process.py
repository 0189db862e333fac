"""What nvcc does of ``-ptx`` with our shim inside, in this process.

A small kernel takes 0.4 s of a processor through nvcc, most of which is to start that, what it
starts, and Python in our shim. That nvcc comes to the same is tested in
``nvcc/test_in_process.py``, and how it is run in the files beside that. Whatever is not as usual,
an error above all, is left to nvcc.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import breadth
from device_code import FOLDER, steps
from remembered import remembered

import ccc
from ccc.compiler.said import DevicePass
from ccc.errors import CccError
from ccc.files import put_text, read_text
from ccc.folder import OwnFolder
from ccc.ir.arm_markers import name_of
from ccc.jit import build
from ccc.jit.job import CompileJob
from ccc.nvcc import device_pass
from ccc.nvcc import run as nvcc
from ccc.nvcc.cicc import Cicc
from ccc.nvcc.run import Outcome, merge
from ccc.nvcc.tool import ToolRun
from ccc.options import Options

KEPT = "/KEPT"
"""Stands for the folder of nvcc's own files."""
_MARKED = re.compile(r"^\s*#\s*pragma\s+[a-fh-z]?c[a-z]?c", re.M | re.I)
"""As the shim asks before it starts Python."""

_real = nvcc.run
_real_assemble = build._assemble
_lock = threading.Lock()


def moved(text: str, before: str, after: str) -> str:
    """The same of a source in another folder, which markers name, whose names C++ counts."""
    old, new = (name_of(f"// ccc.{folder}/") for folder in (before, after))

    def name(found: re.Match[str]) -> str:
        renamed = found[2].replace(old, new)
        return f"{int(found[1]) + len(renamed) - len(found[2])}{renamed}"

    text = text.replace(f"{before}/", f"{after}/")
    return re.sub(r"(\d+)(ccc_marker_\w+)", name, text).replace(old, new)


class NotAsUsual(Exception):
    """This is for nvcc."""


def run(
    arguments: Sequence[str],
    options: Options,
    *,
    passes: Sequence[DevicePass] = (),
    capture: bool = False,
    dryrun: bool = False,
) -> Outcome:
    """As of the compiler."""
    with contextlib.suppress(NotAsUsual, subprocess.CalledProcessError, CccError, ValueError):
        if capture and not (passes or dryrun):
            with _lock:  # standard error is one for all threads
                return _run(arguments, options)
    return _real(arguments, options, passes=passes, capture=capture, dryrun=dryrun)


def _run(arguments: Sequence[str], options: Options) -> Outcome:
    phase, *words, given, dash_o, output = arguments
    source = Path(given)
    if (phase, dash_o) != ("-ptx", "-o") or not source.is_file() or source.suffix != ".cu":
        raise NotAsUsual
    if any("keep" in word or word.startswith("@") for word in words):
        raise NotAsUsual
    with OwnFolder() as folder, OwnFolder() as reports:
        one = _Compilation(source, tuple(words), folder)
        said = one.preprocess()
        with contextlib.redirect_stderr(io.StringIO()) as more:
            made = one.translate(replace(options, folder=reports))
        one.check(made)
        put_text(output, made)
        return merge(DevicePass.load(reports), 0, said + more.getvalue())


@dataclass
class _Compilation:
    """One source, and a folder for what nvcc keeps of it."""

    source: Path
    words: tuple[str, ...]
    folder: str

    @functools.cached_property
    def _place(self) -> str:
        """The folder of a source that is there for one test; of another, none."""
        place = str(self.source.absolute().parent)
        return place if place.startswith(tempfile.gettempdir()) else FOLDER

    @functools.cached_property
    def _steps(self) -> tuple[dict[str, str], list[list[str]]]:
        flags = os.environ.get("NVCC_PREPEND_FLAGS", "")
        words = (*self.words, f"-I{ccc.include()}")
        environment, found = steps(self.source.name, words, flags, KEPT)
        shown = f"{FOLDER}/{self.source.name}"
        given = [
            [word.replace(shown, str(self.source)).replace(KEPT, self.folder) for word in step]
            for step in found
        ]
        if len(given) != 3 or not given[1][0].endswith("/cicc"):
            raise NotAsUsual
        given[1][given[1].index("--orig_src_path_name") + 1] = str(self.source.absolute())
        return {**os.environ, **environment}, given

    def preprocess(self) -> str:
        """Make what cicc reads; what is warned of."""
        environment, (step, _, _) = self._steps
        done = subprocess.run(step, env=environment, capture_output=True, text=True, check=True)
        return done.stderr

    def translate(self, options: Options) -> str:
        """What our shim makes, and leaves to say."""
        _, (_, (tool, *words), _) = self._steps
        cicc = _Remembered(tool, words, self.folder, self._place)
        if _MARKED.search(cicc.annotated.text):
            if device_pass._run(cicc, options):
                raise NotAsUsual
        else:
            with cicc.make_ptx(cicc.annotated.text) as running:
                device_pass._finish(running, quiet=False)
                put_text(cicc.value("-o"), read_text(running.output))
        return read_text(cicc.value("-o"))

    def check(self, made: str) -> None:
        """Let ptxas look at it, as nvcc does."""
        environment, (_, _, step) = self._steps

        def ask() -> str:
            subprocess.run(step, env=environment, capture_output=True, check=True)
            return ""

        told = [*(word.replace(self.folder, KEPT) for word in step), made]
        remembered(["checked", *(moved(one, self._place, FOLDER) for one in told)], ask)


class _Remembered(Cicc):
    """One whose PTX is remembered, and which begins when it is asked."""

    def __init__(self, tool: str, words: list[str], folder: str, place: str):
        super().__init__(tool, words)
        self._folder = folder
        self._place = place

    def begin(self, text: str) -> None:
        """Whether it is wanted shows later."""

    def _start(self, text: str) -> ToolRun:
        words = [word.replace(self._folder, KEPT) for word in self.arguments]
        told = ["cicc", *(moved(one, self._place, FOLDER) for one in (*words, text))]

        def make() -> list[str]:
            with super(_Remembered, self)._start(text) as running:
                code, said = running.wait()
                if code:
                    raise NotAsUsual
                made = said.decode(errors="surrogateescape"), read_text(running.output)
            return [moved(one, self._place, FOLDER) for one in made]

        said, ptx = (moved(one, FOLDER, self._place) for one in remembered(told, make))
        output = f"{self._folder}/remembered.ptx"
        put_text(output, ptx)
        return _Ended(said.encode(errors="surrogateescape"), output)


class _Ended(ToolRun):
    """A run that has ended."""

    def __init__(self, said: bytes, output: str):
        self._said = said
        self.output = output

    def wait(self) -> tuple[int, bytes]:
        return 0, self._said

    def __exit__(self, *_: object) -> None:
        """Its files are another one's."""


def _assemble(job: CompileJob, ptx: str) -> tuple[bytes, str]:
    """As of the compiler."""
    told = ["assembled", job.arch, job.relocatable, *job.options, ptx]
    return remembered(told, lambda: _real_assemble(job, ptx))


@contextlib.contextmanager
def in_process_unless_long() -> Iterator[None]:
    """Whoever runs nvcc for PTX meanwhile does so here; with ``--long`` it is nvcc that runs."""
    if not breadth.runs_long:
        nvcc.run, build._assemble = run, _assemble
    try:
        yield
    finally:
        nvcc.run, build._assemble = _real, _real_assemble
