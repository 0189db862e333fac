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


ENGAGED = "cte"
AUTOMATIC = "cte::automatic"
THREAD = "cte::thread"


def by_library(source: str = "rivals/engaged.cu", block: int = 256) -> Rivals:
    """The same call of the library, with each of its decompositions.

    Args:
        source: calls it with ``BY`` as first argument.
        block: threads of a block.
    """
    sub_warps = {f"cte::sub_warp<{width}>": f"cte::sub_warp<{width}>" for width in WIDTHS}
    names = {ENGAGED: str(block), AUTOMATIC: AUTOMATIC, THREAD: THREAD, **sub_warps}
    names["cte::warp"] = "cte::warp"
    return {label: (source, (f"-DBY={name}",)) for label, name in names.items()}
