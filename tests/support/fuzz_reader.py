"""Coverage-guided fuzzing of what reads: PTX, annotations, markers, the emulator's loader.

    pip install atheris
    python tests/support/fuzz_reader.py ptx -max_total_time=300 FOLDER

The first argument says what is fed (``ptx``, ``pragma``, ``source`` or ``emulator``); the others
are libFuzzer's. Everything that is no message of ours is a find: libFuzzer keeps the input, and
it becomes a case of tests/parse/test_finds.py.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from folders import GOLDEN, TESTS


def ptx(data: bytes) -> None:
    """Read, check and print a PTX file."""
    from ccc.errors import CccError
    from ccc.ir.printer import print_function
    from ccc.ir.verify import verify
    from ccc.parse import check_file, parse_files, parse_function, parse_module, parse_variables

    text = data.decode(errors="surrogateescape")
    try:
        check_file(text, "k.ptx")
    except CccError as error:
        str(error)
    try:
        module = parse_module(text, "k.ptx")
        parse_variables(module)
        parse_files(text)
    except CccError as error:
        str(error)
        return
    assert module.text == text
    for piece in module.functions:
        try:
            function = parse_function(piece)
        except CccError as error:
            str(error)
            continue
        # From here on there is nothing to complain of: what was read is sound, and read again.
        verify(function)
        piece.text = print_function(function)
        assert print_function(parse_function(piece)) == piece.text


def pragma(data: bytes) -> None:
    """Read what follows ``#pragma ccc``."""
    from ccc.frontend.pragmas import PragmaError, parse

    try:
        parse(data.decode(errors="replace"))
    except PragmaError as error:
        if len(error.message) > 1000:
            raise AssertionError("a message is long") from error


def source(data: bytes) -> None:
    """Mark CUDA."""
    from ccc.frontend.marking import SourceError, mark

    try:
        mark(data.decode(errors="surrogateescape"), "k.cu")
    except SourceError as error:
        str(error)


def emulator(data: bytes) -> None:
    """Load a module and compile its kernels for the emulator."""
    from ccc.emulator import Module
    from ccc.errors import CccError

    try:
        module = Module(data.decode(errors="surrogateescape"), step_limit=100)
        for piece in module.module.functions:
            module.function_ir(piece.name)
    except CccError as error:
        str(error)


TARGETS: dict[str, Callable[[bytes], None]] = {
    one.__name__: one for one in (ptx, pragma, source, emulator)
}


def seeds(name: str, folder: Path) -> None:
    """Put what the tests have into the folder of inputs, where it is empty."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        return
    if name in ("pragma", "source"):
        texts = [path.read_text() for path in sorted((TESTS / "cases").glob("*.cu"))[:40]]
        if name == "pragma":
            lines = (line for text in texts for line in text.splitlines() if "#pragma ccc" in line)
            texts = sorted({line.partition("ccc")[2] for line in lines})
    else:
        paths = [*sorted((TESTS / "parse" / "forms").glob("*.ptx")), TESTS / "parse" / "odd.ptx",
                 *sorted((GOLDEN / "small").glob("*.ptx"))[:8]]  # fmt: skip
        texts = [path.read_text() for path in paths]
    for number, text in enumerate(texts):
        (folder / f"seed{number}").write_text(text)


def main() -> None:
    """Fuzz until libFuzzer has enough."""
    atheris: Any = importlib.import_module("atheris")
    name, *options = sys.argv[1:]
    feed = TARGETS[name]
    for option in options:
        if not option.startswith("-"):
            seeds(name, Path(option))
    with atheris.instrument_imports(include=["ccc", "lark"]):
        for module in ("parse", "ir.verify", "ir.printer", "frontend.marking", "frontend.pragmas"):
            importlib.import_module(f"ccc.{module}")
        if name == "emulator":
            importlib.import_module("ccc.emulator")
    atheris.Setup([sys.argv[0], *options], feed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
