"""Alignment of sequences, of the greatest gain (Needleman and Wunsch 1970; Gotoh 1982 for gaps).

Two sequences are aligned when each element of one stands beside an element of the other or beside
nothing, in their order. A pair gains something; each run of elements that stand alone costs the
same, however long. Several sequences are aligned two at a time, those first that gain most: what
was aligned is a sequence of columns, which is aligned with others as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Column: TypeAlias = tuple[T | None, ...]
"""What stands beside one another: an element, or nothing, of each sequence."""
Pairs: TypeAlias = list[tuple[int | None, int | None]]
"""The places in two sequences that stand beside one another."""

_PAIR, _FIRST, _SECOND = range(3)
_NEVER = float("-inf")


def align(
    first: int, second: int, gain: Callable[[int, int], float | None], gap: float
) -> tuple[float, Pairs]:
    """Align two sequences.

    Args:
        first: the length of one.
        second: that of the other.
        gain: of a pair of places; None if these two must not stand beside one another.
        gap: what a run of elements of one of them costs that stand alone.

    Returns:
        The greatest gain, and an alignment that has it.
    """
    best = [[[_NEVER] * 3 for _ in range(second + 1)] for _ in range(first + 1)]
    came = [[[_PAIR] * 3 for _ in range(second + 1)] for _ in range(first + 1)]
    best[0][0][_PAIR] = 0.0
    for i in range(first + 1):
        for j in range(second + 1):
            here, where = best[i][j], came[i][j]
            pair = gain(i - 1, j - 1) if i and j else None
            if pair is not None:
                here[_PAIR], where[_PAIR] = _best(best[i - 1][j - 1], pair, pair, pair)
            if i:
                here[_FIRST], where[_FIRST] = _best(best[i - 1][j], -gap, 0.0, -gap)
            if j:
                here[_SECOND], where[_SECOND] = _best(best[i][j - 1], -gap, -gap, 0.0)
    return max(best[first][second]), _trace(best, came)


def _best(before: list[float], pair: float, one: float, other: float) -> tuple[float, int]:
    """The best score by way of one of three states, each with what is added, and that state."""
    score, state = before[_PAIR] + pair, _PAIR
    if before[_FIRST] + one > score:
        score, state = before[_FIRST] + one, _FIRST
    if before[_SECOND] + other > score:
        score, state = before[_SECOND] + other, _SECOND
    return score, state


def _trace(best: list[list[list[float]]], came: list[list[list[int]]]) -> Pairs:
    """Go back from the end the way that the best score came."""
    i, j = len(best) - 1, len(best[0]) - 1
    state = max(range(3), key=best[i][j].__getitem__)
    found: Pairs = []
    while i or j:
        before = came[i][j][state]
        i -= state != _SECOND
        j -= state != _FIRST
        found.append((None if state == _SECOND else i, None if state == _FIRST else j))
        state = before
    return found[::-1]


def align_all(
    sequences: Sequence[Sequence[T]],
    gain: Callable[[Column[T], Column[T]], float | None],
    gap: float,
) -> list[Column[T]]:
    """Align several sequences, two at a time.

    Args:
        sequences: the sequences.
        gain: of two columns that become one; None if they must not.
        gap: what a run of columns costs that stand alone.

    Returns:
        The columns.
    """
    alone = (None,) * len(sequences)
    groups: dict[int, list[Column[T]]] = {
        n: [(*alone[:n], element, *alone[n + 1 :]) for element in sequence]
        for n, sequence in enumerate(sequences)
    }
    known: dict[tuple[int, int], tuple[float, Pairs]] = {}
    while len(groups) > 1:
        twos = list(combinations(sorted(groups), 2))
        for two in twos:
            if two not in known:
                known[two] = _aligned(groups[two[0]], groups[two[1]], gain, gap)
        best = max(twos, key=lambda two: known[two][0])
        one, other = (groups.pop(number) for number in best)
        groups[max(map(max, known)) + 1] = [_merged(one, other, i, j) for i, j in known[best][1]]
    return next(iter(groups.values()))


def _aligned(
    one: Sequence[Column[T]],
    other: Sequence[Column[T]],
    gain: Callable[[Column[T], Column[T]], float | None],
    gap: float,
) -> tuple[float, Pairs]:
    return align(len(one), len(other), lambda i, j: gain(one[i], other[j]), gap)


def _merged(
    one: Sequence[Column[T]], other: Sequence[Column[T]], i: int | None, j: int | None
) -> Column[T]:
    if i is None or j is None:
        return one[i] if i is not None else other[j or 0]
    return tuple(a if b is None else b for a, b in zip(one[i], other[j], strict=True))
