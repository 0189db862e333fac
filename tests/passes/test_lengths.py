"""How long the longest of many lists is expected to be, and what lies in long ones."""

from __future__ import annotations

import math

import pytest

from ccc.passes.choice.lengths import Lengths


def harmonic(number: int) -> float:
    return sum(1 / n for n in range(1, number + 1))


def test_turns_of_which_each_is_the_last_with_equal_chance() -> None:
    lengths = Lengths.of(10.0, 10.0 * harmonic(32), 32)
    assert lengths.shape == pytest.approx(0, abs=1e-3)
    assert lengths.longest(256) == pytest.approx(10 * harmonic(256), rel=1e-2)
    share, mean = lengths.above(16)
    assert share == pytest.approx(math.exp(-1.6), rel=1e-2)
    assert mean == pytest.approx(26, rel=1e-2)


def test_turns_that_are_bounded() -> None:
    """Those from 0 to 40, each number as often: the longest of n is 40 n / (n + 1)."""
    lengths = Lengths.of(20.0, 40 * 32 / 33, 32)
    assert lengths.longest(256) == pytest.approx(40 * 256 / 257, rel=1e-3)
    assert lengths.above(30) == pytest.approx((0.25, 35.0), rel=1e-2)
    assert lengths.above(41)[0] == 0


@pytest.mark.parametrize(
    ("mean", "most", "lanes", "longest"), [(4.65, 69.8, 32, 325), (30.9, 313.7, 16, 1317)]
)
def test_few_rows_of_graphs_are_long(
    mean: float, most: float, lanes: float, longest: float
) -> None:
    """A web graph and an R-MAT graph of 2^21 rows, the longest of what a warp does in eight
    iterations as counted."""
    found = Lengths.of(mean, most, lanes).longest(8 * lanes)
    assert found == pytest.approx(longest, rel=0.3)


def test_lists_of_equal_length() -> None:
    lengths = Lengths.of(17.0, 17.0, 32)
    assert lengths.longest(256) == 17
    assert lengths.above(16) == (1.0, 17.0)
    assert lengths.above(17)[0] == 0


def test_a_list_alone_tells_of_no_other() -> None:
    assert Lengths.of(5.0, 5.0, 1).longest(100) == 5
