"""What is said of the cases, arms and copies of one annotation: in full of the first only."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

_CLAUSE = re.compile(r"(?<=[,;:]) ")
"""Between the clauses of a sentence."""


def likewise(first: str, other: str, whose: str) -> str:
    """What another sentence says that the ``first`` one does not; the rest is as of ``whose``.

    >>> likewise("7 steps: expected 0.8 times; tell", "9 steps: expected 0.8 times; tell", "case 0")
    '9 steps; else as case 0'
    >>> likewise("lanes meet in it, here", "lanes meet in it, here", "case 0")
    'as case 0'
    >>> likewise("7 steps", "9 steps", "a")
    '9 steps'
    """
    theirs, mine = _CLAUSE.split(first), _CLAUSE.split(other)
    while mine and theirs and mine[-1] == theirs[-1]:
        del mine[-1], theirs[-1]
    rest = " ".join(mine).rstrip(",;:")
    return min(f"{rest}; else as {whose}" if rest else f"as {whose}", other, key=len)


def copies(told: Sequence[Hashable]) -> list[str]:
    """Which of several copies of some code each is; nothing where the same is told of all.

    >>> copies(["short", "long", "short"])
    ['copies 1, 3 of 3', 'copy 2 of 3', 'copies 1, 3 of 3']
    >>> copies(["short", "short"])
    ['', '']
    """
    if len(set(told)) < 2:
        return [""] * len(told)
    return [_numbered(told, one) for one in told]


def with_copy(what: str, copy: str) -> str:
    """What something is said of, and which copy of it.

    >>> with_copy("path", "copy 2 of 3"), with_copy("path (else)", "copy 2 of 3")
    ('path (copy 2 of 3)', 'path (else, copy 2 of 3)')
    """
    named = what.removesuffix(")")
    return f"{named}{' (' if named == what else ', '}{copy})" if copy else what


def _numbered(told: Sequence[Hashable], one: Hashable) -> str:
    numbers = [str(number) for number, other in enumerate(told, 1) if other == one]
    which = f"copies {', '.join(numbers)}" if len(numbers) > 1 else f"copy {numbers[0]}"
    return f"{which} of {len(told)}"
