"""A device made of Python functions, for what runs modules."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ccc.harness import measure
from ccc.toolkit.ptxas import Resources


@dataclass
class Counted:
    """The sum of two is what the fake launches return on the emulator."""

    instructions: int = 100
    warp_execution_efficiency: float = 0.5

    def __getattr__(self, name: str) -> int:
        if name in measure.COUNTERS:
            return 7
        raise AttributeError(name)

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.instructions + other.instructions)


class FakeDevice:
    """Runs Python functions by the name of their kernel; PTX text names a dictionary of them."""

    arch = "sm_90"
    shared_limit = 227 * 1024

    def __init__(self, kind: str, kernels: dict[str, dict[str, Callable[..., None]]]):
        self.kind = kind
        self.warmups = 1 if kind == "gpu" else 0
        self.kernels = kernels

    def describe(self) -> dict[str, Any]:
        return {"gpu": "none"}

    def load(self, ptx: str) -> FakeModule:
        return FakeModule(self, self.kernels[ptx])

    def put(self, values: Any) -> dict[str, Any]:
        return {name: np.copy(v) if isinstance(v, np.ndarray) else v for name, v in values.items()}

    def get(self, values: Any) -> dict[str, Any]:
        return dict(values)

    def alike(self, values: Any, others: Any) -> bool:
        return self.kind == "gpu" and all(
            np.array_equal(value, others[name]) for name, value in values.items()
        )


class FakeModule:
    def __init__(self, device: FakeDevice, kernels: dict[str, Callable[..., None]]):
        self.device = device
        self.kernels = kernels
        self.launched = 0

    def get_function(self, name: str) -> Callable[..., Any]:
        def launch(_grid: Any, _block: Any, args: Any, *, shared_mem: int) -> Any:
            assert shared_mem in (0, 64)
            self.kernels[name](*args)
            self.launched += 1
            times = types.SimpleNamespace(milliseconds=float(self.launched))
            return times if self.device.kind == "gpu" else Counted()

        return launch

    def resources(self, _: str) -> Resources:
        return Resources(registers=32, shared=16, stack=0)

    def added(self, *_: Any) -> int:
        return 0

    def resident_blocks(self, *_: Any) -> int:
        return 2
