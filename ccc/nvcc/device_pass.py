"""What becomes of the device code of one source for one architecture: the work of the cicc shim.

It is marked, compiled by the real ``cicc``, and the PTX transformed.
"""

from __future__ import annotations

import gc
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import ccc.compiler.baseline

# While cicc runs there is time to load what is needed behind it.
import ccc.compiler.blame
import ccc.compiler.earlier
import ccc.compiler.transform
import ccc.compiler.unmarking
import ccc.compiler.weighing
import ccc.frontend.launches  # noqa: F401
from ccc.compiler.said import DevicePass
from ccc.compiler.unit import (
    LTO_REFUSED,
    CompilerError,
    check_strict,
    translate,
    warn,
)
from ccc.diagnostics import notes
from ccc.errors import CccError, in_words, render
from ccc.files import put_text, read_text, write
from ccc.frontend import marking as source
from ccc.garbage import looking_seldom
from ccc.ir.markers import PROMISE, hide_markers
from ccc.nvcc.timed_launches import time_launches
from ccc.nvcc.tool import ToolRun
from ccc.options import Options
from ccc.parse import keep_shapes
from ccc.remark import report

if TYPE_CHECKING:
    from ccc.errors import Span
    from ccc.nvcc.cicc import Cicc

OPTIX = "OptiX IR is made of the code as it is: ccc sees only PTX, and annotations have no effect"

_REGISTERED = re.compile(rf" __cudaRegisterVariable\([^;]*\b{PROMISE}\d+[^;]*;")
"""How the host's side makes a variable known that names a function for us."""

_TEMPORARY = "tmpxft_"  # how names of nvcc's own begin, which the user has never seen


class ToolError(CompilerError):
    """The real tool failed, and ``said`` why."""

    def __init__(self, code: int, said: str):
        super().__init__(said)
        self.code = code
        self.said = said


def run(cicc: Cicc, options: Options) -> int:
    """Make what nvcc wants of cicc; the status."""
    gc.freeze()  # what was loaded stays until the end
    gc.enable()
    try:
        return _run(cicc, options)
    except ToolError as error:
        sys.stderr.write(error.said)
        return error.code


def _run(cicc: Cicc, options: Options) -> int:
    done = DevicePass((cicc.path, cicc.value("-arch")))
    try:
        if "-olto" in cicc.arguments or "-lto" in cicc.arguments:
            raise CccError(LTO_REFUSED, _annotated(cicc))
        if "--emit-optix-ir" in cicc.arguments:
            warn([CccError(OPTIX, _annotated(cicc))], options, done)
            check_strict(options, done)
            options = replace(options, off=True, profile=None, time=None)
        if most := cicc.value("-maxreg"):
            options = replace(options, max_registers=int(most))
        _compile(cicc, options, done)
        stubs = cicc.value("--stub_file_name")
        _forget_promises(stubs)
        if options.profile:
            _watch_launches(stubs)
        if options.time:
            time_launches(stubs, options.time)
    except CccError as error:
        done.error = str(error)
    except OSError as error:
        done.error = render("error", f"{error.filename}: {in_words(error)}")
    _tell(done, options.folder)
    return 1 if done.error else 0


def _tell(done: DevicePass, folder: str | None) -> None:
    """Say what there is to say, or leave it for the command of ours that waits for it."""
    told = dict.fromkeys([*done.diagnostics, *done.hints])
    lines = [*told, *notes(report(done.remarks)), *filter(None, [done.error])]
    said = "".join(f"{line}\n" for line in lines)
    if folder:
        done.save(folder, said)
    else:
        sys.stderr.write(said)
        print(done.printed, end="")


def _annotated(cicc: Cicc) -> Span | None:
    """Where the first annotation of the source stands."""
    return source.first(cicc.annotated.text, cicc.name)


def _compile(cicc: Cicc, options: Options, done: DevicePass) -> None:
    """CUDA -> transformed PTX, written to where cicc was told to write."""
    if options.off and not options.profile:
        plain = source.strip(cicc.annotated.text).encode(errors="surrogateescape")
        with ToolRun(cicc.tool, cicc.arguments, plain) as running:
            _finish(running, quiet=False)
        return

    def compiler(marked: str, again: bool) -> str:
        with cicc.make_ptx(marked) as running:
            _finish(running, quiet=again)
            return read_text(running.output)

    output = cicc.value("-o")
    is_kept = not Path(output).name.startswith(_TEMPORARY)
    shown = output if is_kept else f"<PTX of {cicc.name}>"
    with looking_seldom():
        made = translate(
            cicc.annotated, compiler, options, done,
            output=shown, keeps_lines=cicc.keeps_lines, begin=cicc.begin,
        )  # fmt: skip
    write(output, made)
    keep_shapes()


def _finish(running: ToolRun, *, quiet: bool) -> None:
    """Wait for a run.

    Raises:
        ToolError: the tool failed.
    """
    code, said = running.wait()
    text = hide_markers(said.decode(errors="replace"))
    if code:
        raise ToolError(code, text)
    if not quiet:
        sys.stderr.write(text)


def _forget_promises(stubs: str) -> None:
    """Let the host's side not speak of variables of ours, which its source does not have."""
    if stubs and Path(stubs).exists() and PROMISE in (text := read_text(stubs)):
        put_text(stubs, _REGISTERED.sub("", text))


def _watch_launches(stubs: str) -> None:
    """Let the host's side of a launch tell ccc/profile/host.cuh of it, when it is over."""
    if stubs and Path(stubs).exists():
        text = re.sub(r"\b__cudaLaunch\(", r"ccc_profiling::Launch launch; \g<0>", read_text(stubs))
        put_text(stubs, text)
