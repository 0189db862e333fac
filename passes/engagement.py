"""Engaging the whole warp on one long task (no pass; serving in a row uses it).

Some inner loops turn so often that their lane is still busy when all others have nothing left, as
with the hubs of a graph. Where the turns are independent (``for variable``) and can be counted, a
long task is shared out at once: every member takes one turn in so many, and neighbouring lanes
neighbouring turns, whose memory lies together. Paths in the loop are then no more than branches.

    ENGAGE: // %turns: how often the lane's task turns; %long: it has one, of many turns
            vote.sync.ballot.b32 %lanes, %long, %members;
    NEXT:   // no lanes left? then go to COLLECT
            shfl.sync.idx.b32 %context, %own_context, <the first of them>, 31, %members;
            mov.b32 %turn, <this lane's rank>;
    HEAD:   // no turn left? then go to NEXT
            mad.lo.s32 %state, %turn, <step>, %context;
            <one turn of the path, on registers of its own>
            add.s32 %turn, %turn, <number of members>;
            bra HEAD;
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccc.analysis.induction import Induction
from ccc.ir.edit import Copy, Emitter, retarget
from ccc.ir.nodes import Block, Register, Special
from ccc.passes.context_stack import join, split
from ccc.ptx.types import WARP_SIZE

if TYPE_CHECKING:
    from ccc.passes.collection_row import Row

LONG = 16
"""Turns from which on a task is shared out. On an H200, breadth-first search of an R-MAT graph of
2^20 vertices was 6.7, 6.3, 6.0 and 5.3 times as fast with 16, 32, 64 and 128 (2026-11-20)."""
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
        none = emit_next.define("setp.eq.b32", "pred", lanes, 0)
        share, emit_share = self.row.block("share")
        emit_next.branch(none, self.collect, share.label)
        self._emit_share(emit_share, lanes, turns, following.label)

    def _value(self, register: Register) -> Register:
        """Where a register's value is that the task begins with."""
        return self.row.plans[self.number].snapshot.get(register, register)

    def _turns(self, emit: Emitter) -> Register:
        """How often the loop turns: at least once, since it tests at the end. 0: too often."""
        induction = self.induction
        bits, counter = induction.counter.bits, self._value(induction.counter)
        bound = induction.bound
        bound = self._value(bound) if isinstance(bound, Register) else bound
        ends = (bound, counter) if induction.steps[induction.counter] == 1 else (counter, bound)
        turns = emit.define(f"sub.s{bits}", f"b{bits}", *ends)
        if induction.relation in ("le", "ge"):
            emit.emit(f"add.s{bits}", turns, turns, 1)
        if induction.relation != "ne":
            test = f"setp.{induction.relation}.{induction.type}"
            emit.emit(f"selp.b{bits}", turns, turns, 1, emit.define(test, "pred", counter, bound))
        if bits == 64:
            few = emit.define("setp.lt.u64", "pred", turns, MOST)
            low = emit.define("cvt.u32.u64", "b32", turns)
            turns = emit.define("selp.b32", "b32", low, 0, few)
        return turns

    def _emit_share(self, emit: Emitter, lanes: Register, turns: Register, following: str) -> None:
        """Every member takes one in so many turns of the first of the lanes with a long task."""
        row, plan = self.row, self.row.plans[self.number]
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
        head, emit_head = row.block("head")
        emit.emit("bra", head.label)
        over = emit_head.define("setp.ge.u32", "pred", turn, mine)
        done, emit_done = row.block("shared")
        begin, emit_begin = row.block("turn")
        emit_head.branch(over, done.label, begin.label)
        latch, emit_latch = row.block("latch")
        self._emit_turn(emit_begin, turn, registers, specials, latch.label)
        emit_latch.emit("add.s32", turn, turn, members)
        emit_latch.emit("bra", head.label)
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
            factor, opcode = turn, f"mad.lo.s{register.bits}"
            step = gain
            if isinstance(gain, Register):
                step = registers.get(gain, gain)
                factor = emit.define("cvt.u64.u32", "b64", turn) if register.bits == 64 else turn
            elif register.bits == 64:
                opcode = "mad.wide.s32"
            state[register] = emit.define(opcode, register.type, factor, step, registers[register])
        row.name_definitions(emit, path, state)
        labels = row.fresh_labels(path.blocks, "turn")
        sinks = {target: latch for target in row.targets_of(path.blocks) if target not in labels}
        blocks = Copy({**sinks, **labels}, state, specials).blocks(row.function, path.blocks)
        for block in blocks:
            retarget(row.function, block, labels[path.entry], latch)
        row.function.blocks += blocks
        emit.emit("bra", labels[path.entry])
