"""A kernel's work done by a library instead: launched, timed and checked as a kernel is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ccc.device.gpu import GpuDevice, Timing
from ccc.toolkit.ptxas import Resources

Work = Callable[..., Callable[[], object]]
"""Gets the arguments of the kernel, CuPy's arrays and NumPy's scalars; what it gives does the work.

What the library wants to have once, such as an object round the arrays, is made before, untimed."""

HOLD_CYCLES = 2_000_000
"""A millisecond at 2 GHz: what a call of a library takes on the host hides behind it."""


@dataclass(frozen=True, slots=True)
class LibraryModule:
    """A module of which one kernel is done by a library.

    Args:
        device: that of the module.
        module: has the other kernels.
        kernel: the (mangled) name of the one.
        work: what is called in its place.
    """

    device: GpuDevice
    module: Any
    kernel: str
    work: Work

    def get_function(self, name: str) -> Any:
        """The kernel of that name, or the library's work."""
        return self._call if name == self.kernel else self.module.get_function(name)

    def resources(self, name: str) -> Resources:
        """What a kernel needs; of the library nobody says."""
        if name == self.kernel:
            return Resources(registers=0, shared=0, stack=0)
        needs: Resources = self.module.resources(name)
        return needs

    def added(self, name: str, threads: int) -> int:
        """The bytes that a launch adds for stacks."""
        return 0 if name == self.kernel else int(self.module.added(name, threads))

    def resident_blocks(self, name: str, block: Any, shared_mem: int = 0) -> int:
        """How many blocks of the kernel that it stands for the device runs at once."""
        return int(self.module.resident_blocks(name, block, shared_mem))

    def _call(self, _grid: Any, _block: Any, args: tuple[Any, ...], **_: Any) -> Timing:
        """Do it, whatever the launch; timed as a launch is."""
        run = self.work(*args)
        self.device.hold(HOLD_CYCLES)
        start = self.device.event()
        run()
        return Timing(self.device, start, self.device.event())
