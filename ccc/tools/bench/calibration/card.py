"""The card: it times kernels in issue slots of a warp; a multiply-addition takes one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ccc.device.choose import Device
from ccc.errors import CccError
from ccc.nvcc import run as nvcc
from ccc.options import AUTO, Options

BLOCK = 256
REPEAT = 5
FLOATS = 1 << 27
"""Of the array that kernels write, or read."""
STEPS = 4096

STEP_SOURCE = """\\
extern "C" __global__ void __launch_bounds__(256) loop(int count, int odd, float* out)
{
    __shared__ unsigned shared[256];
    unsigned x = threadIdx.x * 2654435769u;
    const unsigned lane = threadIdx.x % 32;
    float f = threadIdx.x;
    shared[threadIdx.x] = x;
    for (int i = 0; i < count; i += 32) {
        #pragma unroll
        for (int k = 0; k < 32; ++k) { STEP; }
    }
    if (x == odd || f == 7) out[lane] = f + x;
}
"""
STEP = {
    "multiply-addition": "f = fmaf(f, f, -1.9f)",
    "ballot": "x += __ballot_sync(0xffffffffu, x > lane)",
    "shuffle": "x = __shfl_sync(0xffffffffu, x, x)",
    "shared store and load": "shared[threadIdx.x] = x; __syncwarp(); "
    "x += ((volatile unsigned*)shared)[threadIdx.x ^ 1]",
    "count of bits": "x = __popc(x) + lane",
}


@dataclass(frozen=True, slots=True)
class Constant:
    """One of them, as it stands in the file and as it was measured.

    ``known`` is None of what is not in there, ``off`` how far the model is off with what was
    measured, in the mean, as a share of the times; None of what was timed by itself.
    """

    name: str
    known: float | None
    measured: float
    off: float | None = None


class Card:
    """Times kernels on a device, in issue slots.

    Args:
        device: a GPU.
    """

    def __init__(self, device: Device):
        self._device = device
        self._out = device.put({"out": np.zeros(FLOATS, np.float32)})["out"]
        self.words = 0
        """Of a task's context, in what was compiled last."""
        self.expected: float | None = None
        """How many times as fast as the original the model expects that, if it does."""
        self._made: dict[tuple[str, ...], tuple[Any, int, float | None]] = {}
        self._slot = 1.0
        self._slot = self.step("multiply-addition")

    def compile(self, text: str, strategy: str, *defines: str) -> Any:
        """The module of a source; the original where no strategy is asked for."""
        key = text, strategy, *defines
        if key not in self._made:
            self._made[key] = self._compile(text, strategy, *defines)
        module, self.words, self.expected = self._made[key]
        return module

    def _compile(self, text: str, strategy: str, *defines: str) -> tuple[Any, int, float | None]:
        """It, the words of a task, and what is expected."""
        ours = Options(strategy=strategy) if strategy else Options(off=True)
        with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
            source = Path(folder, "calibrate.cu")
            source.write_text(text, encoding="utf-8")
            ptx, report = nvcc.build(source, self._device.arch, defines, ours)
        paths = [path for kernel in report["kernels"] for path in kernel["paths"]]
        served = [
            path for path in paths if path["applied"] and strategy in (AUTO, path["strategy"])
        ]
        if strategy and not served:
            raise CccError("it does not apply to a kernel as simple as that here")
        contexts = [path.get("context", ()) for path in served]
        words = [sum(int(value["type"][1:]) // 32 for value in one) for one in contexts]
        expected = next((path["expected"] for path in served if "expected" in path), None)
        return self._device.load(ptx), max(words, default=0), expected

    @property
    def arch(self) -> str:
        """What kernels are compiled for."""
        return self._device.arch

    def slots(self, module: Any, count: int, number: int, blocks: int = 0) -> float:
        """The issue slots of all warps of a launch together; of as many blocks as there is room
        for, if nobody says how many."""
        grid = blocks or int(module.resident_blocks("loop", BLOCK, 0))
        arguments = (np.int32(count), np.int32(number), self._out)
        kernel = module.get_function("loop")
        launches = [kernel((grid,), (BLOCK,), arguments, shared_mem=0) for _ in range(1 + REPEAT)]
        return float(min(one.milliseconds for one in launches[1:])) / self._slot

    def step(self, name: str) -> float:
        """What one step takes of a warp; all warps do it at the same time."""
        module = self.compile(STEP_SOURCE.replace("STEP", STEP[name]), "")
        warps = int(module.resident_blocks("loop", BLOCK, 0)) * BLOCK // 32
        return (self.slots(module, 2 * STEPS, 0) - self.slots(module, STEPS, 0)) / STEPS / warps

    def steps(self) -> Iterator[Constant]:
        """What some steps take by themselves."""
        for name in STEP:
            yield Constant(name, 1.0 if name == "multiply-addition" else None, self.step(name))
