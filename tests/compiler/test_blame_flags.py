"""Where a loop names a flag, what it does not name is blamed, and not the flag."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

FOUND = """__global__ void k(const int *x, int n, int *out) {
    int sum = 0, flags = 0;
    bool any = false;
#pragma ccc for CLAUSES
    for (int i = threadIdx.x; i < n; i += 256) {
        int v = x[i];
#pragma ccc if
        if (v > 3) {
            for (int j = 0; j < v; ++j) v = v * 5 + j;
            PATH
        }
        BEHIND
    }
    out[threadIdx.x] = sum + any + flags;
}
"""


def told(folder: Path, path: str, behind: str, clauses: str) -> list[str]:
    source = FOUND.replace("CLAUSES", clauses).replace("PATH", path).replace("BEHIND", behind)
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize(
    ("flag", "path", "behind"),
    [
        ("any", "any |= v > 77; sum += v;", ""),
        ("any", "any = any || v > 77; sum += v;", ""),
        ("any", "if (v > 77) { any = true; sum++; }", ""),
        ("any", "any |= v > 77;", "sum += v;"),
        ("any", "if (v > 77) any = true;", "if (v > 8) sum++;"),
        ("any", "", "any |= v > 77; sum += v;"),
        ("any", "", "if (v > 77) { any = true; sum++; }"),
        ("any", "", "if (v > 77) any = true; else sum++;"),
        ("flags", "flags |= v;", "sum -= v;"),
        ("flags", "", "flags |= v; sum = sum + v;"),
    ],
)
def test_a_sum_that_is_not_named_is_offered_a_clause_that_serves(
    flag: str, path: str, behind: str, tmp_path: Path
) -> None:
    named = f"reduction(|: {flag})"
    (line,) = told(tmp_path, path, behind, named)
    assert "say so on the loop of line 4: reduction(+: sum) [in k]" in line
    assert flag not in line
    assert told(tmp_path, path, behind, f"{named} reduction(+: sum)") == []


def test_a_flag_with_which_the_loop_does_more_is_blamed(tmp_path: Path) -> None:
    lines = told(tmp_path, "any |= v > 77; if (any) flags += v;", "sum += v;", "reduction(|: any)")
    assert any("any" in line for line in lines)


def test_a_flag_is_named_beside_what_is_no_reduction(tmp_path: Path) -> None:
    path = "if (v > 77) { any = true; ++sum; flags = i; }"
    (line,) = told(tmp_path, path, "", "reduction(+: sum)")
    assert '; if the branch can do without them, have that set other variables, update "fl' in line
    assert line.endswith("; else remove the annotation [in k]")


BEGUN = """__global__ void k(const float *x, int n, bool given, int *out) {
    bool any = FIRST;
#pragma ccc for reduction(|: any)
    for (int i = threadIdx.x; i < n; i += 256) {
        float v = x[i];
#pragma ccc if
        if (v > 3) {
            PATH
        }
    }
    out[threadIdx.x] = LAST;
}
"""
LONG = "for (int j = 0; j < v; ++j) v = v * 5 + sqrtf(v);\n if (v > 77) any = true;"


def test_a_flag_of_a_reduction_begins_with_a_constant(tmp_path: Path) -> None:
    source = BEGUN.replace("PATH", LONG)
    given = source.replace("FIRST", "given").replace("LAST", "any")
    (line,) = said(given, tmp_path, Options(strategy=COLLECT))
    assert "; let the flag begin with false, and ask for what it begins with now behind" in line
    constant = source.replace("FIRST", "false").replace("LAST", "any || given")
    assert said(constant, tmp_path, Options(strategy=COLLECT)) == []


def test_a_path_that_only_sets_a_flag_is_too_short_with_any_clause(tmp_path: Path) -> None:
    source = BEGUN.replace("PATH", "any = true;").replace("FIRST", "given").replace("LAST", "any")
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    assert line.endswith(
        'left ("any"); it is too short to gain anything: remove the annotation [in k]'
    )


UNITED = """struct Sets {
    int *of;
    __device__ int root(int v) const { while (of[v] != v) v = of[v]; return v; }
    __device__ int *at(int v) { return of + v; }
};
__device__ void unite(Sets &sets, int a, int b, bool &changed) {
    int r = sets.root(a), s = sets.root(b);
    if (r == s) return;
    atomicAdd(sets.at(r), s - r);
    changed = true;
}
__global__ void k(Sets sets, const int *__restrict__ from, const int *__restrict__ to, int n) {
    bool changed;
    do {
        changed = false;
#pragma ccc for CLAUSES
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
            if (from[i] > 3) unite(sets, from[i], to[i], changed);
        }
    } while (__syncthreads_count(changed));
}
"""


def test_a_flag_that_a_function_sets_by_what_it_reads_is_offered_a_clause(tmp_path: Path) -> None:
    """What is read there need not be read again, and may be written there."""
    (line,) = said(UNITED.replace("CLAUSES", ""), tmp_path, Options(strategy=COLLECT))
    assert 'a value that the path computes ("changed", k.cu:' in line
    assert "say so on the loop of line 16: reduction(|: changed) [in k]" in line
    named = UNITED.replace("CLAUSES", "reduction(|: changed)")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []
