"""The code of tasks: what runs them, and what is left of them with their owners.

That is a part of :mod:`ccc.passes.context_collection.collector`, which puts it into the loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, cast

from ccc.analysis.paths.model import AnnotatedLoop, Path
from ccc.analysis.paths.reductions import register_at
from ccc.ir.edit import Copy, Emitter, jump, retarget, substitute
from ccc.ir.nodes import Block
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.group_slots import groups_of
from ccc.passes.context_collection.layout import Layout
from ccc.passes.context_collection.node import N, move
from ccc.passes.context_collection.reduction import Slots
from ccc.passes.context_collection.turns import emit_turns
from ccc.pipeline import Kernel

OWNER = Special("%laneid")


class TaskCode(ABC, Generic[N]):
    """Writes the code of one annotated loop's tasks.

    ``base`` is the warp's share of shared memory.
    """

    base: Register

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout):
        self.kernel = kernel
        self.function = kernel.function
        self.facts = kernel.facts
        self.loop = loop
        self.layout = layout
        self.slots = layout.slots
        self.span = loop.marker.span

    @abstractmethod
    def resume(self, node: N) -> str:
        """Where a lane goes when its task is done, or it had none."""

    def note(self, emit: Emitter, node: N) -> None:
        """Note that the lane has a task of a path, in its snapshot registers."""

    def emitter(self, block: Block) -> Emitter:
        """An emitter for new code of this loop."""
        return Emitter(self.function, block, self.span)

    @property
    def here(self) -> Emitter:
        """An emitter behind all blocks: what is emitted first has a label."""
        return self.emitter(self.function.blocks[-1])

    def at(self, label: str) -> Emitter:
        """An emitter for a new block of that label, behind all others."""
        block = Block(label, named=False)
        self.function.blocks.append(block)
        return self.emitter(block)

    def block(self, hint: str) -> tuple[Block, Emitter]:
        """A new block and an emitter for it."""
        emit = self.at(self.function.fresh_label(hint))
        return emit.block, emit

    # -- where a task comes from ----------------------------------------------------------------

    def _snapshot(
        self,
        node: N,
        registers: Mapping[Register, Register],
        specials: Mapping[Special, Register],
        onward: str,
    ) -> str:
        """A block that copies a task's context, from registers that may have other names here."""
        plan = node.plan
        block, emit = self.block("snapshot")
        begins = plan.path.repeats and not plan.path.carries_parent
        neutral = dict(self.accumulators_at(node, plan.path.entry)) if begins else {}
        for register, copy in plan.snapshot.items():
            if register in neutral:
                emit.emit(move(register), copy, neutral[register].neutral)
            else:
                emit.emit(move(register), copy, registers.get(register, register))
        for special, copy in plan.specials.items():
            emit.emit(f"mov.{special.register.type}", copy, specials.get(special, special))
        self.note(emit, node)
        emit.emit("bra", onward)
        return block.label

    def targets_of(self, labels: frozenset[str]) -> list[str]:
        """Where some blocks lead, in them or out of them."""
        return sorted({s for label in labels for s in self.facts.graph.successors(label)})

    def _owner(self, node: N, outer: Copy) -> str:
        """Where a lane goes on, in code that was copied like that, when it gave its task away."""
        path = node.path
        if path.owner is None:
            assert path.join is not None
            return self._keep(node, path.join, outer)
        labels = self.fresh_labels(path.region, "owner")
        sinks = {
            s: self._keep(node, s, outer) for s in self.targets_of(path.region) if s not in labels
        }
        copy = Copy(
            {**sinks, **labels},
            outer.registers,
            outer.specials,
            keep=path.owner.instructions.__contains__,
            skips=path.owner.skipped(labels, sinks),
        )
        self.function.blocks += copy.blocks(self.function, path.region)
        return labels[path.entry]

    def _keep(self, node: N, sink: str, outer: Copy) -> str:
        """The way to a sink on which the owner's accumulators stay as they were at the branch."""
        before = {slots: r for r, slots in self.accumulators_at(node, node.path.entry)}
        moves = [
            (r, before[slots])
            for r, slots in self.accumulators_at(node, sink)
            if r != before.get(slots, r)
        ]
        if not moves:
            return outer.labels[sink]
        block, emit = self.block("keep")
        for target, source in moves:
            registers = outer.registers
            emit.emit(move(target), registers.get(target, target), registers.get(source, source))
        emit.emit("bra", outer.labels[sink])
        return block.label

    def accumulators_at(self, node: N, label: str) -> list[tuple[Register, Slots]]:
        """Where the accumulators of a path are at the top of a block, as far as they are needed."""
        mine = node.path.accumulators
        found = (
            (register_at(s.accumulator, label, self.facts), s)
            for s in self.slots
            if s.accumulator in mine
        )
        return [(register, slots) for register, slots in found if register is not None]

    def fresh_labels(self, labels: frozenset[str], hint: str) -> dict[str, str]:
        """A new label for a copy of each of some blocks."""
        order = [block.label for block in self.function.blocks if block.label in labels]
        return {label: self.function.fresh_label(hint) for label in order}

    # -- the tasks ------------------------------------------------------------------------------

    def emit_run(self, node: N, run: str = "", onward: str = "") -> None:
        """The path, on registers of its own.

        Args:
            node: the path.
            run: the label where it begins; the node's, unless there is one more copy.
            onward: where it leads to then.
        """
        plan, path = node.plan, node.path
        emit = self.at(run or node.run)
        registers = plan.task_registers
        if not path.repeats and not path.carries_parent:
            self.recompute(emit, node, registers)
            for register, slots in self.accumulators_at(node, path.entry):
                registers[register] = emit.function.registers.fresh(register.type)
                emit.emit(move(register), registers[register], slots.neutral)
        self.name_definitions(emit, path, registers)
        within = node.handed_on
        labels = self.fresh_labels(path.region - within, "task")
        sinks = {
            target: self._end(node, target, registers, onward or self.resume(node))
            for target in self.targets_of(path.region)
            if target not in path.region
        }
        copy = Copy({**sinks, **labels}, registers, plan.task_specials)
        inside = cast("list[N]", [*node.children, *node.followers])
        for child in inside:
            inner = self.function.fresh_label("inner")
            copy.labels = {**copy.labels, child.path.entry: inner}
        if path.task is not None:
            copy.keep = path.task.instructions.__contains__

        def skipped(labels: Mapping[str, str]) -> dict[str, str]:
            return path.task.skipped(labels, sinks) if path.task else {}

        if node.is_leaf_loop:
            emit_turns(self, node, emit.block, copy, skipped)
        else:
            copy.skips = skipped(copy.labels)
            emit.emit("bra", labels[path.entry])
            self.function.blocks += copy.blocks(self.function, path.region - within)
        for child in inside:
            self.enter_inner(child, node, copy)
        if path.repeats and not node.is_leaf_loop:
            self._repeat(node, labels[path.entry])

    def recompute(self, emit: Emitter, node: N, registers: dict[Register, Register]) -> None:
        """Make what is not saved of a context from what is."""
        for instruction in node.path.recomputed:
            for register in instruction.defined():
                if register not in registers:
                    registers[register] = self.function.registers.fresh(register.type)
            emit.block.statements.append(substitute(instruction, registers, {}))

    def enter_inner(self, node: N, outer: N, copy: Copy) -> None:
        """In the task of another path: lanes that come to one inside, or to a follower, take a
        snapshot. Who comes to a follower has no turn to think of, whatever its owner has."""
        path = node.path
        is_owner = path.owner is not None and node not in outer.followers
        if path.carries_parent:
            onward = self.resume(outer)
        elif is_owner or not path.continuation:
            onward = self._owner(node, copy)
        else:
            onward = self.deliver(outer, path.entry, copy.registers, self.resume(outer))
        snapshot = self._snapshot(node, copy.registers, copy.specials, onward)
        self.function.blocks.append(Block(copy.labels[path.entry], [jump(snapshot)], named=False))

    def _end(self, node: N, label: str, registers: Mapping[Register, Register], onward: str) -> str:
        """Where a task ends; one that carries a task of the loop around goes on as that there."""
        around = cast("N | None", node.parent)
        if around is None or not node.path.carries_parent or label != around.path.entry:
            return self.deliver(node, label, registers, onward)
        block, emit = self.block("come_back")
        for register in around.path.context:
            copy = around.plan.snapshot[register]
            emit.emit(move(register), copy, registers.get(register, register))
        for special, copy in around.plan.specials.items():
            emit.emit(f"mov.{special.register.type}", copy, node.plan.task_specials[special])
        self.recompute(emit, around, dict(around.plan.snapshot))
        self.note(emit, around)
        emit.emit("bra", onward)
        return block.label

    def deliver(
        self, node: N, label: str, registers: Mapping[Register, Register], onward: str
    ) -> str:
        """Where a task ends: its owner gets what it added to the accumulators."""
        if not self.accumulators_at(node, label):
            return onward
        block, emit = self.block("deliver")
        self.combine(emit, node, label, registers, node.plan.task_specials)
        emit.emit("bra", onward)
        return block.label

    def combine(
        self,
        emit: Emitter,
        node: N,
        label: str,
        registers: Mapping[Register, Register],
        specials: Mapping[Special, Register],
    ) -> None:
        """Combine what a task added to the accumulators, where they are at ``label``."""
        held = {slots: registers[r] for r, slots in self.accumulators_at(node, label)}
        for slots, register in held.items():
            if slots.accumulator.group is None:
                slots.combine(emit, self.base, specials[OWNER], register)
        for group in groups_of(held):
            group.bring(emit, self.base, specials[OWNER])

    def _repeat(self, node: N, head: str) -> None:
        """A task that goes round is a task again; its context is where the path left it."""
        block, emit = self.block("repeat")
        self.note(emit, node)
        emit.emit("bra", self.resume(node))
        for other in self.function.blocks:
            if other.label != node.run and other.label not in node.path.blocks:
                retarget(self.function, other, head, block.label)

    def name_definitions(
        self, emit: Emitter, path: Path, registers: dict[Register, Register]
    ) -> None:
        """Give what a copy of the path writes registers of its own."""
        for register in self._defined(path):
            if register not in registers:
                registers[register] = self.function.registers.fresh(register.type)
                if register in path.live:
                    emit.emit(move(register), registers[register], register)

    def _defined(self, path: Path) -> list[Register]:
        needed = path.task.instructions if path.task else None
        found: dict[Register, None] = {}
        for block in self.function.blocks:
            if block.label in path.region:
                for instruction in block.instructions:
                    if needed is None or instruction in needed:
                        found.update(dict.fromkeys(instruction.defined()))
        return list(found)
