"""Golden files: one file is a transformation, its expected outcome, and a run that compares both.

    // ccc: context-collection{strategy=merge}
    // run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0
    <marked PTX>
    // %%% after %%%
    <expected PTX>
    // %%% says %%%
    // k.cu:6:1: warning: ...

Make one from annotated CUDA, which needs nvcc:

    python tests/support/goldens.py tests/cases/if_else.cu tests/golden/context-collection/
    pytest --bless tests/test_golden.py

A line ``// options: strategy=merge`` in the CUDA goes to the head of the golden file; a line
``// nvcc: -lineinfo`` holds options for nvcc; with ``// values`` variables without one get a value.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collecting import transform

from ccc.compiler import transform as compiler
from ccc.compiler.transform import Transformed
from ccc.frontend.marking import mark
from ccc.harness.equivalence import Launch
from ccc.ir.arm_markers import as_comments
from ccc.options import AUTO, Options
from ccc.toolkit import find as toolchain

AFTER = "// %%% after %%%\n"
VALUES = "\n// values\n"
SAYS = "// %%% says %%%\n"


@dataclass
class Golden:
    """One golden file, read."""

    path: Path
    head: list[str]
    before: str
    after: str
    says: list[str]
    options: Options
    registers: dict[str, int] = field(default_factory=dict)
    chooses: bool = False
    """Whether it says ``strategy=auto``: the policy chooses what to do, and whether to."""

    @staticmethod
    def read(path: Path) -> Golden:
        text, _, rest = path.read_text().partition(AFTER)
        after, _, says = rest.partition(SAYS)
        head = [line for line in text.splitlines() if line.startswith(("// ccc:", "// run:"))]
        before = "".join(
            line for line in text.splitlines(keepends=True) if line.rstrip("\n") not in head
        )
        options = re.search(r"\{(.*)\}", head[0])
        pairs = dict(word.split("=") for word in options[1].split()) if options else {}
        asked: dict[str, Any] = {k: int(v) if v.isdigit() else v for k, v in pairs.items()}
        registers = {"k": asked.pop("registers")} if "registers" in asked else {}
        said = [line.removeprefix("// ") for line in says.splitlines()]
        chooses = asked.get("strategy") == AUTO
        return Golden(path, head, before, after, said, Options(**asked), registers, chooses)

    @property
    def launch(self) -> Launch:
        line = next(line for line in self.head if line.startswith("// run:"))
        return Launch.parse(line)

    @property
    def target(self) -> str:
        """The architecture that the PTX is for."""
        found = re.search(r"^\.target (\w+)", self.before, re.M)
        assert found is not None
        return found[1]

    def transform(self) -> Transformed:
        call = compiler.transform if self.chooses else transform
        return call(self.before, self.options, filename=self.path.name, registers=self.registers)

    def write(self, result: Transformed) -> None:
        said = [f"// {line}" for line in lines_said(result)]
        text = "\n".join(self.head) + "\n" + self.before + AFTER + result.ptx
        if said:
            text = text.rstrip("\n") + "\n" + SAYS + "\n".join(said)
        self.path.write_text(text.rstrip("\n") + "\n")


def lines_said(result: Transformed) -> list[str]:
    """The lines of its diagnostics; the kernel, which each golden file has one of, is left out."""
    lines = [line for text in result.diagnostics for line in text.splitlines()]
    return [re.sub(r" \[in [^\]]*\]$", "", line) for line in lines]


def marked_ptx(source: Path, arch: str = "sm_90") -> str:
    """PTX of annotated CUDA with its markers, before any pass."""
    text = source.read_text()
    options = re.search(r"^// nvcc: (.*)$", text, re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        marked = Path(folder, source.name)
        loops = range(1, 100) if VALUES in text else ()
        marked.write_text(mark(text, source.name, values=loops).text)
        output = Path(folder, "k.ptx")
        nvcc = toolchain.find().nvcc
        more = options[1].split() if options else []
        if not any(option.startswith("-arch") for option in more):
            more.append(f"-arch={arch}")
        subprocess.run([nvcc, "-ptx", *more, marked, "-o", output], check=True)
        return as_comments(output.read_text().replace(f"{folder}/", ""))


def main() -> None:
    """Write golden files without their outcome; ``pytest --bless`` adds that."""
    *sources, folder = sys.argv[1:]
    for source in map(Path, sources):
        text = source.read_text()
        run = text.splitlines()[0]
        options = re.search(r"^// options: (.*)$", text, re.MULTILINE)
        head = f"// ccc: {Path(folder).name}{{{options[1] if options else ''}}}\n{run}\n"
        target = Path(folder, f"{source.stem}.ptx")
        target.write_text(f"{head}{marked_ptx(source).strip()}\n{AFTER}")


if __name__ == "__main__":
    main()
