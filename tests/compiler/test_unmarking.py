"""What is left alone is compiled again, unless its markers changed nothing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from annotated import loop
from emulating import needs_nvcc
from folders import ROOT, TESTS
from marker_cost import Shape

from ccc.compiler.unit import DevicePass, translate
from ccc.compiler.unmarking import without_markers
from ccc.frontend.marking import Annotated
from ccc.ir.arm_markers import as_comments
from ccc.options import Options
from ccc.toolkit import find as toolchain

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]

LISTS = (
    "#pragma ccc if\nif (x[i] > 3) {\n{first}\n"
    "#pragma ccc for variable\nfor (int e = x[i + 1]; e < x[i + 2]; e++) atomicAdd(x + e, i);\n}"
)


class Compiler:
    """nvcc, which counts how often it is asked."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.runs = 0

    def __call__(self, text: str, _: bool = False) -> str:
        self.runs += 1
        file, output = self.folder / "k.cu", self.folder / "k.ptx"
        file.write_text(text)
        words = ["-ptx", "-w", "-arch=sm_90", f"-I{ROOT / 'samples'}", str(file), "-o", str(output)]
        subprocess.run([str(toolchain.find().nvcc), *words], check=True)
        return output.read_text()


@pytest.fixture
def nvcc(tmp_path: Path) -> Compiler:
    return Compiler(tmp_path)


def same_without(text: str, left: set[int], nvcc: Compiler) -> bool | None:
    """Whether taking markers out is as good as compiling without them; None: it is not done."""
    annotated = Annotated(text, "k.cu")
    ptx = without_markers(as_comments(nvcc(annotated.mark().text)), left)
    if ptx is None:
        return None
    assert not re.search(rf"// ccc\.\w+ (?:{'|'.join(map(str, left))}) ", ptx)
    wanted = as_comments(nvcc(annotated.mark(without=left).text))
    assert ptx.count("// ccc.") == wanted.count("// ccc.")
    return Shape.of(ptx) == Shape.of(wanted)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (LISTS.replace("{first}", ""), {2}),
        (LISTS.replace("{first}", "x[i]++;"), {2}),
        ("#pragma ccc if\nif (x[i] > 3) x[i] = i;\n#pragma ccc if\nif (x[i] & 1) x[x[i]]++;", {3}),
        ("#pragma ccc if\nif (x[i] > 3) atomicAdd(x, i);", {2}),
    ],
)
def test_a_marker_that_changed_nothing_is_taken_out(
    body: str, left: set[int], nvcc: Compiler
) -> None:
    assert same_without(loop(body), left, nvcc) is True


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("int y = x[i];\n#pragma ccc if\nif (y > 3) y *= 5;\nx[i] = y;", {2}),  # a selection
        ("#pragma ccc if\nif (i & 1) {\n#pragma ccc if\nif (i > 3) atomicAdd(x, i); }", {2}),
        ("#pragma ccc if\nif (x[i]) atomicAdd(x, i); else atomicAdd(x, 3);", {2}),  # in common
        ("for (int j = 0; j < n; j++) {\n#pragma ccc if\nif (x[j]) x[x[j]]++; }", {2}),  # unrolled
        (LISTS.replace("{first}", ""), {2, 3}),
        (LISTS.replace("{first}", ""), {1, 2, 3}),
    ],
)
def test_one_that_may_have_changed_something_is_not(
    body: str, left: set[int], nvcc: Compiler
) -> None:
    assert same_without(loop(body), left, nvcc) is None


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(TESTS.glob("cases/*list*.cu")), ids=lambda path: path.stem)
def test_cases_with_lists(case: Path, nvcc: Compiler) -> None:
    text = case.read_text()
    for annotation in Annotated(text, "k.cu").mark().annotations:
        if annotation.directive in ("if", "switch"):
            assert same_without(text, {annotation.id}, nvcc) is not False


@pytest.mark.slow
def test_a_sample_one_of_whose_paths_is_left_is_compiled_once(nvcc: Compiler) -> None:
    text = (ROOT / "samples" / "bfs" / "kernel.cu").read_text()
    done = DevicePass()
    ptx = translate(Annotated(text, "k.cu"), nvcc, Options(), done)
    assert nvcc.runs == 1
    assert [one.applied for one in done.remarks["bfs"]] == [False, True]
    assert "// ccc.then" not in ptx
