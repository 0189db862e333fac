"""What ``ncu`` starts: runs the tasks of a file once each, and lets ``ncu`` look at some launches.

    python -m ccc.tools.bench.profiled JOBS COUNTS

``JOBS`` is written, and ``COUNTS``, how many launches of each task were looked at, is read by
``ccc.tools.bench.ncu``.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccc.device import gpu
from ccc.harness.launch_config import LaunchConfig
from ccc.harness.measure import Recorder
from ccc.harness.sample import Sample
from ccc.toolkit import find as toolchain
from ccc.tools.bench.inputs import Inputs


@dataclass
class Watched:
    """A module of which every so many launches of some kernels are looked at."""

    device: gpu.GpuDevice
    module: Any
    kernels: frozenset[str]
    every: int
    launches: int = 0
    profiled: int = 0

    def get_function(self, name: str) -> Callable[..., Any]:
        """The kernel of that name."""
        function = self.module.get_function(name)
        return functools.partial(self._launch, function) if name in self.kernels else function

    def _launch(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        self.launches += 1
        if (self.launches - 1) % self.every:
            return function(*args, **options)
        self.profiled += 1
        with self.device.profiling():
            return function(*args, **options)

    def resident_blocks(self, *args: Any) -> int:
        """How many blocks the device runs at once."""
        return int(self.module.resident_blocks(*args))


def main(jobs: str, counts: str) -> None:
    """Run all tasks."""
    record = json.loads(Path(jobs).read_text(encoding="utf-8"))
    sample = Sample(Path(record["sample"]))
    device = gpu.GpuDevice(toolchain.find().program("ptxas"))
    modules = [device.load(text) for text in record["ptx"]]

    @functools.lru_cache(maxsize=1)  # tasks with the same inputs follow one another
    def stored(inputs: Inputs) -> dict[str, Any]:
        return device.put(inputs.make(sample))

    profiled = []
    for task in record["tasks"]:
        kernels = frozenset(task["kernels"])
        watched = Watched(device, modules[task["ptx"]], kernels, task["every"])
        recorder = Recorder(watched, LaunchConfig(**task["configuration"]))
        inputs = stored(Inputs(**task["inputs"]))
        device.get(sample.run(recorder, device.put(inputs)))
        profiled.append(watched.profiled)
    Path(counts).write_text(json.dumps(profiled), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
