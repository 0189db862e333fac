"""What markers cost: nvcc's PTX of annotated sources with them and without.

    python tests/support/marker_cost.py [FILE.cu ...]

Without files, all samples and cases are compared. For each that differs in more than the names of
registers and labels, a line tells the instructions and loops without markers and with them. What is
compared with is the source with the same unroll pragmas: that an annotated loop is not unrolled is
wanted, and no cost of the marker.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from folders import ROOT

from ccc.errors import CccError
from ccc.frontend.marking import mark
from ccc.ir.arm_markers import as_comments
from ccc.toolkit import find as toolchain

_MARKER = re.compile(
    r' asm volatile\("// ccc\.[^"]*"(?: :: "\w"\([^()]*\))?\);| \(void\)ccc_marker_\w+;'
)
_COMMENT = re.compile(r"//[^\n]*|^\s*\n", re.MULTILINE)
_JUMP = re.compile(r"\bbra(?:\.uni)?\s+(\$\w+)")
_LABEL = re.compile(r"^(\$\w+):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is compared of PTX: its opcodes, and how many loops it has."""

    opcodes: Counter[str]
    loops: int

    @staticmethod
    def of(ptx: str) -> Shape:
        """The shape of a module."""
        code = _COMMENT.sub("", ptx)
        words = re.findall(r"^\s+(?:@!?%\w+\s+)?([a-z][\w.]*)[^\n]*;", code, re.MULTILINE)
        places = {match[1]: match.start() for match in _LABEL.finditer(code)}
        back = {m[1] for m in _JUMP.finditer(code) if places.get(m[1], m.start()) < m.start()}
        return Shape(Counter(words), len(back))

    @property
    def instructions(self) -> int:
        """How many there are."""
        return sum(self.opcodes.values())


def shapes(source: Path, folder: Path) -> tuple[Shape, Shape]:
    """Of what nvcc makes of a source without markers, and with them.

    Raises:
        CalledProcessError: it cannot be compiled.
    """
    marked = mark(source.read_text(), source.name).text
    return _compiled(_MARKER.sub("", marked), source, folder), _compiled(marked, source, folder)


def _compiled(text: str, source: Path, folder: Path) -> Shape:
    file, output = folder / source.name, folder / "k.ptx"
    file.write_text(text)
    told = re.search(r"^// nvcc: (.*)$", text, re.MULTILINE)
    more = told[1].split() if told else []
    include = f"-I{source.parent}"
    command = [toolchain.find().nvcc, "-ptx", "-arch=sm_90", include, *more, file, "-o", output]
    subprocess.run(command, check=True, capture_output=True)
    return Shape.of(as_comments(output.read_text()))


def sources() -> Iterator[Path]:
    """All samples and cases."""
    yield from sorted(ROOT.glob("samples/**/kernel.cu"))
    yield from sorted(ROOT.glob("tests/cases/*.cu"))


def main(given: Sequence[str]) -> None:
    """Print what differs, and how many sources do."""
    same = other = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in map(Path, given) if given else sources():
            try:
                plain, marked = shapes(source, Path(folder))
            except (CccError, OSError, subprocess.CalledProcessError) as error:
                print(f"{source}: {str(error).splitlines()[0]}")
                continue
            if plain == marked:
                same += 1
                continue
            other += 1
            more, less = marked.opcodes - plain.opcodes, plain.opcodes - marked.opcodes
            print(
                f"{source.parent.name}/{source.stem}: instructions {plain.instructions} -> "
                f"{marked.instructions}, loops {plain.loops} -> {marked.loops}; more {_few(more)}, "
                f"less {_few(less)}",
                flush=True,
            )
    print(f"{same} alike, {other} not")


def _few(counted: Counter[str]) -> str:
    return " ".join(f"{name}*{count}" for name, count in counted.most_common(6)) or "nothing"


if __name__ == "__main__":
    main(sys.argv[1:])
