"""What is kept where it is the least, or the first, is to be kept where it is the least."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

SOURCE = """__global__ void __launch_bounds__(64)
k(const float *x, const float **y, int *z, int n) {
    const float *best = nullptr; bool any = false; int at = -1; float d = BEGIN;
#pragma ccc for CLAUSE
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] > 0) {
            float e = x[i];
            for (int k = 0; k < 20; k++) e = sqrtf(e + k);
            if (TEST) { best = &x[i]; at = i; any = true; d = e; }
        }
    }
    y[threadIdx.x] = best; z[threadIdx.x] = any ? at : (int)d;
}
"""


@pytest.mark.parametrize("clause", ["", "reduction({}: d)"])
@pytest.mark.parametrize(
    ("first", "alone", "begin"),
    [
        ("best == nullptr", "e < d", "greatest"),
        ("!any", "d < e", "least"),
        ("at < 0", "e > d", "least"),
        ("d == -1", "e < d", "greatest"),
    ],
)
def test_what_decides_beside_a_comparison_is_told_of(
    first: str, alone: str, begin: str, clause: str, tmp_path: Path
) -> None:
    by = "min" if begin == "greatest" else "max"
    named = clause.format(by)
    source = SOURCE.replace("TEST", f"{first} || {alone}").replace("BEGIN", "-1")
    (line,) = said(source.replace("CLAUSE", named), tmp_path, Options(strategy=COLLECT))
    told = (
        f'no reduction serves "d" as long as "{first}" decides, too, what is kept (k.cu:10); if '
        f"that only asks whether there was none before, begin with the {begin} number that there "
        f'is, and ask for "{alone}" alone'
    )
    assert told in line
    assert named or f"{told}, and say so on the loop of line 4: reduction({by}: d)" in line
    source = SOURCE.replace("TEST", alone).replace("CLAUSE", f"reduction({by}: d)")
    for number in ("3.4e38f", "-3.4e38f"):
        assert said(source.replace("BEGIN", number), tmp_path, Options(strategy=COLLECT)) == []


@pytest.mark.parametrize("clause", ["", "reduction(min: d)"])
@pytest.mark.parametrize(
    ("update", "test"),
    [
        ("if (e < d || z[i]) { d = e; at = i; }", "z[i]"),
        ("if (e < d || z[i] == n) { d = e; at = i; }", "z[i] == n"),
        ("if (e < d && z[i] != at) { d = e; at = z[i]; }", "z[i] != at"),
        ("if (e < d) if (z[i] != at) { d = e; at = z[i]; }", "z[i] != at"),
        ("if (z[i] != at) if (e < d) { d = e; at = z[i]; }", "z[i] != at"),
    ],
)
def test_what_another_test_decides_is_no_reduction(
    update: str, test: str, clause: str, tmp_path: Path
) -> None:
    source = SOURCE.replace("if (TEST) { best = &x[i]; at = i; any = true; d = e; }", update)
    source = source.replace("BEGIN", "1e9f").replace("CLAUSE", clause)
    (line,) = said(source, tmp_path, Options(strategy=COLLECT))
    told = f'no reduction serves "d" as long as "{test}" decides, too, what is kept (k.cu:10); if '
    assert told in line
    assert "reduction(min: d)" not in line
    assert line.split(" [in")[0].endswith("else remove the annotation")


@pytest.mark.parametrize("test", ["!z[i] && e < d", "e < d && !(n < i)"])
def test_what_is_denied_beside_a_comparison_is_in_order(test: str, tmp_path: Path) -> None:
    source = SOURCE.replace("BEGIN", "1e9f").replace("TEST", test)
    (line,) = said(source.replace("CLAUSE", ""), tmp_path, Options(strategy=COLLECT))
    assert "reduction(min: d)" in line
    named = source.replace("CLAUSE", "reduction(min: d)")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []


BEHIND_TURNS = """__global__ void k(const float *__restrict__ x, float *y, int n) {
    float m = 1e30f; int at = 0;
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float b = 1e30f;
#pragma ccc for variable
        for (int j = 0; j < 16 + i % 40; j++) b = fminf(b, expf(x[j]) + x[i]);
        y[i] = b;
        if (b < m) { m = b; at = i; }
    }
    y[threadIdx.x] = m + at;
}
"""


def test_what_is_set_with_the_least_behind_a_path_goes_with_it(tmp_path: Path) -> None:
    (line,) = said(BEHIND_TURNS, tmp_path, Options(strategy=COLLECT))
    clause = "reduction(min: m)"
    assert '("at", k.cu:9, PTX line ' in line
    assert (
        f"; if the loop only keeps the least, say so on the loop of line 3: {clause}; or " in line
    )
    named = BEHIND_TURNS.replace("ccc for\n", f"ccc for {clause}\n")
    assert said(named, tmp_path, Options(strategy=COLLECT)) == []
