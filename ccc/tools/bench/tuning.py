"""In which configuration a module is fastest."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ccc.device.choose import Device
from ccc.harness.launch_config import OWN, LaunchConfig
from ccc.harness.measure import Recorder
from ccc.harness.sample import Sample

TRIALS = 2
"""How often each configuration is tried after a first time; the better one counts."""


def best(
    sample: Sample,
    device: Device,
    module: Any,
    inputs: dict[str, Any],
    kernels: Collection[str],
    blocks: Iterable[int] = (),
) -> LaunchConfig:
    """The fastest configuration: a resident grid or a thread a task, in blocks of several sizes.

    Args:
        sample: what is run.
        device: a GPU; on another one nothing is tried, since it has no time.
        module: loaded on it.
        inputs: on the device.
        kernels: those whose time counts.
        blocks: the sizes to try; the sample's own where there are none.
    """
    if device.kind != "gpu":
        return OWN

    def cost(configuration: LaunchConfig) -> float:
        return min(milliseconds(sample, device, Recorder(module, configuration), inputs, kernels))

    sizes = tuple(blocks) or (None,)
    candidates = itertools.product(sizes, (False, True))
    return min((LaunchConfig(*one) for one in candidates), key=cost)


def milliseconds(
    sample: Sample,
    device: Device,
    recorder: Recorder,
    inputs: dict[str, Any],
    kernels: Collection[str],
) -> Iterator[float]:
    """What the kernels whose time counts take in some runs of a sample.

    Args:
        sample: what is run.
        device: a GPU.
        recorder: around the module.
        inputs: on the device.
        kernels: those whose time counts.
    """
    for turn in range(1 + TRIALS):
        recorder.launches.clear()
        sample.run(recorder, device.put(inputs))
        counted = [launch for launch in recorder.launches if launch.kernel in kernels]
        spent = sum(launch.measured.milliseconds for launch in counted)
        if turn:  # the first time warms up
            yield spent
