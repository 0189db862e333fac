"""A loop that all lanes take as often is told to be in vain, whatever else is in its way."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

TWO = """__global__ void k(const float *x, float *y, int n, int m, const int *__restrict__ deg) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float s = x[i];
IN
#pragma ccc while
        for (int j = 0; j < TURNS; j++) s = s * s + x[j];
#pragma unroll 1
        for (int j = 0; j < deg[i]; j++) s += x[j + i];
        y[i] = s;
    }
}
"""
"""What follows the first loop holds another one, with which it would have to be collected."""
BLOCKS = """#pragma ccc grid_stride
__global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = x[i];
#pragma ccc while
    for (int j = 0; j < 300; j++) s = s * s + x[j];
#pragma unroll 1
    for (int j = 0; j < i; j++) s += x[j + i];
    y[i] = s;
}
"""
IN_VAIN = (
    ";); remove the annotation: all lanes that begin it go round as often, so that there is "
    "nothing to fill [in k]"
)
ASKED = Options(strategy=COLLECT)


@pytest.mark.parametrize(
    ("turns", "inside", "in_vain"),
    [
        ("300", "if (i >= m) continue;", True),
        ("m", "if (i >= m) continue;", True),
        ("deg[i]", "if (i >= m) continue;", False),
        ("300", "if (s > 0.5f)", False),
        ("300", "if ((i & 63) != m) continue;", False),
        ("300", "if (i != m) continue;", False),
        ("300", "if (threadIdx.x >= m) continue;", False),
        ("300", "if (s < 0.2f) break; if (i >= m) continue;", False),
        ("300", "if (s > 0.5f) continue;", False),
    ],
)
def test_of_two_loops_the_one_that_all_take_alike_is_in_vain(
    turns: str, inside: str, in_vain: bool, tmp_path: Path
) -> None:
    (line,) = said(TWO.replace("TURNS", turns).replace("IN\n", inside + "\n"), tmp_path, ASKED)
    assert "what follows the loop in the iteration" in line
    assert line.endswith(IN_VAIN) == in_vain
    assert ("split the annotated loop in two" in line) != in_vain


def test_nor_does_it_need_another_kernel_where_some_threads_are_beyond_the_end(
    tmp_path: Path,
) -> None:
    lines = said(BLOCKS, tmp_path, ASKED)
    assert sum(IN_VAIN in line for line in lines) == 1
    assert not any("another kernel" in line for line in lines)


def test_a_branch_in_it_is_in_the_way_and_so_is_a_loop_behind_it(tmp_path: Path) -> None:
    marked = "for (int j = 0; j < deg[i + 1]; j++)\n#pragma ccc if\nif (x[j] > s) "
    source = TWO.replace("for (int j = 0; j < TURNS; j++) ", marked).replace("IN\n", "")
    line, _ = said(source, tmp_path, ASKED)
    assert "; remove that on line 7, and annotate that loop, or split the annotated loop" in line
    _, line, *_ = said(source.replace("#pragma unroll 1", "#pragma ccc while"), tmp_path, ASKED)
    assert "annotations (k.cu:" in line


@pytest.mark.parametrize(
    "mark", ["#pragma unroll 1", "#pragma ccc while", "#pragma ccc for variable"]
)
def test_a_loop_behind_that_all_take_alike_is_not_what_there_is_to_do(
    mark: str, tmp_path: Path
) -> None:
    """Neither to annotate it, nor to do first what is said of it: that is to remove it."""
    source = TWO.replace("TURNS", "deg[i + 1]").replace("IN\n", "").replace("< deg[i]", "< m")
    line, *_ = said(source.replace("#pragma unroll 1", mark), tmp_path, ASKED)
    assert "and holds a loop itself, that is " in line
    assert "; split the annotated loop in two, or remove the annotation" in line


HELD = """__global__ void k(const float *x, float *y, const int *off, int n, int m) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float s = x[i];
AROUND
#pragma ccc while
        for (int j = 0; j < m; j++) s = sinf(s) * x[j];
        y[i] = s;
    }
}
"""


@pytest.mark.parametrize(
    ("around", "is_told"),
    [
        ("if (s > 0.5f)", True),
        ("if (s <= 0.5f) continue;", False),
        ("", False),
        ("#pragma ccc while\nfor (int e = off[i]; e < off[i + 1]; ++e)", False),
    ],
)
def test_a_branch_around_is_to_be_marked_where_there_is_one(
    around: str, is_told: bool, tmp_path: Path
) -> None:
    lines = said(HELD.replace("AROUND", around), tmp_path, Options())
    (line,) = (line for line in lines if "go round as often" in line)
    assert ('mark the branch that it stands in "ccc if" in its place, or' in line) == is_told


NEEDED = """__global__ void k(const float *x, float *y, const int *off, int n, int m) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float s = x[i];
BEFORE
#pragma ccc while
        for (int j = 0; j < m; j++) {
            WITHIN
            y[i * m + j] *= s;
        }
    }
}
"""


@pytest.mark.parametrize(
    ("before", "within", "way"),
    [
        (
            "if (off[i] < 0) continue;\n#pragma ccc if\nif (s > 0.5f) s = sinf(s) * x[off[i]];",
            "",
            "; remove the annotation",
        ),
        (
            "",
            "\n#pragma ccc while\nfor (int e = off[i + j]; e < off[i]; ++e) s += x[e];",
            '; mark it "ccc for", if its turns are independent, or ',
        ),
    ],
)
def test_one_that_others_need_is_in_vain_as_well(
    before: str, within: str, way: str, tmp_path: Path
) -> None:
    lines = said(NEEDED.replace("BEFORE", before).replace("WITHIN", within), tmp_path, Options())
    (line,) = (line for line in lines if "go round as often" in line)
    assert way in line


@pytest.mark.parametrize(("turns", "is_worth"), [("m", False), ("off[i]", True)])
def test_a_branch_is_not_left_to_one(turns: str, is_worth: bool, tmp_path: Path) -> None:
    source = NEEDED.replace("BEFORE", "float best = 9; int at = 0;").replace(
        "y[i * m + j] *= s;\n        }", "}\n        y[i] = best * at * s;"
    )
    kept = "\n#pragma ccc if\nif (x[j * n + i] < best) { best = x[j * n + i]; at = j; }"
    source = source.replace("WITHIN", kept).replace("j < m", f"j < {turns}")
    source = source.replace("ccc while", "ccc for variable reduction(min: best)")
    lines = said(source, tmp_path, ASKED)
    (line,) = (line for line in lines if "so that nothing is left" in line)
    assert "; remove this annotation" in line
    assert ("so that the loop around it may be collected" in line) == is_worth


def test_what_is_too_short_needs_no_loop(tmp_path: Path) -> None:
    source = NEEDED.replace("BEFORE", "float best = 9;").replace("y[i * m + j] *= s;", "")
    kept = "\n#pragma ccc if\nif (x[j * n + i] < best) best = x[j * n + i];"
    source = source.replace("WITHIN", kept).replace(
        "    }\n}", "        y[i] = best * s;\n    }\n}"
    )
    source = source.replace("ccc while", "ccc for variable")
    short, loop = said(source, tmp_path, Options())
    assert "; it is too short to gain anything: remove the annotation" in short
    assert "far as is known; remove the annotation" in loop
