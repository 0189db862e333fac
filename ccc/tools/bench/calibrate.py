"""``ccc bench --calibrate``: the constants of the cost model, measured on the card that is there.

Everything is in issue slots of a warp; a multiply-addition takes one. What a strategy adds to a
kernel is fitted to its times, less what the same work takes in the original. Nothing takes less
than no time, and long kernels should not outweigh short ones: so it is the least squares of what
the model is off in relation to each time, among constants that are not negative.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ccc.device.choose import Device
from ccc.errors import CccError
from ccc.nvcc import run as nvcc
from ccc.options import Options
from ccc.passes.choice.cost_model import TOGETHER
from ccc.passes.choice.exchange import ARMS, CARD, PARTING, TURNS, WORD
from ccc.passes.choice.inner_loops import SHARED_OUT
from ccc.passes.policy import turns_apart, turns_in_a_row

BLOCK = 256
REPEAT = 5
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
STEPS = 4096

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
STEP_SOURCE = """\\
extern "C" __global__ void __launch_bounds__(256) loop(int count, int odd, float* out)
{
    __shared__ unsigned shared[256];
    unsigned x = threadIdx.x * 2654435769u;
    const unsigned lane = threadIdx.x % 32;
    float f = threadIdx.x;
    shared[threadIdx.x] = x;
    for (int i = 0; i < count; i += 32) {
        #pragma unroll
        for (int k = 0; k < 32; ++k) { STEP; }
    }
    if (x == odd || f == 7) out[lane] = f + x;
}
"""
STEP = {
    "multiply-addition": "f = fmaf(f, f, -1.9f)",
    "ballot": "x += __ballot_sync(0xffffffffu, x > lane)",
    "shuffle": "x = __shfl_sync(0xffffffffu, x, x)",
    "shared store and load": "shared[threadIdx.x] = x; __syncwarp(); "
    "x += ((volatile unsigned*)shared)[threadIdx.x ^ 1]",
    "count of bits": "x = __popc(x) + lane",
}


@dataclass(frozen=True, slots=True)
class Constant:
    """One of them, as it stands in the file and as it was measured.

    ``known`` is None of what is not in there, ``off`` how far the model is off with what was
    measured, in the mean, as a share of the times; None of what was timed by itself.
    """

    name: str
    known: float | None
    measured: float
    off: float | None = None


class Card:
    """Times kernels on a device, in issue slots.

    Args:
        device: a GPU.
    """

    def __init__(self, device: Device):
        self._device = device
        self._out = device.put({"out": np.zeros(VISITS, np.float32)})["out"]
        self.words = 0
        """Of a task's context, in what was compiled last."""
        self._made: dict[tuple[str, ...], tuple[Any, int]] = {}
        self._slot = 1.0
        self._slot = self.step("multiply-addition")

    def compile(self, text: str, strategy: str, *defines: str) -> Any:
        """The module of a source; the original where no strategy is asked for."""
        key = text, strategy, *defines
        if key not in self._made:
            self._made[key] = self._compile(text, strategy, *defines)
        module, self.words = self._made[key]
        return module

    def _compile(self, text: str, strategy: str, *defines: str) -> tuple[Any, int]:
        """It, and the words of a task."""
        ours = Options(strategy=strategy) if strategy else Options(off=True)
        with tempfile.TemporaryDirectory(prefix="ccc-") as folder:
            source = Path(folder, "calibrate.cu")
            source.write_text(text, encoding="utf-8")
            ptx, report = nvcc.build(source, self._device.arch, defines, ours)
        paths = [path for kernel in report["kernels"] for path in kernel["paths"]]
        served = [path for path in paths if path["strategy"] == strategy]
        if strategy and not served:
            raise CccError("it does not apply to a kernel as simple as that here")
        contexts = [path.get("context", ()) for path in served]
        words = [sum(int(value["type"][1:]) // 32 for value in one) for one in contexts]
        return self._device.load(ptx), max(words, default=0)

    def slots(self, module: Any, count: int, number: int) -> float:
        """The issue slots of all warps of a launch together."""
        grid = int(module.resident_blocks("loop", BLOCK, 0))
        arguments = (np.int32(count), np.int32(number), self._out)
        kernel = module.get_function("loop")
        launches = [kernel((grid,), (BLOCK,), arguments, shared_mem=0) for _ in range(1 + REPEAT)]
        return float(min(one.milliseconds for one in launches[1:])) / self._slot

    def step(self, name: str) -> float:
        """What one step takes of a warp; all warps do it at the same time."""
        module = self.compile(STEP_SOURCE.replace("STEP", STEP[name]), "")
        warps = int(module.resident_blocks("loop", BLOCK, 0)) * BLOCK // 32
        return (self.slots(module, 2 * STEPS, 0) - self.slots(module, STEPS, 0)) / STEPS / warps


def constants(device: Device) -> Iterator[Constant]:
    """Measure all of them."""
    card = Card(device)
    for name in STEP:
        yield Constant(name, 1.0 if name == "multiply-addition" else None, card.step(name))
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
    fit = _Fit()
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
    fit, several, visits = _Fit(), 32 * (CASES - 1), VISITS / 32
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
    fit, tasks, shared = _Fit(), TASKS / 32, name in SHARED_OUT
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
        around, own = _fit(scaled, [1.0] * len(scaled))
        row = 1 if shared else in_a_row(round(own))
        for mean, spent in zip(MEANS, after, strict=True):
            full = float(turns[mean].sum(dtype=np.int64)) / 32 / tasks + (row - 1) / 2
            meetings, words = (0.0, 0) if shared else (full / row, card.words)
            added = spent / tasks - around - own * full - WORD.instructions * words
            fit.add([full, meetings, 1.0], added, spent / tasks)
    yield from fit.constants(name, known)


class _Fit:
    """What was measured of a strategy, and the constants that explain it."""

    def __init__(self) -> None:
        self._rows: list[list[float]] = []
        self._found: list[float] = []

    def add(self, row: Sequence[float], found: float, whole: float) -> None:
        """How often each constant counts in a time, what they take together, and the whole."""
        self._rows.append([one / whole for one in row])
        self._found.append(found / whole)

    def constants(self, name: str, known: Mapping[str, float]) -> Iterator[Constant]:
        """Them, by the names of those that are ``known``."""
        fitted, off = nonnegative(self._rows, self._found)
        for (part, before), measured in zip(known.items(), fitted, strict=True):
            yield Constant(f"{name}, {part}", before, measured, off)


def nonnegative(
    rows: Sequence[Sequence[float]], found: Sequence[float]
) -> tuple[list[float], float]:
    """The numbers, none below 0, that explain best what was found, and how far they are off in the
    mean. There are few: so each choice of those that are 0 is tried."""
    every, wanted = np.array(rows), np.array(found)
    best, error = np.zeros(every.shape[1]), wanted
    for kept in itertools.product((False, True), repeat=every.shape[1]):
        fitted = np.zeros(every.shape[1])
        fitted[list(kept)] = np.linalg.lstsq(every[:, kept], wanted, rcond=None)[0]
        left = wanted - every @ fitted
        if (fitted >= 0).all() and left @ left < error @ error:
            best, error = fitted, left
    return [float(one) for one in best], float(np.abs(error).mean())


def _fit(rows: Sequence[Sequence[float]], found: Sequence[float]) -> list[float]:
    """The numbers that explain what was found."""
    return nonnegative(rows, found)[0]


def show(device: Device) -> None:
    """Print the table, a line as soon as it is there."""
    print(f"issue slots: those in the compiler are of {CARD}, these of {device.describe()}")
    print(f"{'constant':<24}{'in exchange.py':>16}{'measured':>12}{'off':>8}")
    for one in constants(device):
        known = "-" if one.known is None else f"{one.known:g}"
        off = "-" if one.off is None else f"{one.off:.0%}"
        print(f"{one.name:<24}{known:>16}{one.measured:>12.1f}{off:>8}", flush=True)
