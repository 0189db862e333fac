"""A source is compiled once more where that may help; else the first result is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from device_code import device_code
from folders import TESTS
from saying import said

from ccc.compiler.said import DevicePass
from ccc.compiler.unit import CompilerError, translate
from ccc.errors import CccError
from ccc.frontend.marking import Annotated
from ccc.options import COLLECT, Options
from ccc.passes.choice.chosen import TELL_TURNS
from ccc.toolkit import find as toolchain

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

SOURCE = (TESTS / "cases" / "unset_variables.cu").read_text()
GIVEN = " = 0;"


def compiler(folder: Path, refused: type[Exception] | None) -> Callable[[str, bool], str]:
    """nvcc; what gives variables a value is refused."""
    plain = SOURCE.count(GIVEN)

    def compile_(marked: str, _: bool) -> str:
        if refused is not None and marked.count(GIVEN) > plain:
            raise refused("no")
        (folder / "k.cu").write_text(marked)
        return device_code(folder / "k.cu", "-arch=sm_90")

    return compile_


@pytest.mark.parametrize("refused", [None, CompilerError, CccError])
def test_the_first_result_is_kept_where_the_second_cannot_be_compiled(
    refused: type[Exception] | None, tmp_path: Path
) -> None:
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    done, options = DevicePass(), Options(strategy=COLLECT)
    ptx = translate(Annotated(SOURCE, "k.cu"), compiler(tmp_path, refused), options, done)
    assert ".entry" in ptx
    (remarks,) = done.remarks.values()
    assert all(remark.applied for remark in remarks) == (refused is None)
    assert bool(done.diagnostics) == (refused is not None)


IN_A_WALK = """__global__ void __launch_bounds__(128)
k(const float *x, float *y, int n, int depth) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float light = 0;
        int z = 0;
#pragma ccc while
        do {
            float v = x[z * n + i];
            if (v < 0.1f) continue;
#pragma ccc if {clause}
            if (light < 0.9f) light += v * (1 - light) * expf(v - light) * logf(v);
            else {
                for (int j = 0; j < 9; ++j) light = light * expf(light);
                break;
            }
        } while (++z < depth);
        y[i] = light;
    }
}
"""


def test_of_a_path_in_a_loop_whose_annotation_is_left_that_is_told(tmp_path: Path) -> None:
    """Without its marker the loop is one that nobody has annotated."""
    lines = said(IN_A_WALK.replace("{clause}", "strategy(queue)"), tmp_path, Options())
    assert not any("lies in a loop inside" in line for line in lines), lines
    start = "k.cu:11:1: warning: strategy(queue) of path (then) does not apply: the tasks of a loop"
    assert any(line.startswith(start) for line in lines), lines


def test_arms_are_told_of_a_strategy_that_serves_all_of_them(tmp_path: Path) -> None:
    """The other arm leaves the loop, and could be served by a strategy that this one cannot."""
    lines = said(IN_A_WALK.replace("{clause}", ""), tmp_path, Options())
    then, other = (line for line in lines if line.startswith("k.cu:11:1: remark: "))
    assert "or strategy(merge) insists" in then
    assert "else as the other arm" in other
    assert "strategy(" not in other


def test_a_loop_is_not_told_to_be_removed_around_another_path(tmp_path: Path) -> None:
    """That would then lie in a loop that is not annotated."""
    source = IN_A_WALK.replace("{clause}", "prob(0.3)").replace(" * logf(v)", "")
    (loop,) = (
        line for line in said(source, tmp_path, Options()) if line.startswith("k.cu:7:1: remark: ")
    )
    assert loop.endswith(f", too short to gain as far as is known; {TELL_TURNS} [in k]"), loop


BEGUN = """__global__ void k(float *x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = x[i];
#pragma ccc if
        if (v > 0.f) {
            for (int j = 0; j < 300; j++) v = v * v + 3.f;
            x[i] = v;{more}
        }
    }
}
"""


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(BEGUN.replace("{more}", ""), id="nothing is refused"),
        pytest.param(BEGUN.replace("{more}", " __syncthreads();"), id="a path is refused"),
        pytest.param(SOURCE, id="variables want values"),
    ],
)
def test_the_compiler_begins_with_what_it_is_asked_for_next(source: str, tmp_path: Path) -> None:
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    asked: list[str] = []
    begun: list[str] = []
    nvcc = compiler(tmp_path, None)

    def compile_(marked: str, again: bool) -> str:
        asked.append(marked)
        return nvcc(marked, again)

    options = Options(strategy=COLLECT)
    translate(Annotated(source, "k.cu"), compile_, options, DevicePass(), begin=begun.append)
    assert begun == (asked[1:] if "__syncthreads" in source else [])


def test_what_is_refused_at_once_is_an_error() -> None:
    def refuse(_marked: str, _again: bool) -> str:
        raise CompilerError("no")

    with pytest.raises(CompilerError):
        translate(Annotated(SOURCE, "k.cu"), refuse, Options(), DevicePass())


def test_what_applies_once_another_path_is_left_is_not_said_to_be_declined(tmp_path: Path) -> None:
    """With its marker, the path that is left keeps batches from the loop."""
    source = """__global__ void __launch_bounds__(256)
k(const int *x, const int *y, float *z, int n) {
    int w = n;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = y[i];
#pragma ccc if
        if (x[w & 15] > v) w = x[v & 31];
#pragma ccc if strategy(batch7)
        if (v > 90) {
            float t = v;
            for (int s = 0; s < 50; s++) t = t * 0.5f + expf(-t);
            z[i] = t;
        }
    }
}
"""
    (line,) = said(source, tmp_path, Options())
    assert line.startswith("k.cu:7:1: warning: path left as it was: the next iteration, or the")


PARSED = """__device__ bool parse(const char *&p, double &out) {
    int state = 0; double v = 0;
#pragma ccc while
    while (*p) {
        char c = *p++;
        if (c == ',') break;
        if (c < '0' || c > '9') return false;
        v = v * 10 + (c - '0'); state = 1;
    }
    out = v * sqrt(v);
    return state != 0;
}
__global__ void __launch_bounds__(64) k(const char *text, const int *at, double *y, int n) {
    int errors = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += 64) {
        const char *p = text + at[i];
        double v;
        if (!parse(p, v)) { ++errors; v = 1e300; }
        y[i] = v;
    }
    if (errors) y[n] = errors;
}
"""


def test_who_has_no_value_is_not_told_of_where_another_is_handed_on(tmp_path: Path) -> None:
    line, *_ = said(PARSED.replace("CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert 'computes ("errors", k.cu:19, ' in line
    assert "say so on the loop of line 15: reduction(+: errors)" in line
    served = PARSED.replace("CLAUSE", "reduction(+: errors)")
    assert said(served, tmp_path, Options(strategy=COLLECT)) == []


SHARE_OF_AN_INNER_LOOP = """__global__ void
k(const int *__restrict__ a, const int *__restrict__ b, int *__restrict__ y, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#pragma ccc if prob(0.1) CLAUSE
        if (a[i] < 10) {
            int x = a[i], t = b[i];
#pragma ccc while
            while (t > 0) {
                for (int k = 0; k < 24; ++k) x = x * 5 + ((x >> 3) ^ k);
                t -= 1 + (x & 1);
            }
            y[i] = x;
        }
    }
}
"""


@pytest.mark.parametrize("clause", ["", "strategy(leave)"])
def test_the_share_of_a_branch_that_is_left_is_not_forgotten(clause: str, tmp_path: Path) -> None:
    """By it the loop inside is transformed, which would be left without."""
    source = SHARE_OF_AN_INNER_LOOP.replace("CLAUSE", clause)
    lines = said(source, tmp_path, Options())
    assert not any(line.startswith("k.cu:8:") for line in lines)
    without = source.replace("#pragma ccc if prob(0.1)", "//")
    assert any(line.startswith("k.cu:8:") for line in said(without, tmp_path, Options()))
