"""What is known of paths from another compilation of the source.

Of paths that were left since the next iteration seems to need a value: what else is in the way.

    int base;                                        // in each iteration another variable
    if (lane == leader) base = atomicAdd(count, n);
    base = __shfl_sync(0xffffffff, base, leader);

Where the variable gets a value by itself (``frontend/unset.py``), and the path is left all the
same, then for another reason, or for another variable: that is what users have to hear of. A value
they need not give.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from ccc.compiler.said import SEVERITIES, DevicePass, Remarks
from ccc.diagnostics import complaints
from ccc.errors import render
from ccc.remark import Remark, of_arm

CARRIED = "the next iteration"
"""How the reasons begin that a variable without a value may lead to."""
_SHOWN = re.compile(r"PTX line \d+: [^;]*;")
"""What is at fault in PTX, which need not be the same instruction."""


def learned(done: DevicePass, given: DevicePass, *, strict: bool) -> DevicePass:
    """What there is to say, with what is said where variables were given values of paths that were
    left there for another reason.

    Args:
        done: what there is to say of the source as it is.
        given: the same where variables have values.
        strict: whether warnings are errors.
    """
    remarks = {
        kernel: list(_retold(mine, given.remarks.get(kernel, ())))
        for kernel, mine in done.remarks.items()
    }
    before, now = _said(done.remarks, strict=strict), _said(remarks, strict=strict)
    kept = [one for one in done.diagnostics if one in now or one not in before]
    return replace(done, remarks=remarks, diagnostics=list(dict.fromkeys([*kept, *now])))


def as_marked(remarks: Remarks, before: Remarks) -> Remarks:
    """Remarks, with what was said ``before``, when more was marked, of paths in inner loops that
    are marked no more: users see the annotation there."""
    from ccc.analysis.paths.unmarked_turns import IN_TURNS  # noqa: PLC0415 - loaded by transform

    def told(kernel: str, mine: Sequence[Remark]) -> list[Remark]:
        is_inside: dict[Hashable, bool] = {}
        for one in mine:
            is_in_turns = (one.reason or "").startswith(IN_TURNS)
            is_inside[of_arm(one)] = is_in_turns and is_inside.get(of_arm(one), True)
        earlier = [one for one in before.get(kernel, ()) if is_inside.get(of_arm(one))]
        known = set(map(of_arm, earlier))
        return [*(one for one in mine if of_arm(one) not in known), *earlier]

    return {kernel: told(kernel, mine) for kernel, mine in remarks.items()}


def is_carried(remark: Remark) -> bool:
    """Whether a path was left since the next iteration seems to need a value."""
    return (remark.reason or "").startswith(CARRIED)


def _retold(mine: Sequence[Remark], given: Sequence[Remark]) -> Iterator[Remark]:
    """Remarks of a kernel; several copies of an arm come in the same order."""
    others = list(given)
    for remark in mine:
        same = next((one for one in others if of_arm(one) == of_arm(remark)), None)
        if same is not None:
            others.remove(same)
        is_learned = same is not None and _is_of_value(remark) and _is_another(remark, same)
        yield same if same is not None and is_learned else remark


def _is_another(remark: Remark, given: Remark) -> bool:
    """Whether a path is left for another reason where variables are given values, or for the value
    of another variable: then those that have none were not to blame."""
    before, now = (_SHOWN.sub("", one.reason or "") for one in (remark, given))
    return bool(now) and now != before


def _is_of_value(remark: Remark) -> bool:
    """Whether a path, or the loop around it, was left since an iteration seems to need a value."""
    from ccc.analysis.paths.find import LOOP_LEFT  # noqa: PLC0415 - loaded by transform

    return (remark.reason or "").removeprefix(LOOP_LEFT).startswith(CARRIED)


def _said(remarks: Remarks, *, strict: bool) -> list[str]:
    return [render(SEVERITIES[strict], one.message, one.span) for one in complaints(remarks)]
