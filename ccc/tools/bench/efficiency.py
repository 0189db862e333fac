"""Warp execution efficiency of what was timed: from whoever can count active lanes here.

The emulator counts whenever it runs something. A GPU does not, so that the original and ccc's form
are run once more where lanes are counted: by ``SOURCES``, the first that works. Each takes the
sample and tasks, and gives the efficiency of each task's annotated kernels, launches weighted by
their instructions; a lane that a predicate switches off is not active.

They do not count the same instructions: ``ncu`` those of the machine code, the others those of PTX.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ccc import profile
from ccc.device import gpu
from ccc.device.choose import Device
from ccc.device.emulated import EMULATED_ARCH, Emulator
from ccc.errors import CccError
from ccc.harness.measure import Recorder
from ccc.harness.sample import Sample
from ccc.profile import instrument as counting
from ccc.toolkit import find as toolchain
from ccc.tools.bench import ncu, nested
from ccc.tools.bench.inputs import Inputs
from ccc.tools.bench.measuring import Step
from ccc.tools.bench.ncu import ProfilingJob
from ccc.tools.bench.results import CHOSEN, ORIGINAL, Entry, Treatment
from ccc.tools.bench.treatments import Subject


def fill(measured: Sequence[tuple[Entry, Subject]], step: Step) -> list[str]:
    """Put the efficiency into the original and ccc's treatments of entries that have none.

    Of nested patterns that the paper counted, rivals get theirs, too.

    Args:
        measured: entries of one sample, and what they were measured with.
        step: is told what goes on.

    Returns:
        Why sources could not be used.
    """
    missing: list[tuple[Entry, Subject, Treatment]] = [
        (entry, subject, one)
        for entry, subject in measured
        for one in entry.treatments
        if one.efficiency is None and one.label in subject.ptx
        if one.label in (ORIGINAL, *CHOSEN) or nested.counted(entry.sample, one.label)
    ]
    if not missing:
        return []
    tasks = [_task(*one) for one in missing]
    sample = missing[0][1].sample
    failures = []
    for name, source in SOURCES.items():
        try:
            with step(f"counting active lanes by {name}"):
                found = source(sample, tasks)
        except CccError as error:
            failures.append(f"{name}: {error.message}")
            continue
        for (entry, _, treatment), efficiency in zip(missing, found, strict=True):
            treatment.efficiency = efficiency
            entry.efficiency_source = name
        break
    return failures


def _task(entry: Entry, subject: Subject, treatment: Treatment) -> ProfilingJob:
    return ProfilingJob(
        ptx=subject.ptx[treatment.label],
        inputs=entry.inputs,
        configuration=treatment.configuration,
        kernels=tuple(kernel.name for kernel in treatment.kernels),
        launches=sum(kernel.launches for kernel in treatment.kernels),
    )


@dataclass(frozen=True, slots=True)
class _Counting:
    """A module with counting code, in the launches that it would have without."""

    counting: Any
    plain: Any

    def get_function(self, name: str) -> Callable[..., Any]:
        """The kernel of that name, which counts."""
        function: Callable[..., Any] = self.counting.get_function(name)
        return function

    def resident_blocks(self, *args: Any) -> int:
        """How many blocks the device runs at once of the kernel that does not count."""
        return int(self.plain.resident_blocks(*args))


def instrumented(
    sample: Sample, tasks: Sequence[ProfilingJob], device: Device | None = None
) -> list[float]:
    """Let the kernels count themselves, by the code that ``ccc.counting`` puts into them.

    Args:
        sample: whose kernels they are.
        tasks: run once each, all launches counted.
        device: what runs them; None for the GPU.

    Raises:
        CccError: there is no GPU, a kernel cannot be counted, or cannot be launched with the
            registers that counting takes.
    """
    device = device or gpu.GpuDevice(toolchain.find().program("ptxas"))

    @functools.lru_cache(maxsize=1)  # tasks with the same inputs follow one another
    def stored(inputs: Inputs) -> dict[str, Any]:
        return device.put(inputs.make(sample))

    @functools.cache
    def load(ptx: str, kernels: tuple[str, ...]) -> _Counting:
        return _Counting(device.load(counting.count(ptx, kernels)), device.load(ptx))

    found = []
    for task in tasks:
        module = load(task.ptx, task.kernels)
        profile.reset(module.counting)
        recorder = Recorder(module, task.configuration)
        device.get(sample.run(recorder, device.put(stored(task.inputs))))
        found.append(profile.of(module.counting).warp_execution_efficiency(task.kernels))
    return found


def emulated(sample: Sample, tasks: Sequence[ProfilingJob]) -> list[float]:
    """Count on the emulator, at the sample's size for it."""
    device = Emulator(EMULATED_ARCH, "lockstep", toolchain.find().program("ptxas"))
    load = functools.lru_cache(maxsize=None)(device.load)
    found = []
    for task in tasks:
        inputs = task.inputs.sized(sample.sizes[device.kind]).make(sample)
        recorder = Recorder(load(task.ptx))
        sample.run(recorder, device.put(inputs))
        counts = [one.measured for one in recorder.launches if one.kernel in task.kernels]
        slots = 32 * sum(one.instructions for one in counts)
        found.append(sum(one.thread_instructions for one in counts) / slots if slots else 1.0)
    return found


SOURCES: Mapping[str, Callable[[Sample, Sequence[ProfilingJob]], list[float]]] = {
    "ncu": ncu.count,
    "code that ccc put into the kernels, in instructions of PTX": instrumented,
    "the emulator, at its own sizes": emulated,
}
