"""Measuring a sample on certain inputs: every treatment is checked, then timed in turn."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from ccc.device.choose import Device
from ccc.errors import CccError
from ccc.harness.launch_config import LaunchConfig
from ccc.harness.measure import Figures, measure
from ccc.tools.bench import trials, tuning
from ccc.tools.bench.inputs import made
from ccc.tools.bench.results import (
    BOUND,
    CCC,
    CHOSEN,
    ORIGINAL,
    PROFILED,
    TUNED,
    Entry,
    KernelFootprint,
    Treatment,
    launched_as,
)
from ccc.tools.bench.treatments import Subject
from ccc.tools.bench.versions import Build

Step = Callable[[str], contextlib.AbstractContextManager[None]]
"""Is told what goes on, and holds while it does."""

UNITS = {"gpu": "ms", "emulator": "warp instructions"}
"""What a treatment costs, by the kind of device."""

Arrays = dict[str, Any]


def fill(entry: Entry, subject: Subject, device: Device, repeat: int, step: Step) -> None:
    """Measure all treatments, each in the configuration in which it is fastest, into the entry.

    The outputs of ccc's forms must be, bit for bit, those of the original in the same launch,
    which is measured besides where it is not the original's best. Others have to pass the sample's
    check.

    Raises:
        CccError: the sample fails, or ccc's outputs are not those of the original.
    """
    sample = subject.sample
    with step("making the inputs"):
        inputs = made(entry.inputs, sample)
        rivals = {label: inputs for label in subject.modules if label not in subject.own}
        if BOUND in rivals:
            rivals[BOUND] = sample.bound_inputs(inputs)
    configurations = _tuned(subject, device, inputs, rivals, step)
    if subject.versions is not None and device.kind == "gpu":
        with step("trying all strategies"):
            _try_all(entry, subject, device, inputs, configurations)
    modules, models = _with_models(subject, configurations)
    rivals |= {label: inputs for label in models.values() if label != ORIGINAL}
    result = measure(
        sample,
        device,
        modules,
        inputs,
        repeat=repeat,
        step=step,
        rivals={label: rivals[label] for label in rivals if label in modules},
        configurations=configurations,
        models=models,
    )
    wrong = {label: said[0] for label, said in result.complaints.items()}
    for label in (ORIGINAL, *models.values(), *subject.own):
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
    entry.rejected = {**entry.rejected, **subject.rejected, **wrong}
    entry.same = dict(subject.same)
    ran = frozenset(kernel.name for kernel in entry[CCC].kernels)
    entry.paths = Build("", subject.report).paths(ran)
    if PROFILED in subject.builds:
        entry.profiled = subject.builds[PROFILED].paths(ran)


def _try_all(
    entry: Entry,
    subject: Subject,
    device: Device,
    inputs: Arrays,
    configurations: dict[str, LaunchConfig],
) -> None:
    """Add what is fastest of all that ccc can make."""
    stored = device.put(inputs)
    found = trials.run(subject, device, stored, configurations)
    entry.trials, entry.tuned = found.costs, found.best
    entry.rejected |= found.wrong
    subject.add(TUNED, found.builds[found.best])
    if TUNED in subject.modules:
        configurations[TUNED] = tuning.best(
            subject.sample,
            device,
            subject.modules[TUNED],
            stored,
            subject.kernels,
            subject.sample.blocks,
        )


def _with_models(
    subject: Subject, configurations: dict[str, LaunchConfig]
) -> tuple[dict[str, Any], dict[str, str]]:
    """All modules, the original first, and whose outputs those of ccc's forms have to equal.

    That is the original's in the same configuration, as which it is added where it lacks.
    """
    labels = {configurations[ORIGINAL]: ORIGINAL}
    modules = {ORIGINAL: subject.modules[ORIGINAL]}
    models = {}
    for label in subject.own[1:]:
        mine = configurations[label]
        if mine not in labels:
            labels[mine] = launched_as(label)
            modules[labels[mine]] = modules[ORIGINAL]
            configurations[labels[mine]] = mine
        models[label] = labels[mine]
    return modules | subject.modules, models


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
    """All in order; of the original in several configurations the fastest one is called so."""
    tuned = treatments[ORIGINAL]
    copies = [treatments[label] for label in map(launched_as, CHOSEN) if label in treatments]
    best = min([tuned, *copies], key=lambda one: one.cost)
    tuned.label, best.label = best.label, tuned.label  # the tuning was off by its noise
    own = (ORIGINAL, *CHOSEN)
    place = {label: number for number, label in enumerate(own)}
    return sorted(treatments.values(), key=lambda one: place.get(one.label, len(own)))


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
