"""What makes PTX for the corpus: nvcc on CUB and Thrust, NVRTC, Numba, Triton and LLVM's llc."""

from __future__ import annotations

import ctypes
import glob
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import corpus_sources as sources
from folders import TESTS

from ccc.errors import CccError
from ccc.frontend.marking import strip
from ccc.toolkit import find as toolchain


class Missing(Exception):
    """A file that cannot be made here, and why."""


@dataclass(frozen=True)
class Job:
    """One file of PTX: ``generator`` makes it of the source called ``name``."""

    generator: str
    name: str
    arch: str
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.generator, self.name, self.arch, *self.options])

    def make(self, folder: Path) -> str:
        """The text.

        Raises:
            Missing: it cannot be made.
        """
        return _MAKE[self.generator](self, folder)


Maker = Callable[[tuple[str, ...]], Iterator[Job]]
_DEBUG: tuple[tuple[str, ...], ...] = ((), ("-lineinfo",), ("-G",))
"""Of each source: as it is, with lines, and for the debugger; the last two for one architecture."""


def _variants(
    generator: str, names: Iterator[str], architectures: tuple[str, ...]
) -> Iterator[Job]:
    for name in names:
        for number, arch in enumerate(architectures):
            for options in _DEBUG if number == len(architectures) // 2 else _DEBUG[:1]:
                yield Job(generator, name, arch, options)


# ---- nvcc ----------------------------------------------------------------------------------------


def of_nvcc(architectures: tuple[str, ...]) -> Iterator[Job]:
    """CUB's and Thrust's algorithms, and the tests' own sources."""
    names = [f"cub/{n}" for n in sources.CUB] + [f"thrust/{n}" for n in sources.THRUST]
    yield from _variants("nvcc", iter([*_cases(), *names]), architectures)


def _cases() -> list[str]:
    return [f"cases/{name}" for name in sources.CASES]


def _source(name: str) -> str:
    kind, _, rest = name.partition("/")
    if kind == "cases":
        return strip((TESTS / "cases" / f"{rest}.cu").read_text())
    return sources.cub(rest) if kind == "cub" else sources.thrust(rest)


def _nvcc(job: Job, folder: Path) -> str:
    try:
        nvcc = toolchain.find().nvcc
    except CccError as error:
        raise Missing(error.message) from None
    (folder / "k.cu").write_text(_source(job.name))
    command = [str(nvcc), "-ptx", f"-arch={job.arch}", *job.options, "k.cu", "-o", "k.ptx"]
    return _run(command, folder, folder / "k.ptx")


def _run(command: list[str], folder: Path, target: Path) -> str:
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode:
        said = re.search(r"error\W+(.*)", done.stderr) or re.search(r"(.*)", done.stderr)
        raise Missing(f"{Path(command[0]).name} does not take it: {said[1] if said else ''}"[:200])
    return target.read_text()


# ---- NVRTC ---------------------------------------------------------------------------------------


def of_nvrtc(architectures: tuple[str, ...]) -> Iterator[Job]:
    """The tests' sources that include nothing."""
    yield from _variants("nvrtc", iter(_cases()), architectures)


def _nvrtc(job: Job, folder: Path) -> str:  # noqa: ARG001 - nothing is written
    patterns = [f"{place}/nvidia/**/lib/libnvrtc.so*" for place in sys.path]
    found = sorted(one for pattern in patterns for one in glob.glob(pattern, recursive=True))
    if not found:
        raise Missing("there is no wheel of NVRTC")
    for other in sorted(Path(found[0]).parent.glob("libnvrtc-builtins.so*")):
        ctypes.CDLL(str(other), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(found[0])
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    text = _source(job.name).encode()
    library.nvrtcCreateProgram(ctypes.byref(program), text, b"k.cu", 0, None, None)
    options = [f"--gpu-architecture={job.arch.replace('sm', 'compute')}", *job.options]
    given = (ctypes.c_char_p * len(options))(*(one.encode() for one in options))
    if library.nvrtcCompileProgram(program, len(options), given):
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        said = re.search(r"error\W+(.*)", log.value.decode())
        raise Missing(f"NVRTC does not take it: {said[1] if said else ''}"[:150])
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    made = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, made)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return made.value.decode()


# ---- Numba ---------------------------------------------------------------------------------------


def of_numba(architectures: tuple[str, ...]) -> Iterator[Job]:
    """Functions of Python."""
    yield from _variants("numba", iter(sources.NUMBA), architectures)


def _numba(job: Job, folder: Path) -> str:  # noqa: ARG001 - nothing is written
    _point_at_toolkit()
    try:
        cuda, types = (importlib.import_module(f"numba.{name}") for name in ("cuda", "types"))
    except ImportError as error:
        raise Missing(f"numba-cuda is not installed ({error})") from None
    scope = {"cuda": cuda, "math": __import__("math")}
    exec(sources.NUMBA[job.name], scope)
    array = types.float32[::1]
    signature = (types.int32, array, types.int32[::1])
    number = int(job.arch.removeprefix("sm_"))
    try:
        text, _ = cuda.compile_ptx(
            scope["k"], signature, cc=(number // 10, number % 10), device=False,
            lineinfo="-lineinfo" in job.options, debug="-G" in job.options,
            opt="-G" not in job.options,
        )  # fmt: skip
    except Exception as error:
        raise Missing(f"Numba does not take it: {_line(error)}") from None
    return str(text)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:150]


def _point_at_toolkit() -> None:
    try:
        os.environ.setdefault("CUDA_HOME", str(toolchain.find().bin.parent))
    except CccError as error:
        raise Missing(error.message) from None


# ---- Triton --------------------------------------------------------------------------------------


def of_triton(architectures: tuple[str, ...]) -> Iterator[Job]:
    """Kernels of Triton."""
    for name in sources.TRITON:
        for arch in architectures:
            yield Job("triton", name, arch)


def _triton(job: Job, folder: Path) -> str:
    os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
    try:
        triton = importlib.import_module("triton")
        targets = importlib.import_module("triton.backends.compiler")
        compiler = importlib.import_module("triton.compiler")
    except ImportError as error:
        raise Missing(f"triton is not installed ({error})") from None
    text, signature, constants = sources.TRITON[job.name]
    path = folder / f"triton_{job.name}.py"
    path.write_text(sources.TRITON_HEAD + text)
    sys.path.insert(0, str(folder))
    try:
        kernel = getattr(__import__(path.stem), "k")  # noqa: B009
        source = compiler.ASTSource(fn=kernel, signature=signature, constexprs=constants)
        target = targets.GPUTarget("cuda", int(job.arch.removeprefix("sm_")), 32)
        made = triton.compile(source, target=target, options={"ptx_version": 88})
    except Exception as error:
        raise Missing(f"Triton does not take it: {_line(error)}") from None
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(path.stem, None)
    return str(made.asm["ptx"])


# ---- LLVM ----------------------------------------------------------------------------------------


def of_llc(architectures: tuple[str, ...]) -> Iterator[Job]:
    """LLVM's intermediate language."""
    for name in sources.LLVM:
        for arch in architectures:
            for options in ((), ("-O0",)):
                yield Job("llc", name, arch, options)


def _llc(job: Job, folder: Path) -> str:
    llc = shutil.which("llc") or next(iter(sorted(glob.glob("/usr/lib/llvm-*/bin/llc"))), None)
    if llc is None:
        raise Missing("there is no llc")
    (folder / "k.ll").write_text(sources.LLVM[job.name])
    known = subprocess.run([llc, "-march=nvptx64", "-mcpu=help"], capture_output=True, text=True,
                           check=False, stdin=subprocess.DEVNULL)  # fmt: skip
    if not re.search(rf"^\s*{job.arch}\s", known.stderr + known.stdout, re.MULTILINE):
        raise Missing(f"this llc knows no {job.arch}")
    command = [llc, "-march=nvptx64", f"-mcpu={job.arch}", *job.options, "k.ll", "-o", "k.ptx"]
    return _run(command, folder, folder / "k.ptx")


MAKERS: tuple[Maker, ...] = (of_llc, of_triton, of_numba, of_nvrtc, of_nvcc)
_MAKE: dict[str, Callable[[Job, Path], str]] = {
    "nvcc": _nvcc,
    "nvrtc": _nvrtc,
    "numba": _numba,
    "triton": _triton,
    "llc": _llc,
}
