"""The only door to CuPy: the device, modules of PTX or machine code, and timed launches."""

from __future__ import annotations

import hashlib
import importlib
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ccc import cost
from ccc.errors import CccError

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

HOLD_CYCLES = 100_000  # 50 microseconds at 2 GHz; the host needs some ten


def _cupy() -> Any:
    try:
        return importlib.import_module("cupy")
    except ImportError as error:
        raise CccError(f"a GPU is used through CuPy: pip install ccc[gpu] ({error})") from error


def available() -> bool:
    """Whether CuPy is installed and finds a CUDA device."""
    try:
        Device()
    except CccError:
        return False
    return True


class Device:
    """CuPy's current device.

    Args:
        ptxas: the assembler that ``load`` runs; None leaves assembling to the driver.

    Raises:
        CccError: CuPy is not installed, or finds no device.
    """

    kind = "gpu"
    warmups = 1

    def __init__(self, ptxas: str | Path | None = None):
        self._cupy = _cupy()
        self._ptxas = ptxas
        runtime = self._cupy.cuda.runtime
        try:
            if not runtime.getDeviceCount():
                raise CccError("CuPy finds no CUDA device")
        except runtime.CUDARuntimeError as error:
            raise CccError(f"CuPy finds no CUDA device: {error}") from error
        device = self._cupy.cuda.Device()
        self._properties: dict[str, Any] = runtime.getDeviceProperties(device.id)
        self.arch = f"sm_{device.compute_capability}"
        """Of the device, such as ``sm_90``."""
        self.multiprocessors = int(self._properties["multiProcessorCount"])
        """How many multiprocessors the device has."""
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

    def load(self, ptx: str) -> Module:
        """Load a module of PTX text.

        Raises:
            CccError: ptxas refuses the text. What the driver refuses raises CuPy's own error.
        """
        if self._ptxas is None:
            return Module(self, self._raw_module(ptx))
        return Module(self, self._raw_module(cost.assemble(ptx, self.arch, self._ptxas).cubin))

    def put(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Copy arrays to the device; anything else stays as it is.

        Raises:
            CccError: they do not fit.
        """
        array, copy = np.ndarray, self._cupy.array
        try:
            return {k: copy(v) if isinstance(v, array) else v for k, v in values.items()}
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

    def hold(self) -> None:
        """Keep the device busy while the host queues what is to be timed."""
        self._hold((1,), (1,), (np.uint64(HOLD_CYCLES),))

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


class Module:
    """A loaded module: ``cupy.RawModule`` with timed launches; made by ``Device.load``."""

    def __init__(self, device: Device, raw: Any):
        self._device = device
        self._raw = raw

    def get_function(self, name: str) -> Function:
        """The kernel of that (mangled) name; an unknown one raises CuPy's own error."""
        return Function(self._device, self._raw.get_function(name))

    def resources(self, name: str) -> cost.Resources:
        """What the driver says that a kernel needs."""
        kernel = self._raw.get_function(name)
        return cost.Resources(
            registers=kernel.num_regs,
            shared=kernel.shared_size_bytes,
            stack=kernel.local_size_bytes,
        )

    def resident_blocks(self, name: str, block: int | Sequence[int], shared_mem: int = 0) -> int:
        """How many blocks of a kernel the whole device runs at once; at least 1.

        Args:
            name: of the kernel.
            block: threads of a block, as one number or as its shape.
            shared_mem: dynamic shared memory of a block, bytes.
        """
        threads = block if isinstance(block, int) else math.prod(block)
        needs = self.resources(name)
        shared = needs.shared + shared_mem
        room = cost.occupancy(self._device.arch, needs.registers, shared, threads)
        return max(room.blocks, 1) * self._device.multiprocessors


class Function:
    """A kernel that is timed whenever it is launched."""

    def __init__(self, device: Device, kernel: Any):
        self._device = device
        self._kernel = kernel

    def __call__(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        args: tuple[Any, ...],
        *,
        shared_mem: int = 0,
    ) -> Timing:
        """Launch: ``cupy.RawKernel``'s arguments. Does not wait for the kernel to end."""
        if shared_mem > 48 * cost.KB:  # more than this has to be asked for
            self._kernel.max_dynamic_shared_size_bytes = shared_mem
        self._device.hold()
        start = self._device.event()
        self._kernel(grid, block, args, shared_mem=shared_mem)
        return Timing(self._device, start, self._device.event())


@dataclass(frozen=True, slots=True)
class Timing:
    """The two events around a launch."""

    device: Device
    start: Any
    end: Any

    @property
    def milliseconds(self) -> float:
        """How long the kernel ran; waits for its end."""
        return self.device.milliseconds(self.start, self.end)
