"""What is said of one annotation holds when what is said of the others is followed, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

TRIANGLES = """
__global__ void tri(const int *row, const int *col, int n, unsigned long long *out) {
    unsigned long long c = 0;
    #pragma ccc for reduction(+: c)
    for (int u = blockIdx.x * blockDim.x + threadIdx.x; u < n; u += gridDim.x * blockDim.x)
        #pragma ccc while
        for (int e = row[u]; e < row[u + 1]; ++e) {
            int v = col[e];
            #pragma ccc if
            if (v > u) {
                int a = row[u], b = row[v];
                #pragma ccc while
                while (a < row[u + 1] && b < row[v + 1]) {
                    int d = col[a] - col[b];
                    if (d == 0) { ++c; ++a; ++b; }
                    else if (d < 0) ++a; else ++b;
                }
            }
        }
    atomicAdd(out, c);
}
"""


@pytest.mark.usefixtures("all_headers")
def test_a_loop_is_not_worth_more_than_the_branch_that_it_lies_in(tmp_path: Path) -> None:
    """Its tasks are part of those of the branch."""
    (line,) = (one for one in said(TRIANGLES, tmp_path, Options()) if "take those" in one)
    assert "worth more" not in line
    assert "; remove this annotation; or that one, and this loop can be collected" in line


FOUND = """
struct T { int l, r, key; };
#pragma ccc recursion
__device__ int find(const T *t, int i, int key) {
    if (i < 0) return -1;
    if (t[i].key == key) return i;
    return key < t[i].key ? find(t, t[i].l, key) : find(t, t[i].r, key);
}
__global__ void k(const T *t, const int *q, int *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    HEAD o[i] = find(t, 0, q[i]);
}
"""
STRIDES = 'mark the kernel, if its threads are independent: "#pragma ccc grid_stride"'


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("if (i < n)", STRIDES),
        ("for (; i < n; i += gridDim.x * blockDim.x)", "mark the loop in which the kernel comes"),
    ],
)
def test_a_kernel_of_one_thread_for_each_item_is_to_be_marked_itself(
    head: str, told: str, tmp_path: Path
) -> None:
    source = FOUND.replace("HEAD", head)
    (line,) = said(source, tmp_path, Options())
    assert "no annotated loop is left around it; " + told in line
    marked = source.replace("__global__", "#pragma ccc grid_stride\n__global__")
    assert head != "if (i < n)" or "left around" not in "".join(said(marked, tmp_path, Options()))


FLATTENED = """
__global__ void steps(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = x[i], c = 0;
    #pragma ccc while strategy(flatten)
    while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; ++c; }
    y[i] = c;
}
"""


def test_a_loop_can_be_flattened_in_a_kernel_that_is_marked(tmp_path: Path) -> None:
    lines = said(FLATTENED, tmp_path, Options())
    assert any('each thread has one item, mark the kernel "#pragma ccc grid' in s for s in lines)
    marked = FLATTENED.replace("__global__", "#pragma ccc grid_stride\n__global__")
    assert not any("no loop is left" in one for one in said(marked, tmp_path, Options()))
