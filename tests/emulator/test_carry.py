"""The carry flag as ptxas folds it: subtraction adds the complement."""

from __future__ import annotations

import pytest
from emulating import evaluate

FOLDED = [
    # What ptxas 13.0 makes of these with constants, by sm_90's code for them.
    ("sub.cc.u32 {x}, 5, 3;\naddc.u32 {d}, 0, 0", 1),
    ("sub.cc.u32 {x}, 3, 5;\naddc.u32 {d}, 0, 0", 0),
    ("add.cc.u32 {x}, 5, 3;\nsubc.u32 {d}, 10, 0", 9),
    ("add.cc.u32 {x}, 5, -1;\nsubc.u32 {d}, 10, 0", 10),
    ("sub.cc.u32 {x}, 3, 5;\nsubc.u32 {d}, 10, 0", 9),
    ("sub.cc.u32 {x}, 5, 3;\nsubc.u32 {d}, 10, 0", 10),
    ("sub.cc.u32 {x}, 5, 3;\nsubc.cc.u32 {x}, 10, 0;\naddc.u32 {d}, 0, 0", 1),
    ("add.cc.u32 {x}, 5, -1;\nmadc.lo.u32 {d}, 2, 3, 0", 7),
]


@pytest.mark.parametrize(("text", "expected"), FOLDED)
def test_flag_between_additions_and_subtractions(text: str, expected: int) -> None:
    _, found = evaluate(text, {}, {"x": "u32", "d": "u32"})
    assert found == [expected]
