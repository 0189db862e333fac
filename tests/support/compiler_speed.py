"""How fast PTX is read, verified, printed and transformed.

    python tests/support/compiler_speed.py [FILE.ptx ...]

Without files it takes the kernels of tests/golden, before and after the passes, as one module, and
the same in one line. Prints rows of the table in docs/design.md; times are the processor's, of the
shortest of some runs.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from folders import GOLDEN
from goldens import Golden

from ccc.compiler.transform import transform
from ccc.garbage import looking_seldom
from ccc.ir.nodes import FunctionText
from ccc.ir.printer import print_function
from ccc.ir.verify import verify
from ccc.parse import load_grammar, parse_function, parse_module

REPEAT = 3
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
COMMENT = re.compile(r"//[^\n]*\n")


def seconds(run: Callable[[], object]) -> float:
    """The processor's time of the shortest of some runs, without taking down what is made."""
    found = []
    for _ in range(REPEAT):
        before = time.process_time()
        made = run()
        found.append(time.process_time() - before)
        del made
    return min(found)


def read(ptx: str) -> list[FunctionText]:
    """The functions of a module that can be read in full."""
    return list(parse_module(ptx).functions)


@looking_seldom()  # as where a source is compiled
def speed(name: str, ptx: str) -> str:
    """A row of the table."""
    pieces = read(ptx)
    size = sum(len(piece.text) for piece in pieces) / 1e6
    cutting = seconds(lambda: parse_module(ptx))
    parsing = seconds(lambda: [parse_function(piece) for piece in pieces])
    fresh = [[parse_function(piece) for piece in pieces] for _ in range(REPEAT)]
    waiting = iter(fresh)
    first = seconds(lambda: [verify(function) for function in next(waiting)])
    functions = [parse_function(piece) for piece in pieces]
    again = seconds(lambda: [verify(function) for function in functions])
    printing = seconds(lambda: [print_function(function) for function in functions])
    return (
        f"| {name} | {len(ptx) / 1e6:.1f} MB | {len(ptx) / 1e6 / cutting:.0f} MB/s "
        f"| {size / parsing:.1f} MB/s | {first / parsing:.2f} | {again / parsing:.2f} "
        f"| {printing / parsing:.2f} |"
    )


def goldens() -> list[str]:
    """Kernels of one name each, all of one kind, with their markers."""
    paths = sorted((GOLDEN / "context-collection").glob("*.ptx"))
    return [text for path in paths for text in _halves(Golden.read(path))]


def _halves(golden: Golden) -> list[str]:
    halves = (golden.before, golden.after)
    return [piece.text for half in halves for piece in parse_module(half).functions]


def module(count: int) -> str:
    """The kernels of the golden files as one module, each so many times."""
    texts = goldens() * count
    named = [re.sub(r"\bk\b(?=\()", f"k{number}", text) for number, text in enumerate(texts)]
    return "\n".join([HEAD, *named])


def in_one_line(ptx: str) -> str:
    """A module without comments, whose functions stand in one line."""
    return HEAD + " ".join(COMMENT.sub("", ptx.removeprefix(HEAD)).split("\n"))


def small_kernels() -> list[str]:
    """Kernels of one name each that call nothing, with their markers."""
    texts = [Golden.read(path).before for path in sorted((GOLDEN / "small").glob("*.ptx"))]
    texts = [text for text in texts if ".func" not in text and text.count(".entry") == 1]
    return [next(iter(parse_module(text).functions)).text for text in texts]


def transforming(kernels: list[str]) -> str:
    """How long so many kernels take to be transformed, by the strategy ``collect``."""
    named = [re.sub(r"\bk\b(?=\()", f"k{n}", text) for n, text in enumerate(kernels)]
    ptx = "\n".join([HEAD, *named])
    took = seconds(lambda: transform(ptx, strategy="collect"))
    each = took / len(kernels) * 1e3
    return f"| {len(kernels)} | {len(ptx) / 1e3:.0f} KB | {took:.2f} s | {each:.1f} ms |"


def main(files: list[str]) -> None:
    """Print the rows of both tables."""
    load_grammar()
    texts = {Path(file).name: Path(file).read_text() for file in files}
    if not texts:
        ptx = module(1)
        texts = {"kernels of tests/golden": ptx, "the same in one line": in_one_line(ptx)}
    for name, text in texts.items():
        print(speed(name, text), flush=True)
    if not files:
        for times in (1, 2, 4, 8, 16):  # the same mixture each time, since kernels differ much
            print(transforming(small_kernels() * times), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
