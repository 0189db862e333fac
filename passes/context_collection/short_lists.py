"""Lists so short that their own lanes run them at once (no pass; joined lists use it).

To have a task takes a snapshot, a meeting, and a question to the warp whether its lists are even.
That is more than a few turns that do nothing but load, compute and add up. So a lane with a few of
them runs them where it comes to its list, some side by side, as turns that it may not have; it then
has no task, as if its list were empty.

    SHORT:  more turns than that? to the snapshot
            <a turn>
            <a turn, if two are left>
            ...
            no more turns than these? on
            <a turn>
            ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.passes.context_collection.counted_turns import count_turns
from ccc.passes.context_collection.guarded_turns import GuardedTurns
from ccc.passes.thresholds import SHORT_LENGTH, SHORT_LISTS
from ccc.snippet import Snippet

if TYPE_CHECKING:
    from ccc.passes.context_collection.shared_tasks import SharedTasks

IS_SHORT = Snippet(
    """
    .reg .pred %long;
    .reg .b32 %turns, %before;
        add.s32 %before, %turns, -1;          // 0 stands for too many
        setp.ge.u32 %long, %before, MOST;
        @%long bra TASK;
    """,
    "MOST",
)
"""Who has more turns has a task."""

MORE = Snippet(
    """
    .reg .pred %through;
    .reg .b32 %turns;
        setp.le.u32 %through, %turns, BEFORE;
        @%through bra ON;
    """,
    "BEFORE",
)
"""Are there more than those before?"""

HAS = Snippet(
    """
    .reg .pred %has;
    .reg .b32 %turns;
        setp.gt.u32 %has, %turns, BEFORE;
    """,
    "BEFORE",
)
"""Of turns side by side a lane has those that its list has."""


def emit_short(tasks: SharedTasks, snapshot: str) -> str:
    """Emit where a lane comes to its list.

    Args:
        tasks: the lists, while the blocks of the path still lead where they led.
        snapshot: where a task begins.

    Returns:
        The label; ``snapshot`` where no list is run at once.
    """
    collector, path, induction = tasks.collector, tasks.node.path, tasks.turns.induction
    function, live_in = collector.function, collector.facts.liveness.live_in
    blocks = [block for block in function.blocks if block.label in path.blocks]
    turns = GuardedTurns(blocks, live_in(path.entry) | live_in(induction.exit))
    length = sum(1 for block in blocks for _ in block.instructions)
    begins = blocks[0].label == path.entry
    if not (turns.possible and begins and SHORT_LISTS[-1] * length <= SHORT_LENGTH):
        return snapshot
    emit = collector.at(function.fresh_label("short"))
    label = emit.block.label
    count = count_turns(emit, induction, lambda register: register)
    IS_SHORT.of(MOST=SHORT_LISTS[-1]).emit(emit, turns=count, TASK=snapshot)
    for first, behind in zip((0, *SHORT_LISTS), SHORT_LISTS, strict=False):
        if first:
            MORE.of(BEFORE=first).emit(emit, turns=count, ON=induction.exit)
        emit.start(head := function.fresh_label("turns"))
        tasks.node.heads = (*tasks.node.heads, head)
        flags = [HAS.of(BEFORE=n).emit(emit, turns=count)["has"] for n in range(first + 1, behind)]
        for flag in (None, *flags):
            turns.emit(emit, flag)
    emit.emit("bra", induction.exit)
    return label
