"""``sub_warp(N)``: groups of N lanes share the turns of a ``for variable``, task by task.

It asks for what ``engage`` does. :mod:`ccc.passes.context_collection.sub_warps` shows the code.
"""

from __future__ import annotations

from ccc.passes.strategies.engage import Engage

LANES = (2, 4, 8, 16, 32)
"""How many lanes a group may have."""
SUB_WARPS = tuple(Engage(lanes) for lanes in LANES)
