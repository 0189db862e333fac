"""Active lanes as the GPU's own counters see them, through Nsight Compute's command line, ``ncu``.

``ncu`` starts a Python of ours, ``ccc.tools.bench.profiled``, which runs the tasks once each and
lets ``ncu`` look at some launches of each. https://docs.nvidia.com/nsight-compute/NsightComputeCli/
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ccc.errors import CccError
from ccc.harness.launch_config import LaunchConfig
from ccc.harness.sample import Sample
from ccc.toolkit import find as toolchain
from ccc.tools.bench.inputs import Inputs

INSTRUCTIONS = "smsp__inst_executed.sum"
LANES = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"
"""Warp instructions, and how many lanes were active in one, on the average."""

MOST_LAUNCHES = 40
"""Of a task are looked at, spread evenly over all of them."""

TIMEOUT = 300
"""Seconds for all tasks of a sample."""


@dataclass(frozen=True, slots=True)
class ProfilingJob:
    """What to run: PTX, inputs, configuration, and the kernels that count, with their launches."""

    ptx: str
    inputs: Inputs
    configuration: LaunchConfig
    kernels: tuple[str, ...]
    launches: int

    @property
    def every(self) -> int:
        """Of how many launches one is looked at."""
        return -(-self.launches // MOST_LAUNCHES)


def count(sample: Sample, tasks: Sequence[ProfilingJob]) -> list[float]:
    """The efficiency of each task.

    Raises:
        CccError: there is no ncu, or it may not or cannot count.
    """
    program = shutil.which("ncu") or str(toolchain.find().bin / "ncu")
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        jobs, counts = Path(folder, "jobs.json"), Path(folder, "counts.json")
        texts = list(dict.fromkeys(task.ptx for task in tasks))
        record = {
            "sample": str(sample.kernel.parent.resolve()),
            "ptx": texts,
            "tasks": [
                {**asdict(task), "ptx": texts.index(task.ptx), "every": task.every}
                for task in tasks
            ],
        }
        jobs.write_text(json.dumps(record), encoding="utf-8")
        said = _run(command(program, tasks, jobs, counts))
        profiled = json.loads(counts.read_text()) if counts.exists() else []
    return efficiencies(list(read(said)), profiled, said)


def command(program: str, tasks: Sequence[ProfilingJob], jobs: Path, counts: Path) -> list[str]:
    """The command line: kernels by their mangled names, clocks left alone."""
    names = "|".join(sorted({re.escape(name) for task in tasks for name in task.kernels}))
    return [
        *(program, "--csv", "--print-units", "base", "--clock-control", "none"),
        *("--profile-from-start", "off", "--metrics", f"{INSTRUCTIONS},{LANES}"),
        *("--kernel-name-base", "mangled", "--kernel-name", f"regex:^({names})$"),
        *(sys.executable, "-m", "ccc.tools.bench.profiled", str(jobs), str(counts)),
    ]


def _run(arguments: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            arguments, capture_output=True, text=True, check=False, timeout=TIMEOUT
        )
    except OSError as error:
        raise CccError(f"it cannot be run ({error.strerror})") from error
    except subprocess.TimeoutExpired as error:
        raise CccError(f"it took longer than {TIMEOUT} s") from error
    if done.returncode:
        raise CccError(_reason(done.stdout + done.stderr))
    return done.stdout


def _reason(said: str) -> str:
    """What ncu complains of; else the last line that anybody wrote."""
    complaints = re.findall(r"^==ERROR== (.*)", said, re.MULTILINE)
    return str((complaints or said.strip().splitlines() or ["it failed without a word"])[-1])


def read(text: str) -> Iterator[dict[str, float]]:
    """The metrics of each launch, in their order, from what ``ncu --csv`` prints.

    That is a row for each metric, after lines of its own and whatever the program printed.
    """
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith('"ID"')]
    launches: dict[int, dict[str, float]] = {}
    for row in csv.DictReader(lines[heads[0] :] if heads else []):
        if (row["ID"] or "").isdecimal() and row["Metric Value"]:
            value = float(row["Metric Value"].replace(",", ""))
            launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = value
    yield from (launches[number] for number in sorted(launches))


def efficiencies(
    launches: Sequence[dict[str, float]], profiled: Sequence[int], said: str = ""
) -> list[float]:
    """The efficiency of each task from its launches, weighted by instructions.

    Args:
        launches: of all tasks, one task's after another's.
        profiled: how many are each task's.
        said: by ncu, for the message.

    Raises:
        CccError: launches or metrics are missing.
    """
    if not profiled or len(launches) != sum(profiled):
        raise CccError(f"it counted {len(launches)} launches of {sum(profiled)}: {_reason(said)}")
    rest = iter(launches)
    found = []
    for number in profiled:
        mine = [next(rest) for _ in range(number)]
        if not all(INSTRUCTIONS in one and LANES in one for one in mine):
            raise CccError(f"it does not know {INSTRUCTIONS} or {LANES} on this GPU")
        slots = 32 * sum(one[INSTRUCTIONS] for one in mine)
        lanes = sum(one[INSTRUCTIONS] * one[LANES] for one in mine)
        found.append(lanes / slots if slots else 1.0)
    return found
