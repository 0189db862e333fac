"""Engaging the whole warp on one long task (no pass; sequential dispatch uses it).

Some inner loops turn so often that their lane is still busy when all others have nothing left, as
with the hubs of a graph. Where the turns are independent (``for variable``) and can be counted, a
long task is shared out at once: every member takes one turn in so many, and neighbouring lanes
neighbouring turns, whose memory lies together.

Paths in the loop are no more than branches then, if they are short. Where one of them is long, the
members meet after each turn, and serve those paths as they do after any other turn.

The new code stands in the order of its snippets. Between ``SHARES`` and ``HEAD``, each member gets
the owner's context (``shfl.sync.idx.b32``); behind ``HEAD`` stands one turn of the path, on
registers of its own, begun with the state that it has in that turn (``mad``); then ``LATCH``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ccc.analysis.paths.induction import Induction
from ccc.analysis.paths.model import Path, instructions_of
from ccc.ir.edit import Copy, Emitter, retarget
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.context_stack import join, split
from ccc.passes.context_collection.counted_turns import MOST, advance, count_turns
from ccc.passes.context_collection.node import move
from ccc.passes.thresholds import LONG, LONG_PATH
from ccc.ptx.types import WARP_SIZE
from ccc.snippet import Given, Snippet

if TYPE_CHECKING:
    from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
    from ccc.passes.context_collection.sequential_node import SequentialNode

ENGAGE = Snippet(
    """
    .reg .pred %pending, %long, %countable, %short;
    .reg .b32 %turns, %lanes, %mask;
        setp.ge.u32 %long, %turns, LONG;
        setp.lt.u32 %countable, %turns, MOST;
        and.pred %long, %long, %countable;
        and.pred %long, %long, %pending;
        vote.sync.ballot.b32 %lanes, %long, %mask;
        not.pred %short, %long;
        and.pred %pending, %pending, %short;  // what is shared out is not saved
        bra NEXT;
    """,
    LONG=LONG,
    MOST=MOST,
)
"""All members come by on their way to the collection point: who has a long task?"""

QUIET = Snippet("""
    .reg .b32 %lanes;
    QUIET:
        mov.b32 %lanes, 0;
        bra NEXT;
""")
"""The way in for members that may have saved tasks, but none of their own. Where the collection
point leads back to what is shared out, there is one way in for all: else that loop would have two
entries."""

NEXT = Snippet("""
    .reg .pred %none;
    .reg .b32 %lanes;
    NEXT:
        setp.eq.b32 %none, %lanes, 0;
        @%none bra COLLECT;
""")

NEXT_SHARING = Snippet("""
    .reg .pred %none, %sharing;
    .reg .b32 %lanes;
    NEXT:
        setp.eq.b32 %none, %lanes, 0;
        not.pred %sharing, %none;
        @%none bra COLLECT;
""")
"""The same, where members meet after each turn: they are told there that a task is shared out."""

FIRST = Snippet("""
    .reg .b32 %lanes, %mask, %reverse, %source, %rest;
        bar.warp.sync %mask;                  // all may read what the task's owner has written
        brev.b32 %reverse, %lanes;
        clz.b32 %source, %reverse;
        add.s32 %rest, %lanes, -1;
        and.b32 %lanes, %lanes, %rest;
""")
"""Take the first of the lanes with a long task."""

SHARES = Snippet("""
    .reg .b32 %turn, %rank_bytes, %step, %warp_bytes;
        shr.u32 %turn, %rank_bytes, 2;        // a lane's first turn is the one of its rank,
        shr.u32 %step, %warp_bytes, 2;        // and it takes one in so many as there are members
""")

HEAD = Snippet("""
    .reg .pred %over;
    .reg .b32 %turn, %turns;
    HEAD:
        setp.ge.u32 %over, %turn, %turns;
        @%over bra SHARED;
""")
"""A lane without a turn left waits for the others at the next task."""

HEAD_SHARING = Snippet("""
    .reg .pred %over, %idle;
    .reg .b32 %turn, %turns, %rank, %first;
    HEAD:
        sub.s32 %first, %turn, %rank;
        setp.ge.u32 %over, %first, %turns;    // the same for all
        @%over bra SHARED;
        setp.ge.u32 %idle, %turn, %turns;
        @%idle bra LATCH;
""")
"""The same, where members meet after each turn: all take part until none has one left."""

LATCH = Snippet("""
    .reg .b32 %turn, %step;
    LATCH:
        add.s32 %turn, %turn, %step;
        bra MEET;
""")


@dataclass
class Engagement:
    """Shares out the long tasks of one path, before they are served at its collection point.

    Where members have to meet after each turn, ``sharing`` says that they do it for a shared task,
    and ``head`` is where its next turn begins.
    """

    collector: SequentialDispatch
    node: SequentialNode
    induction: Induction
    label: str = field(init=False)
    sharing: Register | None = None
    head: str = field(init=False)
    quiet: str = field(init=False)

    def __post_init__(self) -> None:
        """See whether members have to meet after each turn."""
        function = self.collector.function
        self.label = function.fresh_label("engage")
        self.head = function.fresh_label("head")
        self.quiet = function.fresh_label("quiet")
        if any(self._is_long(child.path) for child in self.node.children):
            self.sharing = function.registers.fresh("pred", "sharing")

    @property
    def entrance(self) -> str:
        """Where members go who may have saved tasks, but none of their own."""
        return self.quiet if self.sharing else self.node.collect

    def _is_long(self, path: Path) -> bool:
        facts = self.collector.facts
        length = sum(1 for _ in instructions_of(path.blocks, facts))
        return length >= LONG_PATH or any(loop.blocks <= path.blocks for loop in facts.loops)

    def emit(self) -> None:
        """Emit what all members come by on their way to the collection point."""
        collector, emit = self.collector, self.collector.at(self.label)
        turns = count_turns(emit, self.induction, self._value)
        following = collector.function.fresh_label("next")
        pending, collect = self.node.pending, self.node.collect
        given: dict[str, Given] = {"turns": turns, "mask": collector.mask}
        lanes = ENGAGE.emit(emit, given, pending=pending, NEXT=following)["lanes"]
        if self.sharing:
            QUIET.emit(emit, lanes=lanes, QUIET=self.quiet, NEXT=following)
            scope: dict[str, Given] = {"lanes": lanes, "NEXT": following}
            NEXT_SHARING.emit(emit, scope, sharing=self.sharing, COLLECT=collect)
        else:
            NEXT.emit(emit, lanes=lanes, NEXT=following, COLLECT=collect)
        self._emit_share(emit, lanes, turns, following)

    def _value(self, register: Register) -> Register:
        """Where a register's value is that the task begins with."""
        return self.node.plan.snapshot.get(register, register)

    def _emit_share(self, emit: Emitter, lanes: Register, turns: Register, following: str) -> None:
        """Every member takes one in so many turns of the first of the lanes with a long task."""
        collector, plan = self.collector, self.node.plan
        source = FIRST.emit(emit, lanes=lanes, mask=collector.mask)["source"]
        registers = {r: self._receive(emit, copy, source) for r, copy in plan.snapshot.items()}
        specials = {s: self._receive(emit, copy, source) for s, copy in plan.specials.items()}
        for register, slots in collector.accumulators_at(self.node, plan.path.entry):
            emit.emit(move(register), registers[register], slots.neutral)
        mine = self._receive(emit, turns, source)
        shares = SHARES.emit(emit, rank_bytes=collector.rank_bytes, warp_bytes=collector.warp_bytes)
        turn, step = shares["turn"], shares["step"]
        latch, shared = (
            collector.function.fresh_label("latch"),
            collector.function.fresh_label("shared"),
        )
        scope: dict[str, Given] = {
            "turn": turn, "turns": mine, "HEAD": self.head, "SHARED": shared, "LATCH": latch
        }  # fmt: skip
        if self.sharing:
            rank = emit.define("mov.b32", "b32", turn, name="rank")
            emit.emit("bra", self.node.collect)
            HEAD_SHARING.emit(emit, scope, rank=rank)
        else:
            HEAD.emit(emit, scope)
        self._emit_turn(emit, turn, registers, specials, latch)
        emit = collector.here
        meet = collector.resume(self.node) if self.sharing else self.head
        LATCH.emit(emit, turn=turn, step=step, LATCH=latch, MEET=meet)
        emit.start(shared)
        collector.combine(emit, self.node, plan.path.entry, registers, specials)
        emit.emit("bra", following)

    def _receive(self, emit: Emitter, value: Register, source: Register) -> Register:
        """A value of another lane, in a new register."""
        copy = emit.function.registers.fresh(value.type)
        last, mask = WARP_SIZE - 1, self.collector.mask
        words = [
            emit.define("shfl.sync.idx.b32", "b32", word, source, last, mask)
            for word in split(emit, value)
        ]
        join(emit, copy, words)
        return copy

    def _emit_turn(
        self,
        emit: Emitter,
        turn: Register,
        registers: dict[Register, Register],
        specials: dict[Special, Register],
        latch: str,
    ) -> None:
        """One turn of the path, begun with the state that it has then."""
        collector, path = self.collector, self.node.path
        state = dict(registers)
        for register, gain in self.induction.steps.items():
            step = registers.get(gain, gain) if isinstance(gain, Register) else gain
            state[register] = advance(emit, registers[register], step, turn)
        collector.name_definitions(emit, path, state)
        inner = self.node.children if self.sharing else []
        within = frozenset().union(*(child.path.blocks for child in inner))
        labels = collector.fresh_labels(path.blocks - within, "turn")
        entries = {child.path.entry: collector.function.fresh_label("inner") for child in inner}
        sinks = {
            target: latch for target in collector.targets_of(path.blocks) if target not in labels
        }
        copy = Copy({**sinks, **labels, **entries}, state, specials)
        emit.emit("bra", labels[path.entry])
        known = len(collector.function.blocks)
        collector.function.blocks += copy.blocks(collector.function, path.blocks - within)
        for child in inner:
            collector.enter_inner(cast("SequentialNode", child), self.node, copy)
        for block in collector.function.blocks[known:]:
            retarget(collector.function, block, labels[path.entry], latch)
