"""PTX of all compilers that are installed here: read, printed, and compared as machine code.

    python tests/support/corpus.py --packages FOLDER --workers 2 --out docs/corpus.md

``FOLDER`` is where ``pip install --target`` has put numba-cuda, triton and nvidia-cuda-nvrtc, if
anywhere. Nothing that is made is kept; what is counted is.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from corpus_makers import MAKERS, Job, Missing
from machine_code import code_of

from ccc.errors import CccError
from ccc.ir.printer import replace
from ccc.ir.verify import verify
from ccc.parse import parse_function, parse_module, parse_variables
from ccc.toolkit import find as toolchain

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100")


@dataclass
class Outcome:
    """What came of one file: ``said`` is empty where its machine code is the same."""

    job: Job
    read: bool = False
    said: str = ""
    characters: int = 0
    seconds: float = 0.0


@dataclass
class Row:
    """The counts of a generator and an architecture."""

    files: int = 0
    read: int = 0
    identical: int = 0
    characters: int = 0
    said: Counter[str] = field(default_factory=Counter)


def printed(text: str) -> str:
    """The module with all of its functions printed from their IR."""
    module = parse_module(text)
    parse_variables(module)
    for piece in module.functions:
        function = parse_function(piece)
        verify(function)
        replace(piece, function)
    return module.text


def assembled(text: str, arch: str, folder: Path) -> bytes | str:
    """A cubin, or what ptxas says of the text."""
    source, target = folder / "k.ptx", folder / "k.cubin"
    source.write_text(text, encoding="utf-8")
    ptxas = toolchain.find().program("ptxas")
    command = [str(ptxas), f"-arch={arch}", str(source), "-o", str(target)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        return (done.stdout + done.stderr).replace(str(source), "").strip().partition("\n")[0]
    return target.read_bytes()


def outcome(job: Job) -> Outcome | str:
    """Make a file and compare; a string says why there is none to compare."""
    with tempfile.TemporaryDirectory(prefix="ccc-corpus-") as folder:
        place = Path(folder)
        try:
            text = job.make(place)
        except Missing as missing:
            return str(missing)
        found = Outcome(job, characters=len(text))
        started = time.process_time()
        try:
            ours = printed(text)
        except CccError as error:
            found.said = str(error).partition("\n")[0]
            return found
        found.read, found.seconds = True, time.process_time() - started
        target = re.search(r"^\.target\s+(\w+)", text, re.MULTILINE)
        arch = target[1] if target else job.arch  # Triton writes sm_90a for sm_90
        before = assembled(text, arch, place)
        if isinstance(before, str):
            return f"ptxas does not take it: {before}"
        after = assembled(ours, arch, place)
        if isinstance(after, str):
            found.said = f"what is printed is no PTX: {after}"
        elif code_of(before) != code_of(after):
            found.said = "other machine code"
        return found


def jobs(architectures: tuple[str, ...], only: str = "") -> Iterator[Job]:
    """All that can be tried; which of it is installed here shows when it is made."""
    for maker in MAKERS:
        for job in maker(architectures):
            if only in f"{job.generator} {job.name} {job.arch} {' '.join(job.options)}":
                yield job


def table(rows: dict[tuple[str, str], Row], missing: Counter[str]) -> str:
    """The counts in Markdown."""
    lines = [
        "| made by | for | files | MB | read | identical |",
        "| --- | --- | --: | --: | --: | --: |",
    ]
    every = Row()
    for (generator, arch), row in sorted(rows.items()):
        lines.append(_line(generator, f"`{arch}`", row))
        every.files, every.read = every.files + row.files, every.read + row.read
        every.identical += row.identical
        every.characters += row.characters
    lines.append(_line("all", "", every))
    said = [(f"{g} {a}", what, n) for (g, a), row in rows.items() for what, n in row.said.items()]
    notes = [f"- {where}: {what} ({number} times)" for where, what, number in sorted(said)]
    notes += [
        f"- not compared: {what} ({number} times)" for what, number in sorted(missing.items())
    ]
    return "\n".join([*lines, "", *notes])


def _line(generator: str, arch: str, row: Row) -> str:
    size = f"{row.characters / 1e6:.2f}"
    return f"| {generator} | {arch} | {row.files} | {size} | {row.read} | {row.identical} |"


def collect(
    todo: list[Job], workers: int, minutes: float
) -> tuple[dict[tuple[str, str], Row], Counter[str]]:
    """Do them all, as far as time is left."""
    rows: dict[tuple[str, str], Row] = {}
    missing: Counter[str] = Counter()
    until = time.monotonic() + minutes * 60
    with ProcessPoolExecutor(workers) as pool:
        waiting = {pool.submit(outcome, job): job for job in todo}
        for done in as_completed(waiting):
            if done.cancelled():
                missing["no time was left"] += 1
                continue
            if time.monotonic() > until:
                for one in waiting:
                    one.cancel()
            job, found = waiting[done], done.result()
            if isinstance(found, str):
                missing[f"{job.generator}: {found}"] += 1
                print(f"{job}: {found}", file=sys.stderr, flush=True)
                continue
            row = rows.setdefault((job.generator, job.arch), Row())
            row.files += 1
            row.read += found.read
            row.identical += not found.said
            row.characters += found.characters
            if found.said:
                row.said[f"{job.name} {' '.join(job.options)}: {found.said}"] += 1
            print(f"{job}: {found.said or 'identical'}", file=sys.stderr, flush=True)
    return rows, missing


def main() -> None:
    """Run all of it and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", help="where pip install --target has put compilers")
    parser.add_argument("--arch", nargs="+", default=ARCHITECTURES)
    parser.add_argument("--only", default="", help="jobs whose description holds this text")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=600, help="stop after so many")
    parser.add_argument("--out", help="a file for the table")
    given = parser.parse_args()
    if given.packages:
        sys.path.insert(0, given.packages)
    rows, missing = collect(list(jobs(tuple(given.arch), given.only)), given.workers, given.minutes)
    text = table(rows, missing)
    if given.out:
        Path(given.out).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
