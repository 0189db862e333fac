"""``--ccc-doctor``: what was found of all that is needed, what works, and what to install."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ccc import cache
from ccc.errors import CccError
from ccc.files import check_writable, put_text
from ccc.nvcc import run as nvcc
from ccc.options import Options
from ccc.toolkit import places
from ccc.toolkit.find import INSTALL, Toolkit, ask, find
from ccc.version import VERSION

_KERNEL = """\
__global__ void __launch_bounds__(128) k(float *x, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
        #pragma ccc if strategy(queue)
        if (v > 0.f) {
            for (int j = 0; j < 100; j++) v = v * v + 3.f;
            x[i] = v;
        }
    }
}
"""
_WIDTH = 14


@dataclass(frozen=True, slots=True)
class Checkup:
    """One thing that was looked for: what was found, or else what to do about it."""

    name: str
    found: str
    missing: str = ""
    needed: bool = True

    def __str__(self) -> str:
        told = f"{self.found or 'missing'}{f'; {self.missing}' if self.missing else ''}"
        return f"{self.name:{_WIDTH}}{told}"


def examine() -> Iterator[Checkup]:
    """Look for all that is needed, and try it."""
    yield Checkup("ccc", f"{VERSION}, Python {platform.python_version()}, {sys.executable}")
    toolkit, told = _toolkit()
    yield told
    yield from _others(toolkit)
    compiler = _host_compiler()
    yield compiler
    yield _cache()
    if toolkit:
        yield _tool(toolkit, "cicc", toolkit.cicc / "cicc")
        yield _tool(toolkit, "ptxas", toolkit.program("ptxas"))
        yield _compilation()
    yield _gpu()
    yield _cupy()


def report() -> tuple[str, bool]:
    """All findings as text, and whether ``cccc`` works."""
    findings = list(examine())
    works = not any(one.missing for one in findings if one.needed)
    said = "cccc works" if works else "cccc does not work: see what is missing above"
    return "\n".join([*map(str, findings), "", said]), works


def _toolkit() -> tuple[Toolkit | None, Checkup]:
    try:
        toolkit = find()
    except CccError as error:
        return None, Checkup("nvcc", "", error.message)
    return toolkit, Checkup("nvcc", _describe(toolkit))


def _describe(toolkit: Toolkit) -> str:
    return f"{toolkit.nvcc}, {_line([str(toolkit.nvcc), '--version'], 'release') or 'no version'}"


def _others(chosen: Toolkit | None) -> Iterator[Checkup]:
    """Toolkits that are there too, which ``CCC_NVCC`` chooses."""
    seen = {chosen}
    for candidate in places.candidates():
        toolkit = ask(candidate) if os.access(candidate, os.X_OK) else ""
        if isinstance(toolkit, Toolkit) and toolkit not in seen:
            seen.add(toolkit)
            yield Checkup("also", f"{_describe(toolkit)} (CCC_NVCC={candidate} takes it)")


def _host_compiler() -> Checkup:
    name = os.environ.get("NVCC_CCBIN", "gcc")
    path = shutil.which(name)
    if path is None:
        return Checkup("C++ compiler", "", f"no {name}: apt install g++, or set NVCC_CCBIN")
    return Checkup("C++ compiler", f"{path}, {_line([path, '--version']) or 'no version'}")


def _cache() -> Checkup:
    folder = cache.folder()
    try:
        os.makedirs(folder, exist_ok=True)
        check_writable(os.path.join(folder, "doctor"))
    except (OSError, CccError):
        return Checkup("cache", folder, "it cannot be written: set CCC_CACHE_DIR to one that can")
    made = Path(folder, "toolchains")
    count = len(list(made.iterdir())) if made.is_dir() else 0
    return Checkup("cache", f"{folder}, with linked folders of {count} toolkits")


def _tool(toolkit: Toolkit, name: str, path: Path) -> Checkup:
    if os.access(path, os.X_OK):
        return Checkup(name, str(path))
    return Checkup(name, "", f"{toolkit.bin.parent} is not whole: {INSTALL}")


def _compilation() -> Checkup:
    """Compile an annotated kernel to machine code."""
    name = "compilation"
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        source, target = Path(folder, "k.cu"), Path(folder, "k.cubin")
        put_text(source, _KERNEL)
        words = ["-cubin", str(source), "-o", str(target)]
        try:
            outcome = nvcc.run(words, Options(strict=True), capture=True)
        except CccError as error:
            return Checkup(name, "", error.message)
        if outcome.code:
            said = [*outcome.errors, *outcome.diagnostics, outcome.stderr.strip()]
            return Checkup(name, "", f"an annotated kernel fails: {' '.join(filter(None, said))}")
    return Checkup(name, "an annotated kernel was collected, and assembled")


def _gpu() -> Checkup:
    said = _line(["nvidia-smi", "-L"])
    return Checkup("GPU", said or "none: code is compiled, and the emulator runs it", needed=False)


def _cupy() -> Checkup:
    there = importlib.util.find_spec("cupy") is not None
    missing = "ccc.RawKernel wants it: pip install cupy-cuda13x"
    return Checkup("CuPy", "installed" if there else "", "" if there else missing, needed=False)


def _line(command: list[str], holding: str = "") -> str:
    """The first line that a program prints, of those with a word; nothing where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = [line.strip() for line in done.stdout.splitlines() if holding in line]
    return lines[0] if lines and not done.returncode else ""
