"""``ccc emulate``: runs a kernel of any PTX on the CPU, and counts what it does, line by line."""

from __future__ import annotations

import argparse
import linecache
import math
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ccc import emulator
from ccc.demangle import demangle
from ccc.emulator.run.counters import Counters
from ccc.emulator.run.module import STEP_LIMIT
from ccc.errors import CccError, UsageError
from ccc.files import check_writable
from ccc.ir.nodes import Variable
from ccc.nvcc.words import SOURCES
from ccc.ptx.types import MAX_BLOCK_THREADS
from ccc.tools.arguments import number_from, positive
from ccc.tools.emulate_arguments import FORMS, read_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``ccc emulate``."""
    add = parser.add_argument
    add("file", type=Path, help="PTX")
    add("--kernel", metavar="K", help="which one, where the file has several")
    add("--grid", type=_sizes, default=(1, 1, 1), metavar="X[,Y,Z]", help="blocks [1]")
    add("--block", type=_block, default=(1, 1, 1), metavar="X[,Y,Z]", help="threads [1]")
    add("--arg", action="append", default=[], metavar="A", dest="args",
        help=f"one for each parameter, in order: {FORMS}")  # fmt: skip
    add("--shared", type=_count, default=0, metavar="N", help="dynamic shared memory, bytes")
    add("--schedule", type=_schedule, default="lockstep", metavar="S",
        help="lockstep, or a number: a random order of the warps [%(default)s]")  # fmt: skip
    add("--steps", type=positive, default=STEP_LIMIT, metavar="N",
        help="after so many steps it is taken to be without end [%(default)s]")  # fmt: skip
    add("--lines", type=_count, default=20, metavar="N",
        help="source lines that are shown, those with most instructions [%(default)s]")  # fmt: skip


def _sizes(text: str) -> tuple[int, int, int]:
    if not re.fullmatch(r"0*[1-9]\d{0,9}(,0*[1-9]\d{0,9}){0,2}", text, re.ASCII):
        raise argparse.ArgumentTypeError(
            f'X, X,Y or X,Y,Z is wanted, all numbers from 1 on, not "{text}"'
        )
    x, y, z = [*map(int, text.split(",")), 1, 1][:3]
    return x, y, z


def _block(text: str) -> tuple[int, int, int]:
    sizes = _sizes(text)
    threads = math.prod(sizes)
    if threads > MAX_BLOCK_THREADS:
        told = f"a block has {MAX_BLOCK_THREADS} threads at most, not {threads}"
        raise argparse.ArgumentTypeError(told)
    return sizes


_count = number_from(0, (1 << 32) - 1)


def _schedule(text: str) -> str | int:
    if text == "lockstep":
        return text
    try:
        return _count(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(
            f'lockstep is wanted, or a number such as 7, the seed of a random order, not "{text}"'
        ) from None


def run(args: argparse.Namespace) -> int:
    """Run the kernel, save buffers, and print the counters.

    Raises:
        CccError: no PTX, no such kernel, an argument that does not fit, or a fault of the kernel.
    """
    if args.file.suffix in SOURCES:
        raise UsageError(f"{args.file} is a source; cccc -ptx makes PTX of it, which is emulated")
    module = emulator.Module(_text(args.file), str(args.file), step_limit=args.steps)
    kernel = _kernel(module, args.kernel)
    function = module.function_ir(kernel.name)
    assert function is not None
    if len(args.args) != len(function.parameters):
        raise UsageError(_miscounted(kernel.name, function.parameters, args.args))
    pairs = zip(args.args, function.parameters, strict=True)
    arguments = [read_argument(text, parameter) for text, parameter in pairs]
    saved = [pair for argument in arguments for pair in argument.saved]
    for _, out in saved:
        check_writable(out)
    try:
        counters = kernel(
            args.grid, args.block, [argument.value for argument in arguments],
            shared_mem=args.shared, schedule=args.schedule,
        )  # fmt: skip
    finally:
        for array, out in saved:
            with out.open("wb") as file:
                np.save(file, array)
    _show(kernel.name, counters, args.lines)
    return 0


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CccError(f"{file} is no PTX: it is not in UTF-8") from None


def _kernel(module: emulator.Module, name: str | None) -> emulator.Kernel:
    """The kernel that is asked for, or the only one."""
    try:
        return module.get_function(name or _only_kernel(module))
    except emulator.EmulatorError as error:
        raise UsageError(f"--kernel={name}: {error.message}") from None


def _only_kernel(module: emulator.Module) -> str:
    names = [piece.name for piece in module.module.functions if piece.kind == "entry"]
    if not names:
        raise CccError(f"{module.file} has no kernel: nothing in it is .entry")
    if len(names) > 1:
        known = ", ".join(names)
        raise UsageError(f"{module.file} has {len(names)} kernels; --kernel says which: {known}")
    return names[0]


def _miscounted(name: str, parameters: Sequence[Variable], given: Sequence[str]) -> str:
    listed = ", ".join(f"{parameter.type} {parameter.name}" for parameter in parameters)
    counts = f"{len(parameters)} arguments, not {len(given)}"
    return f"{demangle(name)} takes {counts}, one --arg each: ({listed})"


# Counters ---------------------------------------------------------------------------------------

COLUMNS = (
    ("instructions", "instructions"),
    ("by threads", "thread_instructions"),
    ("loads", "global_load_transactions"),
    ("stores", "global_store_transactions"),
    ("conflicts", "shared_bank_conflicts"),
    ("branches", "branches"),
    ("divergent", "divergent_branches"),
)
"""What is shown of ``Counters``, where it is not 0 for all lines."""


def _show(name: str, counters: Counters, limit: int) -> None:
    """A table: all lines together, then the costliest in their order."""
    shown = [(title, field) for title, field in COLUMNS if getattr(counters, field)]
    fields = [field for _, field in shown]
    costly = sorted(counters.lines, key=lambda line: -counters.lines[line].instructions)[:limit]
    rows = [["line", "lanes", *(title for title, _ in shown), "source"]]
    rows.append(["all", *_cells(counters, fields), ""])
    for file, number in sorted(costly):
        text = linecache.getline(file, number).strip()
        counts = _cells(counters.lines[file, number], fields)
        rows.append([f"{Path(file).name}:{number}", *counts, text])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = shutil.get_terminal_size((120, 24)).columns
    print(demangle(name))
    for row in rows:
        first, *numbers, source = row
        cells = [f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:-1], strict=True)]
        print("  ".join([f"{first:{widths[0]}}", *cells, source])[:room].rstrip())
    left = len(counters.lines) - len(costly)
    if left:
        print(f"{left} more lines, which took fewer instructions: --lines")


def _cells(counters: Counters, fields: Sequence[str]) -> Iterator[str]:
    """Active lanes of an instruction, then the counts."""
    yield f"{32 * counters.warp_execution_efficiency:.1f}"
    for field in fields:
        yield f"{getattr(counters, field):,}"
