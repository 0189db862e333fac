"""What a device is, and which one is taken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ccc.device import gpu
from ccc.device.emulated import EMULATED_ARCH, Emulator


class Device(Protocol):
    """What runs modules: ``ccc.device.gpu.GpuDevice`` or ``Emulator``."""

    kind: str
    arch: str
    warmups: int
    shared_limit: int

    def describe(self) -> dict[str, Any]:
        """The device, for a record."""

    def load(self, ptx: str) -> Any:
        """A module: ``get_function``, ``resources`` and ``resident_blocks``."""

    def put(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Fresh copies of arrays, where kernels find them."""

    def get(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arrays as NumPy's."""

    def alike(self, values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
        """Whether both are known to be the same, bit for bit, without copying anything."""


def choose_device(
    kind: str | None, arch: str | None, schedule: str | int, ptxas: str | Path
) -> Device:
    """The device asked for; when none was, a GPU where there is one, else the emulator.

    Args:
        kind: ``"gpu"``, ``"emulator"`` or None.
        arch: what the emulator's figures are for, ``EMULATED_ARCH`` where None; a GPU has its own.
        schedule: of the emulator: ``"lockstep"`` or a seed.
        ptxas: the assembler.

    Raises:
        CccError: a GPU was asked for, and there is none.
    """
    if kind == "gpu" or (kind is None and gpu.available()):
        return gpu.GpuDevice(ptxas)
    return Emulator(arch or EMULATED_ARCH, schedule, ptxas)
