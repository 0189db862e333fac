"""The C library: made by the host's compiler, kept in the cache, and loaded where it is good.

``CCC_EMULATOR`` says what the emulator runs on: ``native`` (the library, made at once where it is
not in the cache), ``numpy``, or nothing: the library if it is in the cache; else NumPy, and once
:data:`WORTH_IT` seconds have gone into that, the library is made beside it. Where it cannot be
made or loaded it is NumPy, too; ``CCC_EMULATOR_DEBUG=1`` tells why.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccc import files
from ccc.emulator.native.context import Context, declaration
from ccc.emulator.native.operations import series_text, source_text
from ccc.errors import CccError, nearest

if TYPE_CHECKING:
    from multiprocessing.util import Finalize

NATIVE, NUMPY, EITHER = "native", "numpy", ""
WORTH_IT = 1.5
"""Seconds of emulation by NumPy after which the library is made, for it takes as long to make."""

FLAGS = (
    "-O3", "-march=native", "-shared", "-fPIC", "-ffp-contract=off", "-fwrapv",
    "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math", "-w",
)  # fmt: skip
_DIGEST = 32
"""Bytes at the end of the file, after the library, that tell whether it is whole."""


SOURCES = (
    "lanes.h", "approximate.h", "program.h", "memory.c", "races.c", "warp.c", "run.c",
)  # fmt: skip


@functools.cache
def text() -> str:
    """The library's source."""
    lanes, approximations, program, *rest = (
        Path(__file__).with_name(name).read_text(encoding="utf-8") for name in SOURCES
    )
    return "\n".join(
        [lanes, series_text(), approximations, source_text(), program, declaration(), *rest]
    )


class _Maker:
    """Finds, makes and loads the library for one compiler and one cache folder."""

    def __init__(self, compiler: str, path: Path):
        self.compiler = compiler
        self.path = path
        self.failed = False
        self.seconds = 0.0
        self.loaded: Any = None
        self.process: subprocess.Popen[bytes] | None = None
        self.folder = ""
        self.at_end: Finalize | None = None

    def library(self, mode: str) -> Any:
        """The loaded library, or None; see the top of this file."""
        if self.loaded is not None or self.failed:
            return self.loaded
        if self.process is None and not self._load():
            if mode != NATIVE and self.seconds < WORTH_IT:
                return None
            self._start()
        if self.process is not None and (mode == NATIVE or self.process.poll() is not None):
            self._finish(self.process)
        return self.loaded

    def _load(self) -> bool:
        """Load what is in the cache, if it is whole."""
        try:
            content = self.path.read_bytes()
            if hashlib.sha256(content[:-_DIGEST]).digest() != content[-_DIGEST:]:
                return False
            found = ctypes.CDLL(str(self.path))
            if found.identity() != _identity():
                return False
        except (OSError, AttributeError) as error:
            _tell(f"not loaded: {error}")
            return False
        for name in ("lockstep", "shuffled", "resume"):
            getattr(found, name).argtypes = (ctypes.POINTER(Context),)
        found.begin.argtypes = (
            ctypes.POINTER(Context), ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64,
        )  # fmt: skip
        self.loaded = found
        return True

    def _start(self) -> None:
        """Start the compiler."""
        from multiprocessing.util import Finalize  # noqa: PLC0415 - slow to load, seldom needed

        try:
            self.folder = tempfile.mkdtemp(prefix="ccc-emulator-")
            self.at_end = Finalize(None, self.stop, exitpriority=0)  # of a pool's process, too
            source = Path(self.folder, "library.c")
            source.write_text(f"#define IDENTITY {_identity()}\n{text()}", encoding="utf-8")
            self.process = subprocess.Popen(
                [self.compiler, *FLAGS, "-o", f"{self.folder}/library.so", str(source)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            self.failed = True
            _tell(f"not made: {error}")

    def _finish(self, process: subprocess.Popen[bytes]) -> None:
        """Keep and load what the compiler has made."""
        status, self.process = process.wait(), None
        try:
            if status:
                raise OSError(f"{self.compiler} ended with {status}")
            content = Path(self.folder, "library.so").read_bytes()
            files.keep(self.path, content + hashlib.sha256(content).digest(), mode=0o755)
            self.failed = not self._load()
        except (OSError, CccError) as error:
            self.failed = True
            _tell(f"not made: {error}")
        self.stop()

    def stop(self) -> None:
        """Do not wait for the compiler any longer; nothing of it stays."""
        if self.at_end is not None:
            self.at_end.cancel()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)


def native_library(mode: str | None = None) -> Any:
    """The library, if the emulator is to run on it now, else None."""
    mode = (os.environ.get("CCC_EMULATOR") or EITHER) if mode is None else mode
    if mode not in (NATIVE, NUMPY, EITHER):
        hint = nearest(mode, [NATIVE, NUMPY])
        raise CccError(f"CCC_EMULATOR={mode}: it is {NATIVE}, {NUMPY} or nothing{hint}")
    if mode == NUMPY:
        return None
    maker = _maker(files.folder())
    return maker.library(mode) if maker else None


def note_seconds(seconds: float) -> None:
    """NumPy has emulated for so long."""
    maker = _maker(files.folder())
    if maker:
        maker.seconds += seconds


@functools.cache
def _maker(folder: Path) -> _Maker | None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.byteorder != "little" or sys.maxsize < 1 << 32:
        _tell("there is no C compiler")
        return None
    return _Maker(compiler, folder / "emulator" / f"{_key(compiler)}.so")


def _key(compiler: str) -> str:
    """A name for the library: what it is made of, by which compiler and for which processor."""
    real = os.path.realpath(compiler)
    file = os.stat(real)
    parts = (text(), " ".join(FLAGS), real, str(file.st_size), str(file.st_mtime_ns), _processor())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _identity() -> int:
    return int(hashlib.sha256(text().encode()).hexdigest()[:7], 16)


def _processor() -> str:
    """What tells processors apart for which the compiler makes different code."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return os.uname().machine
    kinds = ("vendor_id", "cpu family", "model", "flags", "Features", "CPU part")
    known = [line for line in lines if line.split(":")[0].strip() in kinds]
    return "\n".join(sorted(set(known)))


def _tell(why: str) -> None:
    if os.environ.get("CCC_EMULATOR_DEBUG"):
        print(f"ccc: the emulator runs on NumPy: {why}", file=sys.stderr)
