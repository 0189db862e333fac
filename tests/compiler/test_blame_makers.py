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
