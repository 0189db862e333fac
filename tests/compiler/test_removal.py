"""What advice to remove annotations says is read from its words."""

from __future__ import annotations

import pytest

from ccc.compiler.removal import is_removal, lines_removed, of_others_removed


@pytest.mark.parametrize(
    ("advice", "lines"),
    [
        ("remove that on line 6, without which this one serves", {6}),
        ("remove those on lines 3 and 12, and annotate that loop", {3, 12}),
        ("remove those on lines 3 and 12, and that on line 7 of k9.cuh", {3, 12}),
        ("remove that on line 6 of k9.cuh, without which this one serves", set()),
        ("remove those on lines 6 and 8 of k9.cuh", set()),
    ],
)
def test_only_lines_of_the_same_file_are_read(advice: str, lines: set[int]) -> None:
    assert lines_removed(advice) == lines
    told = of_others_removed(advice, lambda words, _: f"{words}, which serves")
    assert ("which serves" in told) == bool(lines)
    assert ", which serves of" not in told


@pytest.mark.parametrize(
    ("advice", "is_all"),
    [
        ("remove the annotation", True),
        ("remove this annotation: with others, too, nothing would be gained by it", True),
        ("remove the annotation, or tell with a profile", True),
        ("remove this annotation; or ask for strategy(flatten)", False),
        ("remove that on line 6", False),
    ],
)
def test_it_is_known_where_nothing_else_is_left(advice: str, is_all: bool) -> None:
    assert is_removal(advice) == is_all
