"""Walks with a stack of the thread's own beside the arrays of a task: its iterations share it."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulating import needs_nvcc
from saying import said

from ccc.options import Options

pytestmark = [needs_nvcc, pytest.mark.usefixtures("few_headers")]

WALK = """__global__ void __launch_bounds__(128) k(const int *__restrict__ key,
        const int *__restrict__ low, const int *__restrict__ high, int *stacks, int *found,
        int nodes, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x, T = gridDim.x * blockDim.x;
    STACK
#pragma ccc for
    for (int i = t; i < n; i += T) {
#pragma ccc if
        if (low[i] < high[i] - 20) {
            int top = 0, node = 0, count = 0;
            while (node < nodes || top > 0) {
                if (node >= nodes) node = AT(--top);
                const int here = key[node];
                count += low[i] <= here && here < high[i];
                if (here < high[i] && 2 * node + 2 < nodes) AT(top++) = 2 * node + 2;
                node = low[i] <= here ? 2 * node + 1 : nodes;
            }
            found[i] = count;
        }
    }
}
"""


@pytest.mark.parametrize(
    ("stack", "at", "is_shared"),
    [
        ("__shared__ int stack[16][128];", "stack[{}][threadIdx.x]", True),
        ("int *stack = stacks + t * 16;", "stack[{}]", True),
        ("", "stacks[({}) * T + t]", True),
        ("int stack[16];", "stack[{}]", False),
    ],
    ids=["shared memory", "a row", "a column", "an array of the iteration"],
)
def test_its_counter_begins_with_each_iteration(
    stack: str, at: str, is_shared: bool, tmp_path: Path
) -> None:
    """nvcc takes its 0 for that of what is counted beside it."""
    source = WALK.replace("STACK", stack)
    for index in ("--top", "top++"):
        source = source.replace(f"AT({index})", at.format(index))
    told = said(source, tmp_path, Options())
    refused = [one for one in told if "all iterations of the loop use the same memory" in one]
    assert len(refused) == is_shared
    assert all('("stack' in one for one in refused)


BY_FUNCTIONS = """__device__ __noinline__ void push(int *at, int top, int v) { at[top] = v; }
__device__ __noinline__ int pop(const int *at, int top) { return at[top]; }
__global__ void __launch_bounds__(128) k(const int *x, int *y, int n, int *z) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x, T = gridDim.x * blockDim.x;
    int *stack = z + t * 64;
#pragma ccc for
    for (int i = t; i < n; i += T) {
#pragma ccc if prob(0.2)
        if (x[i] % 5 == 0) {
            int v = x[i], s = 0, top = 0;
            while (v > 1) { push(stack, top, v); ++top; v = v & 1 ? v / 3 : v / 2; s += v; }
            while (top > 0) s = s * 3 + pop(stack, --top);
            y[i] = s;
        }
    }
}
"""


def test_functions_may_push_and_pop(tmp_path: Path) -> None:
    (line, *_) = said(BY_FUNCTIONS, tmp_path, Options())
    assert "all iterations of the loop use the same memory" in line
