"""What is said of ``counter``, which hands out the iterations of a whole launch, in vain."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import Options

pytestmark = pytest.mark.usefixtures("few_headers")

OVER_BLOCKS = """#pragma ccc grid_stride
__global__ void k(const float *from, float *to, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float a = from[y * w + x];
#pragma ccc while strategy(counter(4))
    while (a > 2) a = a * 0.5f + sqrtf(a) * 0.1f;
    to[y * w + x] = a;
}
"""


@pytest.mark.slow
def test_a_loop_over_blocks_has_no_counter(tmp_path: Path) -> None:
    line, *_ = said(OVER_BLOCKS, tmp_path, Options())
    assert "strategy(counter(4)) does not apply: the loop around it is that over the blocks" in line
    assert "; ask for refill(k), or write the loop yourself" in line
    assert "%ccc" not in line
    refilled = said(OVER_BLOCKS.replace("counter", "refill"), tmp_path, Options())
    assert not any("does not apply" in one for one in refilled)
