"""Engaging the whole warp on one long task (no pass; serving in a row uses it).

Some inner loops turn so often that their lane is still busy when all others have nothing left, as
with the hubs of a graph. Where the turns are independent (``for variable``) and can be counted, a
long task is shared out at once: every member takes one turn in so many, and neighbouring lanes
neighbouring turns, whose memory lies together.

Paths in the loop are no more than branches then, if they are short. Where one of them is long, the
members meet after each turn, and serve those paths as they do after any other turn.

    ENGAGE: // %turns: how often the lane's task turns; %long: it has one, of many turns
            vote.sync.ballot.b32 %lanes, %long, %members;
    NEXT:   // no lanes left? then go to COLLECT
            bar.warp.sync %members;
            shfl.sync.idx.b32 %context, %own_context, <the first of them>, 31, %members;
            mov.b32 %turn, <this lane's rank>;
    HEAD:   // no turn left? then go to NEXT
            mad.lo.s32 %state, %turn, <step>, %context;
            <one turn of the path, on registers of its own>
            add.s32 %turn, %turn, <number of members>;
            bra HEAD;                  // or to COLLECT of the paths inside, and then HEAD
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccc.analysis.paths.induction import Induction, number_of_type
from ccc.analysis.paths.model import Path, instructions_of
from ccc.ir.edit import Copy, Emitter, retarget
from ccc.ir.nodes import Block
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.context_stack import join, split
from ccc.passes.policy import LONG, LONG_PATH
from ccc.ptx.types import WARP_SIZE

if TYPE_CHECKING:
    from ccc.passes.context_collection.collection_row import Row

MOST = 1 << 30
"""Turns up to which they are counted in 32 bits."""


@dataclass
class Engagement:
    """Shares out the long tasks of one path, before it is served at ``collect``."""

    row: Row
    number: int
    induction: Induction
    block: Block
    collect: str
    sharing: Register | None = None
    head: Block | None = None
    quiet: Block | None = None

    def __post_init__(self) -> None:
        """See whether members have to meet after each turn."""
        row = self.row
        inner = [row.plans[n].path for n in row.inside(self.number)]
        if any(self._is_long(path) for path in inner):
            self.sharing = row.function.registers.fresh("pred")
            self.head, _ = row.block("head")
            self.quiet, _ = row.block("quiet")

    @property
    def entrance(self) -> str:
        """Where members go who may have saved tasks, but none of their own.

        Where the collection point leads back to what is shared out, there is one way in for all:
        else that loop would have two entries.
        """
        return self.quiet.label if self.quiet else self.collect

    @property
    def path(self) -> Path:
        """The path whose tasks are shared out."""
        return self.row.plans[self.number].path

    def _is_long(self, path: Path) -> bool:
        facts = self.row.facts
        length = sum(1 for _ in instructions_of(path.blocks, facts))
        return length >= LONG_PATH or any(loop.blocks <= path.blocks for loop in facts.loops)

    def emit(self) -> None:
        """Emit what all members come by on their way to the collection point."""
        emit = self.row.emitter(self.block)
        pending = self.row.pending[self.number]
        turns = self._turns(emit)
        long = emit.define("setp.ge.u32", "pred", turns, LONG)
        countable = emit.define("setp.lt.u32", "pred", turns, MOST)
        emit.emit("and.pred", long, long, countable)
        emit.emit("and.pred", long, long, pending)
        lanes = emit.define("vote.sync.ballot.b32", "b32", long, self.row.members)
        others = emit.define("not.pred", "pred", long)
        emit.emit("and.pred", pending, pending, others)
        following, emit_next = self.row.block("next")
        emit.emit("bra", following.label)
        if self.quiet:
            emit_quiet = self.row.emitter(self.quiet)
            emit_quiet.emit("mov.b32", lanes, 0)
            emit_quiet.emit("bra", following.label)
        none = emit_next.define("setp.eq.b32", "pred", lanes, 0)
        if self.sharing:
            emit_next.emit("not.pred", self.sharing, none)
        share, emit_share = self.row.block("share")
        emit_next.branch(none, self.collect, share.label)
        self._emit_share(emit_share, lanes, turns, following.label)

    def _value(self, register: Register) -> Register:
        """Where a register's value is that the task begins with."""
        return self.row.plans[self.number].snapshot.get(register, register)

    def _turns(self, emit: Emitter) -> Register:
        """How often the loop turns: at least once, since it tests at the end. 0: too often.

        That is exact where the task begins before its bound. Where it does not, its first step may
        wrap to where it does: then 1 is too few, but such a task is not shared out.
        """
        induction = self.induction
        bits, counter = induction.counter.bits, self._value(induction.counter)
        bound = induction.bound
        bound = self._value(bound) if isinstance(bound, Register) else bound
        number = bound if isinstance(bound, Register) else number_of_type(bound, f"s{bits}")
        ends = (number, counter) if induction.steps[induction.counter] == 1 else (counter, number)
        turns = emit.define(f"sub.s{bits}", f"b{bits}", *ends)
        if induction.relation in ("le", "ge"):
            emit.emit(f"add.s{bits}", turns, turns, 1)
        if induction.relation != "ne":
            test = f"setp.{induction.relation}.{induction.type}"
            emit.emit(f"selp.b{bits}", turns, turns, 1, emit.define(test, "pred", counter, bound))
        if induction.last is not None and isinstance(bound, Register):
            ends_ever = emit.define(f"setp.ne.{induction.type}", "pred", bound, induction.last)
            emit.emit(f"selp.b{bits}", turns, turns, 0, ends_ever)
        if bits == 64:
            few = emit.define("setp.lt.u64", "pred", turns, MOST)
            low = emit.define("cvt.u32.u64", "b32", turns)
            turns = emit.define("selp.b32", "b32", low, 0, few)
        return turns

    def _emit_share(self, emit: Emitter, lanes: Register, turns: Register, following: str) -> None:
        """Every member takes one in so many turns of the first of the lanes with a long task."""
        row, plan = self.row, self.row.plans[self.number]
        # Every member may read what the task's owner has written before it came here.
        emit.emit("bar.warp.sync", row.members)
        source = emit.define("clz.b32", "b32", emit.define("brev.b32", "b32", lanes))
        others = emit.define("add.s32", "b32", lanes, -1)
        emit.emit("and.b32", lanes, lanes, others)
        registers = {r: self._receive(emit, copy, source) for r, copy in plan.snapshot.items()}
        specials = {s: self._receive(emit, copy, source) for s, copy in plan.specials.items()}
        for register, slots in row.accumulators_at(self.number, plan.path.entry):
            emit.emit(f"mov.b{register.bits}", registers[register], slots.neutral)
        mine = self._receive(emit, turns, source)
        turn = emit.define("shr.u32", "b32", row.rank, 2)
        members = emit.define("shr.u32", "b32", row.full, 2)
        head = self.head or row.block("head")[0]
        emit_head = row.emitter(head)
        first = turn
        if self.sharing:
            rank = emit.define("mov.b32", "b32", turn)
            first = emit_head.define("sub.s32", "b32", turn, rank)
        emit.emit("bra", self.collect if self.sharing else head.label)
        over = emit_head.define("setp.ge.u32", "pred", first, mine)
        done, emit_done = row.block("shared")
        begin, emit_begin = row.block("turn")
        emit_head.branch(over, done.label, begin.label)
        latch, emit_latch = row.block("latch")
        if self.sharing:
            has = emit_begin.define("setp.lt.u32", "pred", turn, mine)
            has_one, emit_has_one = row.block("mine")
            emit_begin.branch(has, has_one.label, latch.label)
            emit_begin = emit_has_one
        self._emit_turn(emit_begin, turn, registers, specials, latch.label)
        emit_latch.emit("add.s32", turn, turn, members)
        emit_latch.emit("bra", row.landing(self.number) if self.sharing else head.label)
        row.combine(emit_done, self.number, plan.path.entry, registers, specials)
        emit_done.emit("bra", following)

    def _receive(self, emit: Emitter, value: Register, source: Register) -> Register:
        """A value of another lane, in a new register."""
        copy = emit.function.registers.fresh(value.type)
        last, members = WARP_SIZE - 1, self.row.members
        words = [
            emit.define("shfl.sync.idx.b32", "b32", word, source, last, members)
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
        row, path = self.row, self.row.plans[self.number].path
        state = dict(registers)
        for register, gain in self.induction.steps.items():
            state[register] = self._advance(emit, registers, register, gain, turn)
        row.name_definitions(emit, path, state)
        inner = row.inside(self.number) if self.sharing else []
        within = frozenset().union(*(row.plans[n].path.blocks for n in inner))
        labels = row.fresh_labels(path.blocks - within, "turn")
        entries = {row.plans[n].path.entry: row.function.fresh_label("inner") for n in inner}
        sinks = {target: latch for target in row.targets_of(path.blocks) if target not in labels}
        copy = Copy({**sinks, **labels, **entries}, state, specials)
        known = len(row.function.blocks)
        row.function.blocks += copy.blocks(row.function, path.blocks - within)
        for n in inner:
            row.enter_inner(n, self.number, copy)
        for block in row.function.blocks[known:]:
            retarget(row.function, block, labels[path.entry], latch)
        emit.emit("bra", labels[path.entry])

    def _advance(
        self,
        emit: Emitter,
        registers: dict[Register, Register],
        register: Register,
        gain: int | Register,
        turn: Register,
    ) -> Register:
        """What a carried register holds at the beginning of a turn."""
        bits = register.bits
        begin = registers[register]
        step = registers.get(gain, gain) if isinstance(gain, Register) else gain
        if bits == 64 and isinstance(step, int) and number_of_type(step, "s32") == step:
            return emit.define("mad.wide.s32", register.type, turn, step, begin)
        factor = emit.define("cvt.u64.u32", "b64", turn) if bits == 64 else turn
        return emit.define(f"mad.lo.s{bits}", register.type, factor, step, begin)
