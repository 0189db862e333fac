"""What is told of an arm of a branch, or of a case, where its annotation serves others, too: nobody
can remove it for the one alone, and an arm that is short needs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ccc.analysis.paths.continuation import TOO_SHORT
from ccc.analysis.paths.model import LeftPath
from ccc.compiler.removal import without_removal
from ccc.diagnostics import without_idle_copies
from ccc.passes.strategies.leave import LEAVE
from ccc.pipeline import PathRecord, Record
from ccc.remark import SERVES, Remark, of_arm

NEEDS_NOTHING = "too short to gain, so that nothing has to be done about it"
LEAVE_IT = f"leave it as it is, {SERVES} {{}}"


def short_ones_need_nothing(
    records: Sequence[Record], remarks: Sequence[Remark]
) -> Iterator[Remark]:
    """The remarks; a short path that is left beside others is told of as of no gain, and so is the
    annotation where none of these may gain.

    Args:
        records: the annotations of a kernel.
        remarks: what is to be said of each.
    """
    both = zip(records, remarks, strict=True)
    short = [remark for record, remark in both if remark.reason and is_short(record)]
    others = [one for one in remarks if one not in short]
    for remark in remarks:
        told = _of_short(remark, others) if remark in short else None
        yield replace(remark, reason=None, strategy=LEAVE.name, advice=told) if told else remark


def is_short(record: Record) -> bool:
    """Whether it is of a path that its lane had better do itself."""
    path = record.path if isinstance(record, PathRecord) else None
    return isinstance(path, LeftPath) and path.is_short


def _of_short(remark: Remark, others: Sequence[Remark]) -> str | None:
    """What is to be said of a short path in place of why it is left, by what became of those that
    are none."""
    if _serves_others(remark, others):
        return NEEDS_NOTHING
    beside = [one for one in others if one.position == remark.position]
    in_vain = all(one.advice is not None and not one.may_gain for one in beside)
    return TOO_SHORT if beside and in_vain else None


def with_others_in_mind(remarks: Sequence[Remark]) -> list[Remark]:
    """The remarks of a kernel, none of which advises to remove an annotation that serves others."""
    return [replace(one, reason=_kept(one, remarks)) for one in remarks]


def _kept(remark: Remark, remarks: Sequence[Remark]) -> str | None:
    if remark.reason is None:
        return None
    if any(one.applied and of_arm(one) == of_arm(remark) for one in remarks):
        return without_removal(remark.reason, LEAVE_IT.format("other copies"))
    if not _serves_others(remark, remarks):
        return remark.reason
    others = "other cases" if remark.arm == "case" else "the other arm"
    return without_removal(remark.reason, LEAVE_IT.format(others))


def _serves_others(remark: Remark, remarks: Sequence[Remark]) -> bool:
    """Whether another arm, or case, of an annotation was transformed, or could be in all copies,
    and no copy of this one was."""
    able = (one for one in without_idle_copies(remarks) if one.applied or one.may_gain)
    arms = {of_arm(one) for one in able if one.position == remark.position}
    return bool(arms) and of_arm(remark) not in arms
