"""``ccc bench --calibrate``: constants are found again in times that follow from them."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from emulating import needs_nvcc

from ccc import cli
from ccc.device.emulated import EMULATED_ARCH, Emulator
from ccc.nvcc import run as nvcc
from ccc.options import AUTO, Options
from ccc.passes.choice.exchange import BLOCK_LEAVES, IN_PARTS, PARTING, STREAMED, WORD
from ccc.passes.policy import turns_in_a_row
from ccc.passes.thresholds import FEW_ITERATIONS, MEMORY_GAIN, MUCH_MEMORY
from ccc.ptx.throughput import Pipe, slots_of
from ccc.toolkit import find as toolchain
from ccc.tools.bench.calibration import exchanges, gains, launches, memory
from ccc.tools.bench.calibration.card import BLOCK, Card
from ccc.tools.bench.calibration.fit import nonnegative

pytestmark = pytest.mark.usefixtures("few_headers", "in_process")

VISIT, TASK, TURN, MEETING, START = 27.0, 5.0, 16.0, 35.0, 40.0
AROUND = 12.0
SWITCH = 20.0


class MadeUpCard:
    """A card on which strategies take what the cost model says; contexts are of one word."""

    words = 1

    def compile(self, _: str, strategy: str, define: str) -> Any:
        return types.SimpleNamespace(strategy=strategy, length=int(define.partition("=")[2]))

    def slots(self, module: Any, count: int, number: int) -> float:
        return self.time(module, count, number)

    def time(self, module: Any, count: int, lanes: int) -> float:
        visits = count / 32
        own = int(module.length) + 3
        if not module.strategy:
            return visits * (AROUND + (own + PARTING) * (lanes > 0))
        task = own + TASK + WORD.instructions
        return visits * (AROUND + VISIT + lanes / 32 * task)


class MadeUpCases(MadeUpCard):
    """With several cases, warps go several ways, but for those who collect."""

    def time(self, module: Any, count: int, number: int) -> float:
        lanes, cases = number % 32, number // 32
        if module.strategy or not cases:
            return super().time(module, count, lanes) + (count / 32 * SWITCH if cases else 0)
        i = np.arange(1 << 14, dtype=np.uint32)
        taken = (5 * i + (i >> np.uint32(5))) % np.uint32(32) < lanes
        case = np.where(taken, i * np.uint32(2654435769) >> np.uint32(24) & np.uint32(7), 8)
        ways = np.mean([len({*warp} - {8}) for warp in case.reshape(-1, 32).tolist()])
        return count / 32 * (AROUND + SWITCH + float(ways) * (int(module.length) + 3 + PARTING))


class MadeUpTurns(MadeUpCard):
    def time(self, module: Any, count: int, most: int) -> float:
        numbers = np.arange(count, dtype=np.uint32) * np.uint32(2654435769) >> np.uint32(16)
        turns = (numbers % np.uint32(most)).reshape(-1, 32)
        own, tasks = module.length + 3, count / 32
        if not module.strategy:
            return float(tasks * AROUND + own * turns.max(axis=1).sum(dtype=np.int64))
        row = turns_in_a_row(own)
        full = turns.sum(dtype=np.int64) / 32 + (row - 1) / 2 * tasks
        start = AROUND + START + WORD.instructions
        return float(full * (own + TURN + MEETING / row) + start * tasks)


def test_what_collecting_a_branch_takes() -> None:
    card: Any = MadeUpCard()
    found = list(exchanges._arms(card, "queue", {"visit": 1.0, "task": 2.0}))
    assert [(one.name, one.known) for one in found] == [("queue, visit", 1), ("queue, task", 2)]
    assert [one.measured for one in found] == pytest.approx([VISIT, TASK])


def test_what_collecting_cases_takes() -> None:
    card: Any = MadeUpCases()
    found = list(exchanges._cases(card, "cases", {"visit": 1.0, "task": 2.0}))
    assert [one.measured for one in found] == pytest.approx([VISIT, TASK], rel=0.05)


def test_what_doing_turns_for_one_another_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "TASKS", 1 << 14)
    card: Any = MadeUpTurns()
    known = {"turn": 1.0, "meeting": 2.0, "start": 3.0}
    found = list(exchanges._turns(card, "merge", known))
    assert [one.known for one in found] == [1, 2, 3]
    assert [one.measured for one in found] == pytest.approx([TURN, MEETING, START])


def test_the_emulator_has_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--calibrate", "--device", "emulator"]) == 1
    assert "--calibrate takes a GPU" in capsys.readouterr().err


def test_times_that_scatter_give_constants_that_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "TASKS", 1 << 14)
    random = np.random.default_rng(0)

    class Scattered(MadeUpTurns):
        def slots(self, module: Any, count: int, number: int) -> float:
            return self.time(module, count, number) * float(random.uniform(0.98, 1.02))

    card: Any = Scattered()
    known = {"turn": 1.0, "meeting": 2.0, "start": 3.0}
    turn, meeting, start = exchanges._turns(card, "merge", known)
    assert turn.measured == pytest.approx(TURN, abs=4)
    assert meeting.measured == pytest.approx(MEETING, abs=12)
    assert start.measured == pytest.approx(START, abs=20)
    assert turn.off is not None
    assert turn.off < 0.03


def test_nothing_takes_less_than_no_time() -> None:
    rows = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    assert nonnegative(rows, [3.0, 5.0, 7.0])[0] == pytest.approx([3, 2])
    fitted, off = nonnegative(rows, [3.0, 2.0, 1.0])
    assert fitted == pytest.approx([2, 0])
    assert off == pytest.approx(2 / 3)


class MadeUpMemory:
    """A card on which memory is all that a kernel waits for."""

    arch = "sm_90"
    streamed, in_parts = 3.0, 1.5

    def compile(self, _: str, strategy: str, define: str) -> Any:
        return types.SimpleNamespace(strategy=strategy, written=int(define.partition("=")[2]))

    def slots(self, module: Any, count: int, lanes: int) -> float:
        sector = self.streamed * slots_of(Pipe.SECTORS, self.arch)
        sectors = 4.0 * (1 + module.written)
        if module.strategy:
            i = np.arange(1 << 14, dtype=np.uint32) * np.uint32(2654435769)
            taken = ((i >> np.uint32(16)) % np.uint32(32) < lanes).reshape(-1, 8).sum(axis=1)
            parted = float(((taken > 0) & (taken < 8)).mean())
            sectors += 4 * module.written * parted * (2 * self.in_parts - 1)
        return float(count / 32 * sectors * sector)


def test_what_memory_takes_that_neighbours_share() -> None:
    card: Any = MadeUpMemory()
    streamed, in_parts = memory.constants(card)
    assert (streamed.known, in_parts.known) == (STREAMED, IN_PARTS)
    assert streamed.measured == pytest.approx(card.streamed)
    assert in_parts.measured == pytest.approx(card.in_parts, rel=0.02)


class MadeUpGains(MadeUpMemory):
    """A card on which loops gain less than is expected where memory is busy for 0.4 of the time."""

    expected = 2.0
    shares: ClassVar = dict(zip(gains.LENGTHS, (0.8, 0.4, 0.2, 0.1), strict=True))
    measured: ClassVar = dict(zip(gains.LENGTHS, (1.25, 1.6, 1.99, 2.0), strict=True))

    def compile(self, text: str, strategy: str, define: str) -> Any:
        if text != gains.SOURCE:
            return super().compile(text, strategy, define)
        return types.SimpleNamespace(strategy=strategy, length=int(define.partition("=")[2]))

    def slots(self, module: Any, count: int, lanes: int) -> float:
        if not hasattr(module, "length"):
            return super().slots(module, count, lanes)
        sector = self.streamed * slots_of(Pipe.SECTORS, self.arch)
        written = 4 * (1 - (1 - lanes / 32) ** 8)
        original = count / 32 * (4 + written) * sector / self.shares[module.length]
        return original / (self.measured[module.length] if module.strategy else 1)


def test_how_much_more_is_expected_than_had_where_memory_is_busy() -> None:
    card: Any = MadeUpGains()
    *loops, much, gain = gains.constants(card)
    assert (much.known, gain.known) == (MUCH_MEMORY, MEMORY_GAIN)
    shares, found = loops[::2], loops[1::2]
    assert [one.measured for one in shares] == pytest.approx([*card.shares.values()], rel=0.02)
    assert {one.known for one in found} == {card.expected}
    assert [one.measured for one in found] == pytest.approx([*card.measured.values()])
    assert much.measured == pytest.approx(0.4, rel=0.02)
    assert gain.measured == pytest.approx(2 / 1.25)


def test_where_all_is_had_memory_is_never_too_busy() -> None:
    card: Any = MadeUpGains()
    card.expected = 1.25
    *_, much, gain = gains.constants(card)
    assert (much.measured, gain.measured) == (1, 1)


class MadeUpLaunches:
    """A card on which threads with few iterations gain nothing, and blocks take time to leave."""

    leaves = 300.0

    def compile(self, text: str, strategy: str, _: str) -> Any:
        return types.SimpleNamespace(strategy=strategy, is_kernel="grid_stride" in text)

    def slots(self, module: Any, count: int, lanes: int, blocks: int = 0) -> float:
        assert lanes == launches.LANES
        if module.is_kernel:
            return count / 32 * 50 + blocks * self.leaves
        iterations = count / (blocks * launches.BLOCK) if blocks else 1e9
        if module.strategy == AUTO and iterations <= FEW_ITERATIONS:
            return count / 32 * 100
        return count / 32 * (50 * (1 + 4 / iterations) if module.strategy else 100)


def test_what_blocks_and_few_iterations_take() -> None:
    card: Any = MadeUpLaunches()
    leaves, *every, few = launches.constants(card)
    assert (leaves.known, few.known) == (BLOCK_LEAVES, FEW_ITERATIONS)
    assert leaves.measured == pytest.approx(card.leaves)
    with_copy, ratios = ([one.measured for one in every if one.name.startswith(f"{name},")]
                         for name in (AUTO, launches.STRATEGY))  # fmt: skip
    assert len(with_copy) == len(ratios) == len(launches.ITERATIONS)
    assert with_copy[:3] == pytest.approx([1, 1, 6 / 7])
    assert ratios[:3] == pytest.approx([0.4, 2 / 3, 6 / 7])
    assert few.measured == 4


@needs_nvcc
@pytest.mark.parametrize("text", [launches.LOOP, launches.KERNEL, memory.SOURCE, gains.SOURCE])
def test_what_is_timed_is_collected(text: str, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(text)
    options = ("-DLENGTH=64", "-DWRITTEN=4")
    _, report = nvcc.build(source, "sm_90", options, Options(strategy=launches.STRATEGY))
    (kernel,) = report["kernels"]
    assert {path["strategy"] for path in kernel["paths"] if path["directive"] == "if"} == {
        launches.STRATEGY
    }


@needs_nvcc
@pytest.mark.parametrize("strategy", [AUTO, launches.STRATEGY])
def test_the_loop_as_it_comes_has_a_copy_for_few_iterations(strategy: str, tmp_path: Path) -> None:
    source = tmp_path / "k.cu"
    source.write_text(launches.LOOP)
    ptx, _ = nvcc.build(source, "sm_90", ("-DLENGTH=64",), Options(strategy=strategy))
    assert ("$ccc_original" in ptx) == (strategy == AUTO)


class EmulatedCard(Card):
    """A card that only compiles, and keeps what it made; the emulator has no time."""

    def __init__(self) -> None:
        self._device = Emulator(EMULATED_ARCH, "lockstep", toolchain.find().program("ptxas"))
        self._made = {}


@needs_nvcc
@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        (launches.LOOP, launches.STRATEGY),
        (launches.LOOP, AUTO),
        (launches.KERNEL, launches.STRATEGY),
        (memory.SOURCE, memory.STRATEGY),
        (gains.SOURCE, gains.STRATEGY),
    ],
)
def test_what_is_timed_computes_the_same(text: str, strategy: str) -> None:
    card, count = EmulatedCard(), 4 * BLOCK
    # What kernels without streams compute is stored where it is 7, which is never.
    start = np.linspace(-0.5, 0.5, 5 * count, dtype=np.float32)
    found = []
    for one in ("", strategy):
        module = card.compile(text, one, "-DLENGTH=64", "-DWRITTEN=4")
        out = card._device.put({"out": start})["out"]
        grid = (4,) if "grid_stride" in text else (2,)
        module.get_function("loop")(
            grid, (BLOCK,), (np.int32(count), np.int32(4), out), shared_mem=0
        )
        found.append(card._device.get({"out": out})["out"])
    assert np.array_equal(*found)
    assert (found[0] != start).any() == (text in (memory.SOURCE, gains.SOURCE))


@needs_nvcc
def test_what_is_expected_is_told_of_what_was_compiled_last() -> None:
    card = EmulatedCard()
    modules = [card.compile(gains.SOURCE, one, "-DLENGTH=256") for one in ("", gains.STRATEGY)]
    assert card.expected is not None
    assert card.expected > MEMORY_GAIN
    assert card.compile(gains.SOURCE, "", "-DLENGTH=256") is modules[0]
    assert card.expected is None
