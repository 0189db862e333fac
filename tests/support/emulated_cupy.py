"""A stand-in for CuPy's half of ``ccc.jit``: modules run on the emulator, arrays are NumPy's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ccc.device import gpu
from ccc.emulator import Module


class Kernel:
    """What ``cupy.RawKernel`` is to ``ccc.jit.raw``."""

    num_regs = 32
    attributes: dict[str, int] = {"num_regs": 32}  # noqa: RUF012 - never written

    def __init__(self, kernel: Any):
        self.kernel = kernel
        self.shared_size_bytes = 0
        self.max_dynamic_shared_size_bytes = 48 * 1024
        self.preferred_shared_memory_carveout = -1
        self.launches: list[dict[str, Any]] = []

    def __call__(self, grid: Any, block: Any, args: Any, **options: Any) -> None:
        self.launches.append(options)
        counters = self.kernel(grid, block, args, shared_mem=options["shared_mem"])
        Stream.now += counters.instructions / 1000


class Stream:
    """The only stream: its time goes on by a millisecond for 1,000 warp instructions.

    The host is told of what was done up to ``told``; None: of all.
    """

    now = 0.0
    told: float | None = None
    capturing = False


class RawModule:
    """What ``cupy.RawModule`` is to ``ccc.jit.raw``; machine code is run as the PTX beside it."""

    def __init__(self, path: str, cooperative: bool):
        self.path = Path(path)
        self.cooperative = cooperative
        self.module = Module(self.path.with_suffix(".ptx").read_text())

    def get_function(self, name: str) -> Kernel:
        return Kernel(self.module.get_function(name))

    def get_global(self, name: str) -> Any:
        return self.module.get_global(name)


def install(patch: pytest.MonkeyPatch, cache: Path) -> None:
    """Put the stand-in in the place of CuPy, with one device of compute capability 9.0."""
    patch.setenv("CCC_CACHE_DIR", str(cache))
    patch.setattr(gpu, "require", lambda: None)
    patch.setattr(gpu, "current_device", lambda: 0)
    patch.setattr(gpu, "arch", lambda: "90")
    patch.setattr(gpu, "shared_limit", lambda: 227 * 1024)
    patch.setattr(gpu, "raw_module", RawModule)
    patch.setattr(gpu, "card", lambda: "a card")
    patch.setattr(gpu, "record_event", lambda: Stream.now)
    patch.setattr(gpu, "event_done", lambda event: Stream.told is None or event <= Stream.told)
    patch.setattr(gpu, "elapsed", lambda start, end: end - start)
    patch.setattr(gpu, "is_capturing", lambda: Stream.capturing)
    patch.setattr(
        gpu, "compiler_options", lambda options, *_: ("--std=c++17", *options, "-ftz=true")
    )
