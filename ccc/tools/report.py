"""``ccc report``: a profile, by source line."""

from __future__ import annotations

import argparse
import itertools
import os
import pathlib
from collections.abc import Collection, Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ccc import profile
from ccc.demangle import demangle
from ccc.profile.data import Profile
from ccc.profile.model import KernelProfile, PathProfile
from ccc.tables import narrowest

_ISSUED = ("warp instr.", "share", "warp eff.")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ccc report``."""
    parser.add_argument(
        "profile",
        type=pathlib.Path,
        metavar="FILE",
        help="what a program compiled with cccc --ccc-profile=FILE wrote",
    )


def run(args: argparse.Namespace) -> int:
    """Run ``ccc report``.

    Raises:
        CccError: the file is no profile.
        OSError: it cannot be read.
    """
    show(profile.read(args.profile), Console())
    return 0


def show(found: Profile, console: Console) -> None:
    """Print what was counted of each annotation, in the order of the source, and of each kernel."""
    kernels = found.kernels
    if not kernels:
        console.print("nothing was counted: this profile holds no kernel")
        return
    total = sum(kernel.instructions for kernel in kernels)
    paths = profile.by_annotation(found)
    files = {path.file for path, _ in paths}
    for file, mine in itertools.groupby(paths, key=lambda one: one[0].file):
        name = _shown(file, files)
        console.print(name, markup=False, highlight=False, soft_wrap=True)
        known = list(mine)
        _print(_paths(known, total), console)
        if any(path.visits for path, _ in known):
            _print(_visits(known), console)
    _print(_functions(kernels, total), console)


def _print(table: Table, console: Console) -> None:
    """Print a table, in a narrow terminal as wide as it has to be: figures stay in one piece."""
    console.width = max(console.width, narrowest(table))
    console.print(table)


def _shown(file: str, files: Collection[str]) -> str:
    """A file's name, as short as it says which of some files that is."""
    if os.path.exists(file):
        return os.path.relpath(file)
    name = os.path.basename(file)
    alike = [one for one in files if os.path.basename(one) == name]
    return name if len(alike) == 1 else file


def _table(names: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name != "function")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _paths(paths: Iterable[tuple[PathProfile, int]], total: int) -> Table:
    table = _table(("line", "path", "code"), ("runs", "lanes", *_ISSUED))
    for path, case in paths:
        numbers = ["-"] * (2 + len(_ISSUED))
        if path.counted:
            lanes = _mean(path.lanes, path.executions)
            numbers = [f"{path.executions:,}", lanes, *_issued(path, total)]
        code = "ccc" if path.applied else "nvcc"
        table.add_row(str(path.line), _name(path, case), code, *numbers)
    return table


def _visits(paths: Iterable[tuple[PathProfile, int]]) -> Table:
    """How often warps came by, and what those found that entered a path: by that one chooses."""
    table = _table(("line", "path"), ("came by", "lanes", "entered", "lanes", "turns", "length"))
    for path, case in paths:
        is_loop = (path.executions, path.lanes) != (path.entries, path.entering_lanes)
        numbers = [
            f"{path.visits:,}",
            _mean(path.visiting_lanes, path.visits),
            f"{path.entries:,}",
            _mean(path.entering_lanes, path.entries),
            _mean(path.lanes, path.entering_lanes) if is_loop else "-",
            _mean(path.all_instructions, path.executions),
        ]
        table.add_row(str(path.line), _name(path, case), *numbers)
    return table


def _name(path: PathProfile, case: int) -> str:
    """What is annotated, and the arm: of a case its label, or its number if that is not known."""
    if case:
        label = path.case.rpartition(", line")[0]
        return f"{path.directive} {label if label not in ('', 'case') else f'case #{case}'}"
    return path.directive + ("" if path.arm in path.directive else f" {path.arm}")


def _mean(total: float, count: float) -> str:
    return f"{total / count:.1f}" if count else "-"


def _functions(kernels: Sequence[KernelProfile], total: int) -> Table:
    table = _table(("function",), _ISSUED)
    for kernel in kernels:
        table.add_row(Text(demangle(kernel.name)), *_issued(kernel, total))
    return table


def _issued(one: PathProfile | KernelProfile, total: int) -> list[str]:
    if not one.instructions:
        return ["0", "-", "-"]
    share, efficiency = one.instructions / total, one.warp_execution_efficiency
    return [f"{one.instructions:,}", f"{100 * share:.1f} %", f"{100 * efficiency:.1f} %"]
