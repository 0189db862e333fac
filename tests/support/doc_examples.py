"""The examples of a documentation page: complete kernels, with what becomes of them.

A block ```` ```c++ ```` holds one kernel, with a line ``// run: grid=... block=... args=...`` (see
:mod:`ccc.harness.equivalence`). Behind each annotation stands what the report says of it:

    #pragma ccc if                       // applied
    #pragma ccc switch                   // applied (4 paths, cases)
    #pragma ccc if                       // left alone: the path jumps out of
    #pragma ccc fro                      // error: unknown directive

In parentheses stand facts of the report; a reason may be cut short. A block ```` ```text ```` right
behind it holds what ``cccc`` says of the file ``kernel.cu``, with line breaks as they fit the page.
A remark is what it says where nothing is asked for; it names the kernel, and may stand anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ccc
from ccc.diagnostics import notes
from ccc.options import COLLECT

Record = dict[str, Any]

_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.M | re.S)
_OUTCOME = re.compile(r"// (?P<how>applied|left alone|error)(?:: (?P<text>.+)| \((?P<facts>.+)\))?")
_REMARK = re.compile(
    r"^(?:```text\n| {4})(kernel\.cu:\d+:\d+: remark: .*?\[in (\w+)\])", re.M | re.S
)
_IN_PTX = re.compile(r"PTX line \d+: .*?;\)")
FILE = "kernel.cu"


@dataclass
class Example:
    """One example; ``records`` and ``diagnostics`` are what a compilation said of it."""

    number: int
    line: int
    code: str
    said: str | None
    records: list[Record] = field(default_factory=list)
    diagnostics: list[str] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        """What the kernel is in, so that many examples make one source."""
        return f"example_{self.number:03}"

    @property
    def outcomes(self) -> dict[int, re.Match[str]]:
        """What the page says of the annotations, by line of the code."""
        found = {n: _OUTCOME.search(line) for n, line in enumerate(self.code.splitlines(), 1)}
        return {number: match for number, match in found.items() if match}

    @property
    def error(self) -> str | None:
        """What is wrong with an annotation of code that is not compiled."""
        return next((m["text"] for m in self.outcomes.values() if m["how"] == "error"), None)

    @property
    def left_alone(self) -> bool:
        """Whether an annotation of it cannot be followed."""
        return any(
            outcome["how"] == "left alone" or "declined" in (outcome["facts"] or "")
            for outcome in self.outcomes.values()
        )

    def kernel(self, names: Sequence[str]) -> str:
        """The name that its kernel has among those of all."""
        (name,) = [name for name in names if self.namespace in name]
        return name


def read(page: Path) -> list[Example]:
    """The examples of a page, in their order."""
    text = page.read_text()
    blocks = list(_FENCE.finditer(text))
    examples: list[Example] = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] == "c++":
            is_said = following and following[1] == "text" and "remark: " not in following[2]
            said = following[2] if following and is_said else None
            line = text.count("\n", 0, block.start()) + 1
            examples.append(Example(len(examples), line, block[2], said))
    return examples


def remarks(page: Path) -> dict[str, str]:
    """The remarks on a page, by kernel."""
    return {kernel: said for said, kernel in _REMARK.findall(page.read_text())}


def compile_together(
    examples: Sequence[Example], folder: Path, strategy: str = COLLECT
) -> ccc.Compiled:
    """Compile examples as one source, which takes little longer than one of them."""
    parts = []
    for example in examples:
        place = folder / example.namespace / FILE
        place.parent.mkdir()
        place.write_text(example.code)
        parts.append(f'namespace {example.namespace} {{\n#line 1 "{place}"\n{example.code}}}\n')
    source = folder / "examples.cu"
    source.write_text("".join(parts))
    compiled = ccc.compile(source, strategy=strategy)
    for example in examples:
        place = folder / example.namespace / FILE
        paths = [path for kernel in compiled.report["kernels"] for path in kernel["paths"]]
        example.records = [path for path in paths if path["file"] == str(place)]
        every = [*compiled.diagnostics, *notes(compiled.report)]
        mine = [line for line in every if line.startswith(str(place))]
        named = [line.replace(f"{example.namespace}::", "") for line in mine]
        example.diagnostics = [line.replace(str(place), FILE) for line in named]
    return compiled


def facts(records: Sequence[Record]) -> set[str]:
    """What a page may say in parentheses of the paths of one annotation."""
    found = {f"{len(records)} paths"}
    for record in records:
        found |= {record.get("strategy") or "", *record.get("reductions", ())}
        found |= {"continuation"} if record.get("continuation") else set()
        found |= {"declined"} if record.get("declined") else set()
        found |= {f"{record['barrier']} barrier"} if record.get("barrier") else set()
    return found


def plain(text: str) -> str:
    """What is said, without line breaks, and without the PTX, which each nvcc makes as it likes."""
    return " ".join(_IN_PTX.sub("PTX)", " ".join(text.split())).split())
