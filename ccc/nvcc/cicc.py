"""What nvcc starts in place of ``cicc``.

It gets the preprocessed device code: that is marked, compiled by the real ``cicc``, and the PTX
transformed.
"""

from __future__ import annotations

import gc
import importlib
import io
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ccc.analysis.graphs import load_graphs
from ccc.compiler.unit import (
    LTO_REFUSED,
    CompilerError,
    DevicePass,
    check_strict,
    translate,
    warn,
)
from ccc.errors import CccError, Span, render
from ccc.files import put_text, read_text, write
from ccc.frontend import marking as source
from ccc.garbage import looking_seldom
from ccc.ir.markers import PROMISE, hide_markers
from ccc.nvcc import host
from ccc.nvcc.host import input_of
from ccc.nvcc.timed_launches import time_launches
from ccc.options import Options
from ccc.remark import notes, report

OPTIX = "OptiX IR is made of the code as it is: ccc sees only PTX, and annotations have no effect"

_TEMPORARY = "tmpxft_"  # how names of nvcc's own begin, which the user has never seen

_LINES = "-generate-line-info"
"""The option for a table of lines in the PTX."""

_REGISTERED = re.compile(rf" __cudaRegisterVariable\([^;]*\b{PROMISE}\d+[^;]*;")
"""How the host's side makes a variable known that names a function for us."""


class ToolError(CompilerError):
    """The real tool failed, and ``said`` why."""

    def __init__(self, code: int, said: str):
        super().__init__(said)
        self.code = code
        self.said = said


def main(tool: str, arguments: Sequence[str]) -> int:
    """Do what the real ``tool`` would do with these arguments, and what is asked of us."""
    options = Options.received()
    if options.plain:
        return host.run(tool, arguments)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="surrogateescape")  # names are shown as they are
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _stop)
    try:
        return _device(tool, arguments, options)
    except ToolError as error:
        sys.stderr.write(error.said)
        return error.code
    except KeyboardInterrupt:
        return 130


def _stop(number: int, _: object) -> None:
    """End so that nothing of ours stays behind."""
    raise SystemExit(128 + number)


def _device(tool: str, arguments: Sequence[str], options: Options) -> int:
    done = DevicePass((_value(arguments, "--orig_src_path_name"), _value(arguments, "-arch")))
    try:
        if "-olto" in arguments or "-lto" in arguments:
            raise CccError(LTO_REFUSED, _annotated(arguments))
        if "--emit-optix-ir" in arguments:
            warn([CccError(OPTIX, _annotated(arguments))], options, done)
            check_strict(options, done)
            options = replace(options, off=True, profile=None, time=None)
        _compile(tool, arguments, options, done)
        stubs = _value(arguments, "--stub_file_name")
        _forget_promises(stubs)
        if options.profile:
            _watch_launches(stubs)
        if options.time:
            time_launches(stubs, options.time)
    except CccError as error:
        done.error = str(error)
    except OSError as error:
        done.error = render("error", f"{error.filename}: {error.strerror}")
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


def _annotated(arguments: Sequence[str]) -> Span | None:
    """Where the first annotation of the source stands."""
    return source.first(read_text(input_of(arguments)), _value(arguments, "--orig_src_file_name"))


def _compile(tool: str, arguments: Sequence[str], options: Options, done: DevicePass) -> None:
    """CUDA -> transformed PTX, written to where cicc was told to write."""
    text, name = read_text(input_of(arguments)), _value(arguments, "--orig_src_file_name")
    output = _value(arguments, "-o")
    if options.off and not options.profile:
        _call(tool, arguments, source.strip(text))
        return

    def cicc(marked: str, again: bool) -> str:
        return _ptx(tool, arguments, marked, quiet=again)

    is_kept = not Path(output).name.startswith(_TEMPORARY)
    shown = output if is_kept else f"<PTX of {name}>"
    keeps = any(option in arguments for option in (_LINES, "-g"))
    with looking_seldom():
        made = translate(text, name, cicc, options, done, output=shown, keeps_lines=keeps)
    write(output, made)
    importlib.import_module("ccc.parse").keep_shapes()


def _forget_promises(stubs: str) -> None:
    """Let the host's side not speak of variables of ours, which its source does not have."""
    if stubs and Path(stubs).exists() and PROMISE in (text := read_text(stubs)):
        put_text(stubs, _REGISTERED.sub("", text))


def _watch_launches(stubs: str) -> None:
    """Let the host's side of a launch tell ccc/profile/host.cuh of it, when it is over."""
    if stubs and Path(stubs).exists():
        text = re.sub(r"\b__cudaLaunch\(", r"ccc_profiling::Launch launch; \g<0>", read_text(stubs))
        put_text(stubs, text)


def _ptx(tool: str, arguments: Sequence[str], text: str, *, quiet: bool) -> str:
    """What cicc makes of ``text``."""
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        output = Path(folder, "output.ptx")
        command = list(arguments)
        command[command.index("-o") + 1] = str(output)
        if not {_LINES, "-g"}.intersection(command):
            command.insert(command.index("-o"), _LINES)  # for what there is to say of the code
        _call(tool, command, text, quiet=quiet, meanwhile=_load_passes)
        return read_text(str(output))


def _load_passes() -> None:
    """Import what is needed when cicc is done, which takes about as long as a small kernel."""
    gc.disable()
    load_graphs()
    importlib.import_module("ccc.compiler.transform")
    gc.freeze()  # it stays until the end
    gc.enable()


def _call(
    tool: str,
    arguments: Sequence[str],
    text: str,
    *,
    quiet: bool = False,
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Run a tool on ``text`` in place of its input; files kept with ``--keep`` are not touched.

    Raises:
        ToolError: the tool failed.
    """
    given = input_of(arguments)
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        changed = Path(folder, Path(given).name)
        put_text(changed, text)
        command = [tool, *(str(changed) if word == given else word for word in arguments)]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as running:
            try:
                meanwhile()
                said = running.communicate()[1]
            except BaseException:
                running.kill()
                raise
    text = hide_markers(said.decode(errors="replace"))
    if running.returncode:
        code = running.returncode if running.returncode > 0 else 128 - running.returncode
        raise ToolError(code, text)
    if not quiet:
        sys.stderr.write(text)


def _value(arguments: Sequence[str], option: str) -> str:
    return arguments[arguments.index(option) + 1] if option in arguments else ""
