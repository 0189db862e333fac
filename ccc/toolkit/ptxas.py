"""Running ptxas: machine code of PTX, and what its kernels need."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ccc.errors import CccError, Span


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel needs, as the assembler or the driver tells it.

    Args:
        registers: 32-bit registers of a thread.
        shared: static shared memory of a block, bytes.
        stack: stack frame of a thread in local memory, bytes; spilled registers lie in it.
        spill_stores: bytes that the code stores when it spills; None where nobody told.
        spill_loads: bytes that the code loads back; None where nobody told.
    """

    registers: int
    shared: int
    stack: int
    spill_stores: int | None = None
    spill_loads: int | None = None


@dataclass(frozen=True, slots=True)
class Assembled:
    """Machine code of a module, and what each of its kernels needs, by (mangled) name."""

    cubin: bytes
    resources: dict[str, Resources]


def assemble(ptx: str, arch: str, ptxas: str | Path = "ptxas") -> Assembled:
    """Run ``ptxas -v`` on PTX text.

    Args:
        ptx: one module.
        arch: what to assemble for, such as ``sm_90``.
        ptxas: the assembler; by default the one on the search path.

    Raises:
        CccError: there is no ptxas, or it refuses the text; with its first complaint.
    """
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        source, target = Path(folder, "module.ptx"), Path(folder, "module.cubin")
        source.write_text(ptx, encoding="utf-8")
        command = [str(ptxas), "-v", f"-arch={arch}", str(source), "-o", str(target)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise CccError(
                f"cannot run ptxas ({error.strerror}); install the CUDA toolkit,"
                ' for example with pip install "cuda-toolkit[nvcc]==13.0.*"'
            ) from error
        messages = done.stdout + done.stderr
        if done.returncode:
            raise _refusal(ptx, messages)
        return Assembled(target.read_bytes(), read_resources(messages))


@functools.lru_cache(maxsize=16)
def resources(ptx: str, arch: str, ptxas: str | Path = "ptxas") -> Mapping[str, Resources]:
    """What each kernel of a module needs, by (mangled) name; arguments and errors: ``assemble``."""
    return MappingProxyType(assemble(ptx, arch, ptxas).resources)


def _refusal(ptx: str, messages: str) -> CccError:
    """The first complaint of ptxas, shown at its line of the PTX where it names one."""
    found = re.search(r"^ptxas .*?, line (\d+); (?:error|fatal)\s*: (.*)", messages, re.MULTILINE)
    if found:
        line, lines = int(found[1]), ptx.splitlines()
        text = lines[line - 1] if 0 < line <= len(lines) else None
        return CccError(f"ptxas: {found[2]}", Span("<ptx>", line), text)
    found = re.search(r"^ptxas (?:fatal|error)\s*: (.*)", messages, re.MULTILINE)
    return CccError(f"ptxas: {found[1] if found else messages.strip() or 'failed without a word'}")


def read_resources(messages: str) -> dict[str, Resources]:
    """Read what ``ptxas -v`` prints: a block of lines a kernel.

    Functions that are no kernels have properties of their own, which are left out: the numbers of
    a kernel include what it calls.
    """
    kernels = {}
    for block in re.split(r"^.*Compiling entry function ", messages, flags=re.MULTILINE)[1:]:
        name = re.match(r"'([^']+)'", block)
        used = re.search(r"Used (\d+) registers(.*)", block)
        if not name or not used:
            continue
        stack = re.search(r"(\d+) bytes cumulative stack size", used[2])
        frame = re.search(
            rf"Function properties for {re.escape(name[1])}\n\s*(\d+) bytes stack frame,"
            r" (\d+) bytes spill stores, (\d+) bytes spill loads",
            block,
        )
        shared = re.search(r"(\d+) bytes smem", used[2])
        kernels[name[1]] = Resources(
            registers=int(used[1]),
            shared=int(shared[1]) if shared else 0,
            stack=int((stack or frame or [0, 0])[1]),
            spill_stores=int(frame[2]) if frame else 0,
            spill_loads=int(frame[3]) if frame else 0,
        )
    return kernels
