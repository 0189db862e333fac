"""Kernels to PTX, several at once: plain, and transformed by ``ccc``."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ccc.compiler.launchable import keep_launchable
from ccc.compiler.registers import Assembler
from ccc.compiler.transform import transform
from ccc.emulator.translate.variables import SHARED_LIMIT
from ccc.errors import CccError
from ccc.frontend.marking import mark, strip
from ccc.ir.arm_markers import as_comments
from ccc.options import Options
from ccc.parse import parse_module
from ccc.remark import Remark
from ccc.toolkit import find as toolchain
from ccc.tools.fuzz.tree import DYNAMIC_BYTES, RandomKernel, source

# Contraction and the like depend on what nvcc sees around an operation, markers included.
NVCC_OPTIONS = ("-fmad=false", "-w")

TABLES = ("--jump-table-density=30",)
"""Has nvcc make jump tables of switches, which it does not do by itself."""

SEPARATE = ("-rdc=true",)
"""Has nvcc expect functions and variables of other files."""

Remarks = dict[str, list[Remark]]

_HIDDEN = "// hidden "
_KERNEL = re.compile(r"(?:_ZN?\d+)?(k\d+)(?:_|$)")


@dataclass(frozen=True, slots=True)
class Failure:
    """What is wrong: ``kind`` is what shrinking keeps. ``variant`` is the number of the launch."""

    kind: str
    detail: str
    strategy: str = ""
    schedule: str | int = ""
    variant: int = 0

    @property
    def at_fault(self) -> str:
        """``generator`` where the kernel is no good by itself, else ``ccc``."""
        return "generator" if self.kind.startswith("generator") else "ccc"

    def __str__(self) -> str:
        where = [f"strategy {self.strategy}"] if self.strategy else []
        where += [f"schedule {self.schedule}"] if self.schedule != "" else []
        where += [f"launch {self.variant}"] if self.variant else []
        return f"{self.kind}: {self.detail}" + (f" ({', '.join(where)})" if where else "")


class Broken(Exception):
    """A whole file failed before anything was run."""

    def __init__(self, failure: Failure):
        super().__init__(str(failure))
        self.failure = failure


@dataclass(frozen=True, slots=True)
class BuiltKernels:
    """One file of kernels ``k0``, ``k1``, ...

    By kernel: ``remarks`` of what became of its paths, and ``failures`` of the transformation.
    """

    original: str
    transformed: str
    remarks: Remarks
    failures: dict[str, Failure] = field(default_factory=dict)


def name_of(number: int) -> str:
    """The name of a kernel in its file."""
    return f"k{number}"


def build(
    kernels: Sequence[RandomKernel], arch: str, strategy: str, options: Sequence[str] = ()
) -> BuiltKernels:
    """Compile kernels as one file, and transform them.

    nvcc's start-up is shared, and no Python is started: the source is marked here.

    Raises:
        Broken: nvcc refuses the file.
    """
    text = source((name_of(number), kernel) for number, kernel in enumerate(kernels))
    try:
        marked = mark(text, "fuzz.cu").text
    except CccError as error:
        raise Broken(Failure("generator: annotation", str(error))) from error
    original, ready = _compile([strip(text), marked], arch, options)
    try:
        text, remarks = _transform(ready, strategy)
    except Exception:  # of one kernel or of several: the others are transformed without them
        return _one_by_one(original, ready, strategy)
    return BuiltKernels(original, text, remarks)


def _transform(marked: str, strategy: str) -> tuple[str, Remarks]:
    options = Options(strategy=strategy, dynamic_shared=DYNAMIC_BYTES, shared_limit=SHARED_LIMIT)
    result = transform(marked, options, filename="fuzz.ptx")
    remarks: Remarks = {}
    for function, mine in result.remarks.items():
        remarks.setdefault(_owner(function), []).extend(mine)
    return keep_launchable(marked, result.ptx, options, Assembler()).ptx, remarks


def _owner(function: str) -> str:
    """The kernel that a function belongs to."""
    named = _KERNEL.match(function)
    return named[1] if named else ""


def _one_by_one(original: str, text: str, strategy: str) -> BuiltKernels:
    remarks: Remarks = {}
    failures = {}
    for name in sorted({_owner(f.name) for f in parse_module(text).functions if f.is_marked}):
        try:
            done, found = _transform(_hidden(text, others=name), strategy)
        except Exception as error:
            failures[name] = Failure(f"transform: {type(error).__name__}", str(error), strategy)
            text = _hidden(text, only=name).replace(_HIDDEN, "// none ")
        else:
            text = done.replace(_HIDDEN, "// ccc.")
            remarks |= found
    return BuiltKernels(original, text, remarks, failures)


def _hidden(text: str, only: str = "", others: str = "") -> str:
    """PTX in which the markers of one kernel, or of all others, are no markers."""
    module = parse_module(text)
    for function in module.functions:
        owner = _owner(function.name)
        hides = owner == only if only else owner != others
        if hides:
            function.text = function.text.replace("// ccc.", _HIDDEN)
    return module.text


def assemble(text: str, arch: str, strategy: str) -> None:
    """Have ptxas check PTX.

    Raises:
        Broken: it refuses the text.
    """
    with tempfile.TemporaryDirectory(prefix="ccc-fuzz-") as folder:
        path = Path(folder, "fuzz.ptx")
        path.write_text(text, encoding="utf-8")
        ptxas = toolchain.find().program("ptxas")
        command = [str(ptxas), "-O0", f"-arch={arch}", str(path), "-o", str(Path(folder, "fuzz"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(Failure("ptxas", done.stderr.strip(), strategy))


def _compile(texts: Sequence[str], arch: str, options: Sequence[str]) -> list[str]:
    """The PTX of several sources, by one nvcc."""
    with tempfile.TemporaryDirectory(prefix="ccc-fuzz-") as folder:
        paths = [Path(folder, f"fuzz{number}.cu") for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        command = [str(toolchain.find().nvcc), "-ptx", f"-arch={arch}", *NVCC_OPTIONS, *options]
        done = subprocess.run(
            [*command, *map(str, paths)], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Broken(Failure("generator: nvcc", done.stderr.strip()))
        made = [path.with_suffix(".ptx").read_text(encoding="utf-8") for path in paths]
        return [as_comments(ptx) for ptx in made]
