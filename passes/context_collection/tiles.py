"""Tiles: tasks give back what they make to the lane that they came from (no paper's).

A lane runs the heads of some iterations, copies of the loop's body up to the paths. Of each task
it writes what the path reads to a place of its own in shared memory. The members list their places,
path by path, run the tasks of one list after the other's, a full warp at a time but for the last
ones, and what a task makes takes the place of what it was given. From there each lane reads it for
the rests of its iterations, one after the other.

Before:

    LOOP:     <head>
              @!%p bra REST;
              <path>
    REST:     <rest>
              @%more bra LOOP;

After:

    ENTER:    who is a member, each one's rank, the warp's share of shared memory
    HEAD:     <head, on registers of this iteration>
              with a task: note it, and write what the path reads
              <what the next iteration needs of path and rest>
              @%more bra HEAD_1;                // else: leave, as ever
    HEAD_1:   ...
    COLLECT:  all members meet, count their tasks, and list their places
    NEXT:     as long as a list has a place for this lane:
    RUN:      <path, on registers of its own>
              write what the rest reads
    RESTS:    all members meet; of each iteration of the tile that has one:
              with a task: read what it made
              <rest, on registers of this iteration>
    CHECK:    has anybody an iteration left? back to HEAD, or to COLLECT to help

Between tiles nothing is saved. Nothing of the rest goes to other lanes: neighbours store side by
side what they stored so before, and the rests of a lane are run in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ccc.analysis.paths.model import AnnotatedLoop
from ccc.analysis.paths.split_iteration import SplitIteration
from ccc.ir.edit import Copy, Emitter, retarget, substitute
from ccc.ir.nodes import Guard, Instruction, MarkerNote
from ccc.ir.operands import Register
from ccc.passes.context_collection.collector import Collector
from ccc.passes.context_collection.context_stack import Stack
from ccc.passes.context_collection.layout import Layout, Plan
from ccc.passes.context_collection.node import Node, move
from ccc.passes.context_collection.task_counts import count_tasks
from ccc.pipeline import Kernel
from ccc.snippet import Snippet

WORD_BYTES = 4

NOTE = Snippet(
    """
    .reg .b32 %tasks;
        or.b32 %tasks, %tasks, BIT;
    """,
    "BIT",
)
"""Where the head of an iteration ends: a lane has a bit for each iteration of the tile."""

PLACE = Snippet(
    """
    .reg .pred %has;
    .reg .b32 %tasks, %bit, %place, %own, %entry;
        and.b32 %bit, %tasks, BIT;
        setp.ne.b32 %has, %bit, 0;
        add.s32 %place, %own, BYTES;
        @%has st.shared.b32 [%entry+LIST], %place;
        @%has add.s32 %entry, %entry, 4;
    """,
    "BIT",
    "BYTES",
    "LIST",
)
"""For each iteration of the tile: a lane with a task lists where it stands."""

NEXT = Snippet(
    """
    .reg .pred %has;
    .reg .b32 %next, %end, %base, %entry, %place, %warp_bytes;
    NEXT:
        setp.lt.u32 %has, %next, %end;
        @!%has bra DONE;
        add.s32 %entry, %base, %next;
        ld.shared.b32 %place, [%entry+LIST];
        call take, (%place);
        add.s32 %next, %next, %warp_bytes;
        bra RUN;
    """,
    "LIST",
)
"""Each lane takes one task in so many of a list: all members have one, but for the last round."""

REST = Snippet(
    """
    .reg .pred %has;
    .reg .b32 %begun, %bit;
        and.b32 %bit, %begun, BIT;
        setp.ne.b32 %has, %bit, 0;
        @!%has bra ONWARD;
    """,
    "BIT",
)
"""For each iteration of the tile: whether the lane has it, or whether it had a task there."""


@dataclass(eq=False)
class TileNode(Node):
    """A path. ``tasks`` has a bit for each iteration of the tile that came to it; a task is taken
    from, and given back at, the address ``place``. From ``next`` on another one is taken."""

    tasks: Register
    place: Register
    next: str


class Tiles(Collector[TileNode]):
    """Rewrites a loop whose paths exclude one another, so that results go back to their owners.

    Of each iteration of a tile, ``names`` are the registers that hold what is kept where its head
    ends, by what they were. What goes from tile to tile has its old name.
    """

    def __init__(
        self,
        kernel: Kernel,
        loop: AnnotatedLoop,
        layout: Layout,
        iterations: int,
        split: SplitIteration,
    ):
        super().__init__(kernel, loop, layout)
        fresh, label = self.function.registers.fresh, self.function.fresh_label
        self.split = split
        self.list = layout.tops
        self.first_head, self.collect, self.rests = label("tile"), label("collect"), label("rests")
        self.own = fresh("b32", "own")
        kept = sorted(split.kept, key=lambda register: register.name)
        self.names = [{r: fresh(r.type, "kept") for r in kept} for _ in range(iterations)]
        self.heads = [self.fresh_labels(split.head, "head") for _ in range(iterations)]
        passed = sorted(split.entries & split.rest)
        self.unions: dict[frozenset[Register], Register] = {}
        self.passing = {entry: fresh("b32", "passing") for entry in passed}

    def node(self, plan: Plan, number: int, parent: TileNode | None, run: str) -> TileNode:
        """With a list of tasks."""
        fresh, next_ = self.function.registers.fresh, self.function.fresh_label("next")
        tasks, place = fresh("b32", "tasks"), fresh("b32", "place")
        return TileNode(plan, number, parent, run, tasks=tasks, place=place, next=next_)

    @property
    def meeting(self) -> str:
        """Where every tile ends."""
        return self.collect

    @property
    def iteration(self) -> str:
        """The first head, on registers of its own."""
        return self.first_head

    @property
    def is_last_apart(self) -> bool:
        """No task is left when a tile is done."""
        return True

    def resume(self, node: TileNode) -> str:
        """After a task, another one."""
        return node.next

    def drain(self, emit: Emitter) -> Emitter:
        """Nothing is saved."""
        return emit

    def prepare(self, emit: Emitter) -> None:
        """A lane's places are side by side."""
        emit.emit("mad.lo.s32", self.own, self.rank_bytes, len(self.names), self.base)
        self._forget(emit)

    def _forget(self, emit: Emitter) -> None:
        """No task, and no rest, in any iteration."""
        for register in (*(node.tasks for node in self.nodes), *self.passing.values()):
            emit.emit("mov.b32", register, 0)

    def run(self) -> Instruction | None:
        """Do it; returns the instruction that computes the base of the warp's share."""
        self.short = self._short()
        self._enter()
        self._emit_heads()
        self.dispatch()
        self.note_originals()
        self._emit_rests()
        self._emit_round()
        self.function.blocks += self.short.blocks if self.short else []
        self._finish()
        return self.base_instruction

    # -- heads ----------------------------------------------------------------------------------

    def _emit_heads(self) -> None:
        """The heads of all iterations, each followed by what the next one needs."""
        header = self.loop.loop.header
        self._move(self.at(self.first_head), {}, self.names[0], header, self.heads[0][header])
        leaving = {target: self._leave(number) for number, target in enumerate(self.targets)}
        for block in self.originals:
            if block.label in self.split.head:
                retarget(self.function, block, header, self.collect)
        for number in range(len(self.names)):
            self._emit_head(number, leaving)
        for label, copy in self.heads[0].items():
            notes = (s for s in self.facts.blocks[label].statements if isinstance(s, MarkerNote))
            self.function.block(copy).statements[:0] = notes

    def _emit_head(self, number: int, leaving: Mapping[str, str]) -> None:
        """The head of one iteration, and what comes onward."""
        header, split = self.loop.loop.header, self.split
        mine, others = self.names[number], self._after(number)
        is_last = number + 1 == len(self.names)
        following = self.collect if is_last else self.heads[number + 1][header]
        tail = self.fresh_labels(split.inside | split.rest, "onward")
        labels = {
            **self.heads[number],
            **{entry: self._give(number, entry, tail[entry]) for entry in sorted(split.entries)},
            **{target: self._hand_on(mine, {}, target, leave) for target, leave in leaving.items()},
            self.collect: self._hand_on(mine, others, header, following),
        }
        self.function.blocks += Copy(labels, mine).blocks(self.function, split.head)
        now = {**mine, **{r: others.get(r, r) for r in split.moved}}
        sinks = {target: self._hand_on(now, {}, target, leave) for target, leave in leaving.items()}
        sinks[header] = following
        onward = Copy(
            {**tail, **sinks}, now,
            keep=split.onward.instructions.__contains__, skips=split.onward.skipped(tail, sinks),
        )  # fmt: skip
        self.function.blocks += onward.blocks(self.function, tail)

    def _after(self, number: int) -> Mapping[Register, Register]:
        """The registers of the next iteration; behind the last one, those that they were."""
        return self.names[number + 1] if number + 1 < len(self.names) else {}

    def _give(self, number: int, entry: str, onward: str) -> str:
        """Where a head leads to a path, or past it: note that, and what the next head needs."""
        block, emit = self.block("give")
        mine, bit = self.names[number], 1 << number
        node = next((node for node in self.nodes if node.path.entry == entry), None)
        NOTE.of(BIT=bit).emit(emit, tasks=node.tasks if node else self.passing[entry])
        if node is not None:
            held = {copy: mine.get(r, r) for r, copy in node.plan.snapshot.items()}
            for special, copy in node.plan.specials.items():
                held[copy] = emit.define(f"mov.{special.register.type}", copy.type, special)
            self._at_place(node.plan.stack.of(held), number).store(emit, self.own)
        self._move(emit, mine, self._after(number), entry, onward)
        return block.label

    def _at_place(self, stack: Stack, number: int) -> Stack:
        """The words of one iteration's place, seen from the first one's."""
        return replace(stack, offset=stack.offset + WORD_BYTES * number)

    def _hand_on(
        self,
        mine: Mapping[Register, Register],
        others: Mapping[Register, Register],
        label: str,
        onward: str,
    ) -> str:
        """A block on the way to what was ``label``, with what is live there in other registers."""
        block, emit = self.block("hand_on")
        self._move(emit, mine, others, label, onward)
        return block.label

    def _move(
        self,
        emit: Emitter,
        mine: Mapping[Register, Register],
        others: Mapping[Register, Register],
        label: str,
        onward: str,
    ) -> None:
        """Copy what the next iteration has, too, as far as it is live at ``label``."""
        for register in sorted(self.split.moved, key=lambda register: register.name):
            source, target = mine.get(register, register), others.get(register, register)
            if source != target and register in self.facts.liveness.live_in(label):
                emit.emit(move(register), target, source)
        emit.emit("bra", onward)

    # -- tasks ----------------------------------------------------------------------------------

    def dispatch(self) -> None:
        """Count and list the tasks of all members, and run them, one path after the other."""
        emit = self.at(self.collect)
        total = emit.define("mov.b32", "b32", 0, name="total")
        offsets, ends = [], []
        for node in self.nodes:
            offsets.append(self._count(emit, node, total))
            ends.append(emit.define("mov.b32", "b32", total, name="end"))
        none = emit.define("setp.eq.b32", "pred", total, 0, name="none")
        emit.emit("bra", self.rests, guard=Guard(none))
        for node, offset in zip(self.nodes, offsets, strict=True):
            entry = emit.define("add.s32", "b32", self.base, offset, name="entry")
            for number in range(len(self.names)):
                place = PLACE.of(BIT=1 << number, BYTES=WORD_BYTES * number, LIST=self.list)
                place.emit(emit, tasks=node.tasks, own=self.own, entry=entry)
        emit.emit("bar.warp.sync", self.mask)  # before others read the list, and what is there
        begin: Register | int = 0
        for node, end in zip(self.nodes, ends, strict=True):
            emit = self._take(emit, node, begin, end)
            begin = end
        emit.emit("bar.warp.sync", self.mask)  # before what others made is read
        emit.start(self.rests)

    def _count(self, emit: Emitter, node: TileNode, total: Register) -> Register:
        """Add the tasks of a path to ``total``; returns where those of this lane are listed."""
        number = emit.define("popc.b32", "b32", node.tasks, name="number")
        offset = emit.define("mov.b32", "b32", total, name="offset")
        count_tasks(
            emit, number, len(self.names), self.kernel.arch, offset, total,
            mask=self.mask, below=self.below,
        )  # fmt: skip
        return offset

    def _take(self, emit: Emitter, node: TileNode, begin: Register | int, end: Register) -> Emitter:
        """Run the tasks that are listed from ``begin`` to ``end``; returns what is behind."""
        taken = emit.define("add.s32", "b32", self.rank_bytes, begin, name="next")
        done = self.function.fresh_label("done")
        NEXT.of(LIST=self.list).emit(
            emit, next=taken, end=end, base=self.base, place=node.place,
            warp_bytes=self.warp_bytes, take=node.plan.stack.load,
            NEXT=node.next, DONE=done, RUN=node.run,
        )  # fmt: skip
        self.emit_run(node)
        return self.at(done)

    def deliver(
        self, node: TileNode, label: str, registers: Mapping[Register, Register], onward: str
    ) -> str:
        """Where a task ends: what the rest reads goes to the place that the task came from."""
        results = node.plan.results
        if label != node.path.join or results is None or not results.context:
            return onward
        block, emit = self.block("deliver")
        results.of(registers).store(emit, node.place)
        emit.emit("bra", onward)
        return block.label

    # -- rests ----------------------------------------------------------------------------------

    def _emit_rests(self) -> None:
        """The rests of all iterations, in their order."""
        emit = self.here
        fetched = self._fetched(emit)
        ways = self._ways(emit)
        begun = self._any(emit, list(ways.values()))
        for number in range(len(self.names)):
            onward = self.function.fresh_label("rest")
            REST.of(BIT=1 << number).emit(emit, begun=begun, ONWARD=onward)
            for instruction in self.split.recomputed:
                again = substitute(instruction, self.names[number], {})
                emit.emit(again.opcode, *again.operands, guard=again.guard)
            for stack, tasks in fetched:
                self._fetch(emit, number, stack, None if tasks == begun else tasks)
            self._emit_rest(emit, number, ways, onward)
            emit = self.at(onward)
        self._forget(emit)
        emit.emit("bra", self.check)

    def _fetched(self, emit: Emitter) -> list[tuple[Stack, Register]]:
        """What tasks give back, each with the register that says which iterations had one."""
        found: dict[Stack, list[Register]] = {}
        for node in self.nodes:
            if node.plan.results is not None and node.plan.results.context:
                found.setdefault(node.plan.results, []).append(node.tasks)
        return [(stack, self._any(emit, tasks)) for stack, tasks in found.items()]

    def _ways(self, emit: Emitter) -> dict[str, Register]:
        """Where rests begin, each with the register that says which iterations go on there."""
        found = {entry: [register] for entry, register in self.passing.items()}
        for node in self.nodes:
            join = node.path.join
            if join in self.split.rest:
                assert join is not None
                found.setdefault(join, []).append(node.tasks)
        return {entry: self._any(emit, registers) for entry, registers in found.items()}

    def _any(self, emit: Emitter, registers: Sequence[Register]) -> Register:
        """The iterations that one of the registers names."""
        key = frozenset(registers)
        if key not in self.unions:
            union, *others = registers
            for other in others:
                union = emit.define("or.b32", "b32", union, other, name="any")
            self.unions[key] = union
        return self.unions[key]

    def _fetch(self, emit: Emitter, number: int, stack: Stack, tasks: Register | None) -> None:
        """Read what a task of one iteration has made, if not all iterations here have had one."""
        behind = self.function.fresh_label("fetched")
        if tasks is not None:
            REST.of(BIT=1 << number).emit(emit, begun=tasks, ONWARD=behind)
        self._at_place(stack.of(self.names[number]), number).load(emit, self.own)
        if tasks is not None:
            emit.start(behind)

    def _emit_rest(
        self, emit: Emitter, number: int, ways: Mapping[str, Register], onward: str
    ) -> None:
        """The rest of one iteration, from where it goes on."""
        split = self.split
        labels = self.fresh_labels(split.rest, "rest")
        *others, last = ways
        for entry in others:
            elsewhere = self.function.fresh_label("elsewhere")
            REST.of(BIT=1 << number).emit(emit, begun=ways[entry], ONWARD=elsewhere)
            emit.emit("bra", labels[entry])
            emit.start(elsewhere)
        emit.emit("bra", labels[last])
        sinks = dict.fromkeys([self.loop.loop.header, *self.targets], onward)
        copy = Copy(
            {**labels, **sinks}, self.names[number],
            keep=split.needed.instructions.__contains__, skips=split.needed.skipped(labels, sinks),
        )  # fmt: skip
        self.function.blocks += copy.blocks(self.function, split.rest)
