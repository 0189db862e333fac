"""What users are told of variables without a value, which one lane may set for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

RESERVED = """__global__ void k(const int *x, int n, int *count, int *out) {
    int lane = threadIdx.x & 31;
    BEFORE
#pragma ccc for
    for (int first = 0; first < n; first += 32) {
        int v = x[first + lane];
        INSIDE
        unsigned all = __ballot_sync(0xffffffffu, v > 3);
        ABOVE
#pragma ccc if
        if (v > 3) {
            for (int j = 0; j < v; ++j) v = v * 5 + 1;
            PATH
            out[base + __popc(all & ((1u << lane) - 1))] = v;
        }
        BEHIND
    }
}
"""
RESERVE = "if (lane == leader) base = atomicAdd(count, __popc(all));"
HAND_ON = "base = __shfl_sync(0xffffffffu, base, leader);"


def told(folder: Path, **parts: str) -> list[str]:
    source = RESERVED
    for name in ("before", "inside", "above", "path", "behind"):
        source = source.replace(name.upper(), parts.get(name, ""))
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize("leader", ["0", "__ffs(all) - 1", "all ? __ffs(all) - 1 : 0"])
@pytest.mark.parametrize("where", ["before", "inside"])
@pytest.mark.parametrize("value", ["", " = 0"])
def test_what_one_lane_sets_and_hands_on_is_in_nobodys_way(
    leader: str, where: str, value: str, tmp_path: Path
) -> None:
    above = f"int leader = {leader}; {RESERVE} {HAND_ON}"
    assert told(tmp_path, above=above, **{where: f"int base{value};"}) == []


@pytest.mark.parametrize("value", ["", " = 0"])
@pytest.mark.parametrize(
    "parts",
    [
        {"path": RESERVE, "behind": f"{HAND_ON} out[first + lane] = base;"},
        {"behind": f"{RESERVE} {HAND_ON} out[base + lane] = v;"},
    ],
)
def test_what_is_handed_on_behind_a_path_is_told_of_the_meeting(
    parts: dict[str, str], value: str, tmp_path: Path
) -> None:
    """And not to be declared in the loop, where it is: a value changes nothing."""
    inside = f"int leader = 0; int base{value};"
    (line,) = told(tmp_path, inside=inside, **parts)
    assert "a warp-collective would have to run with its tasks (k.cu:" in line
    assert "shfl.sync" in line
    assert "declare" not in line


@pytest.mark.parametrize("value", ["", " = 0"])
def test_what_is_declared_before_the_loop_may_be_declared_in_it(value: str, tmp_path: Path) -> None:
    behind = f"{RESERVE} {HAND_ON} out[base + lane] = v;"
    (line,) = told(tmp_path, before=f"int leader = 0, base{value};", behind=behind)
    assert (
        "else declare in the loop what no iteration needs of another, or remove the annot" in line
    )


ABOVE = """__global__ void k(const float *x, float *y, int n) {
    float root, best; int at, steps;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0.5f) {
SETS        }
        y[i] = at * best;
    }
}
"""
SETS = """best = 0; at = -1; for (steps = 0; steps < 60; steps++) {
    root = sinf(x[i] * steps); if (root > best) { best = root; at = steps; } }
"""


def test_of_many_variables_on_a_line_that_is_named_which_the_iteration_reads_behind(
    tmp_path: Path,
) -> None:
    source = ABOVE.replace("SETS", SETS.replace("\n", " "))
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert '("best", k.cu:' in line
    assert "; it may be uninitialised: declare the variable in the loop, or" in line


ROW = """__global__ void k(const char *a, const char *b, const int *size, int *out, int n) {
#pragma ccc for
    for (int p = threadIdx.x; p < n; p += 64) {
        int row[9]VALUE;
        int high = size[p], wide = min(size[p + 1], 8);
        for (int j = 0; j <= wide; j++) row[j] = j;
#pragma ccc for variable
        for (int i = 1; i <= high; i++) {
            int last = row[0]; row[0] = i;
            for (int j = 1; j <= wide; j++) {
                int c = min(min(row[j], row[j - 1]) + 1, last + (a[p + i] != b[p + j]));
                last = row[j]; row[j] = c;
            }
        }
        out[p] = row[wide];
    }
}
"""


def test_an_array_of_which_not_all_is_set_is_to_be_given_a_value(tmp_path: Path) -> None:
    """It is declared in the loop already."""
    (line,) = said(ROW.replace("VALUE", ""), tmp_path, Options(strategy=COLLECT))
    assert '("row", k.cu:' in line
    assert "; it may be uninitialised: give all of it a value where it is declared" in line
    assert "uninit" not in str(
        said(ROW.replace("VALUE", " = {}"), tmp_path, Options(strategy=COLLECT))
    )


TOP = """struct Top { float key; int id, n;
    __device__ Top() : INITIAL {}
    __device__ void add(float k, int i) { if (n == 0 || k > key) { key = k; id = i; } ++n; } };
__global__ void k(const int *off, const float *x, int *where, int rows) {
#pragma ccc for
    for (int r = threadIdx.x; r < rows; r += blockDim.x) {
        Top top;
#pragma ccc while
        for (int e = off[r]; e < off[r + 1]; ++e) top.add(sqrtf(x[e]), e);
        where[r] = top.n ? top.id : -1;
    }
}
"""


def test_members_are_to_be_given_values_in_the_constructor(tmp_path: Path) -> None:
    (line,) = said(TOP.replace("INITIAL", "n(0)"), tmp_path, Options(strategy=COLLECT))
    assert '("top", k.cu:' in line
    assert '; it may be uninitialised: give all members of "top" a value where it is decl' in line
    every = TOP.replace("INITIAL", "key(0), id(0), n(0)")
    assert said(every, tmp_path, Options(strategy=COLLECT)) == []


PARTS = """__global__ void k(const int *form, const float *x, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] < 0.5f) {
            float part[4]VALUE, r, f = 0, e = 0;
            const int kind = form[i];
            if (kind == 0) f = x[i] * 3;
            else if (kind == 2) {
                r = sqrtf(x[i]);
                part[0] = x[i] * r; part[1] = x[i] + r; part[2] = x[i] - r; part[3] = part[1] + r;
                f = expf(part[3]) * part[0] + part[2];
            }
            if (form[i] == 0) e = f * f;
            else if (form[i] == 2) e = f / r + part[2] * part[0] - logf(part[1]);
            y[i] = f + e;
        }
    }
}
"""


def test_an_array_in_registers_is_meant_and_not_what_its_elements_are_made_from(
    tmp_path: Path,
) -> None:
    (line,) = said(PARTS.replace("VALUE", ""), tmp_path, Options(strategy=COLLECT))
    assert '("part", k.cu:' in line
    assert "; it may be uninitialised: give all of it a value where it is declared" in line
    assert said(PARTS.replace("VALUE", " = {0}"), tmp_path, Options(strategy=COLLECT)) == []
