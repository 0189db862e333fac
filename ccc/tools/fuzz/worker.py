"""The process that :mod:`ccc.tools.fuzz.device` starts: runs one file of kernels on a GPU.

Says before each launch which it is, and afterwards what is wrong; a line of JSON each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ccc.device import gpu
from ccc.emulator import Module
from ccc.errors import CccError
from ccc.harness.equivalence import Launch, difference, run
from ccc.toolkit import find as toolchain

STACK = 1 << 14
"""Bytes of a thread's stack: recursion twenty deep of functions that keep arrays."""

VERSIONS = ("original", "transformed")


def main(folder: str, first: int) -> int:
    """Run the kernels from number ``first`` on. A fault of the device ends the process."""
    device = gpu.GpuDevice(toolchain.find().program("ptxas"))
    device.give_stack(STACK)
    modules = [
        device.load(Path(folder, f"{name}.ptx").read_text(encoding="utf-8")) for name in VERSIONS
    ]
    work = json.loads(Path(folder, "work.json").read_text(encoding="utf-8"))
    for number, kernel in enumerate(work[first:], first):
        for place, (text, data) in enumerate(kernel["launches"]):
            launch = Launch.parse(text)
            memory = []
            for version, module in zip(VERSIONS, modules, strict=True):
                say("launch", kernel=number, launch=place, version=version)
                try:
                    memory.append(_run(device, module, kernel["name"], launch, data))
                except Exception as error:  # a fault leaves the device unusable for this process
                    say("failure", kind=type(error).__name__, detail=str(error))
                    return 1
            wrong = difference(*memory)
            if wrong:
                again = _run(device, modules[0], kernel["name"], launch, data)
                if difference(memory[0], again) is not None or _depends_on_order(
                    folder, kernel["name"], launch, data
                ):
                    kind = "order"
                elif _agrees(folder, kernel["name"], launch, data, memory[1]):
                    kind = "compiler"
                else:
                    kind = "memory"
                    if not _agrees(folder, kernel["name"], launch, data, memory[0]):
                        wrong += "; neither is what the original's PTX means"
                say("failure", kind=kind, detail=wrong)
                break
    say("end")
    return 0


def say(what: str, **words: Any) -> None:
    """Write one line."""
    print(json.dumps({"is": what, **words}), flush=True)


def _run(
    device: gpu.GpuDevice, module: gpu.GpuModule, name: str, launch: Launch, data: int
) -> list[Any]:
    put = device.put({str(n): value for n, value in enumerate(launch.arguments(data))})
    function = module.get_function(name)
    function(launch.grid, launch.block, tuple(put.values()), shared_mem=launch.shared)
    return list(device.get(put).values())


def _depends_on_order(folder: str, name: str, launch: Launch, data: int) -> bool:
    """Whether the original's PTX means several things: a device mostly makes the same one of it."""
    try:
        original = Module(Path(folder, f"{VERSIONS[0]}.ptx").read_text(encoding="utf-8"))
        found = [run(original, name, launch, data, schedule=seed)[0] for seed in (1, 2, 3, 4)]
    except CccError:
        return False
    return any(difference(found[0], other) is not None for other in found[1:])


def _agrees(folder: str, name: str, launch: Launch, data: int, found: list[Any]) -> bool:
    """Whether the original's PTX means what was found, though the device makes something else."""
    try:
        original = Module(Path(folder, f"{VERSIONS[0]}.ptx").read_text(encoding="utf-8"))
        expected, _ = run(original, name, launch, data)
    except CccError:
        return False
    return difference(expected, found) is None


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], int(sys.argv[2])))
    except CccError as problem:
        sys.exit(str(problem))
