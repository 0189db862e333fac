"""``ccc bench --calibrate``: constants are found again in times that follow from them."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from ccc import cli
from ccc.passes.choice.exchange import PARTING, WORD
from ccc.passes.policy import turns_in_a_row
from ccc.tools.bench import calibrate

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
    found = list(calibrate._arms(card, "queue", {"visit": 1.0, "task": 2.0}))
    assert [(one.name, one.known) for one in found] == [("queue, visit", 1), ("queue, task", 2)]
    assert [one.measured for one in found] == pytest.approx([VISIT, TASK])


def test_what_collecting_cases_takes() -> None:
    card: Any = MadeUpCases()
    found = list(calibrate._cases(card, "cases", {"visit": 1.0, "task": 2.0}))
    assert [one.measured for one in found] == pytest.approx([VISIT, TASK], rel=0.05)


def test_what_doing_turns_for_one_another_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "TASKS", 1 << 14)
    card: Any = MadeUpTurns()
    known = {"turn": 1.0, "meeting": 2.0, "start": 3.0}
    found = list(calibrate._turns(card, "merge", known))
    assert [one.known for one in found] == [1, 2, 3]
    assert [one.measured for one in found] == pytest.approx([TURN, MEETING, START])


def test_the_emulator_has_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--calibrate", "--device", "emulator"]) == 1
    assert "--calibrate takes a GPU" in capsys.readouterr().err


def test_times_that_scatter_give_constants_that_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "TASKS", 1 << 14)
    random = np.random.default_rng(0)

    class Scattered(MadeUpTurns):
        def slots(self, module: Any, count: int, number: int) -> float:
            return self.time(module, count, number) * float(random.uniform(0.98, 1.02))

    card: Any = Scattered()
    known = {"turn": 1.0, "meeting": 2.0, "start": 3.0}
    turn, meeting, start = calibrate._turns(card, "merge", known)
    assert turn.measured == pytest.approx(TURN, abs=4)
    assert meeting.measured == pytest.approx(MEETING, abs=12)
    assert start.measured == pytest.approx(START, abs=20)
    assert turn.off is not None
    assert turn.off < 0.03


def test_nothing_takes_less_than_no_time() -> None:
    rows = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    assert calibrate.nonnegative(rows, [3.0, 5.0, 7.0])[0] == pytest.approx([3, 2])
    fitted, off = calibrate.nonnegative(rows, [3.0, 2.0, 1.0])
    assert fitted == pytest.approx([2, 0])
    assert off == pytest.approx(2 / 3)
