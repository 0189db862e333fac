"""The only door to CuPy: the device, modules of PTX or machine code, timed launches, and NVRTC."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import io
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ccc.errors import CccError
from ccc.ir.markers import hide_markers
from ccc.ptx.dynamic_stack import added, shares
from ccc.ptx.occupancy import KB, occupancy
from ccc.toolkit.ptxas import Resources, assemble

HOLD = """
.version 6.0
.target sm_70
.address_size 64
.visible .entry hold(.param .u64 cycles)
{
    .reg .u64 %start, %now, %cycles;
    .reg .pred %p;
    ld.param.u64 %cycles, [cycles];
    mov.u64 %start, %clock64;
again:
    mov.u64 %now, %clock64;
    sub.u64 %now, %now, %start;
    setp.lt.u64 %p, %now, %cycles;
    @%p bra again;
    ret;
}
"""
"""A kernel of one thread that keeps the device busy for a number of cycles.

It goes before each timed launch: while it runs, the host queues the first event, the kernel and
the second event, so that the time between the events is the kernel's and not the host's.
"""

NO_DEVICE = (
    "CuPy finds no CUDA device; it takes an NVIDIA GPU and its driver. Without them cccc compiles "
    'kernels and ccc compare runs them on an emulator: see "Without a GPU" in docs/cupy.md'
)
HOLD_CYCLES = 100_000  # 50 microseconds at 2 GHz; the host needs some ten


def _cupy() -> Any:
    try:
        return importlib.import_module("cupy")
    except ImportError as error:
        raise CccError(f"a GPU is used through CuPy: pip install cupy-cuda13x ({error})") from None


def require() -> Any:
    """CuPy, where there is a device for it.

    Raises:
        CccError: CuPy is not installed, or finds no device.
    """
    cupy = _cupy()
    runtime = cupy.cuda.runtime
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        raise CccError(f"{NO_DEVICE} ({error})") from None
    if not count:
        raise CccError(NO_DEVICE)
    return cupy


def available() -> bool:
    """Whether CuPy is installed and finds a CUDA device."""
    try:
        GpuDevice()
    except CccError:
        return False
    return True


class GpuDevice:
    """CuPy's current device.

    Args:
        ptxas: the assembler that ``load`` runs; None leaves assembling to the driver.

    Raises:
        CccError: CuPy is not installed, or finds no device.
    """

    kind = "gpu"
    warmups = 1

    def __init__(self, ptxas: str | Path | None = None):
        self._cupy = require()
        self._ptxas = ptxas
        runtime = self._cupy.cuda.runtime
        device = self._cupy.cuda.Device()
        self._properties: dict[str, Any] = runtime.getDeviceProperties(device.id)
        self.arch = f"sm_{device.compute_capability}"
        """Of the device, such as ``sm_90``."""
        self.multiprocessors = int(self._properties["multiProcessorCount"])
        """How many multiprocessors the device has."""
        self.shared_limit = int(self._properties["sharedMemPerBlockOptin"])
        """The most shared memory of a block, in bytes, if a launch asks for it."""
        self._folder = tempfile.TemporaryDirectory(prefix="ccc-")
        self._hold = self._raw_module(HOLD).get_function("hold")

    def describe(self) -> dict[str, Any]:
        """The device and its software, for a record of a measurement."""
        name = self._properties["name"]
        return {
            "gpu": name.decode() if isinstance(name, bytes) else str(name),
            "arch": self.arch,
            "multiprocessors": self.multiprocessors,
            "cuda_driver": int(self._cupy.cuda.runtime.driverGetVersion()),
            "cupy": str(self._cupy.__version__),
        }

    def load(self, ptx: str) -> GpuModule:
        """Load a module of PTX text.

        Raises:
            CccError: ptxas refuses the text. What the driver refuses raises CuPy's own error.
        """
        image = (
            ptx
            if self._ptxas is None
            else assemble(ptx, self.arch, self._ptxas, is_whole=True).cubin
        )
        return GpuModule(self, self._raw_module(image), shares(ptx))

    def load_code(self, cubin: bytes) -> GpuModule:
        """Load machine code; none of its kernels has stacks that ``ccc`` put there."""
        return GpuModule(self, self._raw_module(cubin), {})

    def put(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Copy arrays, NumPy's or the device's own, to the device; anything else stays as it is.

        Raises:
            CccError: they do not fit.
        """
        arrays, copy = (np.ndarray, self._cupy.ndarray), self._cupy.array
        try:
            return {k: copy(v) if isinstance(v, arrays) else v for k, v in values.items()}
        except MemoryError as error:
            raise CccError("the inputs do not fit into the device's memory") from error

    def get(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Copy arrays from the device; anything else stays as it is.

        Raises:
            CccError: a kernel failed, which the device tells whoever waits for it next.
        """
        array, copy = self._cupy.ndarray, self._cupy.asnumpy
        try:
            return {k: copy(v) if isinstance(v, array) else v for k, v in values.items()}
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise CccError(f"a kernel failed: {error}") from error

    def alike(self, values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
        """Whether both are the same arrays of the device, bit for bit; it compares them itself.

        Raises:
            CccError: a kernel failed.
        """
        array = self._cupy.ndarray

        def same(one: Any, other: Any) -> bool:
            if not (isinstance(one, array) and isinstance(other, array)):
                return False
            if (one.dtype, one.shape) != (other.dtype, other.shape):
                return False
            flat = (self._cupy.ascontiguousarray(x).reshape(-1).view("u1") for x in (one, other))
            return bool(self._cupy.array_equal(*flat))

        try:
            return values.keys() == others.keys() and all(
                same(value, others[name]) for name, value in values.items()
            )
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise CccError(f"a kernel failed: {error}") from error

    def give_stack(self, size: int) -> None:
        """Give each thread so many bytes of stack where nothing knows what it needs: a kernel that
        calls itself gets a kilobyte otherwise, and faults where it goes deeper."""
        runtime = self._cupy.cuda.runtime
        runtime.deviceSetLimit(runtime.cudaLimitStackSize, size)

    def hold(self, cycles: int = HOLD_CYCLES) -> None:
        """Keep the device busy while the host queues what is to be timed."""
        self._hold((1,), (1,), (np.uint64(cycles),))

    def profiling(self) -> contextlib.AbstractContextManager[None]:
        """A block whose launches a profiler sees that was told to wait for the program's word."""
        profiler = importlib.import_module("cupyx.profiler")
        scope: contextlib.AbstractContextManager[None] = profiler.profile()
        return scope

    def event(self) -> Any:
        """A CuPy event that has been recorded on the current stream."""
        event = self._cupy.cuda.Event()
        event.record()
        return event

    def milliseconds(self, start: Any, end: Any) -> float:
        """The time between two events; waits for the second."""
        end.synchronize()
        return float(self._cupy.cuda.get_elapsed_time(start, end))

    def _raw_module(self, image: str | bytes) -> Any:
        """A ``cupy.RawModule``; the path it takes is named after what is in the file.

        CuPy keeps loaded modules by their path, so no two modules may ever share one.
        """
        data = image.encode() if isinstance(image, str) else image
        suffix = ".ptx" if isinstance(image, str) else ".cubin"
        path = Path(self._folder.name, hashlib.sha256(data).hexdigest() + suffix)
        path.write_bytes(data)
        return self._cupy.RawModule(path=str(path))


class GpuModule:
    """A loaded module: ``cupy.RawModule`` with timed launches; made by ``GpuDevice.load``.

    ``shares`` are the bytes of a warp's stacks in dynamic shared memory, by kernel.
    """

    def __init__(self, device: GpuDevice, raw: Any, shares: Mapping[str, int]):
        self._device = device
        self._raw = raw
        self._shares = shares

    def get_function(self, name: str) -> GpuKernel:
        """The kernel of that (mangled) name; an unknown one raises CuPy's own error."""
        return GpuKernel(self._device, self._raw.get_function(name), self._shares.get(name, 0))

    def get_global(self, name: str) -> Any:
        """CuPy's pointer to a module variable; an unknown one raises CuPy's own error."""
        return self._raw.get_global(name)

    def resources(self, name: str) -> Resources:
        """What the driver says that a kernel needs."""
        kernel = self._raw.get_function(name)
        return Resources(
            registers=kernel.num_regs,
            shared=kernel.shared_size_bytes,
            stack=kernel.local_size_bytes,
        )

    def added(self, name: str, threads: int) -> int:
        """The bytes that a launch adds for stacks, of blocks of so many threads."""
        return added(self._shares.get(name, 0), threads)

    def resident_blocks(self, name: str, block: int | Sequence[int], shared_mem: int = 0) -> int:
        """How many blocks of a kernel the whole device runs at once; at least 1.

        Args:
            name: of the kernel.
            block: threads of a block, as one number or as its shape.
            shared_mem: dynamic shared memory of a block, bytes.
        """
        threads = block if isinstance(block, int) else math.prod(block)
        needs = self.resources(name)
        shared = needs.shared + shared_mem + self.added(name, threads)
        room = occupancy(self._device.arch, needs.registers, shared, threads)
        return max(room.blocks, 1) * self._device.multiprocessors


class GpuKernel:
    """A kernel that is timed whenever it is launched, with ``share`` bytes for each warp."""

    def __init__(self, device: GpuDevice, kernel: Any, share: int):
        self._device = device
        self._kernel = kernel
        self._share = share

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: tuple[Any, ...],
        *,
        shared_mem: int = 0,
    ) -> Timing:
        """Launch: ``cupy.RawKernel``'s arguments. Does not wait for the kernel to end."""
        shared_mem += added(self._share, math.prod(block))
        if shared_mem and shared_mem + self._kernel.shared_size_bytes > 48 * KB:
            self._kernel.max_dynamic_shared_size_bytes = shared_mem  # it has to be asked for
        self._device.hold()
        start = self._device.event()
        self._kernel(grid, block, args, shared_mem=shared_mem)
        return Timing(self._device, start, self._device.event())


@dataclass(frozen=True, slots=True)
class Timing:
    """The two events around a launch."""

    device: GpuDevice
    start: Any
    end: Any

    @property
    def milliseconds(self) -> float:
        """How long the kernel ran; waits for its end."""
        return self.device.milliseconds(self.start, self.end)


# What ccc.RawModule needs of CuPy; CuPy 13.6 and 14 have these names, which are partly its own.


def current_device() -> int:
    """The number of the device that the calling thread uses."""
    return int(_cupy().cuda.runtime.getDevice())


def arch() -> str:
    """The compute capability that CuPy compiles for on the current device, such as ``90``."""
    return str(_compiler()._get_arch())


def shared_limit() -> int:
    """The most bytes of shared memory that a launch can ask for a block on the current device."""
    return int(_cupy().cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])


def card() -> str:
    """The name of the current device."""
    runtime = _cupy().cuda.runtime
    name = runtime.getDeviceProperties(runtime.getDevice())["name"]
    return name.decode() if isinstance(name, bytes) else str(name)


def record_event() -> Any:
    """An event of CuPy's current stream that is passed when all that came before is done."""
    event = _cupy().cuda.Event()
    event.record()
    return event


def event_done(event: Any) -> bool:
    """Whether an event was passed."""
    return bool(event.done)


def elapsed(start: Any, end: Any) -> float:
    """The milliseconds between two events that were passed."""
    return float(_cupy().cuda.get_elapsed_time(start, end))


def cannot_launch(error: Exception) -> bool:
    """Whether a kernel was not launched since it takes more than there is for such a block."""
    told = str(error)
    return type(error).__name__ == "CUDADriverError" and (
        "LAUNCH_OUT_OF_RESOURCES" in told or "INVALID_VALUE" in told
    )


def is_capturing() -> bool:
    """Whether what is launched now goes into a graph."""
    cupy = _cupy()
    try:
        return bool(cupy.cuda.get_current_stream().is_capturing())
    except cupy.cuda.runtime.CUDARuntimeError:
        return True  # of the null stream, while another one that waits for it is captured


def compiler_options(options: Sequence[str], backend: str, cooperative: bool) -> tuple[str, ...]:
    """What CuPy hands to the compiler of a raw module that is given ``options``.

    That is, in CuPy 13.6 and 14: folders of headers, ``--std=`` (c++11 and c++17) where none is
    given, ``-ftz=true``, for NVRTC ``--device-as-default-execution-space``, and for a debugger what
    ``CUPY_CUDA_COMPILE_WITH_DEBUG`` says; in 13 also ``--device-c`` for a cooperative launch. See
    ``_compile_with_cache_cuda`` and ``compile_using_nvrtc`` in cupy/cuda/compiler.py.
    """
    core = importlib.import_module("cupy._core.core")
    cupy, compiler = _cupy(), _compiler()
    told: tuple[str, ...] = core.assemble_cupy_compiler_options(tuple(options))
    told += ("-ftz=true",)
    if int(cupy.__version__.split(".")[0]) < 14:
        told += ("--device-c",) if cooperative else ()
        told += compiler._get_extra_include_dir_opts()
    if os.environ.get("CUPY_CUDA_COMPILE_WITH_DEBUG") == "1":
        told += ("--device-debug", "--generate-line-info")
    if backend == "nvrtc":
        told += ("--device-as-default-execution-space",)
    return told


def complex_prologue() -> str:
    """What stands in for cuComplex.h under ``translate_cucomplex``: CuPy's complex numbers."""
    core = importlib.import_module("cupy._core.core")
    headers = dict.fromkeys([*core._cupy_header_list, "cupy/cuComplex_bridge.h"])
    return "#define CU_COMPLEX_H_\n" + "".join(f"#include <{name}>\n" for name in headers)


def texture_module() -> Any:
    """CuPy's textures, surfaces and CUDA arrays."""
    return importlib.import_module("cupy.cuda.texture")


@functools.cache
def nvrtc_version() -> str:
    """The NVRTC that CuPy loads, to its build; and CuPy, whose headers come along.

    Raises:
        CccError: there is none.
    """
    ptx, _, _ = nvrtc("", "version.cu", ("--gpu-architecture=compute_80",))
    build = [line for line in ptx.splitlines() if line.startswith("//")]
    return "\n".join([*build, f"CuPy {_cupy().__version__}"])


def nvrtc(
    text: str, name: str, options: tuple[str, ...], names: Sequence[str] = ()
) -> tuple[str, dict[str, str], str]:
    """Compile CUDA to PTX with NVRTC.

    Args:
        text: the source.
        name: what messages call it.
        options: of NVRTC.
        names: C++ names whose mangled ones are wanted.

    Returns:
        The PTX, the mangled names by those asked for, and what NVRTC said.

    Raises:
        CccError: no NVRTC, or an error in the source.
    """
    compiler, log = _compiler(), io.StringIO()
    try:
        program = compiler._NVRTCProgram(text, name, name_expressions=tuple(names))
        ptx, found = program.compile(options, log)
    except compiler.CompileException as error:
        raise CccError(f"NVRTC failed:\n{hide_markers(str(error)).strip()}") from None
    except RuntimeError as error:
        raise CccError(f"NVRTC does not work: pip install nvidia-cuda-nvrtc ({error})") from None
    return ptx.decode(), found or {}, hide_markers(log.getvalue())


def link(ptx: str) -> bytes:
    """Machine code of relocatable PTX, linked with the device runtime as CuPy does it.

    Raises:
        CccError: there is no device runtime, or the driver refuses the PTX.
    """
    state = importlib.import_module("cupy.cuda.function").LinkState()
    try:
        state.add_ptr_data(ptx.encode(), "ccc.ptx")
        state.add_ptr_file(_compiler()._get_cudadevrt_path())
        return bytes(state.complete())
    except RuntimeError as error:
        raise CccError(f"relocatable code cannot be linked: {error}") from error


def raw_module(path: str, cooperative: bool) -> Any:
    """A ``cupy.RawModule`` of a file with machine code or PTX, loaded on the current device.

    Raises:
        CccError: the driver is older than the PTX. What else it refuses raises CuPy's own error.
    """
    cupy = require()
    raw = cupy.RawModule(path=path, enable_cooperative_groups=cooperative)
    try:
        raw.compile()
    except cupy.cuda.driver.CUDADriverError as error:
        if "UNSUPPORTED_PTX_VERSION" not in str(error):
            raise
        raise CccError(
            "the driver is older than NVRTC and does not know its PTX: install NVRTC of the "
            'driver\'s version (pip install "nvidia-cuda-nvrtc==13.0.*"), a newer driver, or nvcc, '
            'and take backend="nvcc"'
        ) from error
    return raw


def _compiler() -> Any:
    _cupy()
    return importlib.import_module("cupy.cuda.compiler")
