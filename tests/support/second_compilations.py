"""Which second compilations are in vain: annotated branches left alone, each in turn, and all that
is annotated at once.

    python tests/support/second_compilations.py [FILE.cu ...]

Of each the PTX without its markers is compared with what nvcc makes of the source without them, and
it is told whether ccc knows beforehand that they are the same code. Without files, all samples and
cases are compared, refused ones included, and then kernels of the fuzzer; a line for each that
differs though that was thought to be known, and the counts.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from device_code import device_code
from folders import TESTS
from marker_cost import sources
from same_code import known_by

from ccc.analysis.facts import Facts
from ccc.analysis.idle_markers import all_idle
from ccc.compiler.unmarking import taken_out
from ccc.errors import CccError
from ccc.frontend.marking import Annotated
from ccc.ir.arm_markers import as_comments
from ccc.parse import parse_function, parse_module
from ccc.tools.fuzz.build import name_of
from ccc.tools.fuzz.generate import kernel
from ccc.tools.fuzz.tree import source

KERNELS, IN_A_FILE = 400, 50
_BRANCHES = ("if", "switch")


class Left(NamedTuple):
    """A function in which an annotated branch was left alone, or all: whether that is known to come
    to the same, whether it does, and whether the instructions stand in the same order, too."""

    name: str
    is_all: bool
    known: bool
    same: bool
    in_order: bool


def of_file(path: Path, folder: Path) -> Iterator[Left]:
    """What becomes of each annotated branch of a file, left alone by itself, and of all of it.

    Raises:
        CccError, CalledProcessError: it cannot be compiled as it is.
    """
    text = path.read_text()
    annotated = Annotated(text, path.name)
    told = re.search(r"^// nvcc: (.*)$", text, re.MULTILINE)
    words = [f"-I{path.parent}", *(told[1].split() if told else [])]
    marked = annotated.mark()
    ptx = _compiled(marked.text, words, folder)
    branches = [({a.id}, False) for a in marked.annotations if a.directive in _BRANCHES]
    for some, is_all in (*branches, ({a.id for a in marked.annotations}, True)):
        for left in _compared(annotated, ptx, some, words, folder):
            name = f"{path.parent.name}/{path.stem}: {left.name}, {some}"
            yield left._replace(name=name, is_all=is_all)


def of_fuzz(seed: int, numbers: Sequence[int], folder: Path) -> Iterator[Left]:
    """The same of kernels of the fuzzer, a file of them: all, and one branch of each at a time."""
    annotated = Annotated(source((name_of(n), kernel(seed, n)) for n in numbers), "fuzz.cu")
    marked = annotated.mark()
    ptx, every = _compiled(marked.text, [], folder), marked.annotations
    for left in _compared(annotated, ptx, {a.id for a in every}, [], folder):
        yield left._replace(is_all=True)
    of_homes: dict[str, list[int]] = {}
    for a in every:
        if a.directive in _BRANCHES and a.home:
            of_homes.setdefault(a.home.name, []).append(a.id)
    for place in range(max(map(len, of_homes.values()), default=0)):
        branches = {mine[place] for mine in of_homes.values() if place < len(mine)}
        yield from _compared(annotated, ptx, branches, [], folder)


def _compared(
    annotated: Annotated, marked: str, left: set[int], words: Sequence[str], folder: Path
) -> Iterator[Left]:
    """The functions in which some annotations stand, with their markers (``marked`` is the PTX of
    the source with all of them) and without."""
    real = _compiled(annotated.mark(without=left).text, words, folder)
    without = taken_out(marked, left)
    (ours, in_order), (theirs, their_order) = (
        (known_by(ptx), known_by(ptx, in_order=True)) for ptx in (without, real)
    )
    before, after = (parse_module(ptx).functions for ptx in (marked, without))
    for piece, other in zip(before, after, strict=True):
        if piece.text != other.text:
            name, known = piece.name, all_idle(Facts(parse_function(piece)), left)
            same = ours[name] == theirs.get(name), in_order[name] == their_order.get(name)
            yield Left(name, False, known, *same)


def _compiled(text: str, words: Sequence[str], folder: Path) -> str:
    (folder / "k.cu").write_text(text)
    return as_comments(device_code(folder / "k.cu", "-w", "-arch=sm_90", *words))


def _all(given: Sequence[str], folder: Path) -> Iterator[Left]:
    refused = sorted(TESTS.glob("cases/refused/*.cu"))
    for path in map(Path, given) if given else (*sources(), *refused):
        try:
            yield from of_file(path, folder)
        except (CccError, subprocess.CalledProcessError) as error:
            print(f"{path}: {str(error).splitlines()[0]}")
    for first in range(0, 0 if given else KERNELS, IN_A_FILE):
        yield from of_fuzz(0, range(first, first + IN_A_FILE), folder)


def main(given: Sequence[str]) -> None:
    """Print what was thought to be known and is not so, and how many there are of each kind."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for one in _all(given, Path(folder)):
            if one.known and not one.same:
                print(f"{one.name}: not the same", flush=True)
            kind = "in order" if one.in_order else "same" if one.same else "not the same"
            whole = "all left alone" if one.is_all else "a branch"
            counts[f"{whole}: {'known' if one.known else 'not known'}, {kind}"] += 1
    for kind, count in sorted(counts.items()):
        print(f"{kind}: {count}")


if __name__ == "__main__":
    main(sys.argv[1:])
