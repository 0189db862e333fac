"""Sub-warps: neighbouring members share the turns of their tasks, one task after the other.

No pass; S. Hong, S. K. Kim, T. Oguntebi, K. Olukotun, "Accelerating CUDA Graph Algorithms at
Maximum Warp", PPoPP 2011, have so many lanes for each vertex from the beginning on. Here each lane
comes with a task of its own, and a group of so many runs those of all its lanes, each lane one turn
in so many. The last group of a warp has fewer members where the warp has.

    MEET:     who has a task, and how many turns?
              each owner: its task
    TASK:     the next member of the group: how many turns?
    TURN:     the task's state in this turn; the turn
              the next one, so many further as the group has members
    OVER:     all are done
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccc.analysis.paths.shared_turns import SharedTurns
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard
from ccc.ir.operands import Register
from ccc.passes.context_collection.stored_tasks import StoredTasks
from ccc.passes.context_collection.task_code import OWNER
from ccc.snippet import Snippet

if TYPE_CHECKING:
    from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
    from ccc.passes.context_collection.sequential_node import SequentialNode

WRITE = Snippet(
    """
    .reg .b32 %rows, %row, %base, %rank_bytes, %count;
        add.s32 %rows, %base, ROWS;
        add.s32 %row, %rows, %rank_bytes;
        st.shared.b32 [%row], %count;
    """,
    "ROWS",
)

GROUP = Snippet(
    """
    .reg .b32 %mask, %rows, %rank_bytes, %warp_bytes, %first, %size, %row, %behind;
    .reg .b32 %place, %step, %number, %groups, %offset, %next;
    READY:
        bar.warp.sync %mask;                  // all that is to be known of the tasks is there
        and.b32 %first, %rank_bytes, MASK;
        sub.s32 %size, %warp_bytes, %first;
        min.u32 %size, %size, BYTES;          // the last group may be smaller
        shr.u32 %step, %size, 2;
        sub.s32 %place, %rank_bytes, %first;
        shr.u32 %place, %place, 2;
        shr.u32 %offset, %first, LOG;
        add.s32 %row, %rows, %offset;         // the task of the group's number
        add.s32 %groups, %warp_bytes, LAST;
        shr.u32 %groups, %groups, LOG_BYTES;
        shl.b32 %next, %groups, 2;            // and each one so many further as there are groups
        add.s32 %behind, %rows, %warp_bytes;
    """,
    "MASK", "BYTES", "LOG", "LAST", "LOG_BYTES",
)  # fmt: skip

TASK = Snippet("""
    .reg .pred %over, %none;
    .reg .b32 %row, %behind, %turns, %turn, %place;
    TASK:
        setp.ge.u32 %over, %row, %behind;
        @%over bra DONE;
        ld.shared.b32 %turns, [%row];
        setp.eq.b32 %none, %turns, 0;
        @%none bra NEXT;
        mov.b32 %turn, %place;
        setp.ge.u32 %none, %turn, %turns;
        @%none bra RUN;
""")
"""A member without a turn goes on to where its group is done with the task."""

TURN = Snippet("""
    .reg .pred %more;
    .reg .b32 %turn, %turns, %step;
    LATCH:
        add.s32 %turn, %turn, %step;
        setp.lt.u32 %more, %turn, %turns;
        @%more bra TURN;
    RUN:
""")

ADD_UP = Snippet("""
    .reg .pred %apart;
    .reg .b32 %members;
        setp.ne.b32 %apart, %members, -1;
        @%apart bra APART;
""")
"""Where all lanes of the warp are members, those of a group combine what they have."""

ADDED_UP = Snippet("""
    .reg .pred %other;
    .reg .b32 %place, %turns;
        setp.ne.b32 %other, %place, 0;        // the first lane of the group has the sum
        @%other bra NEXT;
        bra SUMMED;
    APART:
        setp.ge.u32 %other, %place, %turns;
        @%other bra NEXT;
    SUMMED:
""")

MEMBERS_OF_GROUP = Snippet(
    """
    .reg .b32 %lane, %first, %group;
        mov.u32 %lane, %laneid;
        and.b32 %first, %lane, MASK;
        mov.b32 %group, LANES;
        shl.b32 %group, %group, %first;
    """,
    "MASK", "LANES",
)  # fmt: skip

NEXT_TASK = Snippet("""
    .reg .b32 %row, %next;
    NEXT:
        add.s32 %row, %row, %next;
        bra TASK;
""")


class SubWarps(StoredTasks):
    """Has groups of ``lanes`` members go through their tasks.

    The first word of a row says how many turns there are.
    """

    rows_at: Register

    def __init__(
        self,
        collector: SequentialDispatch,
        node: SequentialNode,
        turns: SharedTurns,
        lanes: int,
    ) -> None:
        super().__init__(collector, node, turns)
        self.lanes = lanes
        self.ready = collector.function.fresh_label("ready")

    def prepare(self, emit: Emitter) -> None:
        """Do nothing: members write all rows that are read."""

    def write(self, emit: Emitter, count: Register, shares: Register) -> None:
        """How many turns the lane's task has, and the task."""
        collector = self.collector
        found = WRITE.of(ROWS=self.rows).emit(
            emit, base=collector.base, rank_bytes=collector.rank_bytes, count=count
        )
        self.rows_at = found["rows"]
        emit.emit("bra", self.ready, guard=Guard(shares, negated=True))
        self.store(emit, found["row"], {})

    def run(self, emit: Emitter) -> Emitter:
        """One task after the other."""
        collector, label = self.collector, self.collector.function.fresh_label
        log = self.lanes.bit_length() - 1
        group = GROUP.of(
            MASK=-4 * self.lanes, BYTES=4 * self.lanes, LAST=4 * self.lanes - 4,
            LOG=log, LOG_BYTES=log + 2,
        ).emit(
            emit, mask=collector.mask, rows=self.rows_at, READY=self.ready,
            rank_bytes=collector.rank_bytes, warp_bytes=collector.warp_bytes,
        )  # fmt: skip
        next_task, done, latch, turn = label("next"), label("done"), label("latch"), label("turn")
        head, run = label("task"), label("run")
        if self.sums:
            text = MEMBERS_OF_GROUP.of(MASK=-self.lanes, LANES=(1 << self.lanes) - 1)
            members = text.emit(emit)["group"]
        emit.start(head)
        self.sums.clear(emit)
        found = TASK.emit(
            emit, row=group["row"], behind=group["behind"], place=group["place"],
            TASK=label("task"), DONE=done, NEXT=next_task, RUN=run,
        )  # fmt: skip
        task = self.load(emit, group["row"])
        emit.start(turn)
        self.emit_turns(emit, [(found["turn"], task)], latch)
        emit = collector.here
        TURN.emit(
            emit, turn=found["turn"], turns=found["turns"], step=group["step"],
            TURN=turn, LATCH=latch, RUN=run,
        )  # fmt: skip
        if self.sums:
            apart = label("apart")
            ADD_UP.emit(emit, members=collector.members, APART=apart)
            self.sums.add_up(emit, self.lanes, members)
            ADDED_UP.emit(
                emit, place=group["place"], turns=found["turns"], APART=apart, NEXT=next_task
            )
            self.sums.combine(emit, task[OWNER])
        NEXT_TASK.emit(emit, row=group["row"], next=group["next"], NEXT=next_task, TASK=head)
        return collector.at(done)
