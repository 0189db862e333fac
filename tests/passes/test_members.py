"""Lanes that will come to a loop are counted at the branches where others part from them."""

from __future__ import annotations

import re

from folders import GOLDEN
from goldens import Golden

_COUNTED = re.compile(r"(\S+) %ccc_counted_\d+, %\w+, (\S+);")


def test_who_takes_an_arm_is_told_by_no_ballot_of_the_whole_warp() -> None:
    """ptxas would keep it in a uniform register, and may lose it in the other arm."""
    texts = [Golden.read(path).after for path in GOLDEN.glob("*/*.ptx")]
    found = {(how, mask == "-1") for text in texts for how, mask in _COUNTED.findall(text)}
    assert found == {("match.any.sync.b32", True), ("vote.sync.ballot.b32", False)}
