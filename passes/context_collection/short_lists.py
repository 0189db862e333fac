"""Lists so short that their own lanes run them at once (no pass; joined lists use it).

To have a task takes a snapshot, a meeting, and a question to the warp whether its lists are even.
That is more than a few turns that do nothing but load, compute and add up. So a lane with a few of
them runs them where it comes to its list, some side by side, as turns that it may not have; it then
has no task, as if its list were empty.

    SHORT:  were lists even when the lanes met? to the snapshot
            more turns than that? to the snapshot
            <a turn>
            <a turn, if two are left>
            ...
            no more turns than these? on
            <a turn>
            ...

Where lists are about as long as one another, and some longer than that, all lanes run their own
together. Those with a short one would only come before the others. So as long as lanes find that
when they meet, they have tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.passes.context_collection.counted_turns import count_turns
from ccc.passes.context_collection.guarded_turns import GuardedTurns
from ccc.passes.thresholds import SHORT_LENGTH, SHORT_LISTS
from ccc.snippet import Snippet

if TYPE_CHECKING:
    from ccc.ir.edit import Emitter
    from ccc.ir.operands import Register
    from ccc.passes.context_collection.shared_tasks import SharedTasks

IF_NOT_EVEN = Snippet("""
    .reg .pred %at_first;
        @!%at_first bra TASK;
""")
"""Whether lists were even is the same for all."""

NOTE = Snippet(
    """
    .reg .pred %at_first, %even;
    .reg .b32 %longest;
        setp.le.u32 %at_first, %longest, MOST;
        @!%even mov.pred %at_first, -1;       // short ones are not worth sharing out
    """,
    "MOST",
)
"""What short lists are in the next iteration: run at first, or tasks."""

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


def note_even(emit: Emitter, longest: Register, even: Register, at_first: Register) -> None:
    """Emit what all lanes conclude when they know the longest list, and whether all are even."""
    NOTE.of(MOST=SHORT_LISTS[-1]).emit(emit, longest=longest, even=even, at_first=at_first)


def emit_short(tasks: SharedTasks, snapshot: str, asks: bool) -> tuple[str, Register | None]:
    """Emit where a lane comes to its list.

    Args:
        tasks: the lists, while the blocks of the path still lead where they led.
        snapshot: where a task begins.
        asks: whether lanes that meet find out if their lists are even.

    Returns:
        The label, ``snapshot`` where no list is run at once; and what says whether short ones are,
        if not always.
    """
    collector, path, induction = tasks.collector, tasks.node.path, tasks.turns.induction
    function, live_in = collector.function, collector.facts.liveness.live_in
    blocks = [block for block in function.blocks if block.label in path.blocks]
    turns = GuardedTurns(blocks, live_in(path.entry) | live_in(induction.exit))
    length = sum(1 for block in blocks for _ in block.instructions)
    begins = blocks[0].label == path.entry
    if not (turns.possible and begins and SHORT_LISTS[-1] * length <= SHORT_LENGTH):
        return snapshot, None
    emit = collector.at(function.fresh_label("short"))
    label = emit.block.label
    at_first = function.registers.fresh("pred", "at_first") if asks else None
    if at_first is not None:
        IF_NOT_EVEN.emit(emit, at_first=at_first, TASK=snapshot)
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
    return label, at_first
