"""What an exchange takes: that of the tasks of branches, and that of the turns of inner loops.

What a strategy adds to a kernel is fitted to its times, less what the same work takes in the
original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ccc.errors import CccError
from ccc.passes.choice.cost_model import TOGETHER
from ccc.passes.choice.exchange import ARMS, PARTING, TURNS, WORD
from ccc.passes.choice.inner_loops import SHARED_OUT
from ccc.passes.policy import turns_apart, turns_in_a_row
from ccc.tools.bench.calibration.card import Card, Constant
from ccc.tools.bench.calibration.fit import Fit, fitted

VISITS = 1 << 26
"""Iterations of the loops around branches: so many that it hardly counts how they begin and end."""
TASKS = 1 << 24
"""Tasks of an inner loop; the same."""
LENGTHS = (20, 64, 256)
LANES = (1, 4, 8, 16, 24, 31)
CASES = 8
"""Of the switch. ``cases`` is one exchange for all of them."""
TURN_LENGTHS = (4, 16, 40, 64, 160)
"""Of which a task does 8, 8, 4, 2 and 1 in a row, about: that tells turns from meetings."""
MEANS = (4, 16, 64)
"""Of the turns; that tells both from what it takes to begin."""

ARMS_SOURCE = """\\
extern "C" __global__ void __launch_bounds__(256) loop(int count, int lanes, float* out)
{
    const int stride = gridDim.x * blockDim.x;
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        #pragma ccc if
        if ((5 * i + (i >> 5)) % 32u < lanes) {
            float x = __int_as_float(0x3f800000 | (i * 2654435769u >> 10));
            #pragma unroll
            for (int step = 0; step < LENGTH; ++step) x = fmaf(x, x, -1.9f);
            if (x == 7) out[i] = x;
        }
    }
}
"""
CASES_SOURCE = """\\
#define CASE(N)                                                                                \\
    case N: {                                                                                  \\
        float x = __int_as_float(0x3f800000 | (i * 2654435769u >> 10));                        \\
        _Pragma("unroll") for (int step = 0; step < LENGTH; ++step) x = fmaf(x, x, -1.9f - N); \\
        if (x == 7 + N) out[i] = x;                                                            \\
        break;                                                                                 \\
    }
extern "C" __global__ void __launch_bounds__(256) loop(int count, int number, float* out)
{
    const int stride = gridDim.x * blockDim.x, lanes = number % 32, cases = number / 32;
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        #pragma ccc switch
        switch ((5 * i + (i >> 5)) % 32u < lanes ? (i * 2654435769u >> 24) & cases : -1) {
            CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
        }
    }
}
"""
TURNS_SOURCE = """\\
extern "C" __global__ void __launch_bounds__(256) loop(int count, int most, float* out)
{
    const int stride = gridDim.x * blockDim.x;
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const int turns = (i * 2654435769u >> 16) % most;
        #pragma ccc DIRECTIVE
        for (int turn = 0; turn < turns; ++turn) {
            float x = __int_as_float(0x3f800000 | i * 64 + turn);
            #pragma unroll
            for (int step = 0; step < LENGTH; ++step) x = fmaf(x, x, -1.9f);
            if (x == 7) out[i] = x;
        }
    }
}
"""


def constants(card: Card) -> Iterator[Constant]:
    """Measure what exchanges take."""
    for name, arms in ARMS.items():
        try:
            measure = _cases if name in TOGETHER else _arms
            yield from measure(card, name, {"visit": arms.visit, "task": arms.task})
        except CccError as error:
            print(f"{name}: {error.message}")
    for name, turns in TURNS.items():
        known = {"turn": turns.turn, "meeting": turns.meeting, "start": turns.start}
        try:
            yield from _turns(card, name, known)
        except CccError as error:
            print(f"{name}: {error.message}")


def _arms(card: Card, name: str, known: Mapping[str, float]) -> Iterator[Constant]:
    """What collecting a branch takes: for each visit of a warp, and for each warp of tasks."""
    fit = Fit()
    for length in LENGTHS:
        modules = [card.compile(ARMS_SOURCE, one, f"-DLENGTH={length}") for one in ("", name)]
        visits = VISITS / 32
        around = card.slots(modules[0], VISITS, 0) / visits
        for lanes in LANES:
            before, after = (card.slots(module, VISITS, lanes) / visits for module in modules)
            full = lanes / 32
            copied = WORD.instructions * card.words * full
            task = before - around - PARTING
            fit.add([1.0, full], after - around - full * task - copied, after)
    yield from fit.constants(name, known)


def _cases(card: Card, name: str, known: Mapping[str, float]) -> Iterator[Constant]:
    """The same of many branches, of which lanes take one each, at random.

    What it takes to part, in the original and with snapshots, is no part of that: each time that a
    warp comes to a branch it is what the original takes more than the branch."""
    fit, several, visits = Fit(), 32 * (CASES - 1), VISITS / 32
    numbers = np.arange(1 << 16, dtype=np.uint32)
    own_case = numbers * np.uint32(2654435769) >> np.uint32(24) & np.uint32(CASES - 1)
    place = (np.uint32(5) * numbers + (numbers >> np.uint32(5))) % np.uint32(32)
    for length in LENGTHS:
        modules = [card.compile(CASES_SOURCE, one, f"-DLENGTH={length}") for one in ("", name)]
        around = card.slots(modules[0], VISITS, 0) / visits
        for lanes in LANES:
            one = card.slots(modules[0], VISITS, lanes) / visits - around
            before, after = (card.slots(m, VISITS, several + lanes) / visits for m in modules)
            taken = np.where(place < lanes, 1 << own_case, 0).reshape(-1, 32)
            ways = np.bitwise_or.reduce(taken, axis=1)[:, None] >> np.arange(CASES) & 1
            full, entered = lanes / 32, float(ways.sum(axis=1).mean())
            copied = WORD.instructions * card.words * full
            added = after - before + (entered - full) * one + full * PARTING - copied
            fit.add([1.0, full], added, after)
    yield from fit.constants(name, known)


def _turns(card: Card, name: str, known: Mapping[str, float]) -> Iterator[Constant]:
    """What doing turns of an inner loop for one another takes."""
    numbers = np.arange(TASKS, dtype=np.uint32) * np.uint32(2654435769) >> np.uint32(16)
    in_a_row = turns_apart if name == "flatten" else turns_in_a_row
    fit, tasks, shared = Fit(), TASKS / 32, name in SHARED_OUT
    # Of a "for variable", merge would have long tasks shared out.
    text = TURNS_SOURCE.replace("DIRECTIVE", "for variable" if shared else "while")
    for length in TURN_LENGTHS:
        modules = [card.compile(text, one, f"-DLENGTH={length}") for one in ("", name)]
        turns = {mean: (numbers % np.uint32(2 * mean)).reshape(-1, 32) for mean in MEANS}
        most = [float(turns[mean].max(axis=1).sum(dtype=np.int64)) for mean in MEANS]
        before, after = (
            [card.slots(module, TASKS, 2 * mean) for mean in MEANS] for module in modules
        )
        scaled = [[tasks / spent, one / spent] for one, spent in zip(most, before, strict=True)]
        around, own = fitted(scaled, [1.0] * len(scaled))
        row = 1 if shared else in_a_row(round(own))
        for mean, spent in zip(MEANS, after, strict=True):
            full = float(turns[mean].sum(dtype=np.int64)) / 32 / tasks + (row - 1) / 2
            meetings, words = (0.0, 0) if shared else (full / row, card.words)
            added = spent / tasks - around - own * full - WORD.instructions * words
            fit.add([full, meetings, 1.0], added, spent / tasks)
    yield from fit.constants(name, known)
