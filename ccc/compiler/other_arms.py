"""What is told of an arm of a branch, or of a case, where its annotation serves others, too: nobody
can remove it for the one alone, and an arm that is short needs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ccc.analysis.paths.model import LeftPath
from ccc.compiler.advice import TOO_SHORT
from ccc.passes.strategies.leave import LEAVE
from ccc.pipeline import PathRecord, Record
from ccc.remark import Remark, of_arm

NEEDS_NOTHING = "too short to gain, so that nothing has to be done about it"
_REMOVED = re.compile(rf"(?:{TOO_SHORT}|remove (?:the|this) annotation)(?=$|; )")
_LEAVE_IT = "leave it as it is, since the annotation serves {}"


def short_ones_need_nothing(
    records: Sequence[Record], remarks: Sequence[Remark]
) -> Iterator[Remark]:
    """The remarks; a short path that is left beside others is told of as of no gain.

    Args:
        records: the annotations of a kernel.
        remarks: what is to be said of each.
    """
    for record, remark in zip(records, remarks, strict=True):
        path = record.path if isinstance(record, PathRecord) else None
        is_short = isinstance(path, LeftPath) and path.is_short
        if is_short and remark.reason and _serves_others(remark, remarks):
            yield replace(remark, reason=None, strategy=LEAVE.name, advice=NEEDS_NOTHING)
        else:
            yield remark


def with_others_in_mind(remarks: Sequence[Remark]) -> list[Remark]:
    """The remarks of a kernel, none of which advises to remove an annotation that serves others."""
    return [replace(one, reason=_kept(one, remarks)) for one in remarks]


def _kept(remark: Remark, remarks: Sequence[Remark]) -> str | None:
    if remark.reason is None or not _serves_others(remark, remarks):
        return remark.reason
    others = "other cases" if remark.arm == "case" else "the other arm"
    return _REMOVED.sub(_LEAVE_IT.format(others), remark.reason)


def _serves_others(remark: Remark, remarks: Sequence[Remark]) -> bool:
    """Whether another arm, or case, of an annotation was transformed, or could be, and no copy of
    this one was."""
    able = (one for one in remarks if one.applied or one.advice is not None)
    arms = {of_arm(one) for one in able if one.position == remark.position}
    return bool(arms) and of_arm(remark) not in arms
