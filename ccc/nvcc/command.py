"""``cccc``: nvcc's command line, with ours in front.

Options that begin with ``--ccc-`` are ours; all others go to nvcc as they are, except that the
name after ``-o`` chooses the phase where no option does, and that marked PTX is transformed first.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path

from ccc.compiler.said import DevicePass
from ccc.diagnostics import notes
from ccc.errors import CccError, UsageError, choices, nearest
from ccc.files import check_there, check_writable, put_text, write
from ccc.folder import OwnFolder
from ccc.nvcc import option_files, reports
from ccc.nvcc import run as nvcc
from ccc.nvcc import words as phases
from ccc.nvcc.option_files import OURS, SettingsError
from ccc.nvcc.settings import Gathered, gather, is_known, make_known, shell_settings
from ccc.options import Options, Request, read_bytes
from ccc.toolkit.places import CCCC, RESOLVING
from ccc.version import VERSION


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, taken apart: what is ours, and what nvcc gets.

    ``seen`` is all that nvcc sees, also what it reads elsewhere.
    """

    arguments: list[str]
    seen: Sequence[str] = ()
    options: Options = field(default_factory=Options)
    report: str | None = None
    explain: bool = False
    action: str | None = None


@dataclass(frozen=True, slots=True)
class _Option:
    """One of our options: ``value`` names its value, ``take`` adds it to a command.

    ``words`` are those that it takes; made when asked for, as that takes long.
    """

    help: str
    take: Callable[[Command, str], Command]
    value: str | None = None
    words: Callable[[], Sequence[str]] = tuple

    @property
    def placeholder(self) -> str | None:
        """What stands for its value where one is missing."""
        return "|".join(self.words()) or self.value

    @property
    def text(self) -> str:
        """What the help says."""
        return f"{self.help}{', '.join(self.words())}"


def _set(**changes: object) -> Callable[[Command, str], Command]:
    def take(command: Command, _: str) -> Command:
        return replace(command, options=replace(command.options, **changes))  # type: ignore[arg-type]

    return take


def _max_block(command: Command, value: str) -> Command:
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= 1024):
        raise UsageError(f"--ccc-max-block={value}: a block holds 1 to 1024 threads")
    return _set(max_block=int(value))(command, value)


def _bytes(name: str) -> Callable[[Command, str], Command]:
    def take(command: Command, value: str) -> Command:
        try:
            return _set(**{name: read_bytes(value)})(command, value)
        except ValueError as error:
            raise UsageError(f"--ccc-{name.replace('_', '-')}={value}: {error}") from None

    return take


def _strategy(command: Command, value: str) -> Command:
    known = Request.read(value)
    if known and is_known(str(known)):
        return _set(strategy=str(known))(command, value)
    from ccc.passes.strategies.registry import read_request  # noqa: PLC0415 - seldom asked for

    try:
        request = str(read_request(value))
    except ValueError as error:
        raise UsageError(f"--ccc-strategy={value}: {error}") from None
    make_known(request)
    return _set(strategy=request)(command, value)


def _decisions(command: Command, value: str) -> Command:
    from ccc.decisions import WANTED, read_decisions  # noqa: PLC0415 - seldom asked for
    from ccc.passes.strategies.registry import read_request  # noqa: PLC0415 - seldom asked for

    check_there("--ccc-decisions", value, WANTED)
    read_decisions(value, read_request)  # an unreadable one is told of once, before nvcc is started
    return _set(decisions=os.path.abspath(value))(command, value)


def _strategies() -> list[str]:
    from ccc.passes.strategies.registry import spellings  # noqa: PLC0415 - seldom asked for

    return spellings()


def _multiprocessors(command: Command, value: str) -> Command:
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= MOST_MULTIPROCESSORS):
        raise UsageError(
            f"--ccc-multiprocessors={value}: a device has 1 to {MOST_MULTIPROCESSORS} of them"
        )
    return _set(multiprocessors=int(value))(command, value)


def _use(command: Command, value: str) -> Command:
    from ccc.profile.data import WANTED  # noqa: PLC0415 - seldom asked for

    check_there("--ccc-use", value, WANTED)
    return _set(use=(*command.options.use, value))(command, value)


def _print_after(command: Command, value: str) -> Command:
    from ccc.passes import PIPELINE  # noqa: PLC0415 - seldom asked for

    known = [str(kind.name) for kind in PIPELINE]
    if value not in known:
        raise UsageError(f'no pass is called "{value}"{choices(value, known)}')
    names = (*command.options.print_after, value)
    return _set(print_after=names)(command, value)


_TARGETS = ("-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code")
MOST_MULTIPROCESSORS = 4000
_INDENT, _WIDTH = 28, 100
"""Where the texts of the help begin, and where they end at the latest."""
OPTIONS = {
    "--ccc-report": _Option(
        "write what was done and why, as JSON",
        lambda c, v: _set(measure=True)(replace(c, report=v), v),
        "FILE",
    ),
    "--ccc-explain": _Option(
        "print what was considered for each path, and chosen", lambda c, _: replace(c, explain=True)
    ),
    "--ccc-strict": _Option("fail where an annotation cannot be followed", _set(strict=True)),
    "--ccc-off": _Option("plain nvcc: ignore the annotations", _set(off=True)),
    "--ccc-mark-only": _Option(
        "leave the markers in the PTX and transform nothing", _set(mark_only=True)
    ),
    "--ccc-max-block": _Option("no block has more than N threads", _max_block, "N"),
    "--ccc-dynamic-shared": _Option(
        "no launch asks for more than N bytes of dynamic shared memory (or 16K)",
        _bytes("dynamic_shared"),
        "N",
    ),
    "--ccc-callee-shared": _Option(
        "functions of other files take at most N bytes of static shared memory (or 16K)",
        _bytes("callee_shared"),
        "N",
    ),
    "--ccc-shared-limit": _Option(
        "a block may get N bytes of shared memory (or 99K); launches add what that takes beyond "
        "48 KB",
        _bytes("shared_limit"),
        "N",
    ),
    "--ccc-strategy": _Option(
        "what is done where an annotation says nothing of that: ",
        _strategy,
        "NAME",
        _strategies,
    ),
    "--ccc-decisions": _Option(
        "do what ccc tune found best, and wrote to this file", _decisions, "FILE"
    ),
    "--ccc-multiprocessors": _Option(
        "the device has N of them; else it is asked (for ccc grid_stride)", _multiprocessors, "N"
    ),
    "--ccc-profile": _Option(
        "count what the original runs, for a profile in this file",
        lambda c, v: _set(profile=v)(c, v),
        "FILE",
    ),
    "--ccc-profile-transformed": _Option(
        "count what the transformed code runs", _set(profile_transformed=True)
    ),
    "--ccc-use": _Option(
        "choose by what a profile of the original counted (several: all)", _use, "FILE"
    ),
    "--ccc-alternatives": _Option(
        "have the report tell which strategies apply to each path", _set(alternatives=True)
    ),
    "--ccc-time": _Option(
        "time each kernel, and write that to this file when the program ends",
        lambda c, v: _set(time=v)(c, v),
        "FILE",
    ),
    "--ccc-print-after": _Option("print the PTX after a pass", _print_after, "PASS"),
    "--ccc-key": _Option(
        "print what results depend on, for tools that keep them",
        lambda c, _: replace(c, action="key"),
    ),
    "--ccc-doctor": _Option(
        "print what was found, what works, and what to install",
        lambda c, _: replace(c, action="doctor"),
    ),
    "--ccc-version": _Option("print the version", lambda c, _: replace(c, action="version")),
    "--ccc-help": _Option("print this", lambda c, _: replace(c, action="help")),
}


def main(arguments: Sequence[str]) -> int:
    """Run one ``cccc`` command; returns the exit status.

    Raises:
        CccError: a wrong option, no nvcc, or PTX that cannot be read.
    """
    if RESOLVING in os.environ:
        raise CccError(f"{CCCC}; set CCC_NVCC to that")
    try:
        told = gather(arguments, os.environ)
    except SettingsError as error:
        raise UsageError(error.message) from None
    command = replace(_parse(told), seen=told.seen)
    if command.action:
        return _ACTIONS[command.action](command)
    _refuse_dryrun(command)
    if command.report:
        reports.check(command.report)
    words = [w for w in option_files.expanded(command.arguments) if not w.startswith(OURS)]
    sources = phases.ptx_inputs(words)
    if sources and not command.options.plain:
        return _ptx(replace(command, arguments=words), sources)
    arguments = [*_host_code(command), *phases.with_phase(command.arguments, command.seen)]
    dryrun = phases.has(phases.DRYRUN, command.seen)
    with OwnFolder() as folder:
        known = option_files.for_nvcc(arguments, folder)
        code = finish(command, nvcc.run(known, command.options, dryrun=dryrun))
    if phases.has(phases.HELP, arguments):
        print("cccc is nvcc with options of its own; cccc --ccc-help prints these.")
    return code


def tell(folder: str, code: int) -> int:
    """Say what passes have left in ``folder``, for a command in which nothing was asked of us."""
    return finish(Command([]), nvcc.merge(DevicePass.load(folder), code))


def _parse(told: Gathered) -> Command:
    """Take apart all that a command is told; a wrong option is told with the variable it is in."""
    try:
        return parse(told.arguments)
    except UsageError:
        for name, words in told.variables.items():
            try:
                reduce(_take, words, Command([]))
            except UsageError as error:
                raise UsageError(f"{name}: {error.message}") from None
        raise


def parse(arguments: Sequence[str]) -> Command:
    """Take a command line apart.

    Raises:
        UsageError: an unknown option of ours, or a value that is missing or wrong.
    """
    command = Command([])
    for argument in arguments:
        if argument.startswith(phases.LIKE_OURS):
            command = _take(command, argument)
        else:
            command.arguments.append(argument)
    if command.options.mark_only and command.options.profile:
        raise UsageError("--ccc-mark-only leaves the PTX as it is, --ccc-profile does not")
    if command.options.time and command.options.profile:
        raise UsageError("--ccc-profile makes kernels slower, whose time --ccc-time takes")
    _check_shared_limit(command)
    if command.options.off and command.options.profile_transformed:
        raise UsageError("--ccc-off transforms nothing, --ccc-profile-transformed counts that")
    if command.options.profile_transformed and not command.options.profile:
        raise UsageError("--ccc-profile-transformed says what is counted; give --ccc-profile=FILE")
    return command


def _check_shared_limit(command: Command) -> None:
    """Refuse more shared memory than any of the devices has that the command compiles for.

    One that has less than others gets what it has.
    """
    wanted = command.options.shared_limit
    if wanted is None:
        return
    from ccc.ptx.occupancy import LIMITS, check_shared_limit  # noqa: PLC0415 - seldom asked for

    words = option_files.expanded(command.arguments)
    told = [word for before, word in _pairs(words) if _names_target(before, word)]
    named = {f"sm_{number}" for word in told for number in re.findall(r"_(\d+)", word)}
    try:
        check_shared_limit(wanted, named or (f"sm_{number}" for number in LIMITS))
    except CccError as error:
        raise UsageError(f"--ccc-shared-limit: {error.message}") from None


def usage() -> str:
    """The text of ``--ccc-help``, made from the table of options, as wide as the terminal."""
    columns = min(shutil.get_terminal_size().columns, _WIDTH)
    wrap = textwrap.TextWrapper(columns, break_on_hyphens=False, subsequent_indent=" " * _INDENT)
    lines = []
    for name, option in OPTIONS.items():
        head = f"  {name}={option.value}" if option.value else f"  {name}"
        if len(head) + 2 > _INDENT:
            lines.append(head)
            head = ""
        wrap.initial_indent = head.ljust(_INDENT)
        lines += wrap.wrap(option.text)
    head = "usage: cccc [--ccc-OPTION ...] [any nvcc option ...] FILE ..."
    return "\n".join([head, "", *lines, "", "cccc --help prints nvcc's own options."])


def _print(text: str) -> int:
    print(text)
    return 0


def _key(command: Command) -> int:
    """Print a text that differs where the same command may come to something else."""
    from ccc.toolkit.find import find, identity  # noqa: PLC0415 - seldom asked for

    return _print(shell_settings(command.options) + "\n".join(identity(find())))


def _doctor(_: Command) -> int:
    from ccc.nvcc.doctor import report  # noqa: PLC0415 - seldom asked for

    text, works = report()
    print(text)
    return 0 if works else 1


_ACTIONS: dict[str, Callable[[Command], int]] = {
    "version": lambda _: _print(f"ccc {VERSION}"),
    "help": lambda _: _print(usage()),
    "key": _key,
    "doctor": _doctor,
}


def _take(command: Command, argument: str) -> Command:
    name, equals, value = argument.partition("=")
    option = OPTIONS.get(name)
    if option is None:
        raise UsageError(f'unknown option "{name}"{nearest(name, OPTIONS)}')
    if option.value and not value:
        raise UsageError(f"{name} needs a value: {name}={option.placeholder}")
    if equals and not option.value:
        raise UsageError(f"{name} takes no value")
    return option.take(command, value)


def _refuse_dryrun(command: Command) -> None:
    """Refuse what is done when nvcc is over, where it is only asked what it would run.

    Tools that keep results, such as sccache, ask that and run it themselves.
    """
    if phases.has(phases.DRYRUN, command.seen):
        for asked, option in ((command.report, "--ccc-report"), (command.explain, "--ccc-explain")):
            if asked:
                raise UsageError(
                    f"{option} tells of a compilation that cccc runs; --dryrun, as sccache gives "
                    "it, runs none"
                )


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word of a command line, behind that before it."""
    return zip(["", *words], words, strict=False)


def _names_target(before: str, argument: str) -> bool:
    """Whether an argument says what is compiled for."""
    return before in _TARGETS or argument.startswith(tuple(f"{name}=" for name in _TARGETS))


def _host_code(command: Command) -> list[str]:
    """Options that make host programs write their profile, or their times."""
    if command.options.profile is not None:
        from ccc.profile.data import HOST_CODE  # noqa: PLC0415 - seldom asked for

        return ["-DCCC_PROFILE", "-include", str(HOST_CODE)]
    if command.options.time is not None:
        from ccc.profile.times import HOST_CODE as TIMER  # noqa: PLC0415 - seldom asked for

        return ["-DCCC_TIME", "-include", str(TIMER)]
    return []


def finish(command: Command, outcome: nvcc.Outcome) -> int:
    """Say what there is to say, and write the report of a command that compiled device code, also
    where what it says is an error."""
    if outcome.printed:
        sys.stdout.write(outcome.printed)
        sys.stdout.flush()
    for line in (*outcome.diagnostics, *notes(outcome.report), *outcome.errors):
        print(line, file=sys.stderr)
    if command.explain:
        from ccc.nvcc.explain import explain  # noqa: PLC0415 - rich takes long to load

        print(explain(outcome.report), end="", file=sys.stderr)
    has_told = not outcome.code or outcome.report["kernels"] or outcome.diagnostics
    if command.report and has_told and _compiled(command):
        write(
            reports.place(command.report, command.seen), json.dumps(outcome.report, indent=2) + "\n"
        )
    return outcome.code


def _compiled(command: Command) -> bool:
    return phases.compiles(command.seen) or bool(phases.ptx_inputs(command.seen))


# Marked PTX.


def _check_ptx_output(arguments: Sequence[str], sources: Sequence[str], output: str | None) -> None:
    """Refuse names of results that nvcc would say less clearly about, or nothing.

    Raises:
        CccError: PTX would become PTX without a name or in a file that is read; or a program,
            which PTX alone is none of.
    """
    last = phases.has({"ptx"}, arguments)
    others = phases.source_inputs(arguments)
    if last and len([*sources, *others]) != 1:
        beside = f"; give {others[0]} to a command of its own" if others else ""
        raise UsageError(f"PTX to PTX takes one file at a time{beside}")
    is_named = output is not None and not Path(output).is_dir()
    if not is_named and (last or not phases.has(phases.PHASES, arguments)):
        where = f"{output} is a folder" if output else "the result has no name"
        raise UsageError(f"{where}; give -o NAME.ptx")
    if output is None:
        return
    if any(os.path.exists(output) and os.path.samefile(output, name) for name in sources):
        raise UsageError(f"-o {output} would overwrite what is read; give another name")
    if last:
        check_writable(output)


def _ptx(command: Command, sources: Sequence[str]) -> int:
    """Transform PTX files, and let nvcc go on with them where a later phase is asked for."""
    from ccc.compiler.unit import transform_file  # noqa: PLC0415 - seldom asked for

    arguments = phases.with_phase(command.arguments, command.seen)
    last = phases.has({"ptx"}, arguments)
    output = phases.output(arguments)
    _check_ptx_output(arguments, sources, output)
    passes = [DevicePass((name, "")) for name in sources]
    texts = [transform_file(done, command.options) for done in passes]
    failed = any(done.error for done in passes)
    if failed or last:
        if output and not failed:
            write(output, texts[0])
        return finish(command, nvcc.merge(passes, int(failed)))
    with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
        places = {}
        for number, (name, text) in enumerate(zip(sources, texts, strict=True)):
            place = Path(folder, str(number), Path(name).name)  # nvcc names results by its inputs
            place.parent.mkdir()
            put_text(place, text)
            places[name] = str(place)
        words = [places.get(word, word) for word in arguments]
        outcome = nvcc.run(words, command.options, passes=passes, capture=True)
    said = outcome.stderr
    for name, made in places.items():  # what is not marked is the user's own
        said = said.replace(made, name)
    sys.stderr.write(said)
    return finish(command, outcome)
