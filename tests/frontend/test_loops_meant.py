"""Which loop is meant where the compiler tells a line in it."""

from __future__ import annotations

import pytest

from ccc.errors import Span
from ccc.frontend.marking import Annotated

SOURCE = """__global__ void k(const float *x, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        for (int q = 0; q < n; q++) {
#pragma ccc while
            while (x[i] > q)
                q++;
        }
        for (int j = 0; j < n; j++)
            for (int k = 0; k < j; k++) {
                if (x[k] < 0) continue;
                y[k] += x[j];
            }
    }
}
"""


@pytest.mark.parametrize(
    ("line", "is_around", "loop"),
    [(7, True, 4), (4, True, 4), (11, False, 9), (9, False, 9), (11, True, None), (3, False, None)],
)
def test_a_turn_may_end_anywhere_in_its_loop(line: int, is_around: bool, loop: int | None) -> None:
    marked = Annotated(SOURCE, "k.cu").mark()
    assert marked.suspects is not None
    _, path = (one.span for one in marked.annotations)
    found = marked.suspects.loop_of_line(path, Span("k.cu", line), is_around=is_around)
    assert (found and found.line) == loop
