"""The emulator as a device."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccc import emulator
from ccc.emulator.translate.variables import SHARED_LIMIT
from ccc.errors import CccError
from ccc.ptx.dynamic_stack import added
from ccc.toolkit.ptxas import Resources, resources

EMULATED_BLOCKS = 16
"""How many blocks the emulated device is said to run at once: few, so that loops stride far."""

EMULATED_ARCH = "sm_90"


class Emulator:
    """``ccc.emulator`` as a device.

    Args:
        arch: what ptxas assembles for when it tells registers and shared memory.
        schedule: ``"lockstep"`` or a seed.
        ptxas: the assembler.
    """

    kind = "emulator"
    warmups = 0

    def __init__(self, arch: str, schedule: str | int, ptxas: str | Path):
        self.arch = arch
        self.shared_limit = SHARED_LIMIT
        """The most shared memory of a block, in bytes, if a launch asks for it."""
        self._schedule = schedule
        self._ptxas = ptxas

    def describe(self) -> dict[str, Any]:
        """The schedule and the architecture."""
        return {"arch": self.arch, "schedule": self._schedule, "blocks": EMULATED_BLOCKS}

    def load(self, ptx: str) -> EmulatedModule:
        """Parse PTX text; ptxas tells what its kernels need when somebody asks for that."""
        find_needs = functools.partial(resources, ptx, self.arch, self._ptxas)
        return EmulatedModule(emulator.Module(ptx), find_needs, self._schedule)

    def put(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Copies."""
        return copy.deepcopy(dict(values))

    def get(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same."""
        return dict(values)

    def alike(self, values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Nobody has looked yet: there is nothing to copy here."""
        return False


@dataclass
class EmulatedModule:
    """A module of the emulator, with what ``gpu.GpuModule`` has besides."""

    module: Any
    find_needs: Callable[[], Mapping[str, Resources]]
    schedule: str | int

    @functools.cached_property
    def needs(self) -> Mapping[str, Resources]:
        """What ptxas says of each kernel."""
        return self.find_needs()

    def get_function(self, name: str) -> Callable[..., Any]:
        """The kernel of that (mangled) name; each launch returns its ``Counters``.

        Raises:
            CccError: there is no such kernel.
        """
        kernel = self.module.get_function(name)
        if kernel.name != name:  # figures and reports have the other name
            raise CccError(
                f'the kernel "{name}" is called {kernel.name} in the PTX: declare it '
                'extern "C", or let sample.py use that name'
            )
        return functools.partial(kernel, schedule=self.schedule)

    def get_global(self, name: str) -> Any:
        """The bytes of a module variable."""
        return self.module.get_global(name)

    def resources(self, name: str) -> Resources:
        """What ptxas says that a kernel needs."""
        return self.needs[name]

    def added(self, name: str, threads: int) -> int:
        """The bytes that a launch adds for stacks, of blocks of so many threads."""
        return added(self.module.shares.get(name, 0), threads)

    def resident_blocks(self, name: str, *_: Any) -> int:
        """How many blocks of a kernel to launch."""
        self.get_function(name)  # an unknown one is to be told here, too
        return EMULATED_BLOCKS
