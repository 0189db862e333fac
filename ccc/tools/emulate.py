"""``ccc emulate``: runs a kernel of any PTX on the CPU, and counts what it does, line by line."""

from __future__ import annotations

import argparse
import linecache
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import MAGIC_PREFIX

from ccc import emulator
from ccc.emulator.run.counters import Counters
from ccc.emulator.run.module import STEP_LIMIT
from ccc.errors import CccError, nearest
from ccc.ir.nodes import Variable

DTYPES = {
    "bool": np.bool_,
    **{f"{letter}{bits}": np.dtype(f"{kind}{bits}").type
       for letter, kind in (("i", "int"), ("s", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}").type for bits in (16, 32, 64)},
    "c64": np.complex64,
    "c128": np.complex128,
}  # fmt: skip
"""The types of scalars and fresh buffers."""

FILLED = ("zeros", "ones")
FORMS = "5, i32:5, f32:1.5, null, zeros:f32:1024, in.npy, in.npy:out.npy or zeros:f32:1024:out.npy"


@dataclass(slots=True)
class Argument:
    """What is passed, and the file that its content goes to afterwards."""

    value: Any
    out: Path | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``ccc emulate``."""
    add = parser.add_argument
    add("file", type=Path, help="PTX")
    add("--kernel", metavar="K", help="which one, where the file has several")
    add("--grid", type=_sizes, default=(1, 1, 1), metavar="X[,Y,Z]", help="blocks [1]")
    add("--block", type=_sizes, default=(1, 1, 1), metavar="X[,Y,Z]", help="threads [1]")
    add("--arg", action="append", default=[], metavar="A", dest="args",
        help=f"one for each parameter, in order: {FORMS}")  # fmt: skip
    add("--shared", type=_count, default=0, metavar="N", help="dynamic shared memory, bytes")
    add("--schedule", type=_schedule, default="lockstep", metavar="S",
        help="lockstep, or a number: a random order of the warps [%(default)s]")  # fmt: skip
    add("--steps", type=_count, default=STEP_LIMIT, metavar="N",
        help="after so many steps it is taken to be without end [%(default)s]")  # fmt: skip
    add("--lines", type=int, default=20, metavar="N",
        help="source lines that are shown, those with most instructions [%(default)s]")  # fmt: skip


def _sizes(text: str) -> tuple[int, int, int]:
    numbers = [int(number) for number in text.split(",")]
    if not 1 <= len(numbers) <= 3:
        raise ValueError
    x, y, z = [*numbers, 1, 1][:3]
    return x, y, z


def _count(text: str) -> int:
    number = int(text)
    if not 0 <= number < 1 << 32:
        raise ValueError
    return number


def _schedule(text: str) -> str | int:
    return text if text == "lockstep" else _count(text)


# argparse says "invalid size value"
_sizes.__name__, _schedule.__name__, _count.__name__ = "size", "schedule", "count"


def run(args: argparse.Namespace) -> int:
    """Run the kernel, save buffers, and print the counters.

    Raises:
        CccError: no PTX, no such kernel, an argument that does not fit, or a fault of the kernel.
    """
    module = emulator.Module(_text(args.file), str(args.file), step_limit=args.steps)
    kernel = module.get_function(args.kernel or _only_kernel(module))
    function = module.function_ir(kernel.name)
    assert function is not None
    if len(args.args) != len(function.parameters):
        raise CccError(_miscounted(kernel.name, function.parameters, args.args))
    pairs = zip(args.args, function.parameters, strict=True)
    arguments = [_argument(text, parameter) for text, parameter in pairs]
    for argument in arguments:
        _try_out(argument.out)
    try:
        counters = kernel(
            args.grid, args.block, [argument.value for argument in arguments],
            shared_mem=args.shared, schedule=args.schedule,
        )  # fmt: skip
    finally:
        for argument in arguments:
            if argument.out:
                with argument.out.open("wb") as file:
                    np.save(file, argument.value)
    _show(kernel.name, counters, args.lines)
    return 0


def _try_out(file: Path | None) -> None:
    """Fail before the run, which may take long, if a result could not be written."""
    if file is not None:
        is_new = not file.exists()
        file.open("ab").close()
        if is_new:
            file.unlink()


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CccError(f"{file} is no PTX: it is not in UTF-8") from None


def _only_kernel(module: emulator.Module) -> str:
    names = [piece.name for piece in module.module.functions if piece.kind == "entry"]
    if not names:
        raise CccError(f"{module.file} has no kernel: nothing in it is .entry")
    if len(names) > 1:
        known = ", ".join(names)
        raise CccError(f"{module.file} has {len(names)} kernels; --kernel says which: {known}")
    return names[0]


def _miscounted(name: str, parameters: Sequence[Variable], given: Sequence[str]) -> str:
    listed = ", ".join(f"{parameter.type} {parameter.name}" for parameter in parameters)
    return f"{name} takes {len(parameters)} arguments, not {len(given)}: ({listed})"


# Arguments --------------------------------------------------------------------------------------


def _argument(text: str, parameter: Variable) -> Argument:
    """Read one, as :data:`FORMS` shows them."""
    if text == "null":
        return Argument(None)
    if re.search(r"\.npy(:|$)", text) and not text.startswith(tuple(f"{f}:" for f in FILLED)):
        source, out = _files(text)
        return Argument(_loaded(source), out)
    words = text.split(":", 3)
    if words[0] in FILLED:
        return _fresh(text, words)
    if len(words) == 1:
        return Argument(_plain(text, parameter))
    if len(words) == 2 and words[0] in DTYPES:
        return Argument(_scalar(words[1], words[0], text))
    hint = nearest(words[0], [*DTYPES, *FILLED])
    raise CccError(f"--arg {text}: not understood{hint}; write {FORMS}")


def _files(text: str) -> tuple[Path, Path | None]:
    source, dot, out = text.partition(".npy")
    return Path(f"{source}{dot}"), Path(out[1:]) if out else None


def _loaded(source: Path) -> Any:
    with source.open("rb") as file:
        if file.read(len(MAGIC_PREFIX)) != MAGIC_PREFIX:
            raise CccError(f"{source} is no .npy file: it does not begin as one")
        file.seek(0)
        try:
            array = np.load(file)
        except (ValueError, EOFError) as error:
            raise CccError(f"{source} is no .npy file: {error}") from None
    # The kernel finds the bytes of a number in the order of this machine.
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def _fresh(text: str, words: list[str]) -> Argument:
    if len(words) < 3 or words[1] not in DTYPES or not re.fullmatch(r"\d+(x\d+)*", words[2]):
        raise CccError(f"--arg {text}: write {words[0]}:TYPE:COUNT, as {words[0]}:f32:1024")
    shape = [int(number) for number in words[2].split("x")]
    make = np.zeros if words[0] == "zeros" else np.ones
    try:
        return Argument(make(shape, DTYPES[words[1]]), Path(words[3]) if words[3:] else None)
    except (MemoryError, ValueError) as error:
        raise CccError(f"--arg {text}: there is no memory for it ({error})") from None


def _plain(text: str, parameter: Variable) -> Any:
    """A number of the parameter's type; of bits, a float where it is written as one."""
    letter, bits = parameter.type[0], 8 * (parameter.bytes or 0)
    if letter == "b":
        letter = "u" if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", text) else "f"
    if f"{letter}{bits}" not in DTYPES:
        raise CccError(f"--arg {text}: the parameter {parameter.name} has {bits // 8} bytes")
    return _scalar(text, f"{letter}{bits}", text)


def _scalar(text: str, type_name: str, whole: str) -> Any:
    kind = DTYPES[type_name]
    try:
        if type_name == "bool":
            return kind({"true": True, "false": False, "1": True, "0": False}[text.lower()])
        if type_name[0] == "c":
            return kind(complex(text))
        if type_name[0] == "f":
            return kind(float.fromhex(text) if "0x" in text else float(text))
        number, limits = int(text, 0), np.iinfo(kind)
    except (KeyError, ValueError):
        raise CccError(f"--arg {whole}: {text} is no number of type {type_name}") from None
    except OverflowError:
        return kind(np.inf)
    least = -(1 << (limits.bits - 1))
    if not least <= number < 1 << limits.bits:
        raise CccError(f"--arg {whole}: {text} does not fit {type_name}")
    unsigned = np.array(number & ((1 << limits.bits) - 1), f"u{limits.bits // 8}")
    return unsigned.view(kind)[()]


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
    print(name)
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
