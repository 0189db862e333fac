"""Tasks that are shared out by way of shared memory (no pass; sub-warps and blocks use it).

Each owner has a row in the warp's share, at its rank: how many turns, where each list ends, or what
else there is to know of it, and behind those words the task. What is added up for owners goes to
slots of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ccc.analysis.paths.reductions import register_at
from ccc.analysis.paths.shared_turns import SharedTurns
from ccc.ir.edit import Emitter
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.context_stack import Stack
from ccc.passes.context_collection.node import move
from ccc.passes.context_collection.reduction import Slots
from ccc.passes.context_collection.shared_tasks import SharedTasks
from ccc.passes.context_collection.task_code import OWNER

if TYPE_CHECKING:
    from ccc.passes.context_collection.sequential_dispatch import SequentialDispatch
    from ccc.passes.context_collection.sequential_node import SequentialNode


class StoredTasks(SharedTasks):
    """What a lane must know of a task lies in the row of ``table`` that the rank of its owner
    says; the first word of each, all of them in a row, lies at ``rows`` in the warp's share."""

    def __init__(
        self, collector: SequentialDispatch, node: SequentialNode, turns: SharedTurns
    ) -> None:
        super().__init__(collector, node, turns)
        self.rows = node.plan.stack.offset
        entries = node.plan.stack.entries
        self.table = Stack(node.plan.stack.context[1:], entries, 4 * entries)

    def store(self, emit: Emitter, row: Register, begins: Mapping[Register, Register]) -> None:
        """The owner writes its task, the registers as ``begins`` says or as it has them."""
        plan, sent = self.node.plan, {}
        for name, register in zip(self.turns_sent, self.table.context, strict=True):
            if isinstance(name, Register):
                sent[register] = begins.get(name) or self.value(name)
            elif name in plan.specials:
                sent[register] = plan.specials[name]
            else:
                sent[register] = emit.define(f"mov.{name.register.type}", "b32", name)
        self.table.of(sent).store(emit, row)
        for slots in plan.sums:
            slots.clear(emit, self.collector.base)
            begins_as = register_at(slots.accumulator, self.node.path.entry, self.collector.facts)
            if begins_as is not None and not slots.in_order:
                lane = emit.define("mov.u32", "b32", OWNER)
                slots.combine(emit, self.collector.base, lane, self.value(begins_as))

    def load(self, emit: Emitter, row: Register) -> dict[Register | Special, Register]:
        """Read the task of a row, into new registers."""
        fresh = emit.function.registers.fresh
        copies = {r: fresh(r.type) for r in self.table.context}
        self.table.of(copies).load(emit, row)
        return dict(zip(self.turns_sent, copies.values(), strict=True))

    def forget_sums(self, emit: Emitter) -> None:
        """They are in slots, with what they began with; but where that may be no number, which is
        not taken into slots, owners keep it."""
        for slots, place in self._places():
            if not slots.in_order:
                emit.emit(move(place), self.value(place), slots.neutral)

    def finish_sums(self, emit: Emitter) -> None:
        """Owners get them from there."""
        for slots, place in self._places():
            slots.finish(emit, self.collector.base, self.value(place))

    def _places(self) -> list[tuple[Slots, Register]]:
        """Where sums are behind the loop."""
        exit_label, facts = self.turns.induction.exit, self.collector.facts
        places = ((s, register_at(s.accumulator, exit_label, facts)) for s in self.node.plan.sums)
        return [(slots, place) for slots, place in places if place is not None]
