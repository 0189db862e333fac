"""Rewriting one loop for :mod:`ccc.passes.flattening.flattening`, which shows the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ccc.analysis.cfg import reachable
from ccc.analysis.paths.iteration_space import IterationSpace
from ccc.analysis.paths.model import instructions_of
from ccc.analysis.paths.nests import Nest
from ccc.errors import Span
from ccc.ir.edit import (
    Copy,
    Emitter,
    jump,
    keep_blocks,
    make_explicit,
    put_behind,
    remove_jumps_to_next,
    retarget,
)
from ccc.ir.nodes import Block, Guard
from ccc.passes.context_collection.members import ORDER, count_members
from ccc.passes.flattening.grid_pool import GridPool
from ccc.passes.flattening.iteration_pool import ENDS, NEXT, POOLED_ANEW, IterationPool
from ccc.passes.grid_stride.task_counter import CounterTable
from ccc.passes.policy import turns_apart
from ccc.pipeline import Kernel
from ccc.ptx.opcodes import Unit
from ccc.snippet import Given, Snippet

BEGINS = 0
"""The place of a lane that begins an iteration; those behind the inner loop follow."""

BEGIN = Snippet(
    """
    .reg .pred %turning;
    .reg .b32 %place;
        mov.pred %turning, 0;
        mov.u32 %place, BEGINS;
    """,
    BEGINS=BEGINS,
)
"""Before the loop: the lane begins an iteration."""

ANEW = Snippet(
    """
    .reg .pred %live, %nobody;
    .reg .b32 %place, %lives, %members;
    ANEW:
        setp.lt.u32 %live, %place, GONE;
        vote.sync.ballot.b32 %lives, %live, %members;
        setp.eq.b32 %nobody, %lives, 0;
        @%nobody bra LEAVE;
    """,
    "GONE",
)
"""Who has an iteration left? While one lane has, all stay."""

ALL_TURN = Snippet("""
    .reg .pred %turning, %fewer;
    .reg .b32 %turners, %lives, %members;
    MEET:
        vote.sync.ballot.b32 %turners, %turning, %members;
        setp.ne.b32 %fewer, %turners, %lives;
        @%fewer bra REFILL;
""")
"""Of ``flatten``: whoever has an iteration left is in the inner loop, or somebody goes on."""

LIMIT = Snippet(
    """
    .reg .b32 %lives, %limit;
        popc.b32 %limit, %lives;
        sub.s32 %limit, %limit, IDLE;
        max.s32 %limit, %limit, 0;
    """,
    "IDLE",
)
"""Of ``refill``: so few lanes in the inner loop are too few."""

MANY_TURN = Snippet("""
    .reg .pred %turning, %few;
    .reg .b32 %turners, %count, %limit, %members;
    MEET:
        vote.sync.ballot.b32 %turners, %turning, %members;
        popc.b32 %count, %turners;
        setp.le.u32 %few, %count, %limit;
        @%few bra REFILL;
""")
"""Of ``refill``: enough lanes are in the inner loop, or the others go on."""

TURN = Snippet("""
    .reg .pred %turning;
        @!%turning bra MEET;
""")
"""Who is not in the inner loop, since its iterations are over or it waits to go on together with
others, waits."""

WAIT = Snippet("""
    .reg .pred %turning;
        @%turning bra ANEW;
    GO_ON:
""")
"""Lanes in the inner loop wait; the others go on from their places."""

COMES = Snippet("""
    .reg .pred %turning;
        mov.pred %turning, -1;
        bra ANEW;
""")
"""A lane comes to the inner loop,"""

LEFT = Snippet(
    """
    .reg .pred %turning;
    .reg .b32 %place;
        mov.pred %turning, 0;
        mov.u32 %place, PLACE;
        bra MEET;
    """,
    "PLACE",
)
"""and it has left it."""

GOES = Snippet(
    """
    .reg .b32 %place;
        mov.u32 %place, PLACE;
        bra ONWARD;
    """,
    "PLACE",
)
"""A lane has come to the end of the last iteration, or of one without the inner loop."""


class FlattenedLoop:
    """Rewrites one loop, whose iterations are handed out if there is a ``space`` of them, to the
    lanes of a warp, or to those of all with a ``table`` of counters.

    Of a lane, ``turning`` says whether it is in the inner loop, and else ``place`` where it goes
    on: at the beginning of an iteration, behind the inner loop, or, from ``gone`` on, behind the
    loop around it.

    Attributes:
        turns: so many turns lanes do before they meet.
    """

    def __init__(
        self,
        kernel: Kernel,
        span: Span,
        nest: Nest,
        idle: int,
        space: IterationSpace | None,
        table: CounterTable | None,
        least: int = 0,
    ):
        self.kernel = kernel
        self.function = function = kernel.function
        self.facts = facts = kernel.facts
        self.span = span
        self.nest = nest
        self.inner, self.outer = nest.inner, nest.outer
        self.idle = idle
        self.left = sorted({target for _, target in self.inner.exits(facts.graph)})
        self.exits = sorted({target for _, target in self.outer.exits(facts.graph)})
        self.gone = len(self.left) + 1
        self.turns = self._turns_in_a_row()
        names = {"members": "b32", "lives": "b32", "turning": "pred", "place": "b32"}
        self.registers = {name: function.registers.fresh(t, name) for name, t in names.items()}
        labels = ("enter", "anew", "meet", "refill", "go_on", "next", "leave")
        self.labels = {name.upper(): function.fresh_label(name) for name in labels}
        self.pool: IterationPool | GridPool | None = None
        if space is not None:
            common = (space, self.gone, BEGINS, self.registers["members"])
            self.pool = IterationPool(*common) if table is None else GridPool(*common, table, least)

    def _turns_in_a_row(self) -> int:
        """One of a turn that holds a loop, which may take long."""
        facts, blocks = self.facts, self.inner.blocks
        if any(loop.blocks < blocks for loop in facts.loops):
            return 1
        return turns_apart(sum(i.unit != Unit.NOTHING for i in instructions_of(blocks, facts)))

    def rewrite(self) -> None:
        """Do it."""
        function, outer = self.function, self.outer
        make_explicit(function)
        old = {block.label for block in function.blocks}
        self._enter()
        onward = self._redirect()
        self._meet()
        self._turns()
        self._refill(onward)
        self._leave()
        put_behind(function, outer.header, outer.blocks, self.labels["ENTER"], old)
        remove_jumps_to_next(function)
        self.kernel.changed()
        keep_blocks(function, set(self.kernel.facts.graph))
        self.kernel.changed()

    def _at(self, label: str) -> Emitter:
        """An emitter for a new block of that label, behind all others."""
        block = Block(label, named=False)
        self.function.blocks.append(block)
        return Emitter(self.function, block, self.span)

    def _scope(self, *names: str) -> dict[str, Given]:
        """What these names of registers and labels stand for."""
        known: dict[str, Given] = {**self.registers, **self.labels}
        return {name: known[name] for name in names}

    def _enter(self) -> None:
        """Count the members, and come to the loop by one way."""
        header, enter = self.outer.header, self.labels["ENTER"]
        sources = self.outer.entered_from(self.facts.graph)
        emit = self._at(enter)
        count_members(
            self.function, self.facts, self.nest.reconvergence, emit, self.registers["members"],
            self.outer, (),
        )  # fmt: skip
        BEGIN.emit(emit, self._scope("turning", "place"))
        if self.pool:
            self.pool.open(emit, self.registers["place"])
        emit.emit("bra", self.labels["ANEW"])
        for source in sources:
            retarget(self.function, self.facts.blocks[source], header, enter)
        if header == self.facts.entry:
            start = Block(self.function.fresh_label("start"), [jump(enter)], named=False)
            self.function.blocks.insert(0, start)

    def _redirect(self) -> dict[str, str]:
        """What leads to the inner loop, and what leaves the outer one, comes to the meeting.

        Returns where lanes go on from the inner loop, by where they went.
        """
        anew = self.labels["ANEW"]
        outside = {target: self._goes(self.gone + n, anew) for n, target in enumerate(self.exits)}
        comes = self._at(self.function.fresh_label("comes"))
        COMES.emit(comes, self._scope("turning", "ANEW"))
        ways = {**outside, self.inner.header: comes.block.label}
        if self.pool or self._is_passed_by():
            onward = anew if self.idle > 1 and not self.pool else self.labels["GO_ON"]
            ways[self.outer.header] = self._goes(BEGINS, onward)
        for label in self.outer.blocks - self.inner.blocks:
            for target, way in ways.items():
                retarget(self.function, self.facts.blocks[label], target, way)
        for label in self.outer.blocks:
            for instruction in self.facts.blocks[label].instructions:
                # What was uniform need not be any more.
                instruction.opcode = instruction.opcode.replace(".uni", "")
        return {target: ways.get(target, target) for target in self.left}

    def _is_passed_by(self) -> bool:
        """Whether a lane may come from one iteration to the next without the inner loop.

        Then that next one begins like any other, so that no loop with two entries is left.
        """
        own = self.outer.blocks - {self.inner.header}
        header = self.outer.header

        def step(label: str) -> Iterable[str]:
            return own.intersection(self.facts.graph.successors(label)) - {header}

        return not self.outer.latches.isdisjoint(reachable(step, [header]))

    def _goes(self, place: int, onward: str) -> str:
        """Where a lane remembers its place."""
        emit = self._at(self.function.fresh_label("goes"))
        label = emit.block.label
        if self.pool:
            scope = {**self._scope("place", "NEXT"), **self.pool.scope("pooled")}
            ENDS.of(PLACE=place).emit(emit, scope, ONWARD=onward)
        else:
            GOES.of(PLACE=place).emit(emit, self._scope("place"), ONWARD=onward)
        return label

    def _meet(self) -> None:
        """The meeting: run turns, go on, or leave."""
        emit = Emitter(self.function, self.function.blocks[-1], self.span)
        scope = self._scope("place", "lives", "members", "ANEW", "LEAVE")
        if self.pool:
            POOLED_ANEW.of(GONE=self.gone).emit(emit, scope, **self.pool.scope("more"))
        else:
            ANEW.of(GONE=self.gone).emit(emit, scope)
        names = ("turning", "members", "MEET", "REFILL")
        if self.idle == 1:
            ALL_TURN.emit(emit, self._scope(*names, "lives"))
        else:
            limit = LIMIT.of(IDLE=self.idle).emit(emit, self._scope("lives"))["limit"]
            MANY_TURN.emit(emit, self._scope(*names), limit=limit)
        if isinstance(self.pool, GridPool):
            # Nothing relies on it, but ptxas does better. On an H200 (2026-11-23) path_tracing was
            # 2.44 times as fast as the original with it, with 46 registers, and 2.32 without, with
            # 40 and two that were spilled; random walks with `flatten` were as fast either way.
            ORDER.emit(emit, self._scope("members"))
        TURN.emit(emit, self._scope("turning", "MEET"))
        emit.emit("bra", self.inner.header)

    def _turns(self) -> None:
        """Some turns in a row: the inner loop, and copies of it, each with its ways out."""
        function, inner = self.function, self.inner
        left = {target: self._left(1 + n) for n, target in enumerate(self.left)}
        order = [block.label for block in function.blocks if block.label in inner.blocks]
        copies = [
            {label: function.fresh_label("turn") for label in order} for _ in range(1, self.turns)
        ]
        behind = [labels[inner.header] for labels in copies] + [self.labels["MEET"]]
        for labels, again in zip(copies, behind[1:], strict=True):
            for block in Copy({**left, **labels}).blocks(function, inner.blocks):
                retarget(function, block, labels[inner.header], again)
                function.blocks.append(block)
        for label in inner.blocks:
            for target, way in {**left, inner.header: behind[0]}.items():
                retarget(function, self.facts.blocks[label], target, way)

    def _left(self, place: int) -> str:
        """Where a lane that has left the inner loop remembers its place."""
        emit = self._at(self.function.fresh_label("left"))
        LEFT.of(PLACE=place).emit(emit, self._scope("turning", "place", "MEET"))
        return emit.block.label

    def _refill(self, onward: Mapping[str, str]) -> None:
        """Lanes that are not in the inner loop go on; whoever has no iteration left waits."""
        emit = Emitter(self.function, self.function.blocks[-1], self.span)
        if self.pool:
            self.pool.give(emit, self.registers["turning"], self.labels["REFILL"])
        else:
            emit.start(self.labels["REFILL"])
        WAIT.emit(emit, self._scope("turning", "ANEW", "GO_ON"))
        behind = [(1 + number, onward[target]) for number, target in enumerate(self.left)]
        idle = self.labels["NEXT" if self.pool else "ANEW"]
        for place, target in reversed([*behind, (self.gone, idle)]):
            self._branch(emit, "ge", place, target)
        emit.emit("bra", self.outer.header)
        if self.pool:
            self._begin_given(self.pool)

    def _begin_given(self, pool: IterationPool | GridPool) -> None:
        """Where a lane that is through with an iteration begins the one that it was given."""
        emit = self._at(self.function.fresh_label("next"))
        scope = {**self._scope("place", "NEXT", "ANEW", "GO_ON"), **pool.scope("has")}
        NEXT.of(GONE=self.gone, BEGINS=BEGINS).emit(emit, scope, load=pool.load)

    def _leave(self) -> None:
        """Every lane goes to where it wanted to go."""
        emit = self._at(self.labels["LEAVE"])
        if self.pool:
            self.pool.close(emit)
        *others, last = self.exits
        for number, target in enumerate(others):
            self._branch(emit, "eq", self.gone + number, target)
        emit.emit("bra", last)

    def _branch(self, emit: Emitter, comparison: str, place: int, target: str) -> None:
        """Go to ``target`` where the place compares with another one as told."""
        register, kind = self.registers["place"], f"setp.{comparison}.u32"
        here = emit.define(kind, "pred", register, place, name="here")
        emit.emit("bra", target, guard=Guard(here))
