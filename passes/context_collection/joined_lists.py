"""Engaging the whole warp on joined lists: Collaborative Task Engagement (no pass).

F. Khorasani, B. Rowe, R. Gupta, L. N. Bhuyan, "Eliminating Intra-warp Load Imbalance in Irregular
Nested Patterns via Collaborative Task Engagement", IPDPS 2016. The turns of all members' tasks are
joined to one list, through which the warp goes, one turn for each member and step. So no lane
waits for another that has a longer list, and neighbouring lanes mostly run neighbouring turns.

    MEET:     who has a task, and how many turns? is it worth it? else each runs its own list
              the sum of the lanes before: where each list ends in the joined one
              each owner: its task, moved back to where the joined list begins
    ITEM:     are the next items of all lanes in one list? they go through it (one_list.py)
              whose turn is it? the first list that ends behind it
              that task's state in this turn, from its owner; the turn
              the next one, 32 further
    OVER:     all are done

All that lanes tell one another stays in registers, and goes by shuffles: shared memory would be
taken from the first level cache, in which lanes that run their own lists keep what is next in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from ccc.analysis.paths.model import instructions_of
from ccc.ir.edit import Emitter
from ccc.ir.nodes import Block
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.context_stack import Stack, join, split
from ccc.passes.context_collection.counted_turns import go_back
from ccc.passes.context_collection.one_list import GO_ON, IN_ONE_LIST, STILL_IN_ONE_LIST, WALK
from ccc.passes.context_collection.own_lists import OwnLists
from ccc.passes.context_collection.partial_sums import NO_TASK
from ccc.passes.context_collection.shared_tasks import SharedTasks, Task
from ccc.passes.context_collection.short_lists import emit_short, note_even
from ccc.passes.context_collection.task_counts import reduces
from ccc.passes.launch_shape import keep_warps
from ccc.passes.thresholds import AT_ONCE, AT_ONCE_LENGTH, AT_ONCE_OF_ALL
from ccc.ptx.opcodes import Effect
from ccc.ptx.types import ALL_LANES, WARP_SIZE
from ccc.snippet import Given, Snippet

if TYPE_CHECKING:
    from ccc.analysis.paths.shared_turns import SharedTurns
    from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
    from ccc.passes.context_collection.sequential_node import SequentialNode

ORDERED = Effect.FENCE | Effect.OPAQUE | Effect.CALL | Effect.SETS_CARRY | Effect.READS_CARRY
"""What must not be done for several turns side by side."""

FULL = Snippet("""
    .reg .pred %apart;
    .reg .b32 %members;
        setp.ne.b32 %apart, %members, -1;
        @%apart bra OWN;
""")
"""Shuffles go over lanes, and all of them must be there: else each runs its own list."""

SUM = Snippet("""
    .reg .pred %has;
    .reg .b32 %count, %begin, %end, %before;
        mov.b32 %end, %count;
        shfl.sync.up.b32 %before|%has, %end, 1, 0, -1;
        @%has add.s32 %end, %end, %before;
        shfl.sync.up.b32 %before|%has, %end, 2, 0, -1;
        @%has add.s32 %end, %end, %before;
        shfl.sync.up.b32 %before|%has, %end, 4, 0, -1;
        @%has add.s32 %end, %end, %before;
        shfl.sync.up.b32 %before|%has, %end, 8, 0, -1;
        @%has add.s32 %end, %end, %before;
        shfl.sync.up.b32 %before|%has, %end, 16, 0, -1;
        @%has add.s32 %end, %end, %before;
        sub.s32 %begin, %end, %count;
""")
"""Where each list begins and ends in the joined one: the sum of the lanes up to this one."""

READY = Snippet("""
    .reg .b32 %end, %total, %half, %quarter, %last_quarter, %first, %lane;
        bar.warp.sync -1;                     // what owners have written is there for all
        shfl.sync.idx.b32 %total, %end, 31, 31, -1;
        shfl.sync.idx.b32 %half, %end, 15, 31, -1;
        shfl.sync.idx.b32 %quarter, %end, 7, 31, -1;
        shfl.sync.idx.b32 %last_quarter, %end, 23, 31, -1;
        mov.b32 %first, 0;
        mov.u32 %lane, %laneid;
""")

SOME_ITEMS = Snippet(
    """
    .reg .pred %over;
    .reg .b32 %first, %lane, %item, %total, %behind;
    ITEMS:
        add.s32 %behind, %first, ITEMS_OF_ALL;
        setp.gt.u32 %over, %behind, %total;   // the same for all
        @%over bra DONE;
        add.s32 %item, %first, %lane;
    """,
    "ITEMS_OF_ALL",
)
"""Lanes run several turns at once, as long as there are so many for all."""

ITEM = Snippet("""
    .reg .pred %over, %has;
    .reg .b32 %first, %lane, %item, %total;
    ITEMS:
        setp.ge.u32 %over, %first, %total;    // the same for all
        @%over bra DONE;
        add.s32 %item, %first, %lane;
        setp.lt.u32 %has, %item, %total;
""")
"""At the end, one turn at a time; all stay together until nobody has one."""

FIND = Snippet("""
    .reg .pred %behind;
    .reg .b32 %item, %row, %end, %ends, %half, %quarter, %last_quarter, %place;
        setp.le.u32 %behind, %half, %item;    // the first list that ends behind the item
        selp.b32 %row, 16, 0, %behind;
        selp.b32 %end, %last_quarter, %quarter, %behind;
        setp.le.u32 %behind, %end, %item;
        @%behind add.s32 %row, %row, 8;
        add.s32 %place, %row, 3;
        shfl.sync.idx.b32 %end, %ends, %place, 31, -1;
        setp.le.u32 %behind, %end, %item;
        @%behind add.s32 %row, %row, 4;
        add.s32 %place, %row, 1;
        shfl.sync.idx.b32 %end, %ends, %place, 31, -1;
        setp.le.u32 %behind, %end, %item;
        @%behind add.s32 %row, %row, 2;
        shfl.sync.idx.b32 %end, %ends, %row, 31, -1;
        setp.le.u32 %behind, %end, %item;
        @%behind add.s32 %row, %row, 1;
""")
"""Whose item is it? Binary search."""

HAS_NONE = Snippet("""
    .reg .pred %has;
        @!%has bra LATCH;
""")

CHANGED = Snippet("""
    .reg .pred %has, %changed, %any, %none;
    .reg .b32 %row, %task, %last_task, %total, %step_begin;
        selp.b32 %task, %row, -1, %has;
        setp.ne.and.b32 %changed, %task, %last_task, %has;
        vote.sync.any.pred %any, %changed, -1;
        @!%any bra UNCHANGED;
        setp.ge.u32 %none, %step_begin, %total;
        @%none bra FIRST;                     // nothing was added up yet
""")
"""What turns add up stays in registers while no lane gets a turn of another task."""

AGAIN = Snippet("""
    .reg .pred %has;
    .reg .b32 %task, %last_task, %first, %step_begin;
        mov.b32 %last_task, %task;
        mov.b32 %step_begin, %first;
    SAME:
        @!%has bra LATCH;
""")

NEXT_ITEMS = Snippet(
    """
    .reg .b32 %first;
    LATCH:
        add.s32 %first, %first, ITEMS_OF_ALL;
        bra ITEMS;
    """,
    "ITEMS_OF_ALL",
)


class JoinedLists(SharedTasks):
    """Has the lanes of a warp go through all lists, joined to one.

    ``begun`` is what a lane knows of the joined list, and ``sent`` its own task, as it would be at
    the first item. Where a lane of the warp is missing, or would not wait for long, all run their
    own lists.
    """

    begun: dict[str, Register]
    sent: dict[Register | Special, Register]

    def __init__(
        self, collector: SequentialDispatch, node: SequentialNode, turns: SharedTurns
    ) -> None:
        super().__init__(collector, node, turns)
        self.own = OwnLists(self)
        stack = node.plan.stack
        self.table = Stack(stack.context[1:], stack.entries, stack.offset)
        self.at_first: Register | None = None

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
        most = AT_ONCE_OF_ALL if self.collector.kernel.keeps_warps else AT_ONCE
        return max(1, min(most, AT_ONCE_LENGTH // len(body)))

    def prepare(self, emit: Emitter) -> None:
        """Nothing is known of the lists yet; all else is in registers."""
        if self.at_first is not None:
            emit.emit("mov.pred", self.at_first, ALL_LANES)

    def write(self, emit: Emitter, count: Register, shares: Register) -> None:  # noqa: ARG002
        """Where the lists end, and each task as it would be at the joined list's first item."""
        collector = self.collector
        FULL.emit(emit, members=collector.members, OWN=self.own.label)
        if reduces(collector.kernel.arch):
            self.own.ask(emit, count)
        self.begun = SUM.emit(emit, count=count)
        steps = self.turns.induction.steps
        self.sent = {}
        for name in self.turns_sent:
            if isinstance(name, Register):
                self.sent[name] = self.value(name)
                step = steps.get(name)
                if step is not None:
                    step = self.value(step) if isinstance(step, Register) else step
                    self.sent[name] = go_back(emit, self.value(name), step, self.begun["begin"])
            elif name in self.node.plan.specials:
                self.sent[name] = self.node.plan.specials[name]
        if self.table.entries:
            self._store(emit)

    def _store(self, emit: Emitter) -> None:
        """Write it to shared memory."""
        collector, names = self.collector, self.turns_sent
        row = emit.define("add.s32", "b32", collector.base, collector.rank_bytes, name="row")
        held = zip(self.table.context, (self.sent[name] for name in names), strict=True)
        self.table.of(dict(held)).store(emit, row)

    def load(self, emit: Emitter, row: Register) -> dict[Register | Special, Register]:
        """Get the task of a lane, into new registers; that lane itself is its owner if no other
        one is told."""
        if self.table.entries:
            copies = {one: emit.function.registers.fresh(one.type) for one in self.table.context}
            address = emit.define("mad.lo.s32", "b32", row, 4, self.collector.base, name="address")
            self.table.of(copies).load(emit, address)
            return dict(zip(self.turns_sent, copies.values(), strict=True))
        task = {name: self._receive(emit, value, row) for name, value in self.sent.items()}
        return {**dict.fromkeys(self.turns_sent, row), **task}

    def _receive(self, emit: Emitter, value: Register, lane: Register) -> Register:
        """A value of another lane, in a new register."""
        copy = emit.function.registers.fresh(value.type)
        words = [
            emit.define("shfl.sync.idx.b32", "b32", word, lane, WARP_SIZE - 1, ALL_LANES)
            for word in split(emit, value)
        ]
        join(emit, copy, words)
        return copy

    def find(self, emit: Emitter, item: Register) -> Register:
        """Emit the search for the lane whose item that is."""
        begun = self.begun
        return FIND.emit(
            emit, item=item, ends=begun["end"], half=begun["half"], quarter=begun["quarter"],
            last_quarter=begun["last_quarter"],
        )["row"]  # fmt: skip

    def run(self, emit: Emitter) -> Emitter:
        """One item after the other."""
        collector, label = self.collector, self.collector.function.fresh_label
        self.begun |= READY.emit(emit, end=self.begun["end"])
        if self.sums:
            return self._add_up(emit)
        for number in sorted({self.at_once, min(self.at_once, 2), 1}, reverse=True):
            done = label("done")
            self._emit_items(emit, number, done)
            emit = collector.at(done)
        return emit

    def _look_up(self, emit: Emitter, items: Sequence[Register]) -> list[Task]:
        """Find the tasks of some items side by side: ptxas leaves shuffles in their order."""
        function = emit.function
        tasks: list[Task] = []
        found = []
        for item in items:
            apart = Emitter(function, Block("", [], False), emit.span)
            tasks.append(self.load(apart, self.find(apart, item)))
            found.append(apart.block.statements)
        for side_by_side in zip_longest(*found):
            emit.block.statements += [one for one in side_by_side if one is not None]
        return tasks

    def _scope(self, *names: str) -> dict[str, Given]:
        return {name: self.begun[name] for name in names}

    def _emit_items(self, emit: Emitter, number: int, done: str) -> None:
        """Run a number of turns at once, again and again, as long as there are so many."""
        label = self.collector.function.fresh_label
        head, latch, together = label("items"), label("latch"), number * WARP_SIZE
        test = SOME_ITEMS.of(ITEMS_OF_ALL=together) if number > 1 else ITEM
        scope = self._scope("first", "lane", "total")
        found = test.emit(emit, scope, ITEMS=head, DONE=done)
        if number > 1 and number == self.at_once:
            emit = self._emit_one_list(emit, found, head)
        ahead = [found["item"]]
        while len(ahead) < number:
            ahead.append(emit.define("add.s32", "b32", ahead[-1], WARP_SIZE, name="ahead"))
        tasks = self._look_up(emit, ahead)
        if number == 1:
            HAS_NONE.emit(emit, has=found["has"], LATCH=latch)
        self.emit_turns(emit, list(zip(ahead, tasks, strict=True)), latch)
        following = NEXT_ITEMS.of(ITEMS_OF_ALL=together)
        following.emit(self.collector.here, first=self.begun["first"], ITEMS=head, LATCH=latch)

    def _emit_one_list(self, emit: Emitter, found: Mapping[str, Register], head: str) -> Emitter:
        """Go through a list that holds the next items of all lanes, as far as it does."""
        several = self.collector.function.fresh_label("several")
        scope = self._scope("begin", "end", "first")
        one = IN_ONE_LIST.emit(emit, scope, behind=found["behind"], SEVERAL=several)
        self._walk(emit, found["item"], self.load(emit, one["owner"]), one["last"], head)
        return self.collector.at(several)

    def _walk(self, emit: Emitter, item: Register, task: Task, last: Register, head: str) -> None:
        """Run turns of a task, several at once, until it has not so many left for all lanes."""
        label, number = self.collector.function.fresh_label, self.at_once
        walk, latch = label("walk"), label("latch")
        begun = WALK.emit(emit, self._scope("first"), item=item, last=last, WALK=walk)
        self.emit_row(emit, begun["place"], task, number, latch)
        known = ("lane", "first", "end", "total", "half", "quarter", "last_quarter")
        GO_ON.of(ITEMS_OF_ALL=number * WARP_SIZE).emit(
            self.collector.here, self._scope(*known), place=begun["place"], left=begun["left"],
            LATCH=latch, WALK=walk, ITEMS=head,
        )  # fmt: skip

    def _add_up(self, emit: Emitter) -> Emitter:
        """Run one turn after the other, and give owners their sums where lanes change tasks."""
        collector, label = self.collector, self.collector.function.fresh_label
        head, latch, done = label("items"), label("latch"), label("done")
        first, same = label("first"), label("same")
        several = self.at_once > 1
        if several:
            keep_warps(collector.kernel)
        unchanged = label("still") if several else same
        total = self.begun["total"]
        last: dict[str, Given] = {
            "last_task": emit.define("mov.b32", "b32", NO_TASK, name="last_task"),
            "step_begin": emit.define("mov.b32", "b32", total, name="step_begin"),
        }
        mine = ITEM.emit(emit, self._scope("first", "lane", "total"), ITEMS=head, DONE=done)
        row = self.find(emit, mine["item"])
        task = self.load(emit, row)
        changed = CHANGED.emit(
            emit, last, row=row, has=mine["has"], total=total, UNCHANGED=unchanged, FIRST=first
        )
        self._flush(emit, last)
        emit.start(first)
        self.sums.clear(emit)
        AGAIN.emit(
            emit, last, task=changed["task"], has=mine["has"], first=self.begun["first"],
            SAME=same, LATCH=latch,
        )  # fmt: skip
        self.emit_turns(emit, [(mine["item"], task)], latch)
        following = NEXT_ITEMS.of(ITEMS_OF_ALL=WARP_SIZE)
        following.emit(collector.here, first=self.begun["first"], ITEMS=head, LATCH=latch)
        if several:
            still = STILL_IN_ONE_LIST.of(ITEMS_OF_ALL=self.at_once * WARP_SIZE).emit(
                collector.here, self._scope("end", "first"), row=row, STILL=unchanged, SAME=same
            )
            self._walk(collector.here, mine["item"], task, still["last"], head)
        emit = collector.at(done)
        self._flush(emit, last)
        return emit

    def _flush(self, emit: Emitter, last: Mapping[str, Given]) -> None:
        """Owners get what was added up for them so far."""
        task, step_begin = last["last_task"], last["step_begin"]
        assert isinstance(task, Register)
        assert isinstance(step_begin, Register)
        begin, end = self.begun["begin"], self.begun["end"]
        lists = {"task": task, "step_begin": step_begin, "begin": begin, "end": end}
        self.sums.flush(emit, lists, {one: self.value(one) for one in self.sums.slots})

    @property
    def kept(self) -> set[Register]:
        """The sums."""
        return {self.value(one) for one in self.sums.slots}

    @property
    def goes_on(self) -> bool:
        """Also where a task brings sums of the annotated loop to those that it belongs to."""
        return self.node.path.continuation or bool(self.sums)

    def short(self, snapshot: str) -> str:
        """It has a task unless it runs a short one at once."""
        asks = reduces(self.collector.kernel.arch)
        label, self.at_first = emit_short(self, snapshot, asks)
        return label

    def note_even(self, emit: Emitter, longest: Register, even: Register) -> None:
        """Whether lanes run short lists at once then."""
        if self.at_first is not None:
            note_even(emit, longest, even, self.at_first)

    def emit_others(self, turns: Register, shares: Register, after: str) -> None:
        """The lists that their own lanes run."""
        self.own.emit(turns, shares, self.rest(after), after)
