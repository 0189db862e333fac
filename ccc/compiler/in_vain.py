"""By default nothing is advised for what would gain nothing once it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ccc.analysis.paths.continuation import TOO_SHORT
from ccc.analysis.paths.locate import extent
from ccc.analysis.paths.model import LeftPath
from ccc.compiler.advice import parts_of, with_rest
from ccc.compiler.other_arms import is_short
from ccc.compiler.removal import is_removal
from ccc.errors import Span
from ccc.passes.choice.at_best import at_best
from ccc.passes.choice.work import work_of_blocks
from ccc.passes.thresholds import GAIN, TOO_FEW
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
    priced = {
        place: _at_best(place, both, untouched) for place in {one.position for one in remarks}
    }
    for record, remark in both:
        head, _, way_out = parts_of(remark.reason or "")
        most = priced[remark.position]
        if _is_open(remark) and _is_too_short(record, remark, untouched):
            yield replace(remark, reason=f"{head}; {TOO_SHORT}")
        elif is_removal(way_out):
            yield remark
        elif _is_open(remark) and most is not None and round(most, 2) < GAIN:
            yield replace(remark, reason=f"{head}; {with_rest(AT_BEST.format(most), way_out)}")
        else:
            yield remark


def _is_open(remark: Remark) -> bool:
    """Whether it is of a refusal where nobody asked for anything."""
    return bool(remark.reason) and remark.asked is None


def _at_best(
    place: Span, both: Iterable[tuple[Record, Remark]], untouched: Callable[[], Kernel]
) -> float | None:
    """What may be gained, at best, by what stands somewhere; None where it is not known of all of
    it, or some of it is transformed."""
    mine = [(record, remark) for record, remark in both if remark.position == place]
    told = [remark for _, remark in mine]
    if any(one.applied or one.asked for one in told) or not any(map(_is_open, told)):
        return None
    paths = [record.path for record, _ in mine if isinstance(record, PathRecord)]
    known = [one for one in paths if one.loop and one.entry in untouched().facts.blocks]
    return at_best(known, untouched()) if len(known) == len(mine) else None


def _is_too_short(record: Record, remark: Remark, untouched: Callable[[], Kernel]) -> bool:
    """Whether it is of a path that is too short to gain anything."""
    if (remark.reason or "").endswith(f"; else {TOO_SHORT}") and is_short(record):
        return True
    path = _left(record)  # it may lie in a function that was inlined
    return (
        path is not None
        and path.entry in untouched().facts.blocks
        and _has_too_few(path, untouched())
    )


def _left(record: Record) -> LeftPath | None:
    """The path that is left, and the loop around it."""
    path = record.path if isinstance(record, PathRecord) else None
    return path if isinstance(path, LeftPath) and path.loop is not None else None


def _has_too_few(path: LeftPath, kernel: Kernel) -> bool:
    """Whether a branch in an annotated loop has so few instructions that no lanes make it gain."""
    if path.repeats or path.loop is None:
        return False
    facts = kernel.facts
    blocks = extent(path, facts) & path.loop.loop.blocks
    if any(one.header in blocks for one in facts.loops):
        return False
    return work_of_blocks(blocks, facts, path.entry).instructions < TOO_FEW
