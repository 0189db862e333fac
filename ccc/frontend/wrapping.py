"""Loops whose counters may begin anew, as far as the source alone tells.

    for (int i = ...; i < n; i += blockDim.x * gridDim.x)

A number with a sign must not overflow, so that a compiler can compute how often a loop goes round.
One without a sign may, and so may what something without a sign is added to: dimensions have none.
"""

from __future__ import annotations

import re

_UNSIGNED = r"unsigned(?: (?:long ?)*(?:int)?)?|(?:std::)?(?:size_t|uint(?:32|64)_t)"
_COUNTER = re.compile(rf"for ?\( ?(?:(?P<unsigned>{_UNSIGNED})|int) ?\b\w+ ?=")
_STEP = re.compile(r";[^;,]*\+= ?(?P<step>[^;,]*)\)$")
_OF_DIMENSIONS = re.compile(r"[\s()*]*(?:(?:block|grid)Dim ?\. ?[xyz][\s()*]*)+")
_OF_NUMBERS = re.compile(r"[\s()*+\dxXuUlL]*")


def may_wrap(statement: str) -> bool:
    """Whether the counter of a loop may begin anew, so that nobody can compute how often it goes
    round.

    >>> may_wrap("for (int i = thread; i < n; i += blockDim.x * gridDim.x)")
    True
    >>> may_wrap("for (unsigned i = 0; i < n; i += s)"), may_wrap("for (int i = 0; i < n; i += s)")
    (True, False)

    Args:
        statement: the head of the loop, in one line.
    """
    counter, step = _COUNTER.match(statement), _STEP.search(statement)
    if counter is None or step is None or _OF_NUMBERS.fullmatch(step["step"]):
        return False
    return bool(counter["unsigned"] or _OF_DIMENSIONS.fullmatch(step["step"]))
