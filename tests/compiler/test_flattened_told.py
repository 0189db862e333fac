"""What is said of the paths around a loop that was flattened."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

CELLS = """__global__ void __launch_bounds__(64)
k(const int *__restrict__ x, int *__restrict__ y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int c = x[i];
PRAGMA
        if (c != 0) {
#pragma ccc while strategy(flatten)
            for (int t = 0; x[c + t] >= 0; ++t) y[c] += x[c + t] * t;
        }
    }
}
"""


def test_a_branch_that_holds_the_flattened_loop_is_to_be_left(tmp_path: Path) -> None:
    marked = CELLS.replace("PRAGMA", "#pragma ccc if")
    (line,) = said(marked, tmp_path, Options(strategy=COLLECT))
    assert "it holds a loop that was flattened" in line
    assert "; remove this annotation, or ask for another strategy for that loop" in line
    assert said(CELLS.replace("PRAGMA", ""), tmp_path, Options(strategy=COLLECT)) == []


def test_a_branch_behind_the_flattened_loop_is_to_be_left_too(tmp_path: Path) -> None:
    """To split the loop around would take a copy of all that both parts need."""
    behind = "#pragma ccc if\n        if (y[i] > 9) y[i] = y[i] * 7 % 31;\n    }\n}"
    source = CELLS.replace("PRAGMA", "").replace("    }\n}", behind)
    (line,) = said(source, tmp_path, Options())
    assert "it lies in a loop that was flattened" in line
    assert "; remove this annotation, or ask for another strategy for that loop, or do" in line
