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


COLLATZ = """__global__ void k(int *most, const int *stop, int n) {
    int best = 0, seed = 7;
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned x = i + 1; int len = 0;
#pragma ccc while strategy(counter(8))
        while (x != 1) { x = x & 1 ? 3 * x + 1 : x >> 1; len++; }
        END
    }
    RESULT
}
"""


@pytest.mark.parametrize(
    ("end", "result", "told"),
    [
        (
            "best = max(best, len);",
            "most[threadIdx.x] = best;",
            'what its iterations make ("best", k.cu:8, PTX line ',
        ),
        (
            "seed = seed * 5 + len; most[i] = seed;",
            "",
            'an iteration hands a value ("seed", k.cu:8, PTX line ',
        ),
    ],
)
def test_what_iterations_hand_on_is_told_by_its_name(
    end: str, result: str, told: str, tmp_path: Path
) -> None:
    """And not by its register."""
    source = COLLATZ.replace("END", end).replace("RESULT", result)
    line, _ = said(source, tmp_path, Options())
    assert "strategy(counter(8)) does not apply" in line
    assert told in line


def test_a_counter_serves_iterations_that_update_memory(tmp_path: Path) -> None:
    source = COLLATZ.replace("END", "atomicMax(most, len);").replace("RESULT", "")
    assert said(source, tmp_path, Options()) == []


ALIKE = """__global__ void k(const int *x, int *y, int turns, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int row[64], top = 0;
        for (int j = 0; j < turns; ++j) row[j] = x[j];
#pragma ccc for variable
        for (int t = 0; t < LAST; ++t)
            for (int j = 1; j < turns; ++j) {
                row[j] = max(row[j - 1], row[j]) + x[i * 64 + t];
#pragma ccc if
                if (row[j] > 9) row[j] = 0;
                top += row[j];
            }
        y[i] = top;
    }
}
"""


@pytest.mark.parametrize(("last", "is_named"), [("turns", False), ("x[i]", True)])
def test_flatten_is_not_named_where_all_lanes_go_round_as_often(
    last: str, is_named: bool, tmp_path: Path
) -> None:
    line, *_ = said(ALIKE.replace("LAST", last), tmp_path, Options(strategy=COLLECT))
    assert "(an array of the thread's own)" in line
    assert ("strategy(flatten)" in line) == is_named


NESTED = """__global__ void k(const int *__restrict__ a, const int *__restrict__ b, int *y, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int s = a[i];
#pragma ccc if prob(0.3)
        if (s > 70) {
#pragma ccc for variable
            for (int k = 0; k < b[i]; ++k) {
#pragma ccc if prob(0.1)
                if (a[(i + k) & 4095] < 10) {
                    int t = a[(i * k) & 4095];
#pragma ccc while
                    while (t > 1) {
                        t = t & 1 ? (t >> 2) : t >> 1;
                        s += t;
                        if (s == 12345) break;
                    }
                } else if (a[(i + k) & 4095] > 95) s -= 3;
                else {
#pragma ccc if
                    if (k & 1) s += __popc(k * s);
                }
            }
            y[i] = s;
        } else y[i] = 1;
    }
}
"""


def test_the_loop_is_named_that_is_flattened_in_the_end(tmp_path: Path) -> None:
    lines = said(NESTED, tmp_path, Options(strategy="flatten"))
    flattened = [line for line in lines if "that was flattened" in line]
    assert len(flattened) > 3
    assert all(" (that on line 7)" in line for line in flattened)
