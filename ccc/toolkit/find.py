"""Finding nvcc, and the toolkit that it belongs to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ccc.errors import CccError

INSTALL = 'pip install "cuda-toolkit[nvcc,cudart,cccl]==13.0.*"'
RESOLVING = "CCC_RESOLVING"  # set while a candidate is asked who it is: cccc itself is no answer


@dataclass(frozen=True, slots=True)
class Toolkit:
    """One CUDA toolkit: its ``bin`` folder, and the folder that holds ``cicc``."""

    bin: Path
    cicc: Path

    @property
    def nvcc(self) -> Path:
        """The real nvcc."""
        return self.bin / "nvcc"


def find(nvcc: str | None = None) -> Toolkit:
    """The toolkit of ``nvcc``, or the first one found.

    Looked for, in this order: ``CCC_NVCC``, ``CUDA_HOME``, ``CUDA_PATH``, ``PATH``, and the wheels
    of the running Python.

    Raises:
        CccError: there is none, or the one that was asked for cannot be used.
    """
    wanted = nvcc or os.environ.get("CCC_NVCC")
    if wanted:
        toolkit = _resolve(wanted)
        if toolkit is None:
            raise CccError(f"{wanted} is no usable nvcc; point CCC_NVCC at the nvcc of a toolkit")
        return toolkit
    for candidate in _candidates():
        toolkit = _resolve(candidate)
        if toolkit:
            return toolkit
    raise CccError(
        "nvcc was not found: set CUDA_HOME to a CUDA toolkit, put its nvcc on the PATH, "
        f"or install one with {INSTALL}"
    )


def _candidates() -> Iterator[str]:
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield os.path.join(os.environ[name], "bin", "nvcc")
    on_path = shutil.which("nvcc")
    if on_path:
        yield on_path
    for folder in sys.path:
        wheels = sorted(Path(folder, "nvidia").glob("cu[0-9]*/bin/nvcc"), reverse=True)
        yield from map(str, wheels)


def _resolve(nvcc: str) -> Toolkit | None:
    """Ask an nvcc, which may be a wrapper script or a link, where it lives."""
    command = [nvcc, "--dryrun", "-E", "-x", "cu", os.devnull]
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env={**os.environ, RESOLVING: "1"},
            check=False,
        )
    except OSError:
        return None
    said = dict(re.findall(r"^#\$ (\w+)=(.*)$", answer.stderr, re.MULTILINE))
    if answer.returncode or "_HERE_" not in said or "CICC_PATH" not in said:
        return None
    return Toolkit(Path(said["_HERE_"]), Path(said["CICC_PATH"]))


def identity(toolkit: Toolkit) -> list[str]:
    """What tells one toolkit from another, and from a later one in the same place."""
    nvcc = toolkit.nvcc.stat()
    return [str(toolkit), str(nvcc.st_mtime_ns), str(nvcc.st_size)]
