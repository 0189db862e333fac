"""Which version of a kernel calls take, with times that are made up."""

from __future__ import annotations

import itertools
import random
from collections import Counter, deque

import pytest

from ccc.jit.chooser import Chooser
from ccc.passes.thresholds import TUNED_CALLS, TUNED_GAIN, TUNED_ROUNDS

VERSIONS = ("leave", "auto", "queue", "merge")


def play(chooser: Chooser, times: dict[str, list[float]], calls: int, delay: int = 0) -> list[str]:
    """Make calls whose times come ``delay`` calls later; returns the versions that they took."""
    taken, pending = [], deque[tuple[str, float]]()
    endless = {name: itertools.cycle(mine) for name, mine in times.items()}
    for _ in range(calls):
        now = chooser.next()
        taken.append(now.version)
        if now.timed:
            pending.append((now.version, next(endless[now.version])))
        while len(pending) > delay:
            chooser.note(*pending.popleft())
    return taken


def test_the_fastest_version_is_taken_after_a_few_calls_of_each() -> None:
    chooser = Chooser(VERSIONS)
    taken = play(chooser, {"leave": [4], "auto": [3], "queue": [1], "merge": [2]}, 40)
    assert chooser.chosen == "queue"
    first = len(VERSIONS) * (1 + TUNED_CALLS)
    assert Counter(taken[:first]) == dict.fromkeys(VERSIONS, 1 + TUNED_CALLS)
    assert set(taken[first:]) == {"queue"}


def test_the_first_call_of_a_version_does_not_count() -> None:
    chooser = Chooser(("leave", "auto"))
    assert not chooser.next().timed
    assert not chooser.next().timed
    assert chooser.next().timed


def test_a_version_that_is_hardly_ahead_is_not_taken() -> None:
    chooser = Chooser(("leave", "auto"))
    play(chooser, {"leave": [1.0], "auto": [1 - TUNED_GAIN / 2]}, 2 * (TUNED_ROUNDS + 1))
    assert chooser.chosen == "leave"
    chooser = Chooser(("leave", "auto"))
    play(chooser, {"leave": [1.0], "auto": [1 - 2 * TUNED_GAIN]}, 2 * (TUNED_ROUNDS + 1))
    assert chooser.chosen == "auto"


def test_arguments_that_differ_do_not_put_a_version_out() -> None:
    """Every other call has a hundred times as much to do."""
    for seed in range(20):
        chooser = Chooser(("leave", "auto"), seed=seed)
        work = random.Random(seed)
        while chooser.chosen is None:
            now = chooser.next()
            if now.timed:
                slow = 100 if work.random() < 0.5 else 1
                chooser.note(now.version, slow * (2.0 if now.version == "leave" else 1.0))
            assert sum(chooser.calls.values()) < 50
        assert min(len(mine) for mine in chooser.times.values()) >= TUNED_CALLS


def test_calls_are_not_in_a_fixed_order() -> None:
    orders = set()
    chooser = Chooser(VERSIONS)
    for _ in range(TUNED_ROUNDS):
        orders.add(tuple(chooser.next().version for _ in VERSIONS))
    assert len(orders) > TUNED_ROUNDS // 2
    assert all(sorted(order) == sorted(VERSIONS) for order in orders)


def test_times_may_come_late() -> None:
    chooser = Chooser(VERSIONS)
    times = {"leave": [4.0], "auto": [3.0], "queue": [2.0], "merge": [1.0]}
    rounds = len(VERSIONS) * (TUNED_ROUNDS + 1)
    taken = play(chooser, times, rounds + 20, delay=1000)
    assert set(taken[rounds:]) == {"auto"}  # nothing is known yet
    assert max(Counter(taken[:rounds]).values()) == TUNED_ROUNDS + 1
    for name, (spent,) in times.items():
        for _ in range(TUNED_CALLS):
            chooser.note(name, spent)
    assert chooser.chosen == "merge"


def test_the_best_so_far() -> None:
    chooser = Chooser(VERSIONS)
    assert chooser.best == "auto"
    chooser.note("queue", 2.0)
    assert chooser.best == "queue"
    chooser.note("leave", 2.0)
    assert chooser.best == "leave"
    assert chooser.milliseconds == {"leave": 2.0, "queue": 2.0}


def test_a_version_that_cannot_be_made() -> None:
    chooser = Chooser(("leave", "auto", "queue"))
    assert chooser.drop("queue")
    assert chooser.drop("queue")  # by another thread, which can take another one as well
    assert not chooser.has("queue")
    taken = play(chooser, {"leave": [2], "auto": [1]}, 30)
    assert chooser.chosen == "auto"
    assert "queue" not in taken
    assert not chooser.drop("auto")  # it is chosen
    assert chooser.drop("leave")  # by a call that began before


def test_the_last_version_stays() -> None:
    chooser = Chooser(("leave", "auto"))
    assert chooser.drop("auto")
    assert chooser.chosen == "leave"
    assert not chooser.drop("leave")


def test_one_version_is_no_choice() -> None:
    chooser = Chooser(("leave",))
    assert chooser.chosen == "leave"
    assert not chooser.next().timed


@pytest.mark.parametrize("seed", range(5))
def test_noise(seed: int) -> None:
    """A version that is a fifth faster is found behind noise of a tenth, in most cases soon."""
    noise = random.Random(seed)
    times = {
        name: [spent * noise.uniform(1.0, 1.1) for _ in range(100)]
        for name, spent in {"leave": 1.0, "auto": 1.3, "queue": 0.8, "merge": 0.95}.items()
    }
    chooser = Chooser(VERSIONS, seed=seed)
    play(chooser, times, len(VERSIONS) * (TUNED_ROUNDS + 1))
    assert chooser.chosen == "queue"
