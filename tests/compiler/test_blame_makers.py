"""Of several values that a path makes for later iterations, that is shown of which a user is told
what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

MATCHES = """__global__ void k(const char *x, const int *fail, int m, int *y, int n) {
    int j = 0, hits = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (x[i] == 'a') j++;
#pragma ccc if
        if (j == m) { hits++; j = fail[m]; }
    }
    y[threadIdx.x] = hits;
}
"""
CHARACTERS = """__global__ void k(const unsigned char *s, const int *row, int *bad, int *y, int n) {
    int count = 0;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc while
        for (int j = row[i]; j < row[i + 1];) {
            if (s[j] < 128) j++;
            else { if (s[j + 1] < 128) { bad[i] = j; break; } j += 2; }
            count++;
        }
    }
    y[threadIdx.x] = count;
}
"""


@pytest.mark.parametrize(
    ("source", "name", "line"), [(MATCHES, "hits", 7), (CHARACTERS, "count", 9)]
)
def test_what_a_clause_serves_is_shown_and_not_what_is_read_beside_it(
    source: str, name: str, line: int, tmp_path: Path
) -> None:
    options = Options(strategy=COLLECT)
    (told,) = said(source.replace(" CLAUSE", ""), tmp_path, options)
    assert f'("{name}", k.cu:{line}, PTX line' in told
    assert ": add.s32 " in told
    assert f"reduction(+: {name})" in told
    assert said(source.replace("CLAUSE", f"reduction(+: {name})"), tmp_path, options) == []


SEVERAL = """__global__ void k(const float *x, float *y, int n) {
    float most = 0, all = 1; int found = 0, times = 1;
#pragma ccc for reduction(+: most)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 1) { most = fmaxf(most, logf(x[i])); found |= i; all *= x[i]; times *= 3; }
    }
    y[threadIdx.x] = most * all + found + times;
}
"""


def test_of_many_variables_on_a_line_those_of_the_type_are_named(tmp_path: Path) -> None:
    *_, line = said(SEVERAL, tmp_path, Options(strategy=COLLECT))
    assert '("most" or "all", k.cu:6, ' in line


RUNS = """__global__ void __launch_bounds__(64)
k(const int *__restrict__ key, const float *__restrict__ x, float *y, int m) {
    int t = threadIdx.x, run = 0, before = -1;
    float last = 0, cost = 0;
#pragma ccc forCLAUSE
    for (int i = 0; i < m; ++i) {
        float now = x[t * m + i];
        run = key[t * m + i] == before ? run + 1 : 1;
        before = key[t * m + i];
#pragma ccc if
        if (run > 2) {
            for (int k = 0; k < 20; ++k) now = sqrtf(now + k);
            ADD
        }
        SET
    }
    y[t] = cost;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("add", "behind", "advice"),
    [
        ("cost += now * run;", "", "it up, say so on the loop of line 5: {}"),
        (
            "cost += now - last;",
            "last = x[t * m + i];",
            "it up, say so on the loop of line 5: {}",
        ),
        (
            "cost += now - last;",
            "last = now;",
            'if no iteration needs "last", from which "cost" is made, of another',
        ),
        ("last = now + 1; cost += now - last * 3;", "", ""),
    ],
)
def test_what_a_sum_is_made_from_is_in_no_way_if_the_head_sets_it(
    add: str, behind: str, advice: str, tmp_path: Path
) -> None:
    source = RUNS.replace("ADD", add).replace("SET", behind)
    (line,) = said(source.replace("CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    clause = "reduction(+: cost)"
    assert advice.format(clause) in line
    if "{}" in advice:
        named = source.replace("CLAUSE", f" {clause}")
        assert said(named, tmp_path, Options(strategy=COLLECT)) == []
