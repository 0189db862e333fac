"""``ccc report``: a profile, by source line."""

from __future__ import annotations

import argparse
import itertools
import os
import pathlib
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from ccc import profile
from ccc.profile.data import KernelProfile, PathProfile, Profile

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
    total = sum(kernel.instructions for kernel in kernels)
    paths = profile.by_annotation(found)
    for file, mine in itertools.groupby(paths, key=lambda one: one[0].file):
        console.print(os.path.relpath(file), markup=False, highlight=False, soft_wrap=True)
        console.print(_paths(mine, total))
    console.print(_functions(kernels, total))


def _table(names: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _paths(paths: Iterable[tuple[PathProfile, int]], total: int) -> Table:
    table = _table(("line", "path", "code"), ("runs", "lanes", *_ISSUED))
    for path, case in paths:
        arm = f" {path.arm} {case}" if case else f" {path.arm}"
        name = path.directive + ("" if path.arm in path.directive else arm)
        numbers = ["-"] * (2 + len(_ISSUED))
        if path.counted:
            lanes = f"{path.lanes_per_execution:.1f}" if path.executions else "-"
            numbers = [f"{path.executions:,}", lanes, *_issued(path, total)]
        table.add_row(str(path.line), name, "ccc" if path.applied else "nvcc", *numbers)
    return table


def _functions(kernels: Sequence[KernelProfile], total: int) -> Table:
    table = _table(("function",), _ISSUED)
    for kernel in kernels:
        table.add_row(kernel.name, *_issued(kernel, total))
    return table


def _issued(one: PathProfile | KernelProfile, total: int) -> list[str]:
    if not one.instructions:
        return ["0", "-", "-"]
    share, efficiency = one.instructions / total, one.warp_execution_efficiency
    return [f"{one.instructions:,}", f"{100 * share:.1f} %", f"{100 * efficiency:.1f} %"]
