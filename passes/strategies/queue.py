"""``queue``: every lane pushes its task, and all pop when there is a full warp of tasks.

The code of ``context_collection/sequential_dispatch.py`` tells it from ``merge`` by its name.
"""

from __future__ import annotations

from ccc.passes.strategies.sequential import Sequential
from ccc.ptx.types import WARP_SIZE

QUEUE = Sequential("queue", entries=2 * WARP_SIZE)
"""Up to 32 tasks are pushed onto up to 31 that were left."""
