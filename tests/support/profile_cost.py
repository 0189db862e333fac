"""What counting costs: each sample with and without ``--ccc-profile``, as docs/profile.md shows it.

    python tests/support/profile_cost.py [gpu | emulator] [SAMPLE ...]

Prints rows of a table: how many times as long it takes (on a GPU, the median of seven runs) or as
many warp instructions (on the emulator), and registers a thread, for the original and transformed.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from folders import SAMPLES

from ccc.device.choose import Device, choose_device
from ccc.harness.measure import Figures, measure
from ccc.harness.sample import Sample
from ccc.nvcc import run as nvcc
from ccc.toolkit import find as toolchain

REPEAT = {"gpu": 7, "emulator": 1}


def counting(sample: Sample, arch: str, *options: str) -> str:
    """The sample's PTX with code that counts."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "counting.ptx")
        command = [str(sample.kernel), f"-arch={arch}", "-ptx", "-o", str(output), *sample.options]
        command += ["--ccc-profile=profile.json", "--ccc-dynamic-shared=0", *options]
        start = "import sys; from ccc.cli import cccc; sys.exit(cccc())"
        subprocess.run([sys.executable, "-c", start, *command], check=True, capture_output=True)
        return output.read_text(encoding="utf-8")


def total(figures: list[Figures], version: str) -> tuple[float, int]:
    """What all kernels of a version take, and the most registers."""
    mine = [one for one in figures if one.version == version]
    cost = sum(
        statistics.median(one.milliseconds) if one.milliseconds else one.counters["instructions"]
        for one in mine
    )
    return cost, max(one.resources.registers for one in mine)


def row(sample: Sample, device: Device) -> list[str]:
    """The cells of one sample."""
    compiled = nvcc.compile(sample.kernel, device.arch, sample.options, dynamic_shared=0)
    inputs = sample.inputs(sample.sizes[device.kind], 0, None, None)
    cells = []
    for plain, options in (compiled.original, []), (compiled.ptx, ["--ccc-profile-transformed"]):
        texts = {"plain": plain, "counting": counting(sample, device.arch, *options)}
        modules = {name: device.load(text) for name, text in texts.items()}
        result = measure(
            sample,
            device,
            modules,
            inputs,
            repeat=REPEAT[device.kind],
            step=lambda _: contextlib.nullcontext(),
        )
        assert result.equal, result.differences
        before, after = (total(result.figures, version) for version in texts)
        cells += [f"{after[0] / before[0]:.2f}", f"{before[1]} → {after[1]}"]
    return cells


def main(kind: str | None = None, *names: str) -> None:
    """Print the table."""
    device = choose_device(kind, None, "lockstep", toolchain.find().program("ptxas"))
    for name in names or sorted(path.parent.name for path in SAMPLES.glob("*/sample.py")):
        print("|", " | ".join([f"`{name}`", *row(Sample(SAMPLES / name), device)]), "|", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
