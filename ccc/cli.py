"""The two commands: ``cccc``, the compiler, and ``ccc``, the toolbox.

A build starts ``cccc`` for each file, so what takes time is loaded where it is needed.
"""

from __future__ import annotations

import io
import itertools
import os
import sys

from ccc.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

TOOLS = {
    "agree": "compare the emulator with a GPU, instruction by instruction",
    "bench": "measure all samples as the paper does: tables and plots",
    "compare": "run a kernel as it was and transformed, and compare",
    "emulate": "run a kernel of any PTX on the CPU, and count",
    "explain": "show the source with what became of each annotation",
    "fuzz": "try random kernels with and without the transformation",
    "graph": "draw the def-use graph of an annotated path",
    "include": "print the folder of cte.cuh, for the include path of nvcc",
    "profile": "add up the profiles of several runs",
    "report": "print what annotated paths did, as a program counted it",
    "tune": "build and run a program in several versions, and keep which is best",
}
COMPILER = "The compiler is cccc: nvcc with one more pass (cccc --ccc-help)."


def cccc(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``cccc``: nvcc with one more pass; see ``cccc --ccc-help``."""
    if arguments is None and sys.getfilesystemencoding() != "utf-8":
        _start_again()
    given = sys.argv[1:] if arguments is None else arguments

    def work() -> int:
        from ccc import bytecode  # noqa: PLC0415 - the toolbox does without it

        bytecode.keep_bytecode()
        from ccc.nvcc import front  # noqa: PLC0415 - the same

        code = front.run(given)
        return _long_way(given) if code is None else code

    return _guarded(work)


def _long_way(given: Sequence[str]) -> int:
    from ccc import later  # noqa: PLC0415 - most commands do without it

    later.load_later(*later.SELDOM, "subprocess", "tempfile")
    from ccc import dataclass_code  # noqa: PLC0415 - behind that

    with dataclass_code.kept():
        from ccc.nvcc import command  # noqa: PLC0415 - the same
    return command.main(given)


def _start_again() -> None:
    """Be started in UTF-8 mode, where the locale says that names and texts are ASCII."""
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of ``ccc``: the toolbox."""
    given = list(sys.argv[1:] if arguments is None else arguments)

    def work() -> int:
        _check_tool(given)
        if given[:1] == ["explain"] and not {"-h", "--help"}.intersection(given):
            from ccc.tools.explain import main as explain  # noqa: PLC0415 - one tool of many

            return explain(given[1:])  # it takes all options of the compiler
        return _run_tool(given)

    return _guarded(work)


def _check_tool(given: Sequence[str]) -> None:
    """Know the tool before argparse, which has no suggestions.

    Raises:
        UsageError: there is no such tool.
    """
    name = next(iter(given), "-")
    if name not in TOOLS and not name.startswith("-"):
        from ccc.errors import UsageError, choices  # noqa: PLC0415 - seldom it is none

        is_file = os.path.exists(name) or "." in name
        hint = "; the compiler is cccc" if is_file else choices(name, TOOLS)
        raise UsageError(f'there is no tool "{name}"{hint}')


def _run_tool(given: Sequence[str]) -> int:
    """Run the tool that is asked for.

    Raises:
        UsageError: it has no such option, of which argparse would not say which is meant.
    """
    parser, known, instead = _parser(given)
    options = (word for word in itertools.takewhile("--".__ne__, given[1:]) if word[:2] == "--")
    _refuse(given, [word for word in options if not _is_known(word, known)], known, instead)
    args, rest = parser.parse_known_args(given)
    _refuse(given, rest, known, instead)
    return int(args.run(args))


def _is_known(word: str, known: Sequence[str]) -> bool:
    """Whether argparse takes a word for one of the options, which may be cut short."""
    return any(option.startswith(word.partition("=")[0]) for option in known)


def _refuse(given: Sequence[str], words: Sequence[str], known: Sequence[str], instead: str) -> None:
    if words:
        from ccc.errors import UsageError, nearest  # noqa: PLC0415 - as above

        name = words[0].partition("=")[0]
        hint = nearest(name, known) or (f"; {instead}" if instead else "")
        raise UsageError(f'ccc {given[0]} takes no "{name}"{hint}')


def _parser(given: Sequence[str]) -> tuple[argparse.ArgumentParser, list[str], str]:
    """What reads the command, the options of the tool that is asked for, and what to do about one
    that it lacks."""
    import argparse  # noqa: PLC0415 - cccc does without it
    import importlib  # noqa: PLC0415 - cccc does without it

    parser = argparse.ArgumentParser(prog="ccc", description="The tools of ccc.", epilog=COMPILER)
    parser.add_argument("--version", action="version", version=f"ccc {VERSION}")
    tools = parser.add_subparsers(title="tools", metavar="TOOL", required=True)
    known: list[str] = []
    instead = ""
    for name, purpose in TOOLS.items():
        tool = tools.add_parser(name, help=purpose, description=purpose)
        if name in given[:1]:  # only the tool that is asked for is loaded
            module = importlib.import_module(f"ccc.tools.{name}")
            module.add_arguments(tool)
            tool.set_defaults(run=module.run)
            known = [one for one in tool._option_string_actions if one[:2] == "--"]
            instead = getattr(module, "INSTEAD", "")
    return parser, known, instead


def _guarded(work: Callable[[], int]) -> int:
    """Run a command; what a user can cause ends in one message and an exit status."""
    _open_standard_files()
    _forget_a_width_of_none()
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="surrogateescape")  # names are shown as they are
    try:
        code = work()
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except Exception as error:
        return _told(error)
    except KeyboardInterrupt:
        return 130


def _told(error: Exception) -> int:
    """Say what is wrong if the user can cause it; the exit status."""
    from ccc.errors import CccError, in_words, render  # noqa: PLC0415 - most commands do without it

    if isinstance(error, CccError):
        print(error, file=sys.stderr)
        return error.status
    if isinstance(error, BrokenPipeError):
        _drop_output()  # nobody reads any more
        return 128 + 13
    if isinstance(error, OSError):
        if not error.filename:  # files have names: this is what the command prints
            _drop_output()
        name = error.filename or "standard output"
        print(render("error", f"{name}: {in_words(error)}"), file=sys.stderr)
        return 1
    raise error


def _drop_output() -> None:
    """Keep the interpreter from complaining when it flushes at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_standard_files() -> None:
    """Fill closed standard descriptors: gcc, started by nvcc, fails where it finds one closed."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest free number


def _forget_a_width_of_none() -> None:
    """Do as if ``COLUMNS`` were not set where it names no width: rich would show nothing in 0."""
    columns = os.environ.get("COLUMNS")
    if columns is not None and not columns.strip("0").isdecimal():
        del os.environ["COLUMNS"]
