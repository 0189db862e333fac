"""``merge``: lanes with a task keep it and idle lanes pop, if that fills the warp; else all push.

It is the rule of the paper. Paths that repeat are always served so: their tasks come back after
some turns, and lanes should keep theirs.
"""

from __future__ import annotations

from ccc.passes.strategies.sequential import Sequential
from ccc.ptx.types import WARP_SIZE

MERGE = Sequential("merge", entries=WARP_SIZE)
"""It never leaves more than 31 tasks on the stack."""
