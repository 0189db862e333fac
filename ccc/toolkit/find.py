"""Finding nvcc, and the toolkit that it belongs to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ccc.errors import CccError
from ccc.toolkit import places
from ccc.toolkit.places import CCCC, RESOLVING

INSTALL = 'pip install "cuda-toolkit[nvcc,cudart,cccl]==13.0.*"'
HINT = "point CCC_NVCC at the nvcc of a toolkit"
_TELLING = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "TMPDIR"}


@dataclass(frozen=True, slots=True)
class Toolkit:
    """One CUDA toolkit: its ``bin`` folder, and the folder that holds ``cicc``."""

    bin: Path
    cicc: Path

    @property
    def nvcc(self) -> Path:
        """The real nvcc."""
        return self.bin / "nvcc"

    def program(self, name: str) -> Path:
        """Another program of it: beside nvcc, or where Debian keeps some, among all programs."""
        beside = self.bin / name
        elsewhere = None if beside.exists() else shutil.which(name)
        return Path(elsewhere) if elsewhere else beside


_KNOWN: dict[str, Toolkit] = {}
"""What nvccs have told this process, by their files."""


def find(nvcc: str | None = None) -> Toolkit:
    """The toolkit of ``nvcc``, or the first one found.

    Looked for, in this order: ``CCC_NVCC``, ``CUDA_HOME``, ``CUDA_PATH``, ``PATH``, and the wheels
    of the running Python.

    Raises:
        CccError: there is none, or none that can be used.
    """
    wanted = nvcc or os.environ.get("CCC_NVCC")
    if wanted:
        return _wanted(wanted)
    refused = []
    for candidate in places.candidates():
        if os.access(candidate, os.X_OK):
            toolkit = ask(candidate)
            if isinstance(toolkit, Toolkit):
                return toolkit
            refused.append(f"{candidate}: {toolkit}")
    if refused:
        raise CccError(f"no nvcc that was found can be used: {'; '.join(refused)}; {HINT}")
    raise CccError(
        "nvcc was not found: set CUDA_HOME to a CUDA toolkit, put its nvcc on the PATH, "
        f"or install one with {INSTALL}"
    )


def _wanted(nvcc: str) -> Toolkit:
    """The toolkit of one that is named, which is to be a path or stand on the ``PATH``."""
    if shutil.which(nvcc) is None:
        exists = os.path.exists(nvcc)
        why = "it is no program" if exists else "there is no such file"
        raise CccError(f"{nvcc} is no usable nvcc: {why}; {HINT}")
    toolkit = ask(nvcc)
    if isinstance(toolkit, str):
        raise CccError(f"{nvcc} is no usable nvcc: {toolkit}; {HINT}")
    return toolkit


def ask(nvcc: str) -> Toolkit | str:
    """Ask an nvcc, which may be a wrapper script or a link, where it lives; or why it cannot tell.

    One that is known by its file is asked once.
    """
    try:
        mark = places.known_by(nvcc)
    except OSError:
        mark = ""
    toolkit = _KNOWN.get(mark) or _ask(nvcc)
    if mark and isinstance(toolkit, Toolkit):
        _KNOWN[mark] = toolkit
    return toolkit


def _ask(nvcc: str) -> Toolkit | str:
    """Ask it without what the environment would have it do besides: it tells the user of that."""
    environment = {k: v for k, v in os.environ.items() if k not in _TELLING}
    try:
        answer = subprocess.run(
            [nvcc, "--dryrun", "-E", "-x", "cu", os.devnull],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env={**environment, RESOLVING: "1"},
            check=False,
        )
    except OSError as error:
        return error.strerror or str(error)
    if CCCC in answer.stderr:
        return CCCC
    said = dict(re.findall(r"^#\$ (\w+)=(.*)$", answer.stderr, re.MULTILINE))
    cicc = said.get("CICC_PATH") or _folder_of("cicc", said.get("PATH", ""))
    if answer.returncode or "_HERE_" not in said or cicc is None:
        lines = (answer.stderr + answer.stdout).strip().splitlines()
        return lines[-1] if lines and answer.returncode else "it does not answer as nvcc does"
    return Toolkit(Path(said["_HERE_"]), Path(cicc))


def _folder_of(program: str, path: str) -> str | None:
    """Where nvcc of CUDA 12 finds a program: in what it has added to ``PATH``."""
    found = shutil.which(program, path=path)
    return os.path.dirname(found) if found else None


def identity(toolkit: Toolkit) -> list[str]:
    """What tells one toolkit from another, and from a later one in the same place."""
    nvcc = toolkit.nvcc.stat()
    return [str(toolkit), str(nvcc.st_mtime_ns), str(nvcc.st_size)]
