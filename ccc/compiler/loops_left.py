"""What can be done about paths in a loop that is left: why it is stands at the loop, too, and what
helps there is no advice for what lies in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ccc.analysis.paths.find import LOOP_LEFT
from ccc.analysis.paths.locate import INNER_LOOPS
from ccc.compiler.advice import OTHERWISE, parts_of, with_rest
from ccc.compiler.removal import is_removal, lines_removed
from ccc.remark import Remark

_LOOP_FIRST = (
    "do first what is said of that loop; where its annotation is removed, remove this one, too"
)
_THIS_TOO = "remove this annotation, too"
"""Where nothing else is left for the loop: a path in one that is not annotated has none."""
_THIS = "remove this annotation"


def loops_around(remarks: Sequence[Remark]) -> list[Remark | None]:
    """The remark on the loop for which each one's path is left, if it is, among others."""
    return [_loop_around(one, remarks) for one in remarks]


def with_ways_out(remarks: Sequence[Remark], loops: Sequence[Remark | None]) -> list[Remark]:
    """The remarks with what can be done where the loop around a path is left.

    Args:
        remarks: what became of annotations.
        loops: for each of them, what became of the loop around it where that is why it is left.
    """
    return [_with_way_out(*both) for both in zip(remarks, loops, strict=True)]


def is_of_loop(remark: Remark) -> bool:
    """Whether a path is left for the loop around it."""
    return (remark.reason or "").startswith(LOOP_LEFT)


def _loop_around(remark: Remark, remarks: Sequence[Remark]) -> Remark | None:
    if not is_of_loop(remark):
        return None
    reason = parts_of(remark.reason or "")[0].removeprefix(LOOP_LEFT)
    loops = (one for one in remarks if one.arm in INNER_LOOPS)
    return next((one for one in loops if parts_of(one.reason or "")[0] == reason), None)


def _with_way_out(remark: Remark, loop: Remark | None) -> Remark:
    if not is_of_loop(remark):
        return remark
    head, _, tail = parts_of(remark.reason or "")
    advice = _way_out(remark, parts_of(loop.reason or "")[2] if loop else "")
    return replace(remark, reason=f"{head}; {with_rest(advice, tail)}")


def _way_out(remark: Remark, said: str) -> str:
    """What can be done, by what is said of the loop."""
    advice = said.partition(f"; {OTHERWISE}")[0]
    if is_removal(advice):
        return _THIS_TOO
    return _THIS if remark.position.line in lines_removed(advice) else _LOOP_FIRST
