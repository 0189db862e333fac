"""``ccc bench``: the paper's evaluation on this machine, figures 4.12 to 4.15 and table 4.1.

F. Khorasani, High Performance Vertex-Centric Graph Analytics on GPUs, dissertation, 2016, section
4.1.5. See docs/bench.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ccc.device.choose import Device, choose_device
from ccc.errors import CccError, Span, in_words
from ccc.harness.sample import find_samples
from ccc.toolkit import find as toolchain
from ccc.tools.arguments import natural
from ccc.tools.bench import nested_page, nested_plots
from ccc.tools.bench.calibration.table import show
from ccc.tools.bench.page import PAGE, write
from ccc.tools.bench.plots import NoMatplotlib, draw
from ccc.tools.bench.results import Results
from ccc.tools.bench.session import Extent, Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``ccc bench``."""
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="samples to measure; default: all")
    add("--samples", type=Path, default=Path("samples"), metavar="DIR",
        help="where their folders are [%(default)s]")  # fmt: skip
    add("--device", choices=("gpu", "emulator"), help="default: a GPU where there is one")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--quick", action="store_true",
        help="one kind of inputs each, some points of the studies, few runs")  # fmt: skip
    extent.add_argument("--paper", action="store_true", help="the paper's sizes; takes a GPU")
    add("--out", type=Path, default=Path("bench"), metavar="DIR",
        help="where the results go; those of other samples stay there [%(default)s]")  # fmt: skip
    add("--graph", type=Path, action="append", default=[], metavar="FILE",
        help="what samples run on that search graphs; may be given several times")  # fmt: skip
    add("--seed", type=natural, default=0, help="of the inputs [%(default)s]")
    add("--redraw", action="store_true",
        help="measure nothing: make tables and plots of what DIR holds")  # fmt: skip
    add("--calibrate", action="store_true",
        help="measure the constants of the cost model instead; takes a GPU")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run ``ccc bench``.

    Returns:
        0 when everything could be measured, 1 when not, 130 after an interruption.

    Raises:
        CccError: there is no such sample or device, or the results cannot be read or written.
    """
    if args.calibrate:
        show(_device(args))
        return 0
    results = Results.load(args.out)
    if args.redraw:
        if not results.entries:
            raise CccError("there are no results here", Span(str(args.out)))
        _publish(results, args)
        return 0
    folders = _folders(args.samples, args.names)
    device = _device(args)
    _make(args.out)
    extent = Extent(args.seed, args.quick, args.paper, tuple(args.graph))
    session = Session(device, folders, extent, results, args.out)
    try:
        code = 0 if session.run() else 1
    except KeyboardInterrupt:
        print("ccc: interrupted; what was measured is kept", file=sys.stderr)
        code = 130
    if results.entries:
        _publish(results, args)
    return code


def _device(args: argparse.Namespace) -> Device:
    device = choose_device(args.device, None, "lockstep", toolchain.find().program("ptxas"))
    if args.paper and device.kind != "gpu":
        raise CccError("--paper takes a GPU; on the emulator such sizes would take days")
    if args.calibrate and device.kind != "gpu":
        raise CccError("--calibrate takes a GPU: the emulator has no time")
    return device


def _folders(samples: Path, names: Sequence[str]) -> dict[str, Path]:
    """The samples of these names, or all; the name of a family stands for all that is in it."""
    known = find_samples(samples)
    if not known:
        raise CccError("there are no samples here; give --samples", Span(str(samples)))
    chosen: dict[str, Path] = {}
    for name in names or known:
        mine = {one: known[one] for one in known if one == name or one.startswith(f"{name}/")}
        if not mine:
            raise CccError(f'there is no sample "{name}"; there are {", ".join(known)}')
        chosen |= mine
    return chosen


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CccError(f"cannot make the folder: {in_words(error)}", Span(str(folder))) from error


def _publish(results: Results, args: argparse.Namespace) -> None:
    """Write the pages, and the plots where matplotlib is there."""
    is_nested = any(entry.name.startswith(nested_page.SAMPLES) for entry in results.entries)
    try:
        drawn = draw(results, args.out, nested_plots.PLOTS if is_nested else {})
    except NoMatplotlib as error:
        print(f"ccc: {error.message}", file=sys.stderr)
        drawn = {}
    write(results, args.out, args.samples, drawn)
    if is_nested:
        nested_page.write(results, args.out, drawn, args.samples)
    print(args.out / PAGE)
