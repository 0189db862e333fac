"""What would let lanes share the turns of a loop that uses arrays is told where it is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import Options

pytestmark = [pytest.mark.usefixtures("few_headers"), pytest.mark.slow]

LISTS = """__global__ void k(const int *row, const float *x, float *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int begin = row[i], end = row[i + 1];
        float s = 0;
        #pragma ccc for variable reduction(+: s)
        for (int k = begin; k < end; ++k) { TURN }
        y[i] = s;
    }
}
"""
ARRAY = """float w[8];
for (int j = 0; j < 8; ++j) w[j] = x[k + j];
int at = 0;
while (w[at] > 0 && at < 7) { at = (int)w[at] & 7; w[at] -= 1; }
s += w[at & 7] * w[(at + 1) & 7];"""


@pytest.mark.usefixtures("all_headers")
@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (ARRAY, 'keep in variables what is in "w" [in k]'),
        (
            "s += sinf(x[k]) * x[k + 1] + cosf(x[k]);",
            "write __cosf and __sinf, or compile with -use_fast_math, if less exact results will "
            "do: else large numbers take an array [in k]",
        ),
    ],
)
def test_arrays_of_turns_are_told_in_the_remark(turn: str, told: str, tmp_path: Path) -> None:
    (line,) = said(LISTS.replace("TURN", turn), tmp_path, Options())
    assert line.endswith(f"; to let lanes share its turns, {told}")


@pytest.mark.usefixtures("all_headers")
def test_turns_without_the_array_are_shared_out(tmp_path: Path) -> None:
    fast = "s += __sinf(x[k]) * x[k + 1] + __cosf(x[k]);"
    assert said(LISTS.replace("TURN", fast), tmp_path, Options()) == []


STEPPED = """__global__ void k(float *y, const float *x, int n, int w) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float s = 0;
        const int turns = (n - i + w - 1) / w;
        #pragma ccc for variable reduction(+: s)
        for (LOOP) s += sqrtf(x[K]) * SLOW(x[K + 1]) + x[K + 2] / x[K + 3];
        y[i] = s;
    }
}
"""


@pytest.mark.usefixtures("all_headers")
def test_of_what_turns_hand_on_that_is_named_which_nothing_serves(tmp_path: Path) -> None:
    """Not the counter, nor what is named in a clause."""
    source = LISTS.replace("TURN", "s += x[k]; if (x[k] > 0.9f) at = k;").replace(
        "= s;", "= s + at;"
    )
    source = source.replace("float s = 0;", "float s = 0; int at = -1;")
    source = source.replace("variable", "variable strategy(engage)")
    line, *_ = said(source, tmp_path, Options())
    assert ' each time ("at", k.cu:7, PTX line ' in line


@pytest.mark.parametrize("slow", ["sqrtf", "sinf"])
def test_a_counter_is_to_take_steps_of_a_constant(slow: str, tmp_path: Path) -> None:
    """That is told before what would make results less exact."""
    source = STEPPED.replace("SLOW", slow)
    before = source.replace("LOOP", "int k = i; k < n; k += w").replace("K", "k")
    told = " ".join(said(before, tmp_path, Options()))
    assert "to let lanes share its turns, compute before the loop how many turns it takes" in told
    assert told.endswith(', and compute from "turn" what it counted in [in k]')
    followed = source.replace("LOOP", "int turn = 0; turn < turns; ++turn")
    told = " ".join(said(followed.replace("K", "i + turn * w"), tmp_path, Options()))
    assert ("to let lanes share its turns, write __sinf" in told) == (slow == "sinf")
    assert "how many turns" not in told


def test_turns_that_would_stay_too_short_are_not_to_be_counted_before(tmp_path: Path) -> None:
    """To compute from the turn's number what the counter was makes a turn longer."""
    short = STEPPED.partition("sqrtf")[0] + "sqrtf(x[K]);\n        y[i] = s;\n    }\n}\n"
    before = short.replace("LOOP", "int k = i; k < n; k += w").replace("K", "k")
    followed = short.replace("LOOP", "int turn = 0; turn < turns; ++turn")
    for source in (before, followed.replace("K", "i + turn * w")):
        (line,) = said(source, tmp_path, Options())
        assert "too short to gain" in line
        assert "how many turns" not in line


ROWS = """__global__ void k(const int *row, double *a, int n, int m) {
    for (int i = threadIdx.y; i < n; i += blockDim.y) a[row[i]] /= a[i];
    __syncthreads();
    #pragma ccc for
    for (int i = threadIdx.y; i < n; i += blockDim.y) {
        double *mine = a + row[i] + i, first = *mine;
        #pragma ccc for variable
        for (int j = threadIdx.x; j < m - i; j += blockDim.x) mine[j + 1] -= first * a[j];
    }
}
"""


def test_turns_that_would_not_be_shared_out_are_not_to_be_counted_before(tmp_path: Path) -> None:
    (line,) = said(ROWS, tmp_path, Options())
    assert "since the loop waits for memory" in line
    assert "to let lanes share" not in line
    assert "remove the annotation" in line


ASKED = """__global__ void k(const int *row, const int *x, int *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int end = row[i + 1];
        int last = 0;
        #pragma ccc for variable strategy(engage)
        for (int j = row[i]; j < end; ++j) {
            int v = x[j];
            for (int k = 0; k < 50; ++k) v = v * 5 + k;
            y[j] = v;
            TURN
        }
        y[i + n] = last;
    }
}
"""


def test_what_ends_a_loop_beside_its_bound_is_told(tmp_path: Path) -> None:
    """nvcc joins it with the bound, which is written as it should be."""
    line, *_ = said(ASKED.replace("TURN", "if (v == 77) break;"), tmp_path, Options())
    assert "it may end elsewhere than where a turn does" in line
    assert '; no "break", "return" or "goto" in the loop, and no condition besides its' in line


def test_what_is_needed_of_the_last_turn_is_told_by_its_name(tmp_path: Path) -> None:
    line, *_ = said(ASKED.replace("TURN", "last = v;"), tmp_path, Options())
    assert 'needs a value of its last turn ("last", k.cu:' in line


def test_what_is_chosen_is_told_and_not_what_is_added_up_beside_it(tmp_path: Path) -> None:
    source = ASKED.replace("int last = 0;", "float s = 0, most = 0; int last = 0;")
    source = source.replace("TURN", "s += v; if (v > most) { most = v; last = j; }")
    line, *_ = said(source.replace("= last", "= s + last"), tmp_path, Options())
    assert 'by the same number each time ("most", k.cu:11, PTX line ' in line


SUMS = """__global__ void k(const int *row, const float *x, float *y, int n) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int begin = row[i], end = row[i + 1];
        float s = 0, v[2] = {};
        #pragma ccc for variable
        for (int k = begin; k < end; ++k) { s += x[k]; v[0] += x[k] * x[k]; v[1] += x[k] * s; }
        y[i] = s + v[0] * v[1];
    }
}
"""


def test_arrays_that_turns_add_up_are_named_beside_the_clauses(tmp_path: Path) -> None:
    (line,) = said(SUMS.replace(" * s; }", "; }"), tmp_path, Options())
    assert "; reduction(+: s) would let lanes share its turns, if variables in place of " in line
    assert line.endswith('in place of "v" are named, too [in k]')
