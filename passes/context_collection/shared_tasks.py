"""Sharing out all turns of the tasks of a ``for variable`` (no pass; sequential dispatch uses it).

All members meet where the turns of an inner loop would begin. Who has a task counts its turns, and
writes what a lane needs to know to run one of them to the warp's share of shared memory. Then all
run turns, their own and those of others, and when all are done, each goes on with what follows its
own loop. Nothing is saved for later. ``joined_lists.py`` and ``sub_warps.py`` say who runs which.

A task whose turns cannot be counted in 32 bits is run by its own lane.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from ccc.analysis.paths.reductions import register_at
from ccc.analysis.paths.shared_turns import SharedTurns
from ccc.ir.edit import Copy, Emitter, retarget, substitute
from ccc.ir.nodes import Block, Guard, Instruction
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.counted_turns import advance, count_turns
from ccc.passes.context_collection.node import move
from ccc.passes.context_collection.partial_sums import PartialSums
from ccc.passes.context_collection.reduction import Slots
from ccc.ptx.types import WARP_SIZE, number_of_type
from ccc.snippet import Given, Snippet

if TYPE_CHECKING:
    from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
    from ccc.passes.context_collection.sequential_node import SequentialNode

Task = Mapping[Register | Special, Register]
"""What is known of a task: where the registers and special registers of its context are."""
State = Mapping[Register | Special, Register]
"""What a turn begins with."""
MOST = (1 << 31) // WARP_SIZE
"""Turns of a task up to which those of a warp are counted in 31 bits."""

MEET = Snippet("""
    .reg .pred %pending, %none;
    .reg .b32 %tasks, %mask;
        vote.sync.ballot.b32 %tasks, %pending, %mask;
        setp.eq.b32 %none, %tasks, 0;
        @%none bra NOBODY;
""")
"""All members come by when they have run their part of the iteration: has anybody a task?"""

SHARES = Snippet(
    """
    .reg .pred %pending, %countable, %shares, %alone;
    .reg .b32 %turns, %before, %count;
        add.s32 %before, %turns, -1;          // 0 stands for too many
        setp.lt.u32 %countable, %before, MOST;
        and.pred %shares, %pending, %countable;
        not.pred %alone, %countable;
        and.pred %alone, %alone, %pending;
        mov.pred %pending, 0;
        selp.b32 %count, %turns, 0, %shares;
        @%alone bra RUN;                      // and back to JOIN
    JOIN:
    """,
    MOST=MOST - 1,
)
"""The turns that a lane has for all; or it has a task for itself, and runs it first: so nothing of
it has to be kept while turns are shared out."""

OVER = Snippet("""
    .reg .b32 %mask;
        bar.warp.sync %mask;                  // what the turns have written is there for all
""")


class SharedTasks(ABC):
    """Shares out the tasks of one path; who inherits says who runs which turn.

    They begin at ``label``, and at ``join`` when they have run what cannot be shared out.
    By ``meet`` all come by before, and by ``over`` behind; ``check`` is how they ask for
    iterations, if not as ever.
    """

    meet, over = MEET, OVER
    check: Snippet | None = None

    def __init__(
        self, collector: SequentialDispatch, node: SequentialNode, turns: SharedTurns
    ) -> None:
        self.collector = collector
        self.node = node
        self.turns = turns
        self.label = collector.function.fresh_label("share")
        self.join = collector.function.fresh_label("join")
        self.sums = PartialSums(collector, self._sums())
        self._behind: str | None = None

    @property
    def entrance(self) -> str:
        """Where members go that have no task: nothing is saved, but all have to meet."""
        return self.label

    @abstractmethod
    def prepare(self, emit: Emitter) -> None:
        """Emit what is to be done before the annotated loop."""

    @abstractmethod
    def write(self, emit: Emitter, count: Register, shares: Register) -> None:
        """Write how many turns there are, and what else is to be known of them."""

    @abstractmethod
    def run(self, emit: Emitter) -> Emitter:
        """Run all turns."""

    def emit(self) -> None:
        """Emit what all members come by at the end of an iteration."""
        collector, emit, node = self.collector, self.collector.at(self.label), self.node
        after = collector.after(node)
        nobody = collector.check if after == collector.again else after
        given: dict[str, Given] = {"pending": node.pending, "mask": collector.mask}
        self.meet.emit(emit, given, NOBODY=nobody)
        turns = count_turns(emit, self.turns.induction, self.value)
        mine = SHARES.emit(emit, turns=turns, pending=node.pending, RUN=node.run, JOIN=self.join)
        self.write(emit, mine["count"], mine["shares"])
        emit = self.run(emit)
        self.over.emit(emit, given)
        self._forget(emit)
        if self.goes_on:
            emit.emit("bra", after, guard=Guard(mine["shares"], negated=True))
            self._go_on(emit, mine["count"], after)
        else:
            emit.emit("bra", after)
        self.emit_others(turns, mine["shares"], after)

    @property
    def goes_on(self) -> bool:
        """Whether owners have something to do when the turns are done."""
        return self.node.path.continuation

    def emit_others(self, turns: Register, shares: Register, after: str) -> None:  # noqa: B027
        """Emit what members do who do not share out their tasks.

        Args:
            turns: of the lane's own task.
            shares: whether it has one.
            after: where all meet then.
        """

    def short(self, snapshot: str) -> str:
        """Where a lane comes to its list."""
        return snapshot

    def note_even(self, emit: Emitter, longest: Register, even: Register) -> None:  # noqa: B027
        """Emit what follows for the next iteration when lanes know whether their lists are even.

        Args:
            emit: where to.
            longest: how many turns the longest list has, the same for all.
            even: whether each lane runs its own list now, the same for all.
        """

    # -- what a task is -------------------------------------------------------------------------

    def value(self, register: Register) -> Register:
        """Where the owner has the value of a register that its task begins with."""
        return self.node.plan.snapshot.get(register, register)

    def _sums(self) -> list[tuple[Register, Slots]]:
        """The accumulators of the turns, and the slots for what lanes add to them."""
        path, facts = self.node.path, self.collector.facts
        own = (
            (register_at(slots.accumulator, path.entry, facts), slots)
            for slots in self.node.plan.sums
        )
        found = [
            *self.collector.accumulators_at(self.node, path.entry),
            *((register, slots) for register, slots in own if register is not None),
        ]
        written = {r for i in self.turns.instructions for r in i.defined()}
        return [
            (register, slots)
            for register, slots in found
            if not written.isdisjoint(slots.accumulator.registers)
        ]

    @property
    def turns_sent(self) -> tuple[Register | Special, ...]:
        """What is known of a task, in the order of the table."""
        assert self.node.plan.engage is not None
        return self.node.plan.engage.sent

    # -- what a turn is -------------------------------------------------------------------------

    def emit_turns(
        self,
        emit: Emitter,
        items: Sequence[tuple[Register, Task]],
        latch: str,
    ) -> None:
        """A turn of each of some tasks, begun with the state that it has then; on to ``latch``.

        What they begin with is done for all of them side by side: turns are independent.
        """
        self._emit_states(emit, [self._state(emit, *item) for item in items], latch)

    def emit_row(self, emit: Emitter, turn: Register, task: Task, number: int, latch: str) -> None:
        """So many turns of one task, each as many further as the warp has lanes."""
        first = self._state(emit, turn, task)
        states = [first]
        for further in range(WARP_SIZE, number * WARP_SIZE, WARP_SIZE):
            states.append(self._state_behind(emit, first, further, turn, task))
        self._emit_states(emit, states, latch)

    def _emit_states(self, emit: Emitter, states: Sequence[State], latch: str) -> None:
        """Turns that begin with some states, on to ``latch``."""
        function, path = self.collector.function, self.node.path
        labels = [self.collector.fresh_labels(path.blocks, "turn") for _ in states]
        heads = [one[path.entry] for one in labels]
        beginnings, found = [], []
        for state, mine, onward in zip(states, labels, [*heads[1:], latch], strict=True):
            copy = self._copy_of_turn(state, mine, onward)
            blocks = copy.blocks(function, path.blocks)
            for block in blocks:
                retarget(function, block, mine[path.entry], onward)
            found += blocks
            head = next(block for block in blocks if block.label == mine[path.entry])
            beginnings.append(self._take_beginning(head))
        if emit.block.terminator is not None:
            emit.start(function.fresh_label("begin"))
        for side_by_side in zip_longest(*beginnings):
            emit.block.statements += [one for one in side_by_side if one is not None]
        emit.emit("bra", heads[0])
        function.blocks += found
        self.node.heads = (*self.node.heads, *heads)

    def _take_beginning(self, head: Block) -> list[Instruction]:
        """Take out of a turn what others may do side by side with it.

        That is all up to where it first adds up: another turn, with the same registers for sums,
        must not come in between the instructions that do so.
        """
        sums = {*self.sums.registers.values()}
        instructions = list(head.instructions)
        keeps = (
            number
            for number, one in enumerate(instructions)
            if one.is_terminator or not sums.isdisjoint({*one.used(), *one.defined()})
        )
        end = next(keeps, len(instructions))
        head.statements[:] = instructions[end:]
        return instructions[:end]

    def _state(self, emit: Emitter, turn: Register, task: Task) -> State:
        """What a turn of a task begins with."""
        steps = self.turns.induction.steps
        state: dict[Register | Special, Register] = {
            s: r for s, r in task.items() if isinstance(s, Special)
        }
        for register in self.turns.registers:
            step, begin = steps.get(register), task[register]
            if isinstance(step, Register):
                step = task.get(step, step)
            state[register] = begin if step is None else advance(emit, begin, step, turn)
        counter = self.turns.induction.counter
        for register, one in self.turns.derived.items():
            made = emit.define(one.mad, register.type, state[counter], one.factor, one.base)
            state[register] = made
        return state

    def _state_behind(
        self, emit: Emitter, first: State, further: int, turn: Register, task: Task
    ) -> State:
        """What a turn begins with that is so many further than that with the state ``first``.

        Both are turns of one task, so that what steps by a constant has that many times as much:
        ptxas then reads all of them from one address.
        """
        steps, state = self.turns.induction.steps, dict(first)
        stepped = [r for r in (*self.turns.registers, *self.turns.derived) if r in steps]
        later: Register | None = None
        for register in stepped:
            step = steps[register]
            if isinstance(step, int):
                gain = number_of_type(step * further, f"s{register.bits}")
                kind = f"add.s{register.bits}"
                state[register] = emit.define(kind, register.type, first[register], gain)
            else:
                later = later or emit.define("add.s32", "b32", turn, further)
                gain_of = task.get(step, step)
                state[register] = advance(emit, task[register], gain_of, later)
        return state

    def _copy_of_turn(self, begins: State, labels: Mapping[str, str], onward: str) -> Copy:
        """How the blocks of a turn that begins like that are copied, on registers of its own."""
        path, function = self.node.path, self.collector.function
        specials = {s: r for s, r in begins.items() if isinstance(s, Special)}
        state = self.sums.registers | {s: r for s, r in begins.items() if isinstance(s, Register)}
        for register in self._written():
            if register not in state:
                state[register] = function.registers.fresh(register.type)
        sinks = {s: onward for s in self.collector.targets_of(path.blocks) if s not in labels}
        skips = path.task.skips if path.task else {}
        ways = {
            label: labels.get(to, onward) for label, (to, _) in skips.items() if label in labels
        }
        ways[self.turns.induction.end] = onward
        return Copy({**sinks, **labels}, state, specials, keep=self._runs, skips=ways)

    def _written(self) -> list[Register]:
        """What a turn writes, in a fixed order."""
        blocks = (b for b in self.collector.function.blocks if b.label in self.node.path.blocks)
        runs = (i for block in blocks for i in block.instructions if self._runs(i))
        return list(dict.fromkeys(register for i in runs for register in i.defined()))

    def _runs(self, instruction: Instruction) -> bool:
        return instruction in self.turns.instructions

    def _forget(self, emit: Emitter) -> None:
        """Say that nothing of a task is needed any more but what its owner goes on with.

        A task that may be there, or not, else looks as if it were kept while others are shared
        out, and takes registers.
        """
        node, facts = self.node, self.collector.facts
        live: set[Register] = set()
        if node.path.continuation:
            live |= facts.liveness.live_in(self.turns.induction.exit)
            live |= {s for s in self.turns.induction.steps.values() if isinstance(s, Register)}
            self.forget_sums(emit)
        kept = {self.value(register) for register in live}
        kept |= set(node.plan.specials.values()) if self.goes_on else set()
        kept |= self.kept
        used = {*node.plan.snapshot.values(), *node.plan.specials.values()}
        emit.clear(used - kept)

    def _go_on(self, emit: Emitter, turns: Register, after: str) -> None:
        """The owner goes on behind its loop, with what the turns have come to."""
        node, collector = self.node, self.collector
        induction = self.turns.induction
        for instruction in node.prelude:
            emit.block.statements.append(substitute(instruction, {}, {}))
        live = collector.facts.liveness.live_in(induction.exit)
        ends = {}
        for register, step in induction.steps.items():
            if register in live:
                gain = self.value(step) if isinstance(step, Register) else step
                ends[register] = advance(emit, self.value(register), gain, turns)
        for register, end in ends.items():
            emit.emit(move(register), self.value(register), end)
        self.finish_sums(emit)
        emit.emit("bra", self.rest(after))

    @property
    def kept(self) -> set[Register]:
        """What else owners need then."""
        return set()

    def forget_sums(self, emit: Emitter) -> None:  # noqa: B027
        """Emit what becomes of the registers of sums when the turns are done."""

    def finish_sums(self, emit: Emitter) -> None:  # noqa: B027
        """Emit how owners get what was added up."""

    def rest(self, after: str) -> str:
        """What goes with a task, once more: the copy behind the loop as it was leads elsewhere."""
        if self._behind is None:
            self._behind = self.copy_rest(after)
        return self._behind

    def copy_rest(self, after: str) -> str:
        """A copy of what goes with a task, on to ``after``."""
        node, collector, exit_label = self.node, self.collector, self.turns.induction.exit
        path = node.path
        assert node.copy is not None
        rest = path.region - path.blocks
        labels = collector.fresh_labels(rest, "rest")
        ways = {exit_label, *collector.targets_of(rest)} - rest
        sinks = {
            sink: collector.deliver(node, sink, node.copy.registers, after) for sink in sorted(ways)
        }
        places = {**sinks, **labels}
        skips = path.task.skips if path.task else {}
        skipped = {label: places[to] for label, (to, _) in skips.items() if label in rest}
        copy = replace(node.copy, labels=places, skips=skipped)
        collector.function.blocks += copy.blocks(collector.function, rest)
        return places[exit_label]
