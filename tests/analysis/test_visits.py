"""Copies of a path: in which iterations lanes come by them."""

from __future__ import annotations

import pytest
from test_local_memory import facts_of

from ccc.analysis.paths.visits import share_of_visits


@pytest.mark.parametrize(
    ("code", "share"),
    [
        ("@%p1 bra B; A: bra E; B: bra E; E: @%p2 bra L;", 1 / 2),
        ("@%p1 bra B; A: bra B; B: bra E; E: @%p2 bra L;", 1),
        ("A: bra M; M:\n// ccc.for 1 k.cu:1:1\n @%p1 bra E; B: bra E; E: @%p2 bra L;", 1 / 2),
        ("@%p1 bra B; A: bra M; M: @%p2 bra M; bra E; B: bra E; E: @%p2 bra L;", 1 / 2),
        ("A: @%p1 bra A; bra E; E: @%p2 bra L; B:", 1),  # another loop
    ],
)
def test_the_share_of_a_copy(code: str, share: float) -> None:
    facts = facts_of(f"L: {code}")
    assert share_of_visits("A", ["A", "B"], facts) == share
