"""What blocks cost that leave, and with how many iterations a thread nothing is to be gained."""

from __future__ import annotations

from collections.abc import Iterator

from ccc.options import AUTO
from ccc.passes.choice.exchange import BLOCK_LEAVES
from ccc.passes.thresholds import FEW_ITERATIONS, GAIN
from ccc.tools.bench.calibration.card import BLOCK, Card, Constant

ITEMS = 1 << 25
LANES = 4
STRATEGY = "batch3"
ITERATIONS = (1, 2, 3, 4, 6, 8, 16)

BODY = """\
        #pragma ccc if prob(0.125)
        if ((i * 2654435769u >> 16) % 32u < lanes) {
            float x = __int_as_float(0x3f800000 | (i * 2654435769u >> 10));
            #pragma unroll
            for (int step = 0; step < LENGTH; ++step) x = fmaf(x, x, -1.9f);
            if (x == 7) out[i] = x;
        }
"""
LOOP = f"""\
extern "C" __global__ void __launch_bounds__(256) loop(int count, int lanes, float* out)
{{
    const int stride = gridDim.x * blockDim.x;
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {{
{BODY}    }}
}}
"""
KERNEL = f"""\
#pragma ccc grid_stride
extern "C" __global__ void __launch_bounds__(256) loop(int count, int lanes, float* out)
{{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {{
{BODY}    }}
}}
"""


def constants(card: Card) -> Iterator[Constant]:
    """Measure what a block of a loop over blocks costs that leaves, and what few iterations are."""
    yield Constant("BLOCK_LEAVES", BLOCK_LEAVES, _block_leaves(card))
    # The code as it comes has a copy for few iterations; what that is for, the last ratios tell.
    for strategy in (AUTO, STRATEGY):
        ratios = {number: _ratio(card, strategy, number) for number in ITERATIONS}
        for number, ratio in ratios.items():
            yield Constant(f"{strategy}, {number} a thread", None, ratio)
    few = [number for number, ratio in ratios.items() if ratio < GAIN]
    yield Constant("FEW_ITERATIONS", FEW_ITERATIONS, max(few, default=0))


def _block_leaves(card: Card) -> float:
    """What a launch takes more in which each block has its own items."""
    blocks = ITEMS // BLOCK
    loop, kernel = (card.compile(text, STRATEGY, "-DLENGTH=64") for text in (LOOP, KERNEL))
    return (card.slots(kernel, ITEMS, LANES, blocks) - card.slots(loop, ITEMS, LANES)) / blocks


def _ratio(card: Card, strategy: str, iterations: int) -> float:
    """How many times as fast a loop is in which each thread has so many iterations."""
    blocks = ITEMS // BLOCK // iterations
    before, after = (card.compile(LOOP, one, "-DLENGTH=64") for one in ("", strategy))
    count = blocks * BLOCK * iterations
    return card.slots(before, count, LANES, blocks) / card.slots(after, count, LANES, blocks)
