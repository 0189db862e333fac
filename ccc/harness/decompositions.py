"""The rivals of samples with nested patterns: who does the fine tasks of a coarse one.

F. Khorasani, High Performance Vertex-Centric Graph Analytics on GPUs, dissertation, 2016, section
4.2: a thread, a sub-warp of some lanes, or the warp together, as ``cte.cuh`` has them.
"""

from __future__ import annotations

WIDTHS = (2, 4, 8, 16, 32)
"""Of sub-warps."""

Rivals = dict[str, tuple[str, tuple[str, ...]]]


def by_hand(source: str = "rivals/sub_warp.cu") -> Rivals:
    """Sub-warps as one writes them: whole sub-warps step over the tasks."""
    return {f"sub-warp {width}": (source, (f"-DWIDTH={width}",)) for width in WIDTHS}


ENGAGED = "cte::warp"
"""The warp together, which is the paper's."""

AUTOMATIC = "cte::automatic"
BLOCK = "cte::block"
"""The warps of a block together, where one has much more to do than the others."""

THREAD = "cte::thread"
LIBRARY = (ENGAGED, AUTOMATIC, BLOCK, THREAD, *(f"cte::sub_warp<{width}>" for width in WIDTHS))
"""What the library's calls can be asked for."""


def by_library(source: str = "rivals/library.cu") -> Rivals:
    """The same call of the library, with each of its decompositions for ``BY``."""
    return {name: (source, (f"-DBY={name}",)) for name in LIBRARY}
