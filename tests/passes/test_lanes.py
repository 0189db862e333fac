"""What is taken of counts that cannot be, as are left where lanes end in a function."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ccc.passes.choice.before import details
from ccc.passes.choice.lanes import UNKNOWN, Lanes
from ccc.profile.known import Known

KNOWN = Known(
    "k", visits=10, visiting_lanes=320, entries=8, entering_lanes=100, executions=64, lanes=640,
    starts=2, length=12.0,
)  # fmt: skip


def test_counts_that_can_be_are_taken_as_they_are() -> None:
    lanes = Lanes.counted(KNOWN)
    assert lanes == Lanes("k", 0.8, 10.0, 6.4, 8.0, 32.0, 12.0, 5.0)


@pytest.mark.parametrize(
    "lost",
    [
        {"entering_lanes": 400},
        {"entering_lanes": 0},
        {"visiting_lanes": 0},
        {"visiting_lanes": 9999, "entering_lanes": 9999},
        {"entries": 0},
        {"entries": 1},
        {"entries": 10**19},
        {"executions": 0},
        {"executions": 10**19},
        {"lanes": 0},
        {"lanes": 10**19},
        {"visits": 1},
    ],
)
def test_no_more_lanes_are_together_than_a_warp_has(lost: dict[str, Any]) -> None:
    lanes = Lanes.counted(replace(KNOWN, **lost))
    assert 1 <= lanes.came <= 32
    assert 0 <= lanes.lanes <= lanes.came
    assert lanes.lanes / 32 <= lanes.entered <= lanes.lanes
    assert 1 - 1e-9 <= lanes.together <= 32 + 1e-9


def test_of_a_path_that_nobody_takes_the_report_tells_no_lanes() -> None:
    nobody = replace(KNOWN, entries=0, entering_lanes=0, executions=0, lanes=0)
    assert Lanes.counted(nobody).told == 0
    assert Lanes.counted(KNOWN).told == 10
    assert replace(Lanes.counted(KNOWN), source=UNKNOWN).told is None


@pytest.mark.parametrize(
    ("entered", "lanes", "said"),
    [(0.5, 0.5, "some 1 lane"), (1, 2, "some 2 lanes"), (0, 0, "no lane takes it")],
)
def test_lanes_in_words(entered: float, lanes: float, said: str) -> None:
    assert Lanes("a profile", entered, lanes).in_words == said


def test_what_a_share_is_of_is_told_where_not_all_lanes_come_by() -> None:
    """Those in a loop become fewer with its turns, and half of them are no half of a warp."""
    told = "some 4 of the 8 lanes that come by together"
    assert Lanes("prob(0.5)", 1, 4, came=8, beside=8).in_words == told


def test_a_length_that_is_guessed_is_told_from_one_that_was_counted() -> None:
    assert Lanes.counted(KNOWN).length_from == "counted"
    assert Lanes.counted(replace(KNOWN, length=0)).length_from == "by its code"
    assert details("meld", 1.2, [Lanes.counted(KNOWN)], 10)["instructions_from"] == "by its code"


def test_an_arm_that_never_ran_has_no_part_in_the_lanes_of_both() -> None:
    ran, never = Lanes("a profile", 1, 6), Lanes("a profile", 0, 0)
    assert details("meld", 1.2, [ran, never], 10)["expected_lanes"] == 6
    assert details("meld", 1.2, [never, never], 10)["expected_lanes"] == 0


@pytest.mark.parametrize(
    ("entered", "lanes", "came", "parted"),
    [
        (1.0, 8.0, 32.0, 1.0),
        (1.0, 32.0, 32.0, 0.0),
        (0.5, 16.0, 32.0, 0.0),  # all or none
        (0.5, 4.0, 32.0, 0.5),
        (1.0, 31.75, 32.0, 0.25),
        (1.0, 20.0, 20.0, 0.0),
        (3.0, 60.0, 96.0, 3.0),
    ],
)
def test_lanes_part_where_some_take_a_path_and_others_pass_it_by(
    entered: float, lanes: float, came: float, parted: float
) -> None:
    assert Lanes("", entered, lanes, came=came).parted == pytest.approx(parted)
