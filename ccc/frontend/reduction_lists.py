"""Lists of variables in one reduction that are written as others write them: with several
operations in it, or without commas."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain

_OPERATION = re.compile(r"(?<![^\s,;])([^\s,;:]+)\s*:(?!:)")
"""Before what is reduced by it."""
_GAP = re.compile(r"\s*[,;]\s*|\s+")
_VARIABLE = re.compile(r"[^\W\d]\w*(?:\.\w+)*")


def operations_in(text: str) -> list[str]:
    """What stands in a reduction where operations do, which may be no operation.

    >>> operations_in("+: a, *: b")
    ['+', '*']
    """
    return _OPERATION.findall(text)


def as_lists(text: str, operations: Collection[str]) -> str | None:
    """What to write in place of such lists; None where there is nothing wrong, or something else.

    >>> as_lists("min: lo, max: hi", ["min", "max"])
    'a reduction is by one operation; write reduction(min: lo) reduction(max: hi)'
    >>> as_lists("+: a b; c", ["+"])
    'variables are listed with commas; write reduction(+: a, b, c)'
    >>> as_lists("+: a, min b", ["+", "min"])
    'a reduction is by one operation; write reduction(op: variable, ...) for each'
    >>> as_lists("+: a, b", ["+"])
    """
    begin, *parts = _OPERATION.split(text)
    by, listed = parts[::2], [_GAP.split(names.strip(" \t,;")) for names in parts[1::2]]
    if begin.strip() or not {*operations}.issuperset(by):
        return None
    if not all(map(_VARIABLE.fullmatch, chain(*listed))):
        return None
    told = [f"reduction({op}: {', '.join(names)})" for op, names in zip(by, listed, strict=True)]
    if len(told) > 1:
        return f"a reduction is by one operation; write {' '.join(told)}"
    if all("," in gap for names in parts[1:] for gap in _GAP.findall(names.strip())):
        return None
    if not {*operations}.isdisjoint(chain(*listed)):
        return "a reduction is by one operation; write reduction(op: variable, ...) for each"
    return f"variables are listed with commas; write {told[0]}"
