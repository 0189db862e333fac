"""Engaging the whole warp on joined lists: Collaborative Task Engagement (no pass).

F. Khorasani, B. Rowe, R. Gupta, L. N. Bhuyan, "Eliminating Intra-warp Load Imbalance in Irregular
Nested Patterns via Collaborative Task Engagement", IPDPS 2016. The turns of all members' tasks are
joined to one list, through which the warp goes, one turn for each member and step. So no lane
waits for another that has a longer list, and neighbouring lanes mostly run neighbouring turns.

    MEET:     who has a task, and how many turns?
              the sum of the members before: where each list ends in the joined one
              each owner: its task, moved back to where the joined list begins
    ITEM:     whose turn is it? the first list that ends behind it
              that task's state in this turn; the turn
              the next one, so many further as there are members
    OVER:     all are done
"""

from __future__ import annotations

from collections.abc import Mapping

from ccc.analysis.paths.model import instructions_of
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Guard
from ccc.ir.operands import Register
from ccc.passes.context_collection.counted_turns import go_back
from ccc.passes.context_collection.partial_sums import NO_TASK
from ccc.passes.context_collection.shared_tasks import SharedTasks
from ccc.passes.context_collection.task_code import OWNER
from ccc.passes.thresholds import AT_ONCE, AT_ONCE_LENGTH
from ccc.ptx.opcodes import Effect
from ccc.snippet import Given, Snippet

ORDERED = Effect.FENCE | Effect.OPAQUE | Effect.CALL | Effect.SETS_CARRY | Effect.READS_CARRY
"""What must not be done for several turns side by side."""

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

READY = Snippet("""
    .reg .b32 %mask, %rows, %last, %warp_bytes, %total, %item, %rank_bytes, %step;
    READY:
        bar.warp.sync %mask;                  // all that is to be known of the lists is there
        add.s32 %last, %rows, %warp_bytes;
        ld.shared.b32 %total, [%last+-4];
        shr.u32 %item, %rank_bytes, 2;
        shr.u32 %step, %warp_bytes, 2;
""")

SOME_ITEMS = Snippet(
    """
    .reg .pred %over;
    .reg .b32 %item, %step, %total, %last_item;
    ITEMS:
        mad.lo.s32 %last_item, %step, FURTHER, %item;
        setp.ge.u32 %over, %last_item, %total;
        @%over bra DONE;
    """,
    "FURTHER",
)
"""A lane runs so many turns at once, ``FURTHER`` and one, as long as it has so many."""

ITEM = Snippet("""
    .reg .pred %over;
    .reg .b32 %item, %total;
    ITEMS:
        setp.ge.u32 %over, %item, %total;
        @%over bra DONE;
""")
"""At the end, one turn at a time."""

AHEAD = Snippet("""
    .reg .b32 %item, %step, %ahead;
        add.s32 %ahead, %item, %step;
""")

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

ITEM_OF_ALL = Snippet("""
    .reg .pred %over, %has;
    .reg .b32 %item, %total, %first, %rank, %rank_bytes, %task;
    ITEMS:
        shr.u32 %rank, %rank_bytes, 2;
        sub.s32 %first, %item, %rank;
        setp.ge.u32 %over, %first, %total;    // the same for all
        @%over bra DONE;
        mov.b32 %task, -1;
        setp.lt.u32 %has, %item, %total;
        @!%has bra FOUND;
""")
"""Where turns add up, members stay together to the end."""

CHANGED = Snippet("""
    .reg .pred %has, %changed, %any;
    .reg .b32 %task, %last_task, %mask;
    FOUND:
        setp.ne.and.b32 %changed, %task, %last_task, %has;
        vote.sync.any.pred %any, %changed, %mask;
        @!%any bra SAME;
""")
"""What turns add up stays in registers while no lane gets a turn of another task."""

AGAIN = Snippet("""
    .reg .pred %has;
    .reg .b32 %task, %last_task, %owner, %last_owner;
        mov.b32 %last_task, %task;
        mov.b32 %last_owner, %owner;
    SAME:
        @!%has bra LATCH;
""")

NEXT_ITEMS = Snippet("""
    .reg .b32 %item, %next, %step;
    LATCH:
        add.s32 %next, %item, %step;
        bra ITEMS;
""")


class JoinedLists(SharedTasks):
    """Has the members go through all lists, joined to one."""

    rows_at: Register
    ready: str

    @property
    def at_once(self) -> int:
        """How many turns a lane runs side by side, so that it waits for their memory once."""
        facts, path = self.collector.facts, self.node.path
        body = list(instructions_of(path.blocks, facts))
        if any(i.effects & ORDERED or i.reads_time for i in body):
            return 1
        used = {register for i in self.turns.instructions for register in i.used()}
        begins = instructions_of([path.entry], facts)
        if any(i.name == "atom" and not used.isdisjoint(i.defined()) for i in begins):
            return 1  # it may be a lock
        return max(1, min(AT_ONCE, AT_ONCE_LENGTH // len(body)))

    def prepare(self, emit: Emitter) -> None:
        """Fill the rows that no member has."""
        collector = self.collector
        UNUSED.of(ROWS=self.rows).emit(
            emit, base=collector.base,
            rank_bytes=collector.rank_bytes, warp_bytes=collector.warp_bytes,
        )  # fmt: skip

    def write(self, emit: Emitter, count: Register, shares: Register) -> None:
        """Where the lists end, and each task as it would be at the joined list's first item."""
        collector = self.collector
        found = SUM.of(ROWS=self.rows).emit(
            emit, count=count, base=collector.base, members=collector.members,
            mask=collector.mask, rank_bytes=collector.rank_bytes,
        )  # fmt: skip
        self.rows_at = found["rows"]
        self.summed(emit, found["end"])
        ready = collector.function.fresh_label("ready")
        emit.emit("bra", ready, guard=Guard(shares, negated=True))
        steps = self.turns.induction.steps
        begins = {}
        if any(register in steps for register in self.turns.registers):
            begin = BEGIN.emit(emit, end=found["end"], count=count)["begin"]
            for register in self.turns.registers:
                step = steps.get(register)
                if step is not None:
                    step = self.value(step) if isinstance(step, Register) else step
                    begins[register] = go_back(emit, self.value(register), step, begin)
        self.store(emit, found["row"], begins)
        self.ready = ready

    def summed(self, emit: Emitter, end: Register) -> None:
        """Emit what is to be done where the members know the ``end`` of their lists."""

    def run(self, emit: Emitter) -> Emitter:
        """One item after the other."""
        collector, label = self.collector, self.collector.function.fresh_label
        begun = READY.emit(
            emit, mask=collector.mask, rows=self.rows_at, READY=self.ready,
            warp_bytes=collector.warp_bytes, rank_bytes=collector.rank_bytes,
        )  # fmt: skip
        if self.sums:
            return self._add_up(emit, begun)
        for number in sorted({self.at_once, min(self.at_once, 2), 1}, reverse=True):
            done = label("done")
            self._emit_items(emit, begun, number, done)
            emit = collector.at(done)
        return emit

    def _emit_items(
        self, emit: Emitter, begun: Mapping[str, Register], number: int, done: str
    ) -> None:
        """Run a number of turns at once, again and again, as long as there are so many."""
        label = self.collector.function.fresh_label
        head, latch = label("items"), label("latch")
        item, step = begun["item"], begun["step"]
        test = SOME_ITEMS.of(FURTHER=number - 1) if number > 1 else ITEM
        scope: dict[str, Given] = {"step": step}
        test.emit(emit, scope, item=item, total=begun["total"], ITEMS=head, DONE=done)
        ahead = [item]
        while len(ahead) < number:
            ahead.append(AHEAD.emit(emit, item=ahead[-1], step=step)["ahead"])
        rows = [FIND.emit(emit, item=one, rows=self.rows_at)["row"] for one in ahead]
        tasks = [self.load(emit, row) for row in rows]
        self.emit_turns(emit, list(zip(ahead, tasks, strict=True)), latch)
        emit = self.collector.here
        NEXT_ITEMS.emit(emit, item=ahead[-1], next=item, step=step, ITEMS=head, LATCH=latch)

    def _add_up(self, emit: Emitter, begun: Mapping[str, Register]) -> Emitter:
        """Run one turn after the other, and give owners their sums where lanes change tasks."""
        collector, label = self.collector, self.collector.function.fresh_label
        head, latch, done = label("items"), label("latch"), label("done")
        found, same = label("found"), label("same")
        item, step = begun["item"], begun["step"]
        self.sums.clear(emit)
        last = {
            "last_task": emit.define("mov.b32", "b32", NO_TASK, name="last_task"),
            "last_owner": emit.define("mov.b32", "b32", 0, name="last_owner"),
            "owner": emit.define("mov.b32", "b32", 0, name="owner"),
        }
        mine = ITEM_OF_ALL.emit(
            emit, item=item, total=begun["total"], rank_bytes=collector.rank_bytes,
            ITEMS=head, DONE=done, FOUND=found,
        )  # fmt: skip
        row = FIND.emit(emit, item=item, rows=self.rows_at)["row"]
        task = self.load(emit, row)
        emit.emit("mov.b32", mine["task"], row)
        emit.emit("mov.b32", last["owner"], task[OWNER])
        scope: dict[str, Given] = {**mine, **last}
        CHANGED.emit(emit, scope, mask=collector.mask, FOUND=found, SAME=same)
        self.sums.flush(emit, last["last_task"], last["last_owner"])
        self.sums.clear(emit)
        AGAIN.emit(emit, scope, SAME=same, LATCH=latch)
        self.emit_turns(emit, [(item, task)], latch)
        emit = collector.here
        NEXT_ITEMS.emit(emit, item=item, next=item, step=step, ITEMS=head, LATCH=latch)
        emit = collector.at(done)
        self.sums.flush(emit, last["last_task"], last["last_owner"])
        return emit
