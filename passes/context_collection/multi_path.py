"""Multi-path: dispatching paths that exclude one another together (dissertation section 4.1.2).

A lane takes at most one case of a switch, or one arm of an ``if``, in an iteration. So one register
says which one waits, one set of snapshot registers serves all of them, and at the collection point
every lane pushes at the same time, each onto the stack of its case. A case that has a full warp of
tasks then is chosen, all pop one, and a ``brx.idx`` leads to its code; then the next such case.
"""

from __future__ import annotations

from ccc.analysis.paths.model import AnnotatedLoop
from ccc.ir.edit import Emitter
from ccc.ir.operands import Address, Register, Symbol
from ccc.passes.context_collection.collector import Collector
from ccc.passes.context_collection.layout import TOP_BYTES, Layout, Plan
from ccc.passes.context_collection.node import Node
from ccc.pipeline import Kernel
from ccc.snippet import Given, Snippet

PUSH = Snippet(
    """
    .reg .pred %waits, %some, %over, %ready;
    .reg .b32 %case, %none, %mine, %mask, %top, %base, %offset, %warp_bytes, %rank_bytes;
    .reg .b32 %stack, %within, %beyond, %address, %behind;
    COLLECT:
        setp.ne.b32 %waits, %case, %none;
        vote.sync.any.pred %some, %waits, %mask;
        @!%some bra CHECK;
        mov.b32 %mine, %case;
        mov.pred %over, 0;
        mov.pred %ready, 0;
        @!%waits bra PUSHED;
        mad.lo.s32 %top, %case, TOP_BYTES, %base;
        atom.shared.add.u32 %offset, [%top+TOPS], TOP_BYTES;
        setp.ge.u32 %over, %offset, %warp_bytes;
        mad.lo.s32 %stack, %case, STACK_BYTES, %base;
        add.s32 %within, %stack, %offset;
        add.s32 %beyond, %base, %rank_bytes;  // no room there: then where all overflow
        add.s32 %beyond, %beyond, OVERFLOW;
        selp.b32 %address, %beyond, %within, %over;
        call push, (%address);
        add.s32 %behind, %offset, TOP_BYTES;   // who gets the last place of a full warp's tasks,
        setp.ge.u32 %ready, %behind, %warp_bytes;  // or one beyond, says that they are there
        mov.b32 %case, %none;
    PUSHED:
        bar.warp.sync %mask;
    """,
    "TOP_BYTES", "TOPS", "STACK_BYTES", "OVERFLOW",
)  # fmt: skip
"""The collection point: every lane with a task pushes it onto the stack of its case."""

NEXT = Snippet("""
    .reg .pred %ready, %nobody, %other;
    .reg .b32 %lanes, %mask, %reverse, %lane, %chosen, %mine;
    NEXT:
        vote.sync.ballot.b32 %lanes, %ready, %mask;
        setp.eq.b32 %nobody, %lanes, 0;
        @%nobody bra AGAIN;
        brev.b32 %reverse, %lanes;
        clz.b32 %lane, %reverse;
        shfl.sync.idx.b32 %chosen, %mine, %lane, 31, %mask;
        setp.ne.b32 %other, %mine, %chosen;
        and.pred %ready, %ready, %other;
""")
"""Take the case of the first lane whose case is ready."""

POP = Snippet(
    """
    .reg .pred %has, %same, %over, %moves, %first;
    .reg .b32 %chosen, %top, %base, %saved, %rank_bytes, %warp_bytes, %stack, %address, %mask;
    .reg .b32 %mine, %offset, %source, %beyond, %target, %least, %left;
        mad.lo.s32 %top, %chosen, TOP_BYTES, %base;
        ld.shared.b32 %saved, [%top+TOPS];
        setp.lt.u32 %has, %rank_bytes, %saved;
        @!%has bra TAKEN;
        mad.lo.s32 %stack, %chosen, STACK_BYTES, %base;
        add.s32 %address, %stack, %rank_bytes;
        call pop, (%address);
    TAKEN:
        bar.warp.sync %mask;                  // before the stores of what moves up
        setp.eq.b32 %same, %mine, %chosen;
        and.pred %moves, %over, %same;
        @!%moves bra MOVED;
        add.s32 %source, %base, %rank_bytes;
        sub.s32 %beyond, %offset, %warp_bytes;
        mad.lo.s32 %stack, %chosen, STACK_BYTES, %base;
        add.s32 %target, %stack, %beyond;
        call move_up, (%source, %target);
    MOVED:
        setp.eq.b32 %first, %rank_bytes, 0;
        min.u32 %least, %saved, %warp_bytes;
        sub.s32 %left, %saved, %least;
        @!%first bra LOWERED;
        st.shared.b32 [%top+TOPS], %left;
    LOWERED:
        bar.warp.sync %mask;                  // before later loads
        @!%has bra NEXT;
    """,
    "TOP_BYTES", "TOPS", "STACK_BYTES",
)  # fmt: skip
"""As many lanes as the chosen case has tasks, at most all, pop one each and run it. What overflowed
moves up to where they were."""

DRAIN = Snippet(
    """
    .reg .pred %ready;
    .reg .b32 %base, %saved, %mine;
        ld.shared.b32 %saved, [%base+TOP];
        setp.ne.b32 %ready, %saved, 0;
        mov.b32 %mine, NUMBER;
        @%ready bra NEXT;
    """,
    "TOP", "NUMBER",
)  # fmt: skip
"""In the end, one case after the other, as if every lane had pushed a task of it."""


class MultiPath(Collector[Node]):
    """Dispatches the tasks of all cases together."""

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout):
        super().__init__(kernel, loop, layout)
        fresh = self.function.registers.fresh
        self.none = len(self.nodes)
        self.case = fresh("b32", "case")
        self.first = layout.plans[0].stack
        assert layout.overflow is not None
        self.overflow = layout.overflow
        self.tops = layout.tops
        self.collect = self.function.fresh_label("collect")
        self.next = self.function.fresh_label("next")
        self.state: dict[str, Given] = {
            "mine": fresh("b32", "mine"), "over": fresh("pred", "over"),
            "ready": fresh("pred", "ready"), "offset": fresh("b32", "offset"),
        }  # fmt: skip

    def node(self, plan: Plan, number: int, parent: Node | None, run: str) -> Node:
        """Nothing of its own."""
        return Node(plan, number, parent, run)

    @property
    def meeting(self) -> str:
        """The one collection point."""
        return self.collect

    def resume(self, node: Node) -> str:  # noqa: ARG002 - the same for all
        """After a task, to the next case that has enough."""
        return self.next

    def prepare(self, emit: Emitter) -> None:
        """No task yet, and nothing saved; each lane writes the same."""
        emit.emit("mov.b32", self.case, self.none)
        zero = emit.define("mov.b32", "b32", 0, name="zero")
        for number in range(self.none):
            top = Address(self.base, self.tops + TOP_BYTES * number)
            emit.emit("st.shared.b32", top, zero)
        emit.emit("bar.warp.sync", self.mask)

    def note(self, emit: Emitter, node: Node) -> None:
        """One register says which."""
        emit.emit("mov.b32", self.case, node.number)

    def dispatch(self) -> None:
        """Push, and as long as there is a case with enough tasks, pop and run."""
        emit, stack_bytes = self.here, self.first.bytes
        scope: dict[str, Given] = {
            **self.state,
            "mask": self.mask, "base": self.base, "none": self.none,
            "rank_bytes": self.rank_bytes, "warp_bytes": self.warp_bytes,
            "COLLECT": self.collect, "CHECK": self.check, "AGAIN": self.again,
            "push": self.first.store, "pop": self.first.load, "move_up": self._move_up,
        }  # fmt: skip
        numbers = {"TOP_BYTES": TOP_BYTES, "TOPS": self.tops, "STACK_BYTES": stack_bytes}
        push = PUSH.of(**numbers, OVERFLOW=self.overflow.offset - self.first.offset)
        push.emit(emit, scope, case=self.case)
        chosen = NEXT.emit(emit, scope, NEXT=self.next)["chosen"]
        POP.of(**numbers).emit(emit, scope, chosen=chosen, NEXT=self.next)
        table = self.function.fresh_label("cases")
        self.function.targets[table] = tuple(node.run for node in self.nodes)
        emit.emit("brx.idx", chosen, Symbol(table))
        for node in self.nodes:
            self.emit_run(node)

    def _move_up(self, emit: Emitter, source: Register, target: Register) -> None:
        self.overflow.copy(emit, source, self.first, target)

    def drain(self, emit: Emitter) -> Emitter:
        """One case after the other."""
        emit.emit("mov.pred", self.state["over"], 0)  # type: ignore[arg-type]
        for node in self.nodes:
            drain = DRAIN.of(TOP=self.tops + TOP_BYTES * node.number, NUMBER=node.number)
            drain.emit(emit, self.state, base=self.base, NEXT=self.next)
        return emit
