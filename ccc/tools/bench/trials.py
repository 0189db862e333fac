"""Which of all that ccc can make of a sample is fastest on certain inputs: each is run a few times.

What ``ccc tune`` does to a program: here the same strategy at all annotations where it applies,
what the policy chooses, and what it chooses with a profile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ccc.device.choose import Device
from ccc.errors import CccError
from ccc.harness.check import differences
from ccc.harness.launch_config import LaunchConfig
from ccc.harness.measure import Recorder
from ccc.passes.thresholds import TUNED_GAIN
from ccc.tools.bench import tuning
from ccc.tools.bench.results import CHOSEN
from ccc.tools.bench.treatments import Subject
from ccc.tools.bench.versions import LEAVE, Build

Arrays = dict[str, Any]


@dataclass
class Trials:
    """What came of it.

    Attributes:
        costs: milliseconds by strategy, in the best of some launches; ``leave`` is the original.
        builds: what was tried.
        wrong: what did not run, or computed something else, and why.
    """

    costs: dict[str, float] = field(default_factory=dict)
    builds: dict[str, Build] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    @property
    def best(self) -> str:
        """The fastest, or ``leave`` where that is hardly slower."""
        best = min(self.costs, key=lambda name: self.costs[name])
        worth = self.costs[best] <= (1 - TUNED_GAIN) * self.costs[LEAVE]
        return best if worth else LEAVE


def run(
    subject: Subject, device: Device, inputs: Arrays, configurations: Mapping[str, LaunchConfig]
) -> Trials:
    """Try everything.

    Args:
        subject: the sample, with its versions.
        device: a GPU.
        inputs: on the device.
        configurations: in which the forms of the subject are fastest: each version is tried in
            all of them, and on a resident grid: where a thread has one task, as suits many an
            original, there is nothing to collect.
    """
    found = Trials()
    fastest = [configurations[label] for label in subject.own]
    launches = list(dict.fromkeys([*fastest, *(replace(one, whole=False) for one in fastest)]))
    expected: dict[LaunchConfig, Arrays] = {}
    tried: set[str] = set()
    for name, build in _candidates(subject):
        if build.ptx in tried:
            continue
        tried.add(build.ptx)
        try:
            module = subject.module(build)
            found.costs[name] = min(
                _cost(subject, device, module, inputs, one, expected, name) for one in launches
            )
            found.builds[name] = build
        except CccError as error:
            if name == LEAVE:
                raise
            found.wrong[name] = error.message
    return found


def _candidates(subject: Subject) -> Iterator[tuple[str, Build]]:
    """All that is to be tried, the original first; some may be the same code."""
    assert subject.versions is not None
    yield from subject.versions.strategies()
    for label in CHOSEN:
        if label in subject.builds:
            yield label, subject.builds[label]


def _cost(
    subject: Subject,
    device: Device,
    module: Any,
    inputs: Arrays,
    configuration: LaunchConfig,
    expected: dict[LaunchConfig, Arrays],
    name: str,
) -> float:
    """The milliseconds of a version in one configuration.

    Raises:
        CccError: it does not compute what the original did there, the first to be run.
    """
    recorder = Recorder(module, configuration)
    outputs = subject.sample.run(recorder, device.put(inputs))
    model = expected.setdefault(configuration, outputs)
    wrong = (
        []
        if device.alike(model, outputs)
        else differences(name, device.get(model), device.get(outputs))
    )
    if wrong:
        raise CccError(wrong[0])
    return min(tuning.milliseconds(subject.sample, device, recorder, inputs, subject.kernels))
