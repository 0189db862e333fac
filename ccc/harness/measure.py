"""Run two versions of a sample's kernels on one device: what it takes, and what differs."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ccc.device.choose import Device
from ccc.errors import CccError
from ccc.harness.check import OutputChecker
from ccc.harness.launch_config import OWN, LaunchConfig
from ccc.harness.sample import Sample
from ccc.ptx.occupancy import Occupancy, occupancy
from ccc.toolkit.ptxas import Resources

COUNTERS = (
    "instructions",
    "thread_instructions",
    "warp_execution_efficiency",
    "global_load_transactions",
    "global_store_transactions",
    "shared_bank_conflicts",
    "branches",
    "divergent_branches",
)


@dataclass
class Recorder:
    """The module that a sample's ``run`` gets: it passes launches on and keeps what they return."""

    module: Any
    configuration: LaunchConfig = OWN
    launches: list[MeasuredLaunch] = field(default_factory=list)

    def get_function(self, name: str) -> Callable[..., None]:
        """The kernel of that (mangled) name, called as ``cupy.RawKernel`` is."""
        function = self.module.get_function(name)

        def launch(
            grid: tuple[int, ...],
            block: tuple[int, ...],
            args: tuple[Any, ...],
            shared_mem: int = 0,
        ) -> None:
            for place, value in enumerate(args):
                if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
                    raise CccError(
                        f"argument {place} of {name} is a plain {type(value).__name__}, whose size"
                        " in the kernel is unknown; pass np.int32(..), np.float32(..) or the like"
                    )
            grid, block = self.configuration.cut(grid, block)
            measured = function(grid, block, args, shared_mem=shared_mem)
            self.launches.append(MeasuredLaunch(name, math.prod(block), shared_mem, measured))

        return launch

    def resident_blocks(self, name: str, block: int | tuple[int, ...], shared_mem: int = 0) -> int:
        """How many blocks the device runs at once: a grid for kernels that stride over the rest."""

        def resident(block: int | tuple[int, ...]) -> int:
            return int(self.module.resident_blocks(name, block, shared_mem))

        return self.configuration.resident_blocks(resident, block)


@dataclass
class MeasuredLaunch:
    """One launch: what was measured is ``Counters``, or has ``milliseconds``."""

    kernel: str
    threads: int
    shared_mem: int
    measured: Any


@dataclass
class Figures:
    """What was measured of one kernel in one version, over all its launches in a run.

    Args:
        kernel: its (mangled) name.
        version: ``"original"`` or ``"ccc"``.
        launches: how many a run has.
        block: threads of the largest block.
        shared: shared memory of a block, static and dynamic, bytes.
        resources: what ptxas or the driver says.
        occupancy: from these.
        milliseconds: of each timed run; empty on the emulator.
        counters: of one run; empty on a GPU.
    """

    kernel: str
    version: str
    launches: int
    block: int
    shared: int
    resources: Resources
    occupancy: Occupancy
    milliseconds: list[float] = field(default_factory=list)
    counters: dict[str, float] = field(default_factory=dict)


@dataclass
class Result:
    """A comparison: the figures, the outputs of the original's first run, and what is wrong."""

    figures: list[Figures]
    outputs: dict[str, Any]
    complaints: dict[str, list[str]]
    """By version; only of those with which something is wrong."""

    tolerated: dict[str, float] = field(default_factory=dict)
    """By version, the largest relative difference from the original that was tolerated."""

    @property
    def differences(self) -> list[str]:
        """What is wrong with any version."""
        return [text for complaints in self.complaints.values() for text in complaints]

    @property
    def equal(self) -> bool:
        """Whether nothing differs, but for what is tolerated."""
        return not self.differences


def measure(
    sample: Sample,
    device: Device,
    modules: Mapping[str, Any],
    inputs: dict[str, Any],
    *,
    repeat: int,
    step: Callable[[str], contextlib.AbstractContextManager[None]],
    rivals: Mapping[str, dict[str, Any]] | None = None,
    configurations: Mapping[str, LaunchConfig] | None = None,
    tolerance: float | None = 0.0,
    models: Mapping[str, str] | None = None,
) -> Result:
    """Run the versions in turn, and compare the outputs of every run with those of the first.

    Args:
        sample: what is run.
        device: where.
        modules: by version; the first is the original.
        inputs: NumPy arrays and scalars; not changed.
        repeat: how often each version is run; on a GPU once more, to warm up.
        step: is told what goes on, and holds while it does.
        rivals: the inputs of each version whose outputs only have to pass the sample's check.
        configurations: of the versions that are to be launched otherwise than ``run`` does.
        tolerance: the largest relative difference that floating-point outputs may have; None: in
            half of the digits of their type.
        models: the versions, before them, whose outputs others have to equal instead of those of
            the first, by these.
    """
    own = dict.fromkeys(modules, inputs) | dict(rivals or {})
    stored = {id(one): device.put(one) for one in own.values()}
    checker = OutputChecker(sample, next(iter(modules)), own, rivals or {}, tolerance)
    checker.models = models or {}
    runs: dict[str, list[list[MeasuredLaunch]]] = {version: [] for version in modules}
    first: dict[str, dict[str, Any]] = {}

    def run(version: str, module: Any) -> None:
        recorder = Recorder(module, (configurations or {}).get(version, OWN))
        try:
            with step(f"running {version}"):
                made = sample.run(recorder, device.put(stored[id(own[version])]))
                judged = version in first and device.alike(first[version], made)
                outputs = {} if judged else device.get(made)
        except CccError as error:
            if version not in checker.rivals:
                raise
            checker.complain(version, [str(error)])
            return
        runs[version].append(recorder.launches)
        if judged:  # what its first run gave was checked
            return
        first.setdefault(version, made)
        with step(f"checking {version}"):
            checker.check(version, outputs)

    for _ in range(device.warmups + repeat):
        for version, module in modules.items():
            run(version, module)
    return _result(modules, device, runs, checker)


def _result(
    modules: Mapping[str, Any],
    device: Device,
    runs: Mapping[str, list[list[MeasuredLaunch]]],
    checker: OutputChecker,
) -> Result:
    """The figures of all runs behind the warm-ups, and what was wrong with them."""
    figures = [
        one
        for version, told in runs.items()
        if told
        for one in _figures(version, modules[version], device, told[device.warmups :])
    ]
    said = {version: list(texts) for version, texts in checker.complaints.items()}
    return Result(figures, checker.expected, said, checker.tolerated)


def _figures(
    version: str, module: Any, device: Device, runs: list[list[MeasuredLaunch]]
) -> Iterator[Figures]:
    """The figures of each kernel that was launched, in the order of their first launches."""
    for kernel in dict.fromkeys(launch.kernel for launch in runs[-1]):
        mine = [[launch for launch in run if launch.kernel == kernel] for run in runs]
        last = mine[-1]
        needs = module.resources(kernel)
        block = max(launch.threads for launch in last)
        asked = max(one.shared_mem + module.added(kernel, one.threads) for one in last)
        shared = needs.shared + asked
        figures = Figures(
            kernel,
            version,
            launches=len(last),
            block=block,
            shared=shared,
            resources=needs,
            occupancy=occupancy(device.arch, needs.registers, shared, block),
        )
        if device.kind == "gpu":
            figures.milliseconds = [sum(one.measured.milliseconds for one in run) for run in mine]
        else:
            total = functools.reduce(operator.add, (launch.measured for launch in last))
            figures.counters = {name: getattr(total, name) for name in COUNTERS}
        yield figures
