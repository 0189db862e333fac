"""Running ptxas: machine code of PTX, and what its kernels need."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ccc.errors import CccError, Span
from ccc.folder import OwnFolder
from ccc.ptx.system_calls import SYSTEM_CALLS
from ccc.toolkit.find import find

PTXAS = "CCC_PTXAS"
"""The variable that tells a shim, which nvcc has started, where the assembler beside that lies."""


_EXTERN = re.compile(r"^[ \t]*\.extern\s+\.func\s+(?:\([^()]*\)\s*)?([\w$]+)", re.MULTILINE)
_LINKED = re.compile(
    r"^[ \t]*(?:\.(?:visible|weak)\s+\.func|\.extern\s+\.(?:global|const))\b", re.MULTILINE
)


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

    @property
    def spilled(self) -> int:
        """The bytes that the code stores and loads when it spills, as far as that is known."""
        return (self.spill_stores or 0) + (self.spill_loads or 0)


@dataclass(frozen=True, slots=True)
class Assembled:
    """Machine code of a module, and what each of its kernels needs, by (mangled) name."""

    cubin: bytes
    resources: dict[str, Resources]


def is_part(ptx: str) -> bool:
    """Whether a module shares functions or variables with others, and is but a part of what is to
    be linked.

    Those that the driver has (CUDA C++ Programming Guide, "System Calls") need no linking.
    """
    if _LINKED.search(ptx):
        return True
    return any(name not in SYSTEM_CALLS for name in _EXTERN.findall(ptx))


def assemble(
    ptx: str, arch: str, ptxas: str | Path = "ptxas", *, is_whole: bool = False
) -> Assembled:
    """Run ``ptxas -v`` on PTX text.

    Args:
        ptx: one module.
        arch: what to assemble for, such as ``sm_90``.
        ptxas: the assembler; by default the one on the search path.
        is_whole: whether it is to be loaded as it is, be it a part of what may be linked.

    Raises:
        CccError: there is no ptxas, or it refuses the text; with its first complaint.
    """
    return assemble_all([ptx], arch, ptxas, is_whole=is_whole)[0]


def assemble_all(
    texts: Sequence[str], arch: str, ptxas: str | Path = "ptxas", *, is_whole: bool = False
) -> list[Assembled]:
    """Assemble several modules at the same time; the other arguments and errors: ``assemble``."""
    with OwnFolder() as folder:
        places = [Path(folder, f"module-{number}") for number in range(len(texts))]
        started = [
            _start(text, arch, place, ptxas, is_part=not is_whole and is_part(text))
            for text, place in zip(texts, places, strict=True)
        ]
        told = [process.communicate()[0] for process in started]
        for text, process, messages in zip(texts, started, told, strict=True):
            if process.returncode:
                raise _refusal(text, messages)
        return [
            Assembled(place.with_suffix(".cubin").read_bytes(), read_resources(messages))
            for place, messages in zip(places, told, strict=True)
        ]


def _start(
    ptx: str, arch: str, place: Path, ptxas: str | Path, *, is_part: bool
) -> subprocess.Popen[str]:
    """Begin to make a cubin at this place, whose name has no suffix yet."""
    source, target = place.with_suffix(".ptx"), place.with_suffix(".cubin")
    source.write_text(ptx, encoding="utf-8")
    part = ["-c"] if is_part else []
    command = [str(ptxas), "-v", *part, f"-arch={arch}", str(source), "-o", str(target)]
    try:
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except OSError as error:
        raise CccError(
            f"cannot run ptxas ({error.strerror}); install the CUDA toolkit,"
            ' for example with pip install "cuda-toolkit[nvcc]==13.0.*"'
        ) from error


@functools.lru_cache(maxsize=16)
def resources(ptx: str, arch: str, ptxas: str | Path = "ptxas") -> Mapping[str, Resources]:
    """What each kernel of a module needs, by (mangled) name; arguments and errors: ``assemble``."""
    return MappingProxyType(assemble(ptx, arch, ptxas).resources)


def program() -> str | Path:
    """The assembler of the toolkit to be used, which a shim is told.

    Raises:
        CccError: no usable nvcc was found.
    """
    return os.environ.get(PTXAS) or find().program("ptxas")


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
