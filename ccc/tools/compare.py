"""``ccc compare``: a sample's kernels as nvcc makes them and transformed, side by side."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import statistics
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ccc import files
from ccc.device.choose import Device, choose_device
from ccc.device.emulated import EMULATED_ARCH
from ccc.errors import CccError, Span, UsageError
from ccc.harness import provenance as record
from ccc.harness.measure import Figures, Result, measure
from ccc.harness.sample import Sample
from ccc.nvcc import run as nvcc
from ccc.options import AUTO, read_bytes
from ccc.parse import parse_function, parse_module
from ccc.passes.launch_shape import known_block_size
from ccc.passes.strategies.registry import read_request
from ccc.profile.data import WANTED
from ccc.ptx.occupancy import check_shared_limit
from ccc.remark import Remark, read_report, saved
from ccc.toolkit import find as toolchain
from ccc.tools import png
from ccc.tools.arguments import architecture, natural, positive
from ccc.version import VERSION

SETTINGS = (
    "sample", "graph", "inputs", "size", "seed", "device", "schedule", "repeat", "strategy",
    "shared_limit", "tolerance",
)  # fmt: skip
"""The arguments that a record keeps."""

NO_TIME = (
    "more instructions need not take more time: lists that are shared out take them while lanes "
    "would wait for memory (docs/performance.md)"
)
OTHER_ORDER = (
    "a reduction of floating-point numbers is made in another order, as its clause permits, so its "
    "last bits may differ, and what is computed from it (docs/bench.md, what is compared)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ccc compare``."""
    add = parser.add_argument
    add("sample", type=Path, help="a folder with kernel.cu and sample.py")
    add("--graph", type=Path, help="run on this graph (.mtx, .txt, .el, .npz; .gz too)")
    add("--inputs", metavar="KIND", help="of the kinds of inputs that the sample offers")
    add("--device", choices=("gpu", "emulator"), help="default: a GPU where there is one")
    add("--size", type=natural, help="of the problem, as the sample understands it")
    add("--seed", type=natural, default=0, help="of the problem (default: 0)")
    add("--strategy", default=AUTO, metavar="NAME", help="as of cccc --ccc-strategy=NAME")
    add("--use", action="append", default=[], metavar="FILE", help="as of cccc --ccc-use=FILE")
    add("--json", type=Path, metavar="FILE", help="write every figure to this file")
    add("--png", type=Path, metavar="FILE", help="write the picture that the original drew")
    add(
        "--arch", type=architecture, metavar="sm_XX",
        help=f"default: the GPU's own, or {EMULATED_ARCH}",
    )  # fmt: skip
    add(
        "--schedule",
        type=_schedule,
        default="lockstep",
        metavar="lockstep|SEED",
        help="how the emulator orders warps: in lockstep, or at random from a seed",
    )
    add(
        "--shared-limit",
        type=_bytes,
        metavar="BYTES",
        help="the most shared memory of a block, such as 99K (default: what the device has)",
    )
    add(
        "--tolerance",
        type=_ratio,
        metavar="X",
        help="the largest relative difference of floating-point outputs where a reduction of such "
        "numbers is made in another order (default: half of the digits of their type)",
    )
    add("--repeat", type=positive, default=7, metavar="N", help="timed runs on a GPU (default: 7)")


def _schedule(text: str) -> str | int:
    return text if text == "lockstep" else natural(text)


def _ratio(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1:
        raise argparse.ArgumentTypeError(f'a number from 0 to 1 is wanted, not "{text}"')
    return found


def _bytes(text: str) -> int:
    try:
        return read_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _strategy(text: str) -> str:
    """What is asked for, as the compiler spells it.

    Raises:
        UsageError: there is no such strategy.
    """
    try:
        return str(read_request(text))
    except ValueError as error:
        raise UsageError(f"--strategy={text}: {error}") from None


def _check_shared_limit(wanted: int, arch: str) -> None:
    try:
        check_shared_limit(wanted, [arch])
    except CccError as error:
        raise UsageError(f"--shared-limit: {error.message}") from None


def run(args: argparse.Namespace) -> int:
    """Run ``ccc compare``.

    Returns:
        0 when the outputs are equal bit for bit, or up to the tolerance where a reduction permits
        another order, and pass the sample's check; otherwise 1.

    Raises:
        CccError: the sample, the kernel or the device cannot be used.
    """
    for path in (args.json, args.png):
        if path:
            files.check_writable(path)
    for name in args.use:
        files.check_there("--use", name, WANTED)
    strategy = _strategy(args.strategy)
    step = functools.partial(_step, Console(stderr=True))
    ptxas = toolchain.find().program("ptxas")
    sample = Sample(args.sample)
    if args.png and not sample.draws:
        raise UsageError("this sample draws no picture", Span(str(args.sample)))
    sample.check_choice(args.graph, args.inputs)
    device = choose_device(args.device, args.arch, args.schedule, ptxas)
    size = sample.sizes[device.kind] if args.size is None else args.size
    if args.shared_limit is not None:
        _check_shared_limit(args.shared_limit, args.arch or device.arch)
    with step("compiling"):
        compiled = nvcc.compile(
            sample.kernel,
            args.arch or device.arch,
            sample.options,
            dynamic_shared=0,
            strategy=strategy,
            use=tuple(args.use),
            shared_limit=device.shared_limit if args.shared_limit is None else args.shared_limit,
        )
        versions = {"original": compiled.original, "ccc": compiled.ptx}
        modules = {name: device.load(ptx) for name, ptx in versions.items()}
    for line in compiled.diagnostics:
        if line.startswith(tuple(f"{file}: " for file in args.use)):  # what is left alone has a row
            print(line, file=sys.stderr)
    with step("making the inputs"):
        inputs = sample.inputs(size, args.seed, args.graph, args.inputs)
    repeat = args.repeat if device.kind == "gpu" else 1
    tolerance = args.tolerance if _adds_in_another_order(compiled.report) else 0.0
    result = measure(sample, device, modules, inputs, repeat=repeat, step=step, tolerance=tolerance)
    show(result, compiled.report, Console(), _block_limits(compiled.ptx))
    if args.json:
        settings = {**vars(args), "size": size, "device": device.kind, "repeat": repeat}
        everything = _record(settings, device, result, compiled.report)
        files.write(args.json, json.dumps(everything, indent=2, default=str) + "\n")
    if args.png:
        files.write(args.png, png.encode(sample.picture(result.outputs)))
    return 0 if result.equal else 1


@contextlib.contextmanager
def _step(console: Console, text: str) -> Iterator[None]:
    """Say what goes on: at once on a terminal, and elsewhere when it takes longer than a second."""
    if console.is_terminal:
        with console.status(text):
            yield
        return
    timer = threading.Timer(1.0, console.print, [f"ccc: {text} ..."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _block_limits(ptx: str) -> dict[str, int]:
    """For how many threads each kernel has its stacks: the most that its blocks can have."""
    kernels = [piece for piece in parse_module(ptx).functions if piece.kind == "entry"]
    return {piece.name: known_block_size(parse_function(piece), None) for piece in kernels}


def show(
    result: Result, report: Mapping[str, Any], console: Console, limits: Mapping[str, int]
) -> None:
    """Print the table of figures, whether the outputs are equal, and what became of each path.

    Args:
        result: of the comparison.
        report: of the compilation.
        console: where to.
        limits: the most threads of a block, by kernel, as far as was known to the compiler.
    """
    console.print(_table(result.figures))
    if result.equal and result.tolerated:
        largest = max(result.tolerated.values())
        lines = [f"equal: but for floating-point numbers, by {largest:.2g} of them at most"]
        lines += [OTHER_ORDER]
    elif result.equal:
        names = ", ".join(result.outputs)
        lines = [f"equal: yes, bit for bit and as the sample's check wants it ({names})"]
    else:
        lines = [f"equal: no: {text}" for text in result.differences]
        lines += [OTHER_ORDER] if _adds_in_another_order(report) else []
    lines += [NO_TIME] if _shares_out(report) and _issues_more(result.figures) else []
    every = read_report(report)
    ran = {one.kernel for one in result.figures}
    remarks = {name: mine for name, mine in every.items() if name in ran} or every
    lines += [_path_line(remark) for mine in remarks.values() for remark in mine]
    lines += [line for item in remarks.items() for line in _advice(*item, result.figures, limits)]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _adds_in_another_order(report: Mapping[str, Any]) -> bool:
    """Whether a reduction of floating-point numbers was transformed."""
    paths = [path for kernel in report["kernels"] for path in kernel["paths"] if path["applied"]]
    return any(".f" in reduced for path in paths for reduced in path.get("reductions", ()))


def _shares_out(report: Mapping[str, Any]) -> bool:
    """Whether lists were shared out among lanes."""
    return any(path.get("shared_out") for one in report["kernels"] for path in one["paths"])


def _issues_more(figures: Sequence[Figures]) -> bool:
    """Whether a kernel issues more instructions than its original, and nobody knows the time."""
    first = {one.kernel: one for one in reversed(figures)}
    counted = (one for one in figures if one.counters and not one.milliseconds)
    return any(
        one.counters["instructions"] > first[one.kernel].counters["instructions"] for one in counted
    )


def _table(figures: list[Figures]) -> Table:
    several = len({one.kernel for one in figures}) > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in [*(["kernel"] if several else []), "version"]:
        table.add_column(name)
    for name in ("time", "warp instr.", "warp eff.", "regs", "shared", "occupancy"):
        table.add_column(name, justify="right")
    kernels = {one.kernel: one for one in reversed(figures)}  # the first version of each
    for one in sorted(figures, key=lambda one: figures.index(kernels[one.kernel])):
        base = kernels[one.kernel]
        cells = [
            one.version,
            _time(one, base),
            _instructions(one, base),
            _percent(one.counters.get("warp_execution_efficiency")),
            str(one.resources.registers),
            f"{one.shared} B",
            _percent(one.occupancy.fraction),
        ]
        table.add_row(*([one.kernel] if several else []), *cells)
    return table


def _time(one: Figures, base: Figures) -> str:
    if not one.milliseconds:
        return "-"
    times = one.milliseconds
    middle = statistics.median(times)
    gain = "" if one is base else f"\n{statistics.median(base.milliseconds) / middle:.2f}x"
    return f"{middle:.3f} ms\n{min(times):.3f}..{max(times):.3f}{gain}"


def _instructions(one: Figures, base: Figures) -> str:
    if not one.counters:
        return "-"
    count, before = one.counters["instructions"], base.counters["instructions"]
    return f"{count:,}" + ("" if one is base else f"\n{_percent(count / before)} as many")


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.1f} %"


def _path_line(remark: Remark) -> str:
    """What became of one annotated path."""
    arm = f" ({remark.arm_name})" if remark.arm_name else ""
    head = f"{remark.position}: ccc {remark.annotation}{arm}: "
    refused = remark.declined and f"; strategy({remark.asked}) does not apply: {remark.declined}"
    if not remark.applied:
        why = remark.reason or remark.advice or "as was asked for"
        return f"{head}left alone: {why}{refused or ''}"
    told = remark.details
    context = saved(told.get("context", ()))
    bytes_ = told.get("shared_bytes_per_thread")
    details = [
        told.get("schedule") or remark.strategy,
        told.get("placement"),
        f"{bytes_} bytes a thread" if bytes_ else None,
        f"saves {', '.join(context)}" if context else None,
    ]
    return f"{head}applied ({', '.join(text for text in details if text)}){refused or ''}"


def _advice(
    name: str, remarks: Sequence[Remark], figures: list[Figures], limits: Mapping[str, int]
) -> Iterator[str]:
    """Whether stacks for larger blocks than ran keep blocks from being resident."""
    mine = {one.version: one for one in figures if one.kernel == name}
    told = (remark.details for remark in remarks)
    stacks = any(
        one.get("shared_bytes_per_thread") and one.get("placement") != "dynamic" for one in told
    )
    threads = limits.get(name, 0)
    if stacks and "ccc" in mine:
        after = mine["ccc"]
        if after.occupancy.limited_by == "shared" and threads >= 2 * after.block:
            yield (
                f"{name}: its stacks are for blocks of {threads} threads, which leaves "
                f"shared memory for few blocks, and it ran in blocks of {after.block}: say so, by "
                f"__launch_bounds__({after.block}) or --ccc-max-block={after.block}"
            )


def _record(
    settings: dict[str, Any], device: Device, result: Result, report: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything that ``--json`` writes."""
    return {
        "version": 1,
        "ccc": VERSION,
        "date": record.date(),
        "command": record.command(),
        "settings": {name: settings[name] for name in SETTINGS},
        "machine": record.machine(device),
        "equal": result.equal,
        "tolerated": result.tolerated.get("ccc"),
        "outputs": list(result.outputs),
        "differences": result.differences,
        "kernels": [asdict(figures) for figures in result.figures],
        "report": dict(report),
    }
