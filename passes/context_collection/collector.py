"""Rewriting one annotated loop for :mod:`ccc.passes.context_collection`, which shows the result.

What stands here is the same however the tasks are served at the collection point: the members, the
snapshots, what their owners do next, the tasks' code, and the way out of the loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from ccc.analysis.cfg import reachable
from ccc.analysis.memory import conflict
from ccc.analysis.paths.model import AnnotatedLoop, Path
from ccc.analysis.paths.reductions import place_at
from ccc.ir.edit import (
    Copy,
    Emitter,
    add_block,
    jump,
    keep_blocks,
    make_explicit,
    remove_jumps_to_next,
    retarget,
    substitute,
)
from ccc.ir.nodes import Block, Instruction
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.context_stack import stack_name
from ccc.passes.context_collection.layout import Layout, Plan
from ccc.passes.context_collection.members import gather
from ccc.passes.context_collection.reduction import Slots
from ccc.passes.launch_shape import thread_number
from ccc.pipeline import Kernel
from ccc.ptx.types import ALL_LANES, WARP_SIZE

OWNER = Special("%laneid")


def _move(register: Register) -> str:
    return "mov.pred" if register.type == "pred" else f"mov.b{register.bits}"


def bytes_of(emit: Emitter, lanes: Register) -> Register:
    """Four bytes for each lane in a mask: the size of one context word of so many tasks."""
    return emit.define("shl.b32", "b32", emit.define("popc.b32", "b32", lanes), 2)


class Collector(ABC):
    """Rewrites one annotated loop; who inherits says how tasks are served.

    ``base`` is the warp's share of shared memory. ``full`` and ``rank`` are in bytes, four for each
    member lane: the size of one context word.
    """

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, layout: Layout):
        self.kernel = kernel
        self.function = kernel.function
        self.facts = kernel.facts
        self.loop = loop
        self.layout = layout
        self.plans = plans = layout.plans
        self.slots = layout.slots
        self.span = loop.marker.span
        fresh = self.function.registers.fresh
        self.members = fresh("b32")
        self.below = fresh("b32")
        self.rank = fresh("b32")
        self.full = fresh("b32")
        self.base = fresh("b32")
        self.live = fresh("pred")
        self.draining = fresh("pred")
        self.exit_number = fresh("b32")
        make_explicit(self.function)
        self.edges_in = self._edges_in()
        self.exits = loop.loop.exits(self.facts.graph)
        self.targets = sorted({target for _, target in self.exits})
        self.enter = add_block(self.function, "enter")
        self.run_blocks = [add_block(self.function, "run") for _ in plans]
        self.again = add_block(self.function, "again")
        self.check = add_block(self.function, "check")

    def run(self) -> Instruction:
        """Do it; returns the instruction that computes the base of the warp's stack."""
        # Copies first, while the blocks still lead where they led.
        outer = [number for number, plan in enumerate(self.plans) if plan.path.parent is None]
        onward = {number: self._owner_goes_on(number) for number in outer}
        for number in range(len(self.plans)):
            self._emit_run(number)
        self.serve()
        self._count_members()
        self._redirect_paths(onward)
        self._redirect_iterations()
        self._emit_again()
        self._emit_check()
        self._finish()
        return self.base_instruction

    @property
    @abstractmethod
    def meeting(self) -> str:
        """The label of the collection point, where every iteration ends."""

    @abstractmethod
    def landing(self, number: int) -> str:
        """Where a lane goes when its task is done, or it had none."""

    @abstractmethod
    def prepare(self, emit: Emitter) -> None:
        """Emit what is to be done before the loop."""

    @abstractmethod
    def note(self, emit: Emitter, number: int) -> None:
        """Note that the lane has a task of a path, in its snapshot registers."""

    @abstractmethod
    def serve(self) -> None:
        """Emit the collection point: all members meet there, and run tasks or go on."""

    @abstractmethod
    def drain(self, emit: Emitter) -> Emitter:
        """Emit where to go when no member has an iteration left, and nobody has a task.

        Returns:
            An emitter for the block that is reached when nothing is saved either.
        """

    def emitter(self, block: Block) -> Emitter:
        """An emitter for new code of this loop."""
        return Emitter(self.function, block, self.span)

    def block(self, hint: str) -> tuple[Block, Emitter]:
        """A new block and an emitter for it."""
        block = add_block(self.function, hint)
        return block, self.emitter(block)

    def _edges_in(self) -> list[Block]:
        loop = self.loop.loop
        sources = self.facts.graph.predecessors(loop.header)
        return [self.facts.blocks[s] for s in sources if s not in loop.blocks]

    # -- before the loop ------------------------------------------------------------------------

    def _count_members(self) -> None:
        """Find the member lanes, each one's rank among them, and the warp's share of the stack."""
        emit = self.emitter(self.enter)
        assert self.loop.gathering is not None
        # Branches that lead straight to the loop are told by that, so they must still do.
        header = self.loop.loop.header
        loops = [record.path.loop.loop for record in self.kernel.records if record.path.loop]
        gather(
            self.function, self.facts, self.loop.gathering, emit, self.members,
            self.loop.loop, {loop.header for loop in loops},
        )  # fmt: skip
        for source in self.edges_in:
            retarget(self.function, source, header, self.enter.label)
        if header == self.facts.entry:
            start = Block(self.function.fresh_label("start"), [jump(self.enter.label)], False)
            self.function.blocks.insert(0, start)
        emit.emit("mov.u32", self.below, Special("%lanemask_lt"))
        emit.emit("mov.b32", self.rank, self.place(emit, self.members))
        emit.emit("mov.b32", self.full, bytes_of(emit, self.members))
        self._find_base(emit)
        emit.emit("mov.pred", self.live, ALL_LANES)
        emit.emit("mov.pred", self.draining, 0)
        self.prepare(emit)
        # Whoever gets a task of another lane has met all members since then.
        for slots in self.slots:
            slots.clear(emit, self.base)
        emit.emit("bra", self.again.label)

    def _find_base(self, emit: Emitter) -> None:
        warp = emit.define("shr.u32", "b32", thread_number(emit), 5)
        stack = emit.define("mov.u32", "b32", stack_name(self.function))
        emit.emit("mad.lo.s32", self.base, warp, self.layout.share, stack)
        self.base_instruction = next(reversed(list(emit.block.instructions)))

    # -- the loop's body ------------------------------------------------------------------------

    def _redirect_paths(self, onward: Mapping[int, str]) -> None:
        """Lanes that come to a path take a snapshot and go on."""
        for number, target in onward.items():
            path = self.plans[number].path
            snapshot = self._snapshot(number, {}, {}, target)
            for source in list(self.facts.graph.predecessors(path.entry)):
                if source not in path.blocks:
                    retarget(self.function, self.facts.blocks[source], path.entry, snapshot)

    def _snapshot(
        self,
        number: int,
        registers: Mapping[Register, Register],
        specials: Mapping[Special, Register],
        onward: str,
    ) -> str:
        """A block that copies a task's context, from registers that may have other names here."""
        plan = self.plans[number]
        block, emit = self.block("snapshot")
        neutral = dict(self.accumulators_at(number, plan.path.entry)) if plan.path.repeats else {}
        for register, copy in plan.snapshot.items():
            if register in neutral:
                emit.emit(_move(register), copy, neutral[register].neutral)
            else:
                emit.emit(_move(register), copy, registers.get(register, register))
        for special, copy in plan.specials.items():
            emit.emit(f"mov.{special.register.type}", copy, specials.get(special, special))
        self.note(emit, number)
        emit.emit("bra", onward)
        return block.label

    def _owner_goes_on(self, number: int) -> str:
        """Where the lane that gave its task away continues its iteration."""
        region = self.plans[number].path.region
        return self._owner(number, Copy({s: s for s in self.targets_of(region)}))

    def targets_of(self, labels: frozenset[str]) -> list[str]:
        """Where some blocks lead, in them or out of them."""
        return sorted({s for label in labels for s in self.facts.graph.successors(label)})

    def _owner(self, number: int, outer: Copy) -> str:
        """Where a lane goes on, in code that was copied like that, when it gave its task away."""
        path = self.plans[number].path
        if path.owner is None:
            assert path.join is not None
            return self._keep(number, path.join, outer)
        labels = self.fresh_labels(path.region, "owner")
        sinks = {
            s: self._keep(number, s, outer) for s in self.targets_of(path.region) if s not in labels
        }
        copy = Copy(
            {**sinks, **labels},
            outer.registers,
            outer.specials,
            keep=path.owner.instructions.__contains__,
            skips=_skips(path.owner.skips, labels, sinks),
        )
        self.function.blocks += copy.blocks(self.function, path.region)
        return labels[path.entry]

    def _keep(self, number: int, sink: str, outer: Copy) -> str:
        """The way to a sink on which the owner's accumulators stay as they were at the branch."""
        before = {
            slots: r for r, slots in self.accumulators_at(number, self.plans[number].path.entry)
        }
        moves = [
            (r, before[slots])
            for r, slots in self.accumulators_at(number, sink)
            if r != before[slots]
        ]
        if not moves:
            return outer.labels[sink]
        block, emit = self.block("keep")
        for target, source in moves:
            registers = outer.registers
            emit.emit(_move(target), registers.get(target, target), registers.get(source, source))
        emit.emit("bra", outer.labels[sink])
        return block.label

    def accumulators_at(self, number: int, label: str) -> list[tuple[Register, Slots]]:
        """Where the accumulators of a path are at the top of a block, as far as they are needed."""
        mine = self.plans[number].path.accumulators
        found = (
            (place_at(s.accumulator, label, self.facts), s)
            for s in self.slots
            if s.accumulator in mine
        )
        return [(register, slots) for register, slots in found if register is not None]

    def fresh_labels(self, labels: frozenset[str], hint: str) -> dict[str, str]:
        """A new label for a copy of each of some blocks."""
        order = [block.label for block in self.function.blocks if block.label in labels]
        return {label: self.function.fresh_label(hint) for label in order}

    def _redirect_iterations(self) -> None:
        """What ended an iteration, or the loop, now leads to the collection point."""
        loop = self.loop.loop
        header, collect = loop.header, self.meeting
        stubs = {target: self._leave(number) for number, target in enumerate(self.targets)}
        generated = {self.enter.label, self.again.label, self.check.label}
        inside = [b for b in self.function.blocks if self._belongs_to_body(b, generated)]
        for block in inside:
            retarget(self.function, block, header, collect)
            for target, stub in stubs.items():
                retarget(self.function, block, target, stub)

    def _belongs_to_body(self, block: Block, generated: set[str]) -> bool:
        if block.label in self.loop.loop.blocks:
            return True
        original = block.label in self.facts.graph
        return not original and block.label not in generated

    def _leave(self, number: int) -> str:
        """A lane without a next iteration stays, and remembers where it wanted to go."""
        block, emit = self.block("leave")
        emit.emit("mov.pred", self.live, 0)
        if len(self.targets) > 1:
            emit.emit("mov.b32", self.exit_number, number)
        emit.emit("bra", self.meeting)
        return block.label

    def place(self, emit: Emitter, lanes: Register) -> Register:
        """The offset that this lane has among ``lanes``, in bytes."""
        return bytes_of(emit, emit.define("and.b32", "b32", lanes, self.below))

    # -- the tasks ------------------------------------------------------------------------------

    def _emit_run(self, number: int) -> None:
        """The path, on registers of its own."""
        plan = self.plans[number]
        path = plan.path
        emit = self.emitter(self.run_blocks[number])
        registers = dict(plan.snapshot)
        for instruction in path.recomputed:
            for register in instruction.defined():
                registers[register] = self.function.registers.fresh(register.type)
            emit.block.statements.append(substitute(instruction, registers, {}))
        if not path.repeats:
            for register, slots in self.accumulators_at(number, path.entry):
                registers[register] = emit.function.registers.fresh(register.type)
                emit.emit(_move(register), registers[register], slots.neutral)
        self.name_definitions(emit, path, registers)
        inner = self.inside(number)
        within = frozenset().union(*(self.plans[n].path.blocks for n in inner))
        labels = self.fresh_labels(path.region - within, "task")
        sinks = {
            target: self._deliver(number, target, registers)
            for target in self.targets_of(path.region)
            if target not in path.region
        }
        copy = Copy({**sinks, **labels}, registers, plan.specials)
        for n in inner:
            entry = self.plans[n].path.entry
            copy.labels = {**copy.labels, entry: self.function.fresh_label("inner")}
        if path.task is not None:
            copy.keep = path.task.instructions.__contains__
            copy.skips = _skips(path.task.skips, copy.labels, sinks)
        emit.emit("bra", labels[path.entry])
        self.function.blocks += copy.blocks(self.function, path.region - within)
        for n in inner:
            self.enter_inner(n, number, copy)
        if path.repeats:
            self._repeat(number, labels[path.entry])

    def inside(self, number: int) -> list[int]:
        """The paths that lie directly in a path."""
        path = self.plans[number].path
        return [n for n, other in enumerate(self.plans) if other.path.parent is path]

    def enter_inner(self, number: int, outer: int, copy: Copy) -> None:
        """In the task of an outer path: lanes that come to an inner one take a snapshot."""
        path = self.plans[number].path
        if path.owner is not None or not path.continuation:
            onward = self._owner(number, copy)
        else:
            onward = self._deliver(outer, path.entry, copy.registers)
        snapshot = self._snapshot(number, copy.registers, copy.specials, onward)
        self.function.blocks.append(Block(copy.labels[path.entry], [jump(snapshot)], named=False))

    def _deliver(self, number: int, label: str, registers: Mapping[Register, Register]) -> str:
        """Where a task ends: its owner gets what it added to the accumulators."""
        if not self.accumulators_at(number, label):
            return self.landing(number)
        block, emit = self.block("deliver")
        self.combine(emit, number, label, registers, self.plans[number].specials)
        emit.emit("bra", self.landing(number))
        return block.label

    def combine(
        self,
        emit: Emitter,
        number: int,
        label: str,
        registers: Mapping[Register, Register],
        specials: Mapping[Special, Register],
    ) -> None:
        """Combine what a task added to the accumulators, where they are at ``label``."""
        for register, slots in self.accumulators_at(number, label):
            slots.combine(emit, self.base, specials[OWNER], registers[register])

    def _repeat(self, number: int, head: str) -> None:
        """A task that goes round is a task again; its context is where the path left it."""
        block, emit = self.block("repeat")
        self.note(emit, number)
        emit.emit("bra", self.landing(number))
        path = self.plans[number].path
        start = self.run_blocks[number]
        for other in self.function.blocks:
            if other is not start and other.label not in path.blocks:
                retarget(self.function, other, head, block.label)

    def name_definitions(
        self, emit: Emitter, path: Path, registers: dict[Register, Register]
    ) -> None:
        """Give what a copy of the path writes registers of its own."""
        for register in self._defined(path):
            if register not in registers:
                registers[register] = self.function.registers.fresh(register.type)
                if register in path.live:
                    emit.emit(_move(register), registers[register], register)

    def _defined(self, path: Path) -> list[Register]:
        needed = path.task.instructions if path.task else None
        found: dict[Register, None] = {}
        for block in self.function.blocks:
            if block.label in path.region:
                for instruction in block.instructions:
                    if needed is None or instruction in needed:
                        found.update(dict.fromkeys(instruction.defined()))
        return list(found)

    def _emit_again(self) -> None:
        """Lanes with an iteration run it; the others wait for them at the collection point.

        The loop is entered here too, so that every way through it leads over this block: however
        the tasks are served, the result has no loop with two entries.
        """
        emit = self.emitter(self.again)
        stay, emit_stay = self.block("stay")
        emit.branch(self.live, self.loop.loop.header, stay.label)
        drain, emit_drain = self.block("drain")
        emit_stay.branch(self.draining, drain.label, self.meeting)
        self._emit_exits(self.drain(emit_drain))

    def _emit_check(self) -> None:
        """In a round without tasks: is any lane alive? If none is, run what is saved, and leave."""
        emit = self.emitter(self.check)
        some = emit.define("vote.sync.any.pred", "pred", self.live, self.members)
        emit.emit("not.pred", self.draining, some)
        emit.emit("bra", self.again.label)

    def _emit_exits(self, emit: Emitter) -> None:
        """Every lane leaves by the exit that it had chosen, and sees what others wrote for it."""
        if self.slots or self._meets_memory_again():
            emit.emit("bar.warp.sync", self.members)
        for number, target in enumerate(self.targets[:-1]):
            chosen = emit.define("setp.eq.b32", "pred", self.exit_number, number)
            following, emit_following = self.block("exit")
            emit.branch(chosen, self._finished(target), following.label)
            emit = emit_following
        emit.emit("bra", self._finished(self.targets[-1]))

    def _meets_memory_again(self) -> bool:
        """Whether the order of what tasks did to memory and of what follows the loop may matter."""
        blocks, graph = self.facts.blocks, self.facts.graph
        follows = reachable(graph.successors, self.targets)
        tasks = frozenset().union(*(plan.path.region for plan in self.plans))
        instructions = [
            [i for label in labels if label in blocks for i in blocks[label].instructions]
            for labels in (tasks, follows)
        ]
        return self.function.kind != "entry" or conflict(*instructions)

    def _finished(self, target: str) -> str:
        """The way to an exit on which a lane takes what others added to its accumulators."""
        places = [(place_at(s.accumulator, target, self.facts), s) for s in self.slots]
        if not any(register for register, _ in places):
            return target
        block, emit = self.block("finish")
        for register, slots in places:
            if register is not None:
                slots.finish(emit, self.base, register)
        emit.emit("bra", target)
        return block.label

    def _finish(self) -> None:
        """Drop the paths' old blocks and write down what was done."""
        remove_jumps_to_next(self.function)
        self.kernel.changed()
        keep_blocks(self.function, set(self.kernel.facts.graph))
        self.kernel.changed()
        for plan, run in zip(self.plans, self.run_blocks, strict=True):
            plan.record.run = run.label
            _record(plan)


def _skips(
    skips: Mapping[str, tuple[str, bool]], labels: Mapping[str, str], sinks: Mapping[str, str]
) -> dict[str, str]:
    """Where blocks of a copy go on whose branch is not needed."""
    return {
        label: sinks[target] if is_sink else labels[target]
        for label, (target, is_sink) in skips.items()
    }


def _record(plan: Plan) -> None:
    details = {
        "context": [{"register": r.name, "type": r.type} for r in plan.path.context]
        + [{"register": s.name, "type": s.register.type} for s in plan.path.specials],
        "compressed": [{"register": r.name, "type": r.type} for r in plan.path.compressed],
        "continuation": plan.path.continuation,
        "reductions": [f"{a.operation}.{a.type}" for a in plan.path.accumulators],
        "discipline": plan.discipline,
        "placement": "shared",
        "shared_bytes_per_thread": plan.stack.bytes // WARP_SIZE,
    }
    plan.record.apply(plan.discipline, details)
