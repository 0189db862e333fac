"""All clauses that a loop needs are told in the first text; none where the order counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

SOURCE = """template <typename T> __device__ void raise(T &m, T v) { if (m < v) m = v; }
template <typename T> __device__ void either(T &f, T v) { f = f | v; }
__global__ void __launch_bounds__(64) k(const float *x, const int *z, float *y, int n) {
    float most = 0, least = 1e9f; unsigned long long mask = 0, sum = 0; int count = 0, flags = 0;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned v = z[i];
#pragma ccc if
        if (x[i] > 0.5f) { float w = logf(x[i]); PATH }
    }
    y[threadIdx.x] = most + least + mask + sum + count + flags;
}
"""


def told(folder: Path, path: str, clauses: str = "") -> list[str]:
    source = SOURCE.replace("CLAUSES", clauses).replace("PATH", path)
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize(
    ("path", "clauses"),
    [
        (
            "while (v) { v &= v - 1; mask |= 1ull << __ffs(v); sum += __popc(v + i); }",
            "reduction(|: mask) reduction(+: sum)",
        ),
        (
            "raise(most, w); either(flags, w > 2 ? 4 : 1);",
            "reduction(max: most) reduction(|: flags)",
        ),
        ("most = fmaxf(most, w); count += z[i] * 3;", "reduction(max: most) reduction(+: count)"),
    ],
)
def test_integers_by_other_operations_are_told_with_the_first(
    path: str, clauses: str, tmp_path: Path
) -> None:
    (line,) = told(tmp_path, path)
    assert "does nothing else with them, say so on the loop" in line
    assert line.endswith(f": {clauses} [in k]")
    assert told(tmp_path, path, clauses) == []


@pytest.mark.parametrize(
    "clauses", ["", "reduction(min: least)", "reduction(min: least) reduction(+: count)"]
)
def test_what_counts_improvements_depends_on_the_order(clauses: str, tmp_path: Path) -> None:
    (line,) = told(tmp_path, "if (w < least) { least = w; count++; }", clauses)
    none = 'no reduction serves "count", which is updated where "least" is set (k.cu:9): how often'
    assert f"; {none} depends on the order of iterations; if the branch can do without" in line
    assert "reduction(" not in line


def test_what_an_iteration_counts_by_its_own_minimum_does_not(tmp_path: Path) -> None:
    turns = "for (int j = 0; j < 9; j++) if (x[i + j] < own) { own = x[i + j]; count += j; }"
    path = f"float own = 9; {turns}"
    assert told(tmp_path, path, "reduction(+: count)") == []


TIES = [
    ("w > most || (w == most && i < count)", "if each thread comes to equals in their order, and"),
    ("w > most || w == most && i > count", "if the branch can do without them, have that set"),
    ("w > most || i < count", "if the branch can do without them, have that set"),
]


@pytest.mark.parametrize("clauses", ["", "reduction(max: most)", "reduction(min: count)"])
@pytest.mark.parametrize(("asked", "advice"), TIES)
def test_a_tie_by_a_second_variable_is_no_maximum(
    asked: str, advice: str, clauses: str, tmp_path: Path
) -> None:
    """Each was told to go with the other one."""
    lines = told(tmp_path, f"if ({asked}) {{ most = w; count = i; }}", clauses)
    none = '; no reduction serves "most" and "count", which decide together what is kept (k.cu:9); '
    assert none + advice in lines[-1]
    assert not any("in its place" in line for line in lines)
    if "ask" in advice:
        assert 'ask for "w > most" alone, which keeps the first' in lines[-1]
        assert ("reduction(max: most)" in lines[-1]) == ("most" not in clauses)
        alone = "if (w > most) { most = w; count = i; }"
        assert told(tmp_path, alone, "reduction(max: most)") == []


RUNS = """__global__ void k(const int *key, float *y, int n) {
    int last = -1, run = 0, longest = 0; float cost = 0;
#pragma ccc for CLAUSES
    for (int i = 0; i < n; i++) {
        int at = key[threadIdx.x * n + i];
        run = at == last ? run + 1 : 1;
        last = at;
#pragma ccc if
        if (run > 2) { cost += logf(run) * sqrtf(at); longest = max(longest, run); }
    }
    y[threadIdx.x] = longest + cost;
}
"""


def test_what_is_made_from_what_each_lane_has_by_itself_may_be_a_sum(tmp_path: Path) -> None:
    """What no path makes is handed on in any case."""
    clauses = "reduction(+: cost) reduction(max: longest)"
    (line,) = said(RUNS.replace("CLAUSES", ""), tmp_path, Options(strategy=COLLECT))
    assert line.endswith(f": {clauses} [in k]")
    assert said(RUNS.replace("CLAUSES", clauses), tmp_path, Options(strategy=COLLECT)) == []


OF_TEMPLATE = """template <class T, class S>
__global__ void k(const T *x, const T *weights, const int *z, S *y, int n) {
    T w; S sum = 0, total = 0;
#pragma ccc for CLAUSES
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#pragma ccc if
        if (z[i] > 7) {
            w = weights != nullptr ? weights[z[i]] : T(1);
            sum -= x[i] * w;
            total += w;
        }
    }
    y[threadIdx.x] = sum;
    y[threadIdx.x + 64] = total;
}
template __global__ void k<float, float>(const float *, const float *, const int *, float *, int);
"""


@pytest.mark.parametrize(
    ("before", "clauses"),
    [("", "total, sum"), ("reduction(+: total)", "sum"), ("reduction(+: sum)", "total")],
)
def test_what_is_of_a_parameter_of_a_template_may_be_floating(
    before: str, clauses: str, tmp_path: Path
) -> None:
    source = OF_TEMPLATE.replace("CLAUSES", before)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert '"w"' not in line
    assert f"reduction(+: {clauses}) [in k<" in line
