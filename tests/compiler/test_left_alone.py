"""A kernel of which nothing is transformed is the compiler's, whatever is made of other kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from device_code import device_code

from ccc.compiler.said import DevicePass
from ccc.compiler.unit import translate
from ccc.errors import CccError
from ccc.frontend.marking import Annotated, strip
from ccc.options import Options
from ccc.parse import parse_module
from ccc.toolkit import find as toolchain

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

LEAF = """
__device__ int leaf(const int *__restrict__ b, int v) {
    int s = v;
    #pragma ccc if prob(0.05)
    if (v > 90) { for (int k = 0; k < 200; k++) s = s * 3 + b[(s & 255)]; }
    return s;
}
"""
"""A path in a function that is applied, where a kernel calls it."""
SERVED = """
__global__ void served(const int *__restrict__ a, const int *__restrict__ b, int *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = leaf(b, a[i]);
}
"""
IDLE = """
__global__ void idle(const int *__restrict__ deg, const int *w, int *__restrict__ y, int n) {
    int s = 0;
    #pragma ccc for
    for (int i = 0; i < n; ++i) s += w[i] * deg[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
"""
OFTEN = """
__device__ int often(const int *__restrict__ b, int v) {
    #pragma ccc if prob(0.9)
    if (v > 9) v = v * 3 + b[v];
    return v;
}
__global__ void idle(const int *__restrict__ a, const int *b, int *__restrict__ y, int n) {
    int s = 0;
    #pragma ccc for
    for (int i = 0; i < n; ++i) s += often(b, a[i]);
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
"""
CALLED = """
__device__ __noinline__ void each(const int *__restrict__ b, const int *a, int *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = leaf(b, a[i]);
}
__global__ void calls(const int *__restrict__ a, const int *__restrict__ b, int *y, int n) {
    if (n > 100) each(b, a, y, n);
}
"""
BY_POINTER = """
__device__ int (*chosen)(const int *, int) = leaf;
__global__ void idle(const int *__restrict__ a, const int *b, int *__restrict__ y, int n) {
    int s = 0;
    #pragma ccc for
    for (int i = 0; i < n; ++i) s += chosen(b, a[i]);
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
"""
NEVER = """
__global__ void idle(const int *__restrict__ deg, const int *w, int *__restrict__ y, int n) {
    int s = 0;
    #pragma ccc for
    for (int i = 0; i < n; ++i) {
        #pragma ccc if
        if (i >= n) return;
        s += w[i] * deg[i];
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
"""
"""The branch in the loop is never taken, and no code is left of it."""
NO_TURN = NEVER.replace("ccc if", "ccc while").replace("if (i >= n) return;", "while (i >= n) ++s;")
NOTHING_INSIDE = (
    ":17:5: warning: no annotated path stands inside this loop, nor in what it calls, so that there"
)

Compiler = Callable[[str], str]


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    """CUDA -> PTX."""
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)

    def compile_(source: str) -> str:
        (tmp_path / "k.cu").write_text(source)
        return device_code(tmp_path / "k.cu", "-w", "-arch=sm_90")

    return compile_


def functions(ptx: str) -> dict[str, str]:
    """The functions of PTX by their names, without parameters."""
    return {piece.name: piece.text for piece in parse_module(ptx).functions}


def made(source: str, compiler: Compiler) -> tuple[dict[str, str], DevicePass, int]:
    """The functions after all passes, what there is to say, and how often it was compiled."""
    asked: list[str] = []

    def compile_(marked: str, _: bool) -> str:
        asked.append(marked)
        return compiler(marked)

    done = DevicePass()
    ptx = translate(Annotated(source, "k.cu"), compile_, Options(), done)
    return functions(ptx), done, len(asked)


@pytest.mark.parametrize(
    "source",
    [LEAF + SERVED + one for one in (IDLE, OFTEN, NEVER, NO_TURN)],
    ids=["no path", "a path is left", "no code is left of a path", "a loop never turns"],
)
def test_a_loop_whose_paths_are_not_applied_is_as_the_compiler_makes_it(
    source: str, compiler: Compiler
) -> None:
    plain = functions(compiler(strip(source)))
    code, _, _ = made(source, compiler)
    changed = [name for name in plain if code[name] != plain[name]]
    assert ["served" in name for name in changed] == [True]


COPIES = """
template <bool has> __global__ void of(const int *__restrict__ a, const int *b, int *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int s = a[i] * 3;
        if constexpr (has) s = leaf(b, s);
        y[i] = s;
    }
}
template __global__ void of<false>(const int *, const int *, int *, int);
template __global__ void of<true>(const int *, const int *, int *, int);
"""


BUT_LITTLE = COPIES.replace(
    "if constexpr (has) s = leaf(b, s);",
    """
        #pragma ccc if prob(0.1)
        if (s & 1) for (int k = 0; k < (has ? 300 : 1); ++k) s = s * 3 + b[s & 255];""",
)
"""A template of which one instance has too little to do in its path."""


@pytest.mark.parametrize("source", [
    COPIES, COPIES.replace("    for", "    #pragma unroll 1\n    for"), BUT_LITTLE,
], ids=["no path", "unrolled as the user says", "a path that is left"])  # fmt: skip
def test_a_copy_of_which_nothing_is_applied_is_as_the_compiler_makes_it(
    source: str, compiler: Compiler
) -> None:
    """Where another one is applied, so that both are compiled with markers."""
    plain, (code, done, _) = (
        functions(compiler(strip(LEAF + source))),
        made(LEAF + source, compiler),
    )
    assert [name for name in plain if code[name] != plain[name]] == [
        name for name, mine in done.remarks.items() if any(one.applied for one in mine)
    ]


def test_a_loop_that_holds_no_path_is_warned_of(compiler: Compiler) -> None:
    (said,) = made(LEAF + SERVED + IDLE, compiler)[1].diagnostics
    assert NOTHING_INSIDE in said
    # The one beside it, in the same kernel, holds one in a function that is inlined.
    loop = SERVED.partition("{")[2].rpartition("}")[0]
    beside = loop.replace("leaf(b, a[i])", "a[i] * 3")
    done = made(LEAF + SERVED.replace(loop, loop + beside), compiler)[1]
    (said,) = done.diagnostics
    assert NOTHING_INSIDE.partition(": ")[2] in said
    assert any(one.applied for mine in done.remarks.values() for one in mine)


@pytest.mark.parametrize("source", [LEAF + SERVED, LEAF + CALLED], ids=["inlined", "called"])
def test_a_loop_that_serves_a_path_of_another_function_is_compiled_once(
    source: str, compiler: Compiler
) -> None:
    _, done, often = made(source, compiler)
    assert often == 1
    assert not done.diagnostics
    assert any(one.applied for mine in done.remarks.values() for one in mine)


def test_nothing_is_said_of_a_loop_that_calls_what_is_not_known(compiler: Compiler) -> None:
    diagnostics = made(LEAF + SERVED + BY_POINTER, compiler)[1].diagnostics
    assert not any("no annotated path stands" in one for one in diagnostics)
