"""Cases of a switch that fall through, where a strategy serves paths that exclude one another."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import Options

pytestmark = pytest.mark.usefixtures("few_headers")

FALLING = """__global__ void __launch_bounds__(64) k(const int *kind, float *v, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float a = v[i];
#pragma ccc switch strategy(STRATEGY)
        switch (kind[i]) {
        case 0: a = sqrtf(a); break;
        case 1: a = sinf(a); END
        case 2: a = a > 0 ? a * a : -a; break;
        default: a = 0;
        }
        v[i] = a;
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["cases", "tile(3)"])
def test_the_case_that_falls_through_is_named(strategy: str, tmp_path: Path) -> None:
    source = FALLING.replace("STRATEGY", strategy)
    line, *_ = said(source.replace("END", ""), tmp_path, Options())
    assert f"strategy({strategy}) does not apply: a case goes on in the next one (k.cu:8, " in line
    assert '; let "break" end it, and write in it what the next one does; or ask for' in line
    ended = source.replace("END", "a = a > 0 ? a * a : -a; break;")
    assert not any("not apply" in one for one in said(ended, tmp_path, Options()))
    queued = source.replace(strategy, "queue").replace("END", "")
    assert not any("not apply" in one for one in said(queued, tmp_path, Options()))
