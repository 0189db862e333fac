"""Which of many cases run always: a sample. The others are marked ``long``.

``pytest --long`` runs all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import settings

MANY = 2
"""From so many values on, not all run always of a test that is slow, ..."""
ONE_OF = 10
"""... but one of so many."""

runs_long = False
"""Whether all of them run; it is set before any test is read."""


def always(cases: Iterable[Any], chosen: Callable[[Any], bool]) -> list[Any]:
    """Cases for ``parametrize``; those that are chosen run always. A tuple is a case of several
    parameters."""
    return [one if chosen(one) else _long(one) for one in cases]


def one_in(count: int, cases: Iterable[Any]) -> list[Any]:
    """Cases of which the first of each ``count`` in a row run always.

    With a ``count`` that shares no factor with the lengths of what they are a product of, these are
    spread over the values of each parameter.
    """
    places = iter(range(1_000_000))
    return always(cases, lambda _: next(places) % count == 0)


def sample(items: Iterable[pytest.Item]) -> None:
    """Of a slow test with many values, one in ten runs always."""
    values: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("long"):
            values[item.nodeid.partition("[")[0]].append(item)
    for of_one in values.values():
        for place, item in enumerate(of_one if len(of_one) >= MANY else ()):
            if place % ONE_OF:
                item.add_marker("long")


def examples(few: int, many: int) -> settings:
    """How many random examples hypothesis makes: always the same few, or many new ones."""
    return settings(
        max_examples=many if runs_long else few, derandomize=not runs_long, deadline=None
    )


def _long(case: Any) -> Any:
    if hasattr(case, "marks"):
        return pytest.param(*case.values, marks=(*case.marks, pytest.mark.long), id=case.id)
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.long)
