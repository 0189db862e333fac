"""Measuring a sample on certain inputs: every treatment is checked, then timed in turn."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from ccc.device.choose import Device
from ccc.errors import CccError
from ccc.harness.launch_config import LaunchConfig
from ccc.harness.measure import Figures, measure
from ccc.tools.bench import tuning
from ccc.tools.bench.results import (
    BOUND,
    CCC,
    ORIGINAL,
    SAME_LAUNCH,
    Entry,
    KernelFootprint,
    Treatment,
)
from ccc.tools.bench.treatments import Subject

Step = Callable[[str], contextlib.AbstractContextManager[None]]
"""Is told what goes on, and holds while it does."""

UNITS = {"gpu": "ms", "emulator": "warp instructions"}
"""What a treatment costs, by the kind of device."""

Arrays = dict[str, Any]


def fill(entry: Entry, subject: Subject, device: Device, repeat: int, step: Step) -> None:
    """Measure all treatments, each in the configuration in which it is fastest, into the entry.

    Ccc's outputs must be, bit for bit, those of the original in the same configuration, which is
    measured besides where it is not the original's best. Others have to pass the sample's check.

    Raises:
        CccError: the sample fails, or ccc's outputs are not those of the original.
    """
    sample = subject.sample
    with step("making the inputs"):
        inputs = entry.inputs.make(sample)
        rivals = {label: inputs for label in subject.modules if label not in (ORIGINAL, CCC)}
        if BOUND in rivals:
            rivals[BOUND] = sample.bound_inputs(inputs)
    configurations = _tuned(subject, device, inputs, rivals, step)
    modules = dict(subject.modules)
    if configurations[ORIGINAL] != configurations[CCC]:
        # Outputs are compared with those of the first.
        modules = {SAME_LAUNCH: modules[ORIGINAL], **modules}
        configurations[SAME_LAUNCH] = configurations[CCC]
        rivals[ORIGINAL] = inputs
    result = measure(
        sample,
        device,
        modules,
        inputs,
        repeat=repeat,
        step=step,
        rivals={label: rivals[label] for label in rivals if label in modules},
        configurations=configurations,
    )
    wrong = {label: said[0] for label, said in result.complaints.items()}
    for label in (SAME_LAUNCH, ORIGINAL, CCC):
        if label in wrong:
            raise CccError(wrong[label])
    treatments = {
        label: _treatment(label, result.figures, subject.kernels, configurations[label])
        for label in modules
        if label not in wrong
    }
    entry.treatments = _original_first(treatments)
    if device.kind == "emulator":
        entry.efficiency_source = "the emulator"
    entry.rejected = {**subject.rejected, **wrong}
    ran = {kernel.name for kernel in entry[CCC].kernels}
    reports = [kernel for kernel in subject.report["kernels"] if kernel["name"] in ran]
    entry.paths = [path for kernel in reports for path in kernel["paths"]]


def _tuned(
    subject: Subject,
    device: Device,
    inputs: Arrays,
    rivals: Mapping[str, Arrays],
    step: Step,
) -> dict[str, LaunchConfig]:
    """The fastest configuration of each module; rejects rivals that fail."""
    configurations = {}
    for label, module in list(subject.modules.items()):
        blocks = () if label in rivals else subject.sample.blocks
        with step(f"looking for the best launch of {label}"):
            stored = device.put(rivals.get(label, inputs))
            try:
                configurations[label] = tuning.best(
                    subject.sample, device, module, stored, subject.kernels, blocks
                )
            except CccError as error:
                if label not in rivals:
                    raise
                subject.reject(label, str(error))
    return configurations


def _original_first(treatments: Mapping[str, Treatment]) -> list[Treatment]:
    """All in order; of the original in two configurations the faster one is called so."""
    tuned, same = treatments[ORIGINAL], treatments.get(SAME_LAUNCH)
    if same and same.cost < tuned.cost:  # the tuning was off by its noise
        tuned.label, same.label = same.label, tuned.label
    return sorted(treatments.values(), key=lambda one: (one.label != ORIGINAL, one.label != CCC))


def _treatment(
    label: str, figures: list[Figures], kernels: frozenset[str], configuration: LaunchConfig
) -> Treatment:
    own = [one for one in figures if one.version == label and one.kernel in kernels]
    if not own:
        raise CccError(f"run launches none of the annotated kernels: {', '.join(kernels)}")
    lanes = sum(one.counters.get("thread_instructions", 0) for one in own)
    slots = 32 * sum(one.counters.get("instructions", 0) for one in own)
    return Treatment(
        label,
        configuration,
        [sum(costs) for costs in zip(*map(_costs, own), strict=True)],
        [_kernel(one) for one in own],
        lanes / slots if slots else None,
    )


def _costs(figures: Figures) -> list[float]:
    return figures.milliseconds or [figures.counters["instructions"]]


def _kernel(figures: Figures) -> KernelFootprint:
    return KernelFootprint(
        figures.kernel,
        figures.launches,
        figures.block,
        figures.resources.registers,
        figures.shared,
        figures.occupancy.fraction,
    )
