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
