"""By default nothing is advised for what would gain nothing once it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ccc.analysis.paths.continuation import TOO_SHORT
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import LeftPath
from ccc.compiler.advice import parts_of, with_rest
from ccc.compiler.other_arms import is_short
from ccc.passes.choice.at_best import at_best
from ccc.passes.choice.work import work_of_blocks
from ccc.passes.thresholds import TOO_FEW
from ccc.pipeline import Kernel, PathRecord, Record
from ccc.remark import Remark

AT_BEST = "remove the annotation: at best it would be {:.2f} times as fast, as far as is known"


def in_vain_by_default(
    records: Sequence[Record], remarks: Sequence[Remark], untouched: Callable[[], Kernel]
) -> Iterator[Remark]:
    """The remarks, where nobody insists; of a path nothing is advised after which it would be left
    since it gains nothing.

    Args:
        records: the annotations of a kernel.
        remarks: what is to be said of each.
        untouched: gives the kernel as it was, in which what is left was found.
    """
    both = [*zip(records, remarks, strict=True)]
    instead = [_instead(record, remark, untouched) for record, remark in both]
    useful = {
        remark.position
        for remark, told in zip(remarks, instead, strict=True)
        if told is None and not remark.gains_nothing
    }
    for remark, told in zip(remarks, instead, strict=True):
        head, _, way_out = parts_of(remark.reason or "")
        if told == TOO_SHORT:
            yield replace(remark, reason=f"{head}; {told}")
        elif told and remark.position not in useful:
            yield replace(remark, reason=f"{head}; {with_rest(told, way_out)}")
        else:
            yield remark


def _instead(record: Record, remark: Remark, untouched: Callable[[], Kernel]) -> str | None:
    """What is to be said in place of what is advised for a path that would gain nothing."""
    if not remark.reason or remark.asked is not None:
        return None
    if remark.reason.endswith(f"; else {TOO_SHORT}") and is_short(record):
        return TOO_SHORT
    path = record.path if isinstance(record, PathRecord) else None
    if not isinstance(path, LeftPath) or path.loop is None:
        return None
    if path.entry not in untouched().facts.blocks:  # it lies in a function that was inlined
        return None
    if _has_too_few(path, untouched()):
        return TOO_SHORT
    most = at_best(path, untouched())
    return None if most is None or round(most, 2) > 1 else AT_BEST.format(most)


def _has_too_few(path: LeftPath, kernel: Kernel) -> bool:
    """Whether a branch in an annotated loop has so few instructions that no lanes make it gain."""
    if path.repeats or path.loop is None:
        return False
    facts = kernel.facts
    blocks = extent(path, facts) & path.loop.loop.blocks
    if any(one.header in blocks for one in facts.loops):
        return False
    return work_of_blocks(blocks, facts, path.entry).instructions < TOO_FEW
