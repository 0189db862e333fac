"""Engaging the whole block on the joined lists of its warps (no pass; ``engage_block`` uses it).

Warps of a block may have far more to do than others, which then wait for them: the block keeps its
room on the multiprocessor until the last one is through. So the lists of each warp are joined as in
:mod:`ccc.passes.context_collection.joined_lists`, and all warps of the block go through all of
them, their own first. A warp takes as many items as it has members from a counter that belongs to
the joined list.

    MEET:     the block meets: has anybody a task?
              lists of a warp that are even? each lane runs its own first, and the warp has none
              where each list ends in its warp's joined one, and each task
              the first item of the joined list that nobody has taken
    READY:    the block meets
    ITEMS:    the next items of the joined list; none left? to NEXT_LIST
              whose turn is it? that task's state in this turn; the turn
    NEXT_LIST: the one of the next warp, until it is the own one again
    OVER:     the block meets

Whether anybody has an iteration left is asked of the whole block, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard
from ccc.ir.operands import Register
from ccc.passes.context_collection.counted_turns import go_back
from ccc.passes.context_collection.own_lists import OwnLists
from ccc.passes.context_collection.partial_sums import NO_TASK
from ccc.passes.context_collection.stored_tasks import StoredTasks
from ccc.passes.context_collection.tail_pool import AFTER_OTHERS, find_share, has_company
from ccc.passes.context_collection.task_code import OWNER
from ccc.passes.context_collection.task_counts import reduces
from ccc.passes.launch_shape import block_warps, thread_number
from ccc.passes.strategies.strategy import COUNTS
from ccc.snippet import Given, Snippet

if TYPE_CHECKING:
    from ccc.analysis.paths.shared_turns import SharedTurns
    from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
    from ccc.passes.context_collection.sequential_node import SequentialNode

UNUSED = Snippet(
    """
    .reg .pred %more;
    .reg .b32 %row, %behind, %base, %rank_bytes, %warp_bytes;
        add.s32 %row, %base, ROWS;
        add.s32 %behind, %row, 128;
        add.s32 %row, %row, %rank_bytes;
    FILL:
        st.shared.b32 [%row], -1;
        add.s32 %row, %row, %warp_bytes;
        setp.lt.u32 %more, %row, %behind;
        @%more bra FILL;
    """,
    "ROWS",
)
"""Before the loop: lists that nobody has end behind all others."""

FULL = Snippet("""
    .reg .pred %apart;
    .reg .b32 %members;
        setp.ne.b32 %apart, %members, -1;
        @%apart bra JOIN;
""")
"""Where a lane of the warp is missing, nobody asks whether its lists are even."""

SUM = Snippet(
    """
    .reg .pred %has, %apart;
    .reg .b32 %members, %mask, %more, %count, %end, %before, %rows, %row, %place, %base;
    .reg .b32 %rank_bytes;
        add.s32 %rows, %base, ROWS;
        add.s32 %row, %rows, %rank_bytes;
        mov.b32 %end, %count;
        add.s32 %more, %members, 1;
        and.b32 %more, %more, %members;
        setp.ne.b32 %apart, %more, 0;         // a lane is missing before the last member
        @%apart bra APART;
        shfl.sync.up.b32 %before|%has, %end, 1, 0, %mask;
        @%has add.s32 %end, %end, %before;
        shfl.sync.up.b32 %before|%has, %end, 2, 0, %mask;
        @%has add.s32 %end, %end, %before;
        shfl.sync.up.b32 %before|%has, %end, 4, 0, %mask;
        @%has add.s32 %end, %end, %before;
        shfl.sync.up.b32 %before|%has, %end, 8, 0, %mask;
        @%has add.s32 %end, %end, %before;
        shfl.sync.up.b32 %before|%has, %end, 16, 0, %mask;
        @%has add.s32 %end, %end, %before;
        bra SUMMED;
    APART:
        st.shared.b32 [%row], %count;
        bar.warp.sync %mask;
        mov.b32 %place, %rows;
    ADD:
        setp.ge.u32 %has, %place, %row;
        @%has bra ADDED;
        ld.shared.b32 %before, [%place];
        add.s32 %end, %end, %before;
        add.s32 %place, %place, 4;
        bra ADD;
    ADDED:
        bar.warp.sync %mask;                  // all have read what they add up
    SUMMED:
        st.shared.b32 [%row], %end;
    """,
    "ROWS",
)
"""Where each list ends in the joined one: the sum of the members up to a lane."""

BEGIN = Snippet("""
    .reg .b32 %begin, %end, %count;
        sub.s32 %begin, %end, %count;
""")
"""Where the lane's own list begins in the joined one."""

NONE = Snippet(
    """
    .reg .pred %done;
    .reg .b32 %number, %list, %rank_bytes, %warp_bytes, %step, %warps;
        shr.u32 %number, %rank_bytes, 2;
        shr.u32 %step, %warp_bytes, 2;
    CLEAR:
        setp.ge.u32 %done, %number, %warps;
        @%done bra CLEARED;
        call find, (%list, %number);
        st.volatile.shared.b32 [%list+TOTAL], 0;
        st.volatile.shared.b32 [%list+TAKEN], 0;
        add.s32 %number, %number, %step;
        bra CLEAR;
    CLEARED:
    """,
    "TOTAL",
    "TAKEN",
)
"""Before the loop: a warp that nobody is there of has no list."""

MEET_IN_BLOCK = Snippet("""
    .reg .pred %pending, %some;
        barrier.red.or.pred %some, 0, %pending;
        @!%some bra NOBODY;
""")
"""All threads of the block come by when they have run their part of the iteration."""

CHECK_IN_BLOCK = Snippet("""
    .reg .pred %live, %draining, %some;
        barrier.red.or.pred %some, 0, %live;
        not.pred %draining, %some;            // nor an iteration: leave
""")

COUNT_ITEMS = Snippet(
    """
    .reg .pred %is_last;
    .reg .b32 %behind, %rank_bytes, %warp_bytes, %base, %end;
        add.s32 %behind, %rank_bytes, 4;
        setp.eq.b32 %is_last, %behind, %warp_bytes;
        @%is_last st.shared.b32 [%base+TOTAL], %end;
        @%is_last st.shared.b32 [%base+TAKEN], 0;
    """,
    "TOTAL",
    "TAKEN",
)
"""The last member knows how many items the warp has."""

NONE_LEFT = Snippet("""
    .reg .pred %shares;
    .reg .b32 %end;
        mov.pred %shares, 0;
        mov.b32 %end, 0;
""")
"""Who has run its own list has no other, and nothing to go on with."""

BLOCK_READY = Snippet("""
    .reg .b32 %number, %thread;
        shr.u32 %number, %thread, 5;          // the own list first
""")

TAKE = Snippet(
    """
    .reg .pred %other, %over, %has;
    .reg .b32 %list, %number, %first, %step, %rank, %total, %item, %task, %reverse, %leader;
    .reg .b32 %members, %rank_bytes, %warp_bytes, %mask;
    ITEMS:
        call find, (%list, %number);
        mov.b32 %first, 0;
        shr.u32 %step, %warp_bytes, 2;
        setp.ne.b32 %other, %rank_bytes, 0;
        @%other bra TOLD;
        atom.shared.add.u32 %first, [%list+TAKEN], %step;
    TOLD:
        brev.b32 %reverse, %members;
        clz.b32 %leader, %reverse;
        shfl.sync.idx.b32 %first, %first, %leader, 31, %mask;
        ld.shared.b32 %total, [%list+TOTAL];
        setp.ge.u32 %over, %first, %total;    // the same for all
        @%over bra NEXT_LIST;
        shr.u32 %rank, %rank_bytes, 2;
        add.s32 %item, %first, %rank;
        mov.b32 %task, -1;
        setp.lt.u32 %has, %item, %total;
        @!%has bra FOUND;
    """,
    "TOTAL",
    "TAKEN",
)
"""The first member takes an item for each of them."""

ROWS_OF = Snippet(
    """
    .reg .b32 %rows, %list;
        add.s32 %rows, %list, ROWS;
    """,
    "ROWS",
)

FIND = Snippet("""
    .reg .pred %behind;
    .reg .b32 %item, %row, %rows, %end;
        mov.b32 %row, %rows;                  // the first list that ends behind the item
        ld.shared.b32 %end, [%row+60];
        setp.le.u32 %behind, %end, %item;
        @%behind add.s32 %row, %row, 64;
        ld.shared.b32 %end, [%row+28];
        setp.le.u32 %behind, %end, %item;
        @%behind add.s32 %row, %row, 32;
        ld.shared.b32 %end, [%row+12];
        setp.le.u32 %behind, %end, %item;
        @%behind add.s32 %row, %row, 16;
        ld.shared.b32 %end, [%row+4];
        setp.le.u32 %behind, %end, %item;
        @%behind add.s32 %row, %row, 8;
        ld.shared.b32 %end, [%row];
        setp.le.u32 %behind, %end, %item;
        @%behind add.s32 %row, %row, 4;
""")
"""Whose item is it? Binary search."""

NO_SUMS = Snippet("""
    .reg .pred %has;
    FOUND:
        @!%has bra LATCH;
""")

CHANGED = Snippet("""
    .reg .pred %has, %changed, %any;
    .reg .b32 %task, %last_task, %mask;
    FOUND:
        setp.ne.and.b32 %changed, %task, %last_task, %has;
        vote.sync.any.pred %any, %changed, %mask;
        @!%any bra SAME;
""")
"""What turns add up stays in registers while no lane gets a turn of another task."""

AGAIN_IN_LIST = Snippet("""
    .reg .pred %has;
    .reg .b32 %task, %last_task, %owner, %last_owner, %list, %last_list;
        mov.b32 %last_task, %task;
        mov.b32 %last_owner, %owner;
        mov.b32 %last_list, %list;
    SAME:
        @!%has bra LATCH;
""")
"""An owner's slots lie in the share of its warp."""

NEXT_LIST = Snippet("""
    .reg .pred %beyond, %other;
    .reg .b32 %number, %thread, %own, %warps;
        shr.u32 %own, %thread, 5;
        add.s32 %number, %number, 1;
        setp.ge.u32 %beyond, %number, %warps;
        @%beyond mov.b32 %number, 0;
        setp.ne.b32 %other, %number, %own;
        @%other bra ITEMS;
""")
"""Behind the last item of a list."""

OVER_IN_BLOCK = Snippet("""
        barrier.sync 0;                       // what the turns have written is there for all
""")


class BlockLists(StoredTasks):
    """Has all warps of the block go through the joined lists of each.

    The first word of a row says where that list ends in the joined one of its warp.
    """

    ready: str

    meet, over, check = MEET_IN_BLOCK, OVER_IN_BLOCK, CHECK_IN_BLOCK

    def __init__(
        self, collector: SequentialDispatch, node: SequentialNode, turns: SharedTurns
    ) -> None:
        super().__init__(collector, node, turns)
        self.own = OwnLists(self) if reduces(collector.kernel.arch) else None

    @property
    def _counts(self) -> dict[str, int]:
        """Where a list's counts are, in the share of its warp."""
        return {"TOTAL": self.rows - COUNTS, "TAKEN": self.rows - COUNTS + 4}

    def _find(self, emit: Emitter, target: Register, number: Register) -> None:
        """The share of a warp."""
        find_share(self.collector, emit, target, number)

    def prepare(self, emit: Emitter) -> None:
        """Say that nobody has a list."""
        collector = self.collector
        UNUSED.of(ROWS=self.rows).emit(
            emit, base=collector.base,
            rank_bytes=collector.rank_bytes, warp_bytes=collector.warp_bytes,
        )  # fmt: skip
        if has_company(collector):
            AFTER_OTHERS.emit(emit)
        NONE.of(**self._counts).emit(
            emit, find=self._find, warps=block_warps(emit),
            rank_bytes=collector.rank_bytes, warp_bytes=collector.warp_bytes,
        )  # fmt: skip

    def write(self, emit: Emitter, count: Register, shares: Register) -> None:
        """Where the lists end, and each task as it would be at the joined list's first item; the
        block gets to know how long that is."""
        collector = self.collector
        if self.own:
            joined = collector.function.fresh_label("joined")
            FULL.emit(emit, members=collector.members, JOIN=joined)
            self.own.ask(emit, count)
            emit.start(joined)
        found = SUM.of(ROWS=self.rows).emit(
            emit, count=count, base=collector.base, members=collector.members,
            mask=collector.mask, rank_bytes=collector.rank_bytes,
        )  # fmt: skip
        self._tell(emit, found["end"])
        self.ready = collector.function.fresh_label("ready")
        emit.emit("bra", self.ready, guard=Guard(shares, negated=True))
        self.store(emit, found["row"], self._begins(emit, found["end"], count))

    def _tell(self, emit: Emitter, end: Register) -> None:
        """How many items the warp has."""
        collector = self.collector
        COUNT_ITEMS.of(**self._counts).emit(
            emit, base=collector.base, end=end,
            rank_bytes=collector.rank_bytes, warp_bytes=collector.warp_bytes,
        )  # fmt: skip

    def emit_others(self, turns: Register, shares: Register, after: str) -> None:  # noqa: ARG002
        """The lists that their own lanes run, before they meet the block."""
        if self.own is None:
            return
        collector, owned = self.collector, self.collector.function.fresh_label("owned")
        self.own.emit(turns, shares, self.copy_rest(owned), owned)
        emit = collector.at(owned)
        end = NONE_LEFT.emit(emit, shares=shares)["end"]
        self._tell(emit, end)
        emit.emit("bra", self.ready)

    def _begins(self, emit: Emitter, end: Register, count: Register) -> dict[Register, Register]:
        """What steps from turn to turn, as it would be at the joined list's first item."""
        steps = self.turns.induction.steps
        stepped = [register for register in self.turns.registers if register in steps]
        if not stepped:
            return {}
        begin = BEGIN.emit(emit, end=end, count=count)["begin"]
        begins = {}
        for register in stepped:
            step = steps[register]
            step = self.value(step) if isinstance(step, Register) else step
            begins[register] = go_back(emit, self.value(register), step, begin)
        return begins

    def run(self, emit: Emitter) -> Emitter:
        """All lists, the own one first."""
        label = self.collector.function.fresh_label
        head, latch, next_list = label("items"), label("latch"), label("next_list")
        emit.start(self.ready)
        emit.emit("barrier.sync", 0)
        number = BLOCK_READY.emit(emit, thread=thread_number(emit))["number"]
        last: dict[str, Register] = {}
        if self.sums:
            self.sums.clear(emit)
            last = {
                "last_task": emit.define("mov.b32", "b32", NO_TASK, name="last_task"),
                "last_owner": emit.define("mov.b32", "b32", 0, name="last_owner"),
                "last_list": emit.define("mov.b32", "b32", 0, name="last_list"),
                "owner": emit.define("mov.b32", "b32", 0, name="owner"),
            }
        self._emit_turn(emit, number, last, (head, latch, next_list))
        emit = self.collector.at(next_list)
        thread = thread_number(emit)
        warps = block_warps(emit)
        NEXT_LIST.emit(emit, number=number, thread=thread, warps=warps, ITEMS=head)
        if self.sums:
            self.sums.flush_to_slots(emit, last["last_task"], last["last_owner"], last["last_list"])
        return emit

    def _emit_turn(
        self,
        emit: Emitter,
        number: Register,
        last: Mapping[str, Register],
        labels: tuple[str, str, str],
    ) -> None:
        """Take items of a list, and run the turn of one."""
        collector, (head, latch, next_list) = self.collector, labels
        found, same = (collector.function.fresh_label(hint) for hint in ("found", "same"))
        mine = TAKE.of(**self._counts).emit(
            emit, find=self._find, number=number, members=collector.members,
            mask=collector.mask, rank_bytes=collector.rank_bytes,
            warp_bytes=collector.warp_bytes, ITEMS=head, FOUND=found, NEXT_LIST=next_list,
        )  # fmt: skip
        item, listed = mine["item"], mine["list"]
        rows = ROWS_OF.of(ROWS=self.rows).emit(emit, list=listed)["rows"]
        row = FIND.emit(emit, item=item, rows=rows)["row"]
        task = self.load(emit, row)
        if self.sums:
            emit.emit("mov.b32", mine["task"], row)
            emit.emit("mov.b32", last["owner"], task[OWNER])
            scope: dict[str, Given] = {
                "has": mine["has"], "task": mine["task"], "list": listed, **last
            }  # fmt: skip
            CHANGED.emit(emit, scope, mask=collector.mask, FOUND=found, SAME=same)
            self.sums.flush_to_slots(emit, last["last_task"], last["last_owner"], last["last_list"])
            self.sums.clear(emit)
            AGAIN_IN_LIST.emit(emit, scope, SAME=same, LATCH=latch)
        else:
            NO_SUMS.emit(emit, has=mine["has"], FOUND=found, LATCH=latch)
        self.emit_turns(emit, [(item, task)], latch)
        emit = collector.at(latch)
        emit.emit("bra", head)
