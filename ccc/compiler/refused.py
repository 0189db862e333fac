"""Which annotations are left once it is known what became of their copies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ccc.compiler.learned import is_carried
from ccc.compiler.said import Remarks
from ccc.errors import Span
from ccc.frontend.annotations import Annotation
from ccc.ir.markers import WHOLE_KERNEL, with_code
from ccc.remark import Remark

if TYPE_CHECKING:
    from ccc.compiler.serving import Standing


def refused_in(annotations: Sequence[Annotation], remarks: Remarks, marked: str) -> set[int]:
    """The annotations that no copy of their code could be transformed for, in ``marked`` PTX; not
    yet those for which it could without others of these, and none by what is told of which others
    are transformed."""
    every = [one for mine in remarks.values() for one in mine]
    applied = {one.position for one in every if one.applied or one.informs}
    hopeful = applied.union(*map(_hopeful, remarks.values()))
    left = _left(annotations, remarks, marked, hopeful)
    return left or _left(annotations, remarks, marked, applied)


def _hopeful(remarks: Sequence[Remark]) -> set[Span]:
    """Those of a kernel that would be transformed without others, with what is around them."""
    alone = {one.position for one in remarks if one.serves_alone}
    return alone | {one.position for one in remarks if alone and one.arm in WHOLE_KERNEL}


def _left(
    annotations: Sequence[Annotation], remarks: Remarks, marked: str, applied: Collection[Span]
) -> set[int]:
    """The annotations that are left if some are ``applied``."""
    told = [remark for mine in remarks.values() for remark in mine]
    refused = {remark.position for remark in told} - {*applied}
    left = {a.id for a in annotations if a.span in refused}
    gone = {a.id for a in paths_of(annotations)} - with_code(marked)
    for loop in reversed(annotations):  # inner loops first
        held = held_by(loop, annotations)
        if loop.directive != "for" or not (left | gone).issuperset(held):
            continue
        elsewhere = {a.span for a in paths_of(annotations) if a.loop in (None, loop.loop)}
        elsewhere &= {*applied}
        if not (elsewhere and _serves(loop, elsewhere, remarks, marked)):
            left |= {loop.id} | gone.intersection(held)
    return left


def paths_of(annotations: Sequence[Annotation]) -> list[Annotation]:
    """Those that mark paths."""
    return [a for a in annotations if a.directive not in ("for", "grid_stride")]


def held_by(loop: Annotation, annotations: Sequence[Annotation]) -> list[int]:
    """The annotations whose innermost annotated loop a loop is, by the text."""
    return [a.id for a in annotations if a.loop == loop.id]


def _serves(loop: Annotation, paths: Collection[Span], remarks: Remarks, marked: str) -> bool:
    """Whether some of the paths that serve do so where a loop is, such as those of functions that
    were inlined into it."""
    around = standing(marked).around(loop.id)
    told = [remark for name in around for remark in remarks.get(name, ())]
    return any((one.applied or one.serves_alone) and one.position in paths for one in told)


@lru_cache(maxsize=1)
def standing(marked: str) -> Standing:
    """Where annotations stand in marked PTX."""
    from ccc.compiler.serving import Standing  # noqa: PLC0415 - loaded by transform

    return Standing(marked)


def carried_in(annotations: Sequence[Annotation], remarks: Remarks) -> frozenset[int]:
    """The loops of paths that were left since the next iteration seems to need a value.

    What stands in no loop of its function may be in any.
    """
    told = [remark for mine in remarks.values() for remark in mine]
    places = {one.position for one in told if is_carried(one)}
    loops = {a.loop for a in annotations if a.span in places}
    return frozenset(a.id for a in annotations if a.id in loops or (None in loops and not a.loop))
