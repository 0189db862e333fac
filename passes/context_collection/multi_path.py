"""Multi-path: serving paths that exclude one another together (dissertation section 4.1.2).

A lane takes at most one case of a switch, or one arm of an ``if``, in an iteration. So one register
says which one waits, one set of snapshot registers serves all of them, and at the collection point
every lane pushes at the same time, each onto the stack of its case:

    COLLECT:
            vote.sync.any.pred %any, %waits, %members;   // nobody? then go to CHECK
            @%waits atom.shared.add.u32 %place, [%tops + 4 * %case], 4;
            // %over: no room, %place is not below a full warp's; then [%overflow + %rank]
            @%waits st.shared.b32 [%stack_of_case + %place], %context;
            // %ready: with this one, the lane's case has a full warp of tasks
            bar.warp.sync %members;
    NEXT:   vote.sync.ballot.b32 %lanes, %ready, %members;
            // nobody's? then go to AGAIN
            shfl.sync.idx.b32 %chosen, %case, <the first of them>, 31, %members;
    POP:    // every member pops a task of the chosen case; what overflowed moves up
            brx.idx %chosen, {RUN_0, RUN_1, ...};
"""

from __future__ import annotations

from ccc.analysis.paths.model import AnnotatedLoop
from ccc.ir.edit import Emitter, add_block
from ccc.ir.operands import Address, Register, Symbol
from ccc.passes.context_collection.collector import Collector
from ccc.passes.context_collection.layout import TOP_BYTES, Layout
from ccc.pipeline import Kernel
from ccc.ptx.types import WARP_SIZE


class MultiPath(Collector):
    """Serves the cases together."""

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout):
        super().__init__(kernel, loop, layout)
        fresh = self.function.registers.fresh
        self.none = len(self.plans)
        self.case = fresh("b32")
        self.chosen = fresh("b32")
        self.mine = fresh("b32")
        self.position = fresh("b32")
        self.over = fresh("pred")
        self.ready = fresh("pred")
        self.first = self.plans[0].stack
        assert layout.overflow is not None
        self.overflow = layout.overflow
        self.tops = layout.tops
        self.collect = add_block(self.function, "collect")
        self.next = add_block(self.function, "next")
        self.pop = add_block(self.function, "pop")

    @property
    def meeting(self) -> str:
        """The one collection point."""
        return self.collect.label

    def landing(self, number: int) -> str:  # noqa: ARG002 - the same for all
        """After a task, to the next case that has enough."""
        return self.next.label

    def prepare(self, emit: Emitter) -> None:
        """No task yet, and nothing saved; each lane writes the same."""
        emit.emit("mov.b32", self.case, self.none)
        zero = emit.define("mov.b32", "b32", 0)
        for number in range(self.none):
            emit.emit("st.shared.b32", Address(self.base, self.tops + 4 * number), zero)
        emit.emit("bar.warp.sync", self.members)

    def note(self, emit: Emitter, number: int) -> None:
        """One register says which."""
        emit.emit("mov.b32", self.case, number)

    def serve(self) -> None:
        """Push, and as long as there is a case with enough tasks, pop and run."""
        self._emit_push()
        self._emit_next()
        self._emit_pop()

    def drain(self, emit: Emitter) -> Emitter:
        """One case after the other, as if every lane had pushed a task of it."""
        emit.emit("mov.pred", self.over, 0)
        for number in range(self.none):
            top = emit.define("ld.shared.b32", "b32", Address(self.base, self.tops + 4 * number))
            emit.emit("setp.ne.b32", self.ready, top, 0)
            emit.emit("mov.b32", self.mine, number)
            following, emit_following = self.block("done")
            emit.branch(self.ready, self.next.label, following.label)
            emit = emit_following
        return emit

    def _emit_push(self) -> None:
        emit = self.emitter(self.collect)
        waits = emit.define("setp.ne.b32", "pred", self.case, self.none)
        some = emit.define("vote.sync.any.pred", "pred", waits, self.members)
        pushing, emit_pushing = self.block("some")
        emit.branch(some, pushing.label, self.check.label)
        push, emit_push = self.block("push")
        pushed, emit_pushed = self.block("pushed")
        emit_pushing.emit("mov.b32", self.mine, self.case)
        emit_pushing.emit("mov.pred", self.over, 0)
        emit_pushing.emit("mov.pred", self.ready, 0)
        emit_pushing.branch(waits, push.label, pushed.label)
        emit_push.emit("atom.shared.add.u32", self.position, self._top(emit_push, self.case), 4)
        emit_push.emit("setp.ge.u32", self.over, self.position, self.full)
        within = self._entry(emit_push, self.case, self.position)
        beyond = emit_push.define("add.s32", "b32", self.base, self.rank)
        emit_push.emit("add.s32", beyond, beyond, self.overflow.offset - self.first.offset)
        self.first.store(emit_push, emit_push.define("selp.b32", "b32", beyond, within, self.over))
        # Who gets the last place of a full warp's tasks, or one beyond, says that they are there.
        behind = emit_push.define("add.s32", "b32", self.position, TOP_BYTES)
        emit_push.emit("setp.ge.u32", self.ready, behind, self.full)
        emit_push.emit("mov.b32", self.case, self.none)
        emit_push.emit("bra", pushed.label)
        emit_pushed.emit("bar.warp.sync", self.members)
        emit_pushed.emit("bra", self.next.label)

    def _emit_next(self) -> None:
        """Take the case of the first lane whose case is ready."""
        emit = self.emitter(self.next)
        lanes = emit.define("vote.sync.ballot.b32", "b32", self.ready, self.members)
        none = emit.define("setp.eq.b32", "pred", lanes, 0)
        choose, emit_choose = self.block("choose")
        emit.branch(none, self.again.label, choose.label)
        reverse = emit_choose.define("brev.b32", "b32", lanes)
        lane = emit_choose.define("clz.b32", "b32", reverse)
        last = WARP_SIZE - 1
        emit_choose.emit("shfl.sync.idx.b32", self.chosen, self.mine, lane, last, self.members)
        other = emit_choose.define("setp.ne.b32", "pred", self.mine, self.chosen)
        emit_choose.emit("and.pred", self.ready, self.ready, other)
        emit_choose.emit("bra", self.pop.label)

    def _emit_pop(self) -> None:
        """As many lanes as the chosen case has tasks, at most all, pop one each and run it.

        The barriers keep the loads behind the stores of earlier rounds, and before later ones.
        """
        emit = self.emitter(self.pop)
        address = self._top(emit, self.chosen)
        top = emit.define("ld.shared.b32", "b32", address)
        has = emit.define("setp.lt.u32", "pred", self.rank, top)
        take, emit_take = self.block("take")
        taken, emit_taken = self.block("taken")
        emit.branch(has, take.label, taken.label)
        self.first.load(emit_take, self._entry(emit_take, self.chosen, self.rank))
        emit_take.emit("bra", taken.label)
        emit_taken.emit("bar.warp.sync", self.members)
        same = emit_taken.define("setp.eq.b32", "pred", self.mine, self.chosen)
        moves = emit_taken.define("and.pred", "pred", self.over, same)
        move, emit_move = self.block("move")
        moved, emit_moved = self.block("moved")
        emit_taken.branch(moves, move.label, moved.label)
        self._move_up(emit_move)
        emit_move.emit("bra", moved.label)
        first = emit_moved.define("setp.eq.b32", "pred", self.rank, 0)
        least = emit_moved.define("min.u32", "b32", top, self.full)
        left = emit_moved.define("sub.s32", "b32", top, least)
        lower, emit_lower = self.block("lower")
        lowered, emit_lowered = self.block("lowered")
        emit_moved.branch(first, lower.label, lowered.label)
        emit_lower.emit("st.shared.b32", address, left)
        emit_lower.emit("bra", lowered.label)
        emit_lowered.emit("bar.warp.sync", self.members)
        running, emit_running = self.block("running")
        emit_lowered.branch(has, running.label, self.next.label)
        table = self.function.fresh_label("cases")
        self.function.targets[table] = tuple(block.label for block in self.run_blocks)
        emit_running.emit("brx.idx", self.chosen, Symbol(table))

    def _move_up(self, emit: Emitter) -> None:
        """Move what this lane pushed beyond a full warp's tasks to where they were."""
        source = emit.define("add.s32", "b32", self.base, self.rank)
        place = emit.define("sub.s32", "b32", self.position, self.full)
        target = self._entry(emit, self.chosen, place)
        self.overflow.copy(emit, source, self.first, target)

    def _top(self, emit: Emitter, case: Register) -> Address:
        return Address(emit.define("mad.lo.s32", "b32", case, 4, self.base), self.tops)

    def _entry(self, emit: Emitter, case: Register, place: Register) -> Register:
        """The address of an entry of the stack of a case, without the first stack's offset."""
        stack = emit.define("mad.lo.s32", "b32", case, self.first.bytes, self.base)
        return emit.define("add.s32", "b32", stack, place)
