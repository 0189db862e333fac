"""What is left alone is compiled again, unless its markers changed nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from annotated import loop
from breadth import one_in
from device_code import device_code
from emulating import needs_nvcc
from folders import ROOT, TESTS
from marker_cost import sources
from same_code import same_code
from second_compilations import KERNELS, of_file, of_fuzz

from ccc.compiler.said import DevicePass
from ccc.compiler.unit import translate
from ccc.compiler.unmarking import without_markers
from ccc.frontend.marking import Annotated
from ccc.ir.arm_markers import as_comments
from ccc.options import Options

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]

LISTS = (
    "#pragma ccc if\nif (x[i] > 3) {\n{first}\n"
    "#pragma ccc for variable\nfor (int e = x[i + 1]; e < x[i + 2]; e++) atomicAdd(x + e, i);\n}"
)
COPIES = (
    "for (int r = 0; r < 2; r++) {\n#pragma ccc for\nfor (int j = 0; j < n; j++) {\n"
    "#pragma ccc if\nif (y[j] > r) atomicAdd(x, j);\n}\n}"
)
TWO_ARMS = "int v = y[i];\n#pragma ccc if\nif (v == 0) atomicAdd(x + i, n);\nelse {other}"
CALLS = "int v = first(x);\n#pragma ccc if\nif (v > y[i]) atomicAdd(x, first(x));"


PARTS = 100
"""In which the kernels of the fuzzer are compared."""


class Compiler:
    """nvcc, which counts how often it is asked."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.runs = 0

    def __call__(self, text: str, _: bool = False) -> str:
        self.runs += 1
        (self.folder / "k.cu").write_text(text)
        return device_code(self.folder / "k.cu", "-w", "-arch=sm_90", f"-I{ROOT / 'samples'}")


@pytest.fixture
def nvcc(tmp_path: Path) -> Compiler:
    return Compiler(tmp_path)


def same_without(text: str, left: set[int], nvcc: Compiler) -> bool | None:
    """Whether taking markers out is as good as compiling without them; None: it is not done."""
    annotated = Annotated(text, "k.cu")
    ptx = without_markers(as_comments(nvcc(annotated.mark().text)), frozenset(left))
    if ptx is None:
        return None
    assert not re.search(rf"// ccc\.\w+ (?:{'|'.join(map(str, left))}) ", ptx)
    wanted = as_comments(nvcc(annotated.mark(without=left).text))
    assert ptx.count("// ccc.") == wanted.count("// ccc.")
    return same_code(ptx, wanted)


def kernel(body: str) -> str:
    """One that also reads ``y``, and may call a function without effects."""
    called = "__device__ __noinline__ int first(const int *x) { return x[0]; }\n"
    return called + loop(body).replace("int *x,", "int *x, const int *__restrict__ y,")


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (LISTS.replace("{first}", ""), {2}),
        (LISTS.replace("{first}", "x[i]++;"), {2}),
        ("#pragma ccc if\nif (x[i] > 3) x[i] = i;\n#pragma ccc if\nif (x[i] & 1) x[x[i]]++;", {3}),
        ("#pragma ccc if\nif (x[i] > 3) atomicAdd(x, i);", {2}),
        ("int v = y[i];\n#pragma ccc if\nif (v > 3) x[i] = v * v;", {2}),
        ("float v = y[i];\n#pragma ccc if\nif (v > 3) v = sqrtf(v);\nx[i] = v;", {2}),
        (
            "int v = y[i];\n#pragma ccc if\nif (v > 3) { int w = v * n;\n"
            "if (w > 9) x[i] = w; else x[i + n] = v; }\n",
            {2},
        ),
        (CALLS.replace("int v = first(x);", "int v = y[i + n];"), {2}),  # called once
        (
            "int v = y[i];\nfor (int r = 0; r < 2; r++) {\n"
            "#pragma ccc if\nif (y[i + r] > 3) atomicAdd(x + v, i);\n}",
            {2},
        ),  # copies
        (COPIES, {3}),
        ("int v = y[i];\n#pragma ccc if\nif (v > 3 || v < n) atomicAdd(x + i, v);", {2}),
        ("unsigned v = y[i];\n#pragma ccc if\nif (v > 3) x[(v & 7) + 9] = i;", {2}),  # unsigned
        (
            "float v = y[i];\n#pragma ccc if\nif (v > 3) {\n#pragma unroll\n"
            "for (int k = 0; k < 9; k++) v = v * 0.7f + 1; }\nx[i] = v;",
            {2},
        ),  # a row of sums and products
        (TWO_ARMS.replace("{other}", "x[i] = sqrtf(v);"), {2}),  # which have nothing in common
        (TWO_ARMS.replace("{other}", "atomicMax(x + i, v);"), {2}),
        (
            "int v = y[i];\n#pragma ccc if\nif (v > 3) for (int k = 0; k < n; k++) v += v >> 3;"
            "\nx[i] = v;",
            {2},
        ),  # a loop is not run unasked
    ],
)
def test_a_marker_that_changed_nothing_is_taken_out(
    body: str, left: set[int], nvcc: Compiler
) -> None:
    assert same_without(kernel(body), left, nvcc) is True


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("int y = x[i];\n#pragma ccc if\nif (y > 3) y *= 5;\nx[i] = y;", {2}),  # a selection
        ("#pragma ccc if\nif (i & 1) {\n#pragma ccc if\nif (i > 3) atomicAdd(x, i); }", {2}),
        ("#pragma ccc if\nif (x[i]) atomicAdd(x, i); else atomicAdd(x, 3);", {2}),  # in common
        ("for (int j = 0; j < n; j++) {\n#pragma ccc if\nif (x[j]) x[x[j]]++; }", {2}),  # unrolled
        (LISTS.replace("{first}", ""), {2, 3}),
        (LISTS.replace("{first}", ""), {1, 2, 3}),
        ("x[i] = 7;\n#pragma ccc if\nif (y[i] > 3) x[i] = i;", {2}),  # a selection of values
        ("int v = y[i];\n#pragma ccc if\nif (v > 3) x[v * 3 + 1] = i;", {2}),  # an index
        (
            "int v = y[i];\n#pragma ccc if\nif (v > 3) { if (v & 9) x[i] = v; }",
            {2},
        ),  # one condition
        (CALLS, {2}),
        (TWO_ARMS.replace("{other}", "atomicAdd(x + i, v);"), {2}),  # of which nvcc makes one
    ],
)
def test_one_that_may_have_changed_something_is_not(
    body: str, left: set[int], nvcc: Compiler
) -> None:
    assert same_without(kernel(body), left, nvcc) is None


def test_what_nobody_needs_but_its_own_condition_may_be_left_out(nvcc: Compiler) -> None:
    """nvcc leaves out an arm that makes nothing but what tells whether it comes again."""
    body = (
        "#pragma ccc if\nif (y[w & 15] > n) w = y[i & 31];\n#pragma ccc if\n"
        "if (y[i] > 90) { float t = i; for (int s = 0; s < 50; s++) t = t * 0.5f + expf(-t);"
        " x[i] = t; }"
    )
    unneeded = kernel(body).replace("#pragma ccc for", "int w = n;\n#pragma ccc for")
    assert same_without(unneeded, {2}, nvcc) is None
    needed = unneeded.replace("x[i] = t;", "x[i] = t + w;")
    assert same_without(needed, {2}, nvcc) is not False


REFUSED = TESTS.glob("cases/refused/*.cu")


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    one_in(11, sorted([*sources(), *REFUSED])),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_what_is_known_to_be_the_same_is(
    path: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if "#include" in path.read_text():
        request.getfixturevalue("all_headers")
    wrong = [one for one in of_file(path, tmp_path) if one.known and not one.same]
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_what_is_known_to_be_the_same_is_in_random_kernels(part: int, tmp_path: Path) -> None:
    found = list(of_fuzz(0, range(KERNELS)[part::PARTS], tmp_path))
    assert not [one for one in found if one.known and not one.same]
    assert part or any(one.known for one in found)  # in some of the four kernels of others none is


@pytest.mark.slow
def test_a_sample_one_of_whose_paths_is_left_is_compiled_once(nvcc: Compiler) -> None:
    text = (ROOT / "samples" / "bfs" / "kernel.cu").read_text()
    done = DevicePass()
    ptx = translate(Annotated(text, "k.cu"), nvcc, Options(), done)
    assert nvcc.runs == 1
    assert [one.applied for one in done.remarks["bfs"]] == [False, True]
    assert "// ccc.then" not in ptx
