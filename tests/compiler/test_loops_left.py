"""What is told of a path in a loop that is left is about the path, and holds in the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

INSIDE = "path left as it was: the loop around it is left alone: "
DEEP = """__global__ void __launch_bounds__(64) k(
    const int *__restrict__ x, const int *__restrict__ m, int *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int s = i;
#pragma ccc while
        for (int a = 0; a < m[i]; a++)
#pragma ccc while
            for (int b = 0; b < m[a + i]; b++)
#pragma ccc while
                for (int c = 0; c < m[b + s % 64]; c++) {
#pragma ccc if
                    if (s % 3 == 1) s = s * 5 + x[s & 63];
                    s++;
                }
        out[i] = s;
    }
}
"""


def test_what_lies_in_a_loop_of_which_the_annotation_has_to_go_goes_too(tmp_path: Path) -> None:
    lines = said(DEEP, tmp_path, Options(strategy=COLLECT))
    (branch,) = (line for line in lines if line.startswith("k.cu:12:"))
    assert INSIDE in branch
    assert branch.endswith("; remove this annotation, too [in k]")
    (loop,) = (line for line in lines if line.startswith("k.cu:10:"))
    assert "; remove this annotation: it could not be collected without that one" in loop
    removed = DEEP.replace("#pragma ccc if", "").split("#pragma ccc while")
    source = "#pragma ccc while".join(removed[:3]) + removed[3]
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []


def test_a_branch_that_each_turn_takes_lies_in_its_loop(tmp_path: Path) -> None:
    """All that is behind the branch is its own, which is more than there is in the loop."""
    source = """__global__ void k(
    const int *__restrict__ x, const int *__restrict__ m, int *key, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int begin = m[i], end = m[i + 1];
#pragma ccc while
        for (int e = begin; e < end; e++) {
#pragma ccc if
            if (e < end) {
                int at = x[e] & 63;
                while (atomicCAS(&key[at], -1, x[e]) != -1) at = (at + 1) & 63;
                if (x[e] > 99) { key[n + i] = at; break; }
            }
        }
    }
}
"""
    loop, branch = said(source, tmp_path, Options(strategy=COLLECT))
    assert loop.startswith("k.cu:6:")
    assert branch.startswith("k.cu:8:")
    assert INSIDE in branch
    assert "do first what is said of that loop; where" in branch


IN_A_ROW = """#pragma ccc grid_stride
__global__ void __launch_bounds__(64) k(
    const int *__restrict__ x, const int *__restrict__ m, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, a = i, b = 0;
    if (i >= n) return;
#pragma ccc while
    for (int e = 0; e < m[i]; e++) {
        a += x[e];
#pragma ccc while
        while (a > m[e]) a = a / 3 - 1;
    }
#pragma ccc while
    while (a % 5 != 0) { a = a * 3 + 1; b++; }
    out[i] = a + b;
}
"""


def test_in_blocks_another_kernel_is_not_all_that_serves_loops_in_a_row(tmp_path: Path) -> None:
    loop, inside = said(IN_A_ROW, tmp_path, Options(strategy=COLLECT))
    assert "; remove that on line 9, or let another kernel do what follows" in loop
    assert "; remove this annotation; or ask for strategy(flatten), " in inside
    first, _, rest = IN_A_ROW.rpartition("#pragma ccc while\n        while")
    source = f"{first}while{rest}"
    assert said(source, tmp_path, Options(strategy=COLLECT)) == []


def test_a_loop_that_is_full_without_what_lies_in_it_is_to_go_too(tmp_path: Path) -> None:
    """To remove what lies in it would lead to that."""
    full = IN_A_ROW.replace("e < m[i]; e++", "e < n; e++")
    loop, inside = said(full, tmp_path, Options(strategy=COLLECT))
    assert "; let another kernel do what follows, or remove the annotation" in loop
    assert "; do first what is said of that loop; where its annotation is removed" in inside
    for grid, by in (("#pragma ccc grid_stride\n", ""), ("if (i >= n) return;", "")):
        full = full.replace(grid, by)
    own = (
        "\n#pragma ccc for\n    for (int i = threadIdx.x; i < n; i += 64) {\n    int a = i, b = 0;"
    )
    full = full.replace("    int i = blockIdx.x * blockDim.x + threadIdx.x, a = i, b = 0;", own)
    loop, _ = said(f"{full}}}", tmp_path, Options(strategy=COLLECT))
    assert "; split the annotated loop in two, or remove the annotation" in loop
