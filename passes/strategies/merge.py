"""``merge``: lanes with a task keep it and idle lanes pop, if that fills the warp; else all push.

It is the rule of the paper. Paths that repeat are always served so: their tasks come back after
some turns, and lanes should keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from ccc.analysis.paths.model import Path
from ccc.passes.strategies.sequential import Sequential
from ccc.ptx.types import WARP_SIZE

MERGE = Sequential("merge", entries=WARP_SIZE)
"""It never leaves more than 31 tasks on the stack."""


def merging(path: Path, beside: Sequence[Path]) -> Sequential:
    """``merge`` for a path whose tasks carry those of the loop around it, as some ``beside`` it do.

    They are saved for the sake of others, too: up to a full warp for each such path, and one more.
    """
    carriers = [one for one in beside if one.carries_parent and one.parent is path.parent]
    return Sequential(MERGE.name, entries=WARP_SIZE * (1 + len(carriers)))
