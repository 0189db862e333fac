"""What is said of arrays that are members of a variable of the thread's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

DIGITS = """struct Counts { DECLARED; };
__global__ void k(const int *x, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Counts h;
        for (int k = 0; k < 9; k++) h.of[k] = 0;
        int v = x[i], most = 0;
#pragma ccc while
        while (v) { h.of[v % 9]++; v /= 9; }
        for (int k = 1; k < 9; k++) if (h.of[k] > h.of[most]) most = k;
        y[i] = most;
    }
}
"""
MACHINE = """struct Machine {
    int pc, sp, sum, stack[SIZE];
    __device__ void push(int v) { stack[sp++ & SIZE - 1] = v; }
    __device__ int pop() { return stack[--sp & SIZE - 1]; }
};
__global__ void __launch_bounds__(64) k(const int *code, int length, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        Machine m;
        m.pc = 0; m.sp = 0; m.sum = i;
#pragma ccc while
        while (m.pc < length) {
            int op = code[m.pc++];
#pragma ccc switch
            switch (op) {
                case 0: m.sum += 3; break;
                case 1: m.push(m.sum); break;
                case 2: m.sum = m.pop(); break;
                default: m.pc = length;
            }
        }
        y[i] = m.sum;
    }
}
"""
ALONE = "the array may go with the tasks of a loop's only annotation: remove that on line 14"


def told(source: str, folder: Path) -> list[str]:
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize(
    ("declared", "hint"),
    [
        ("short of[10]", "declare the array alignas(4), or let it be one of ints"),
        ("char of[9]", "let the array take a multiple of 4 bytes, and declare it alignas(4), or"),
    ],
)
def test_an_array_that_is_not_aligned_to_words_is_to_be_declared_so(
    declared: str, hint: str, tmp_path: Path
) -> None:
    (line,) = told(DIGITS.replace("DECLARED", declared), tmp_path)
    assert '("h.of", k.cu:9, ' in line
    assert f": {hint}" in line
    aligned = f"alignas(4) {declared}".replace("9", "12")
    assert told(DIGITS.replace("DECLARED", aligned), tmp_path) == []


def test_of_a_branch_in_a_loop_that_is_left_for_an_array_that_is_said(tmp_path: Path) -> None:
    """And not what would have been in its way had its variables no values."""
    lines = told(MACHINE.replace("SIZE", "8"), tmp_path)
    assert [line.partition(": ")[0] for line in lines] == ["k.cu:11:1", "k.cu:14:1"]
    for line, way_out in zip(lines, (ALONE, "remove this annotation [in k]"), strict=True):
        assert '("m.stack", k.cu:' in line
        assert f"; {way_out}" in line
    alone = MACHINE.replace("#pragma ccc switch", "")
    assert told(alone.replace("SIZE", "8"), tmp_path) == []


def test_of_an_array_that_is_too_large_all_is_said_at_once(tmp_path: Path) -> None:
    apart = MACHINE.replace("code[m.pc++]", "code[m.pc++ * n + i]")
    source = apart.replace("Machine m;", "Machine m = {};").replace("SIZE", "64")
    line, *_ = told(source, tmp_path)
    assert '("m.stack", k.cu:' in line
    assert "here it takes 26" in line
    assert f"; besides, {ALONE}" in line
