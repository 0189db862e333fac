"""``ccc agree``: each emulated form of an instruction on the GPU and on the emulator, bit by bit.

Without a GPU it says which forms the emulator runs, and compares them with what a GPU once gave.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from pathlib import Path

from ccc.device.emulated import EMULATED_ARCH
from ccc.device.gpu import GpuDevice
from ccc.errors import CccError
from ccc.toolkit import find as toolchain
from ccc.tools.agree.forms import all_cases
from ccc.tools.agree.page import page
from ccc.tools.agree.record import Agreement, provenance, read, summary, write
from ccc.tools.agree.running import DIFFERS, Setting, agree
from ccc.tools.arguments import positive

PTX_VERSION = "9.0"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``ccc agree``."""
    add = parser.add_argument
    add("--device", choices=("gpu", "emulator"), default="gpu", help="[%(default)s]")
    add("--only", default="", metavar="REGEX", help="forms whose section and name match")
    add(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="J",
        help="processes [%(default)s]",
    )
    add("--out", type=Path, metavar="FILE", help="where the record goes (.json)")
    add("--against", type=Path, metavar="FILE", help="a record of a GPU, for --device emulator")
    add("--keep", type=Path, metavar="FOLDER", help="where the results of the GPU go (.npz)")
    add("--page", type=Path, metavar="FILE", help="where a page of tables goes (.md)")


def run(args: argparse.Namespace) -> int:
    """Compare; 1 if some forms differ.

    Raises:
        CccError: no ptxas, no GPU where one is needed, or no form that matches.
    """
    chosen = [c for c in all_cases() if re.search(args.only, f"{c.group} {c.form}")]
    if not chosen:
        raise CccError(f"no form matches {args.only!r}")
    device = GpuDevice() if args.device == "gpu" else None
    arch = device.arch if device else EMULATED_ARCH
    recorded = read(args.against).measured if args.against else {}
    ptxas = toolchain.find().program("ptxas")
    setting = Setting(arch, PTX_VERSION, ptxas, device, args.jobs, recorded, args.keep)
    started = time.monotonic()
    verdicts = agree(chosen, setting, lambda text: print(text, end="\r", file=sys.stderr))
    record = Agreement(provenance(setting, time.monotonic() - started), verdicts)
    print(summary(record))
    if args.out:
        write(record, args.out)
    if args.page:
        args.page.write_text(page(record), encoding="utf-8")
    return int(any(one.status == DIFFERS for one in verdicts))
