"""What else is in the way of paths that were left since the next iteration seems to need a value.

    int base;                                        // in each iteration another variable
    if (lane == leader) base = atomicAdd(count, n);
    base = __shfl_sync(0xffffffff, base, leader);

Where the variable gets a value by itself (``frontend/unset.py``), and the path is left all the
same, then for another reason: that is what users have to hear of. A value they need not give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ccc.compiler.said import SEVERITIES, DevicePass, Remarks
from ccc.diagnostics import complaints
from ccc.errors import render
from ccc.remark import Remark, of_arm

CARRIED = "the next iteration"
"""How the reasons begin that a variable without a value may lead to."""


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
        is_new = same is not None and same.reason is not None and not is_carried(same)
        yield same if same is not None and is_new and is_carried(remark) else remark


def _said(remarks: Remarks, *, strict: bool) -> list[str]:
    return [render(SEVERITIES[strict], one.message, one.span) for one in complaints(remarks)]
