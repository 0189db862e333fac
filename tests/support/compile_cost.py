"""What compiling takes: files with and without annotations, by nvcc and by cccc.

    python tests/support/compile_cost.py [REPEAT]

Prints rows of the table in docs/design.md: what a user waits, and the processor's time of all that
was started, each by nvcc and by cccc. Both run in turn, and of all runs the shortest counts, which
other work on the machine disturbs least.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from folders import SAMPLES
from many_kernels import different, instances
from nvcc_project import KERNEL, REFUSED

from ccc.toolkit import find as toolchain

MANY = 150
PLAIN, OPTION = "no annotation", "--ccc-max-block=256"
CCCC = [sys.executable, "-c", "import sys; from ccc.cli import cccc; sys.exit(cccc())"]
ROWS, COLUMNS = 32, 800
BFS = SAMPLES / "bfs" / "kernel.cu"


@dataclass(frozen=True, slots=True)
class Cost:
    """The least seconds that a command took."""

    wall: float
    cpu: float


def table() -> str:
    """Declarations as those of cuRAND's: tables of numbers."""
    rows = ",\n".join(
        "{" + ",".join(f"{(r * COLUMNS + c) * 2654435761 % 2**32}UL" for c in range(COLUMNS)) + "}"
        for r in range(2 * ROWS)
    )
    return f"static const __device__ unsigned int table[{2 * ROWS}][{COLUMNS}] = {{{rows}}};\n"


def sources() -> dict[str, str]:
    """The files that are compiled, by what they show."""
    annotated = KERNEL.replace("{name}", "k")
    lines = annotated.splitlines(keepends=True)
    return {
        PLAIN: "".join(line for line in lines if "pragma ccc" not in line),
        "two annotations": annotated,
        "a path that is refused, so compiled twice": REFUSED.replace("{name}", "k"),
        "`samples/bfs`, with one of both paths refused": BFS.read_text(),
        "tables of 51,200 numbers": table()
        + annotated.replace("float v = x[i];", f"float v = x[i] + table[i & 31][i % {COLUMNS}];"),
        f"{MANY} kernels, all cases of the tests": different(MANY),
        f"{MANY} instances of a template": instances(MANY),
    }


def costs(commands: list[list[str]], repeat: int, folder: Path) -> list[Cost]:
    """Run commands several times, in turn."""
    runs = [[_run(command, folder) for command in commands] for _ in range(repeat)]
    return [
        Cost(min(one.wall for one in mine), min(one.cpu for one in mine))
        for mine in zip(*runs, strict=True)
    ]


def _run(command: list[str], folder: Path) -> Cost:
    before, start = _cpu(), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return Cost(time.perf_counter() - start, _cpu() - before)


def _cpu() -> float:
    told = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told.ru_utime + told.ru_stime


def main(repeat: int = 5) -> None:
    """Print a row for each source, and one for ``--version``."""
    nvcc = str(toolchain.find().nvcc)
    os.environ.pop("CCC_FLAGS", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = {"`--version`": ["--version"]}
        for number, (case, text) in enumerate(sources().items()):
            (folder / f"{number}.cu").write_text(text)
            cases[case] = [f"{number}.cu", "-w", "-arch=sm_90", "-cubin", "-o", "k.cubin"]
            if case == PLAIN:
                cases[f"{case}, {OPTION}"] = [*cases[case], OPTION]
        subprocess.run([*CCCC, *cases[PLAIN]], cwd=folder, check=True)  # finds nvcc
        for case, words in cases.items():
            theirs = [word for word in words if word != OPTION]
            plain, ours = costs([[nvcc, *theirs], [*CCCC, *words]], repeat, folder)
            print(
                f"| {case} | {plain.wall:.2f} s | {ours.wall:.2f} s "
                f"| {plain.cpu:.2f} s | {ours.cpu:.2f} s |",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
