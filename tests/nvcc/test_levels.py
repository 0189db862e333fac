"""Annotations and the compiler's levels: what is applied does what the original does."""

from __future__ import annotations

import pytest
from breadth import one_in
from emulating import needs_nvcc

import ccc
from ccc.emulator import Module
from ccc.harness.equivalence import Launch, difference, run
from ccc.toolkit.find import find
from ccc.toolkit.ptxas import resources

pytestmark = [pytest.mark.slow, needs_nvcc, pytest.mark.usefixtures("few_headers")]

SOURCE = """#pragma ccc grid_stride
__global__ void __launch_bounds__(64) k(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = x[i];
    #pragma ccc if strategy(queue)
    if (a > 6) {
        for (int t = 0; t < 5; ++t) a = a * 7 + t;
        y[i] = a;
    }
}
"""
LAUNCH = Launch.parse("// run: grid=4 block=64 args=s32[250]~0:9 s32[250]=0 s32:250")


@pytest.mark.parametrize(
    "options",
    one_in(
        3,
        [["-Xcicc", "-O0"], ["-Xcicc", "-O1"], ["-Ofc=max"], ["-lineinfo"], ["-G", "-dopt=on"]],
    ),
)
def test_what_is_applied_at_a_level_is_right(options: list[str]) -> None:
    made = ccc.compile(SOURCE, options=options)
    paths = [path for kernel in made.report["kernels"] for path in kernel["paths"]]
    assert len(paths) == 2
    assert all(path["applied"] for path in paths)
    name = made.report["kernels"][0]["name"]
    expected, _ = run(Module(made.original), name, LAUNCH)
    for schedule in ("lockstep", 1, 2):
        found, _ = run(Module(made.ptx), name, LAUNCH, schedule=schedule)
        assert difference(expected, found) is None


UNSWITCHED = """#pragma ccc grid_stride
__global__ void __launch_bounds__(64) k(const int *__restrict__ x, int *y, int n, int way) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = x[i], sum = 0;
    #pragma ccc while strategy(merge)
    for (int t = 0; t < a; ++t) {
        if (way == 1) for (int low = 0; low < t; low += 3) sum += x[(low + t) % n];
        else sum = sum * 3 + x[(i + t) % n];
    }
    y[i] = sum;
}
"""


def test_registers_before_are_those_of_the_unmarked_source() -> None:
    made = ccc.compile(UNSWITCHED)
    (kernel,) = made.report["kernels"]
    needed = resources(made.original, "sm_90", find().program("ptxas"))[kernel["name"]]
    assert [path["applied"] for path in kernel["paths"]] == [True, True]
    assert {path["registers_before"] for path in kernel["paths"]} == {needed.registers}


def test_what_is_left_alone_is_unswitched_as_without_annotations() -> None:
    made = ccc.compile(UNSWITCHED.replace(" strategy(merge)", " strategy(leave)"))
    assert made.ptx == made.original


def test_code_for_the_debugger_is_left_and_that_is_said_once() -> None:
    made = ccc.compile(SOURCE, options=["-G"])
    (said,) = (line for line in made.diagnostics if "debugger" in line)
    assert said.endswith("compile without -G; -lineinfo is fine [in k]")
    assert made.ptx == made.original
