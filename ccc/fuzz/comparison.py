"""Whether kernels do the same with and without ``ccc``: compile, assemble, run, compare."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ccc import gpu, nvcc, toolchain
from ccc.compiler import transform
from ccc.emulator import Module
from ccc.equivalence import difference, run
from ccc.errors import CccError
from ccc.fuzz.tree import Kernel, source
from ccc.shim import Settings

DISCIPLINES = ("auto", "queue", "merge")
STEP_LIMIT = 400_000
"""The longest launches take a tenth of it."""

# Contraction and the like depend on what nvcc sees around an operation, markers included.
NVCC_OPTIONS = ("-fmad=false", "-diag-suppress=177,550,186,128")


@dataclass(frozen=True, slots=True)
class Comparison:
    """How to compare: ``schedules`` are for the emulator, in a GPU's place ``device``."""

    arch: str = "sm_90"
    disciplines: tuple[str, ...] = DISCIPLINES
    schedules: tuple[str | int, ...] = ("lockstep", 1, 2)
    device: gpu.Device | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """What is wrong: ``kind`` is what shrinking keeps."""

    kind: str
    detail: str
    discipline: str = ""
    schedule: str | int = ""

    @property
    def at_fault(self) -> str:
        """``generator`` where the kernel is no good by itself, else ``ccc``."""
        return "generator" if self.kind.startswith("generator") else "ccc"

    def __str__(self) -> str:
        where = [f"discipline {self.discipline}"] if self.discipline else []
        where += [f"schedule {self.schedule}"] if self.schedule != "" else []
        return f"{self.kind}: {self.detail}" + (f" ({', '.join(where)})" if where else "")


@dataclass(slots=True)
class Verdict:
    """What became of one kernel; ``reasons`` has None for each path that was applied."""

    failure: Failure | None = None
    reasons: list[str | None] = field(default_factory=list)


class _Broken(Exception):
    """A whole file failed before anything was run."""

    def __init__(self, failure: Failure):
        super().__init__(str(failure))
        self.failure = failure


@dataclass(slots=True)
class _Built:
    original: str
    transformed: dict[str, str]
    reasons: dict[str, list[str | None]]


def check(kernels: Sequence[Kernel], how: Comparison) -> list[Verdict]:
    """Compare both versions of each kernel; all are compiled as one file."""
    if not kernels:
        return []
    try:
        built = _build(kernels, how)
    except _Broken as broken:
        if len(kernels) == 1:
            return [Verdict(broken.failure)]
        half = len(kernels) // 2
        return check(kernels[:half], how) + check(kernels[half:], how)
    runner = _Runner(built, how)
    return [
        Verdict(runner.failure(name, kernel), built.reasons.get(name, []))
        for name, kernel in _named(kernels)
    ]


def _named(kernels: Sequence[Kernel]) -> Iterator[tuple[str, Kernel]]:
    return ((f"k{number}", kernel) for number, kernel in enumerate(kernels))


def _build(kernels: Sequence[Kernel], how: Comparison) -> _Built:
    with tempfile.TemporaryDirectory(prefix="ccc-fuzz-") as folder:
        path = Path(folder, "fuzz.cu")
        path.write_text(source(_named(kernels)), encoding="utf-8")
        with ThreadPoolExecutor(2) as pool:
            marked = pool.submit(_compile, path, how.arch, Settings(mark_only=True))
            original = _compile(path, how.arch, Settings(off=True))
        built = _Built(original, {}, {})
        for discipline in how.disciplines:
            text, reasons = _transform(marked.result(), discipline)
            if text not in built.transformed.values():
                _assemble(text, how.arch, discipline, folder)
                built.transformed[discipline] = text
            built.reasons = built.reasons or reasons
    return built


def _compile(path: Path, arch: str, settings: Settings) -> str:
    output = path.with_suffix(".off.ptx" if settings.off else ".ptx")
    command = ["-ptx", f"-arch={arch}", *NVCC_OPTIONS, str(path), "-o", str(output)]
    outcome = nvcc.run(command, settings, capture=True)
    if outcome.code:
        said = "\n".join([*outcome.errors, outcome.stderr.strip()])
        raise _Broken(Failure("generator: nvcc", said))
    return output.read_text(encoding="utf-8")


def _transform(marked: str, discipline: str) -> tuple[str, dict[str, list[str | None]]]:
    try:
        result = transform(marked, filename="fuzz.ptx", discipline=discipline)
    except Exception as error:
        kind = f"transform: {type(error).__name__}"
        raise _Broken(Failure(kind, str(error), discipline)) from error
    reasons = {
        kernel["name"]: [path["reason"] for path in kernel["paths"]]
        for kernel in result.report["kernels"]
    }
    return result.ptx, reasons


def _assemble(text: str, arch: str, discipline: str, folder: str) -> None:
    path = Path(folder, f"{discipline}.ptx")
    path.write_text(text, encoding="utf-8")
    ptxas = toolchain.find().bin / "ptxas"
    command = [str(ptxas), "-O0", f"-arch={arch}", str(path), "-o", str(path) + ".cubin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise _Broken(Failure("ptxas", done.stderr.strip(), discipline))


class _Runner:
    """Runs the versions of a file's kernels."""

    def __init__(self, built: _Built, how: Comparison):
        self.how = how
        self.original = self._load(built.original)
        self.versions = {name: self._load(text) for name, text in built.transformed.items()}
        self.reasons = built.reasons

    def _load(self, text: str) -> Any:
        if self.how.device is not None:
            return self.how.device.load(text)
        return Module(text, step_limit=STEP_LIMIT)

    def _run(self, module: Any, name: str, kernel: Kernel, schedule: str | int) -> list[Any]:
        device, launch = self.how.device, kernel.launch()
        if device is None:
            return run(module, name, launch, schedule=schedule)[0]
        values = {str(number): value for number, value in enumerate(launch.arguments())}
        put = device.put(values)
        module.get_function(name)(
            launch.grid, launch.block, tuple(put.values()), shared_mem=launch.shared
        )
        return list(device.get(put).values())

    def failure(self, name: str, kernel: Kernel) -> Failure | None:
        """Compare all versions of one kernel; None if they agree."""
        try:
            expected = self._run(self.original, name, kernel, "lockstep")
        except CccError as error:
            return Failure("generator: the original fails", str(error))
        # Code that nothing was done to needs no second schedule.
        applied = None in self.reasons.get(name, [])
        for discipline, module in self.versions.items():
            for schedule in self.how.schedules if applied else self.how.schedules[:1]:
                failure = self._compare(module, name, kernel, schedule, expected)
                if failure is not None:
                    if self._depends_on_order(name, kernel, expected):
                        return Failure("generator: the original depends on the order", str(failure))
                    return replace(failure, discipline=discipline, schedule=schedule)
        return None

    def _compare(
        self, module: Any, name: str, kernel: Kernel, schedule: str | int, expected: list[Any]
    ) -> Failure | None:
        try:
            found = self._run(module, name, kernel, schedule)
        except CccError as error:
            words = " ".join(error.message.split(",")[0].split()[:3])
            return Failure(f"run: {words}", str(error))
        except Exception as error:
            return Failure(f"run: {type(error).__name__}", str(error))
        said = difference(expected, found)
        return Failure("memory", said) if said else None

    def _depends_on_order(self, name: str, kernel: Kernel, expected: list[Any]) -> bool:
        schedules = (1, 2, 3, 4) if self.how.device is None else ()
        return any(
            difference(expected, self._run(self.original, name, kernel, s)) for s in schedules
        )
