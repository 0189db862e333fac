"""One source to what a device can load, kept on disk.

    CUDA ──nvcc or NVRTC, markers, the passes──▶ PTX ──nvcc's ptxas──▶ machine code

NVRTC's PTX is left for the driver to assemble, so that no toolkit is needed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ccc import files as cache
from ccc.compiler import unit
from ccc.compiler.said import DevicePass
from ccc.device import gpu
from ccc.errors import BuildError, CccError
from ccc.jit import nvrtc
from ccc.jit.job import RELOCATABLE, UNNAMED, CompileJob
from ccc.nvcc import run as nvcc
from ccc.nvcc.run import Outcome
from ccc.remark import Report, report
from ccc.toolkit import find as toolchain
from ccc.version import VERSION

_NAME = re.compile(
    r"^[^\n]*\.global\b[^\n]*\bccc_name_(\d+) = (?:generic\()?([^\s();]+)\)?;\n", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Built:
    """What became of a compile job.

    ``image`` is the file to load, ``ptx`` the one with its PTX; ``names`` the mangled names by
    those asked for; ``log`` what the compilers said, ``printed`` what a user asked to see.
    """

    image: Path
    ptx: Path
    names: dict[str, str] = field(default_factory=dict)
    report: Report = field(default_factory=lambda: report({}))
    diagnostics: list[str] = field(default_factory=list)
    log: str = ""
    printed: str = ""


def build(job: CompileJob) -> Built:
    """Compile, or find what an earlier run made of the same.

    Raises:
        CccError: no compiler, an error in the source or in an annotation, or a cache folder that
            cannot be written.
    """
    place = cache.folder() / "modules" / key(job)
    found = _load(place)
    if found is None:
        _save(place, *_make(job))
        found = _load(place)
    if found is None:
        raise CccError(f"{place.parent} changes while it is used; set CCC_CACHE_DIR to another one")
    return found


# The cache.


def key(job: CompileJob) -> str:
    """A name for what becomes of a job: whatever that is made of changes it."""
    headers = {
        path: hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
        for path, text in job.headers.items()
    }
    advice = [_content(file) for file in filter(None, (*job.ours.use, job.ours.decisions))]
    parts = [VERSION, _ourselves(), _compiler(job), asdict(job), headers, advice]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]


def _content(file: str) -> str:
    """A digest of a profile; that it cannot be read is told when it is used."""
    try:
        return _digest(Path(file).read_bytes())
    except OSError:
        return ""


@functools.cache
def _ourselves() -> list[tuple[str, int, int]]:
    """The files of this package: a pass that was changed must not find what it made before."""
    found = []
    for folder, _, names in os.walk(Path(__file__).parent.parent, followlinks=True):
        for name in names:
            if name.endswith((".py", ".lark")):
                status = os.stat(os.path.join(folder, name))
                found.append((os.path.join(folder, name), status.st_size, status.st_mtime_ns))
    return sorted(found)


def _compiler(job: CompileJob) -> list[str]:
    if job.backend == "nvcc":
        flags = [os.environ.get(f"NVCC_{name}_FLAGS", "") for name in ("PREPEND", "APPEND")]
        return [*toolchain.identity(toolchain.find()), *flags]
    return [gpu.nvrtc_version()] if job.backend == "nvrtc" else []


def _load(place: Path) -> Built | None:
    try:
        entry: dict[str, Any] = json.loads(place.with_suffix(".json").read_bytes())
        image, ptx = place.with_suffix(entry.pop("suffix")), place.with_suffix(".ptx")
        whole = _digest(image.read_bytes()) == entry.pop("digest") and ptx.is_file()
        return Built(image, ptx, **entry) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # there is none, or somebody damaged it


def _save(place: Path, ptx: str, image: bytes | None, entry: Mapping[str, Any]) -> None:
    """Write an entry; ``image`` is None where the PTX is loaded itself."""
    text = ptx.encode(errors="surrogateescape")
    suffix = ".ptx" if image is None else ".cubin"
    loaded = text if image is None else image
    cache.keep(place.with_suffix(".ptx"), text)
    cache.keep(place.with_suffix(suffix), loaded)
    record = {**entry, "suffix": suffix, "digest": _digest(loaded)}
    cache.keep(place.with_suffix(".json"), json.dumps(record).encode())  # last: it vouches


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# Compiling.


def _make(job: CompileJob) -> tuple[str, bytes | None, dict[str, Any]]:
    """PTX, machine code (None where the driver makes it), and the rest of ``Built``."""
    front = {"nvcc": _nvcc, "nvrtc": nvrtc.translate, "ptx": _marked_ptx}[job.backend]
    ptx, names, outcome = front(job)
    if outcome.code:
        said = [*outcome.diagnostics, *outcome.errors, outcome.stderr.strip()]
        raise BuildError("\n".join(filter(None, said)))
    for kernel in outcome.report["kernels"]:
        kernel["source"] = job.shown
    log, image = outcome.stderr, None
    if job.backend == "nvcc":
        image, assembled = _assemble(job, ptx)
        log += assembled
    elif job.backend == "nvrtc" and job.relocatable:
        image = gpu.link(ptx)
    entry = {"names": names, "report": outcome.report, "diagnostics": outcome.diagnostics}
    return ptx, image, {**entry, "log": log, "printed": outcome.printed}


Translated = tuple[str, dict[str, str], Outcome]


def _nvcc(job: CompileJob) -> Translated:
    """With nvcc: the names are asked for by variables that are initialized with addresses."""
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        given = job.path or str(Path(folder, UNNAMED))
        if job.path is None:
            cache.put_text(given, job.text)
        main, output = given, Path(folder, "module.ptx")
        if job.prologue or job.names:
            main = str(Path(folder, "main.cu"))
            wanted = "".join(
                f'extern "C" __device__ const void *ccc_name_{i} = (const void *)({name});\n'
                for i, name in enumerate(job.names)
            )
            tail = f'#line 1 "name_expressions"\n{wanted}'
            cache.put_text(main, f'{job.prologue}#include "{given}"\n{tail}')
        options = ["-rdc=true" if o in RELOCATABLE else o for o in job.options]
        command = ["-ptx", _target(job), *options, main, "-o", str(output)]
        outcome = nvcc.run(command, job.ours, capture=True)
        ptx = "" if outcome.code else output.read_text(encoding="utf-8", errors="surrogateescape")

        def shown(text: str) -> str:
            return text.replace(given, job.shown)

    plain = json.loads(json.dumps(asdict(outcome)).replace(json.dumps(given)[1:-1], job.shown))
    found = {job.names[int(i)]: name for i, name in _NAME.findall(ptx)}
    return shown(_NAME.sub("", ptx)), found, Outcome(**plain)


def _target(job: CompileJob) -> str:
    return f"-gencode=arch=compute_{job.arch},code=sm_{job.arch}"


def _assemble(job: CompileJob, ptx: str) -> tuple[bytes, str]:
    """Machine code of PTX, with nvcc, which hands its options on to ptxas; and what it said."""
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        given, linked, output = (str(Path(folder, f"module.{x}")) for x in ("ptx", "o", "cubin"))
        cache.put_text(given, ptx)
        told = [_target(job), *job.options]
        steps = [[*told, "-cubin", given, "-o", output]]
        if job.relocatable:
            rest = [option for option in told if option not in RELOCATABLE]
            steps = [
                [*told, "-dc", given, "-o", linked],
                [*rest, "-cubin", "-dlink", linked, "-o", output],
            ]
        said = "".join(_run([str(toolchain.find().nvcc), *step]) for step in steps)
        return Path(output).read_bytes(), said


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise CccError(f"nvcc cannot assemble the PTX:\n{done.stdout.strip()}")
    return done.stdout


def _marked_ptx(job: CompileJob) -> Translated:
    """PTX with markers, from a file."""
    done = DevicePass((job.shown, ""))
    ptx = unit.transform_file(done, job.ours)
    return ptx, {}, nvcc.merge([done], int(done.error is not None))
