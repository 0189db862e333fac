"""A path that cannot be collected, and whether there would be anything to gain."""

from __future__ import annotations

from ccc.analysis.facts import Facts
from ccc.analysis.likeness import has_nothing_to_fill
from ccc.analysis.paths.continuation import is_cheap
from ccc.analysis.paths.locate import INNER_LOOPS, extent
from ccc.analysis.paths.model import FoundLoop, FoundPath, LeftPath, Refused


def left_alone(
    path: FoundPath, why: Refused, loop: FoundLoop | None, alone: str, facts: Facts
) -> LeftPath:
    """A path with the reason why it is left, and the loop around it, if that is known."""
    is_short = not path.repeats and is_cheap(extent(path, facts), facts)
    is_full = loop is not None and _is_full(path, loop, facts)
    return LeftPath(
        **vars(path), reason=str(why), loop=loop, alone=alone, is_short=is_short, is_full=is_full,
        ways=tuple(why.ways),
    )  # fmt: skip


def _is_full(path: FoundPath, around: FoundLoop, facts: Facts) -> bool:
    """Whether all lanes of a warp likely take the same turns of a loop, in which nothing else is
    annotated: of one that holds a path the tasks may go with those of that."""
    inner = next((one for one in facts.loops if one.header == path.entry), None)
    if path.marker.kind not in INNER_LOOPS or inner is None:
        return False
    inside = {one.identifier for label in inner.blocks for one in facts.blocks[label].markers}
    return inside == {path.marker.identifier} and has_nothing_to_fill(inner, around.loop, facts)
