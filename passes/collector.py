"""Rewriting one annotated loop for :mod:`ccc.passes.context_collection`, which shows the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccc.analysis.paths import AnnotatedLoop, Path
from ccc.analysis.reductions import place_at
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
from ccc.ir.nodes import Block, Instruction, Register, Special, Symbol
from ccc.passes.context_stack import STACK_NAME, Stack
from ccc.passes.reduction import Slots
from ccc.pipeline import Kernel, PathRecord
from ccc.ptx.types import WARP_SIZE

ALL_LANES = -1
OWNER = Special("%laneid")


@dataclass(frozen=True, slots=True)
class Plan:
    """How one path is collected."""

    record: PathRecord
    discipline: str
    stack: Stack
    snapshot: dict[Register, Register]
    specials: dict[Special, Register]

    @property
    def path(self) -> Path:
        """The path."""
        return self.record.path

    @property
    def values(self) -> list[Register]:
        """The snapshot registers, in the stack's order."""
        return [*self.snapshot.values(), *self.specials.values()]


def share_of(plans: Sequence[Plan]) -> int:
    """The bytes of one warp; something even for tasks without a context, to have an address."""
    return max(plan.stack.offset + plan.stack.bytes for plan in plans) or 4


def _move(register: Register) -> str:
    return "mov.pred" if register.type == "pred" else f"mov.b{register.bits}"


def _bytes(emit: Emitter, lanes: Register) -> Register:
    """Four bytes for each lane in a mask: the size of one context word of so many tasks."""
    return emit.define("shl.b32", "b32", emit.define("popc.b32", "b32", lanes), 2)


class Collector:
    """Rewrites one annotated loop."""

    def __init__(
        self, kernel: Kernel, loop: AnnotatedLoop, plans: list[Plan], slots: tuple[Slots, ...]
    ):
        self.kernel = kernel
        self.function = kernel.function
        self.facts = kernel.facts
        self.loop = loop
        self.plans = plans
        self.slots = slots
        self.span = loop.marker.span
        fresh = self.function.registers.fresh
        self.members = fresh("b32")
        self.below = fresh("b32")
        self.rank = fresh("b32")
        self.full = fresh("b32")
        self.base = fresh("b32")
        self.limit = fresh("b32")
        self.enough = fresh("b32")
        self.live = fresh("pred")
        self.exit_number = fresh("b32")
        self.pending = [fresh("pred") for _ in plans]
        self.top = [fresh("b32") for _ in plans]
        make_explicit(self.function)
        self.edges_in = self._edges_in()
        self.exits = loop.loop.exits(self.facts.graph)
        self.targets = sorted({target for _, target in self.exits})
        self.enter = add_block(self.function, "enter")
        self.collect = [add_block(self.function, "collect") for _ in plans]
        self.pop = [add_block(self.function, "pop") for _ in plans]
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
            self._emit_collect(number)
        self._count_members()
        self._redirect_paths(onward)
        self._redirect_iterations()
        self._emit_again()
        self._emit_check()
        self._finish()
        return self.base_instruction

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
        header = self.loop.loop.header
        for source in self.edges_in:
            retarget(self.function, source, header, self.enter.label)
        if header == self.facts.entry:
            start = Block(self.function.fresh_label("start"), [jump(self.enter.label)], False)
            self.function.blocks.insert(0, start)
        emit = self.emitter(self.enter)
        self._gather(emit)
        emit.emit("mov.u32", self.below, Special("%lanemask_lt"))
        emit.emit("mov.b32", self.rank, self._place(emit, self.members))
        emit.emit("mov.b32", self.full, _bytes(emit, self.members))
        self._find_base(emit)
        emit.emit("add.s32", self.limit, self.base, self.full)
        if any(plan.path.repeats for plan in self.plans):
            emit.emit("mov.b32", self.enough, self.full)
        emit.emit("mov.pred", self.live, ALL_LANES)
        for pending, top in zip(self.pending, self.top, strict=True):
            emit.emit("mov.pred", pending, 0)
            emit.emit("mov.b32", top, self.base)
        for slots in self.slots:
            slots.clear(emit, self.base)
        if self.slots:
            emit.emit("bar.warp.sync", self.members)
        emit.emit("bra", header)

    def _gather(self, emit: Emitter) -> None:
        assert self.loop.gathering is not None
        mask: Register | int = ALL_LANES
        for label, successor in self.loop.gathering.guards:
            mask = self._count_at(self.facts.blocks[label], successor, mask)
        if isinstance(mask, Register):
            emit.emit("mov.b32", self.members, mask)
            return
        everyone = emit.define("mov.pred", "pred", ALL_LANES)
        emit.emit("vote.sync.ballot.b32", self.members, everyone, ALL_LANES)

    def _count_at(self, block: Block, successor: str, mask: Register | int) -> Register:
        """Count, at the end of ``block``, the lanes that go on to ``successor``."""
        branch = next(i for i in block.instructions if i.is_terminator)
        position = block.statements.index(branch)
        assert branch.guard is not None
        target = branch.operands[-1]
        taken = isinstance(target, Symbol) and target.name == successor
        before, behind = block.statements[:position], block.statements[position:]
        block.statements[:] = before
        emit = self.emitter(block)
        goes = branch.guard.register
        if taken == branch.guard.negated:
            goes = emit.define("not.pred", "pred", goes)
        counted = emit.define("vote.sync.ballot.b32", "b32", goes, mask)
        block.statements += behind
        return counted

    def _find_base(self, emit: Emitter) -> None:
        """Warps are numbered by linear thread index: ``%warpid`` may change (PTX ISA 10)."""
        rows = emit.define("mov.u32", "b32", Special("%tid.z"))
        height = emit.define("mov.u32", "b32", Special("%ntid.y"))
        y = emit.define("mov.u32", "b32", Special("%tid.y"))
        row = emit.define("mad.lo.s32", "b32", rows, height, y)
        width = emit.define("mov.u32", "b32", Special("%ntid.x"))
        x = emit.define("mov.u32", "b32", Special("%tid.x"))
        thread = emit.define("mad.lo.s32", "b32", row, width, x)
        warp = emit.define("shr.u32", "b32", thread, 5)
        stack = emit.define("mov.u32", "b32", STACK_NAME)
        emit.emit("mad.lo.s32", self.base, warp, share_of(self.plans), stack)
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
        neutral = dict(self._at(number, plan.path.entry)) if plan.path.repeats else {}
        for register, copy in plan.snapshot.items():
            if register in neutral:
                emit.emit(_move(register), copy, neutral[register].neutral)
            else:
                emit.emit(_move(register), copy, registers.get(register, register))
        for special, copy in plan.specials.items():
            emit.emit(f"mov.{special.register.type}", copy, specials.get(special, special))
        emit.emit("mov.pred", self.pending[number], ALL_LANES)
        emit.emit("bra", onward)
        return block.label

    def _owner_goes_on(self, number: int) -> str:
        """Where the lane that gave its task away continues its iteration."""
        region = self.plans[number].path.region
        return self._owner(number, Copy({s: s for s in self._targets(region)}))

    def _targets(self, labels: frozenset[str]) -> list[str]:
        """Where some blocks lead, in them or out of them."""
        return sorted({s for label in labels for s in self.facts.graph.successors(label)})

    def _owner(self, number: int, outer: Copy) -> str:
        """Where a lane goes on, in code that was copied like that, when it gave its task away."""
        path = self.plans[number].path
        if path.owner is None:
            assert path.join is not None
            return self._keep(number, path.join, outer)
        labels = self._fresh_labels(path.region, "owner")
        sinks = {
            s: self._keep(number, s, outer) for s in self._targets(path.region) if s not in labels
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
        before = {slots: r for r, slots in self._at(number, self.plans[number].path.entry)}
        moves = [(r, before[slots]) for r, slots in self._at(number, sink) if r != before[slots]]
        if not moves:
            return outer.labels[sink]
        block, emit = self.block("keep")
        for target, source in moves:
            registers = outer.registers
            emit.emit(_move(target), registers.get(target, target), registers.get(source, source))
        emit.emit("bra", outer.labels[sink])
        return block.label

    def _at(self, number: int, label: str) -> list[tuple[Register, Slots]]:
        """Where the accumulators of a path are at the top of a block, as far as they are needed."""
        mine = self.plans[number].path.accumulators
        found = (
            (place_at(s.accumulator, label, self.facts), s)
            for s in self.slots
            if s.accumulator in mine
        )
        return [(register, slots) for register, slots in found if register is not None]

    def _fresh_labels(self, labels: frozenset[str], hint: str) -> dict[str, str]:
        order = [block.label for block in self.function.blocks if block.label in labels]
        return {label: self.function.fresh_label(hint) for label in order}

    def _redirect_iterations(self) -> None:
        """What ended an iteration, or the loop, now leads to the collection point."""
        loop = self.loop.loop
        header, collect = loop.header, self.collect[0].label
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
        emit.emit("bra", self.collect[0].label)
        return block.label

    # -- the collection point -------------------------------------------------------------------

    def _emit_collect(self, number: int) -> None:
        """Count the tasks of this round; without any, look whether there will be more."""
        plan = self.plans[number]
        emit = self.emitter(self.collect[number])
        pending = self.pending[number]
        tasks = emit.define("vote.sync.ballot.b32", "b32", pending, self.members)
        none = emit.define("setp.eq.b32", "pred", tasks, 0)
        some, emit_some = self.block("some")
        onward = self._after(number)
        idle = self.check.label if onward == self.again.label else onward
        emit.branch(none, idle, some.label)
        if plan.path.repeats:
            emit_some = self._stay(number, emit_some, tasks)
        if plan.discipline == "queue":
            self._emit_queue(number, emit_some, tasks)
        else:
            self._emit_merge(number, emit_some, tasks)
        self._emit_pop(number)

    def _stay(self, number: int, emit: Emitter, tasks: Register) -> Emitter:
        """While every lane's task goes round, there is nothing to save or to fetch.

        In the end, when nothing is left to fetch, that holds for any number of lanes.
        """
        stay, emit_stay = self.block("stay")
        gather, emit_gather = self.block("gather")
        mine = emit.define("mov.pred", "pred", self.pending[number])
        enough = emit.define("setp.ge.u32", "pred", _bytes(emit, tasks), self.enough)
        emit.branch(enough, stay.label, gather.label)
        emit_stay.emit("mov.pred", self.pending[number], 0)
        emit_stay.branch(mine, self.run_blocks[number].label, self._landing(number))
        return emit_gather

    def _after(self, number: int) -> str:
        """Where all members go when this path has had its turn, and those inside it too.

        The paths of a loop are served in one row, each before those inside it. Those inside an
        inner loop are served after each of its turns, since the next turn may find new tasks.
        """
        path = self.plans[number].path
        later = [n for n in range(number + 1, len(self.plans)) if not self._holds(number, n)]
        if later and self.plans[later[0]].path.parent is path.parent:
            return self.collect[later[0]].label
        if path.parent is None:
            return self.again.label
        outer = next(n for n, plan in enumerate(self.plans) if plan.path is path.parent)
        return self.collect[outer].label if path.parent.repeats else self._after(outer)

    def _holds(self, outer: int, number: int) -> bool:
        """Whether a path lies in another one."""
        path: Path | None = self.plans[number].path
        while path is not None and path is not self.plans[outer].path:
            path = path.parent
        return path is not None

    def _landing(self, number: int) -> str:
        """Where a lane goes when its task is done, or it had none."""
        inside = self.plans[number + 1 : number + 2]
        if inside and inside[0].path.parent is self.plans[number].path:
            return self.collect[number + 1].label
        if self.plans[number].path.repeats:
            return self.collect[number].label
        return self._after(number)

    def _emit_queue(self, number: int, emit: Emitter, tasks: Register) -> None:
        """Everyone pushes; as soon as a full warp of tasks is there, all lanes pop."""
        top = self.top[number]
        pushed, emit_pushed = self.block("pushed")
        self._push(number, emit, tasks, pushed.label)
        emit_pushed.emit("add.s32", top, top, _bytes(emit_pushed, tasks))
        emit_pushed.emit("mov.pred", self.pending[number], 0)
        few = emit_pushed.define("setp.lt.u32", "pred", top, self.limit)
        emit_pushed.branch(few, self._after(number), self.pop[number].label)

    def _push(self, number: int, emit: Emitter, tasks: Register, after: str) -> None:
        """Lanes with a task write it above the top, in the order of their lanes."""
        plan = self.plans[number]
        push, emit_push = self.block("push")
        emit.branch(self.pending[number], push.label, after)
        place = self._place(emit_push, tasks)
        address = emit_push.define("add.s32", "b32", self.top[number], place)
        plan.stack.store(emit_push, address, plan.values)
        emit_push.emit("bra", after)

    def _place(self, emit: Emitter, lanes: Register) -> Register:
        """The offset that this lane has among ``lanes``, in bytes."""
        return _bytes(emit, emit.define("and.b32", "b32", lanes, self.below))

    def _emit_pop(self, number: int) -> None:
        """As many lanes as there are tasks, at most all, pop one each and run it.

        The barriers keep the loads behind the stores of earlier rounds, and before later ones.
        """
        emit = self.emitter(self.pop[number])
        top, plan = self.top[number], self.plans[number]
        saved = emit.define("sub.s32", "b32", top, self.base)
        taken = emit.define("min.u32", "b32", saved, self.full)
        emit.emit("sub.s32", top, top, taken)
        has = emit.define("setp.lt.u32", "pred", self.rank, taken)
        emit.emit("bar.warp.sync", self.members)
        self._load(plan, emit, has, top, self.rank)
        self._run(number, has)

    def _load(
        self, plan: Plan, emit: Emitter, has: Register, top: Register, place: Register
    ) -> None:
        """Lanes that ``has`` holds for read the task at ``place`` above the top."""
        take, emit_take = self.block("take")
        self.taken, _ = self.block("taken")
        emit.branch(has, take.label, self.taken.label)
        address = emit_take.define("add.s32", "b32", top, place)
        plan.stack.load(emit_take, address, plan.values)
        emit_take.emit("bra", self.taken.label)

    def _run(self, number: int, has: Register) -> None:
        """Go to the path with the lanes that have a task now."""
        emit = self.emitter(self.taken)
        emit.emit("bar.warp.sync", self.members)
        emit.branch(has, self.run_blocks[number].label, self._landing(number))

    def _emit_merge(self, number: int, emit: Emitter, tasks: Register) -> None:
        """Idle lanes pop if that fills the warp; otherwise the lanes with a task push."""
        top = self.top[number]
        total = emit.define("add.s32", "b32", top, _bytes(emit, tasks))
        limit = self.limit
        if self.plans[number].path.repeats:
            limit = emit.define("add.s32", "b32", self.base, self.enough)
        few = emit.define("setp.lt.u32", "pred", total, limit)
        save, emit_save = self.block("save")
        fill, emit_fill = self.block("fill")
        emit.branch(few, save.label, fill.label)
        saved, emit_saved = self.block("saved")
        self._push(number, emit_save, tasks, saved.label)
        emit_saved.emit("mov.b32", top, total)
        emit_saved.emit("mov.pred", self.pending[number], 0)
        emit_saved.emit("bra", self._after(number))
        self._fill(number, emit_fill, tasks)

    def _fill(self, number: int, emit: Emitter, tasks: Register) -> None:
        """Lanes with a task keep it, the others pop one as long as there is one."""
        top, plan, pending = self.top[number], self.plans[number], self.pending[number]
        saved = emit.define("sub.s32", "b32", top, self.base)
        idle = emit.define("sub.s32", "b32", self.full, _bytes(emit, tasks))
        taken = emit.define("min.u32", "b32", saved, idle)
        emit.emit("sub.s32", top, top, taken)
        others = emit.define("not.b32", "b32", tasks)
        emit.emit("and.b32", others, others, self.members)
        place = self._place(emit, others)
        pops = emit.define("setp.lt.u32", "pred", place, taken)
        keeps = emit.define("not.pred", "pred", pending)
        emit.emit("and.pred", pops, pops, keeps)
        has = emit.define("or.pred", "pred", pops, pending)
        emit.emit("mov.pred", pending, 0)
        emit.emit("bar.warp.sync", self.members)
        self._load(plan, emit, pops, top, place)
        self._run(number, has)

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
            for register, slots in self._at(number, path.entry):
                registers[register] = emit.function.registers.fresh(register.type)
                emit.emit(_move(register), registers[register], slots.neutral)
        for register in self._defined(path):
            if register not in registers:
                registers[register] = self.function.registers.fresh(register.type)
                if register in self.facts.liveness.live_in(path.entry):
                    emit.emit(_move(register), registers[register], register)
        inner = [n for n, other in enumerate(self.plans) if other.path.parent is path]
        within = frozenset().union(*(self.plans[n].path.blocks for n in inner))
        labels = self._fresh_labels(path.region - within, "task")
        sinks = {
            target: self._deliver(number, target, registers)
            for target in self._targets(path.region)
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
            self._enter_inner(n, number, copy)
        if path.repeats:
            self._repeat(number, labels[path.entry])

    def _enter_inner(self, number: int, outer: int, copy: Copy) -> None:
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
        places = self._at(number, label)
        if not places:
            return self._landing(number)
        block, emit = self.block("deliver")
        owner = self.plans[number].specials[OWNER]
        for register, slots in places:
            slots.combine(emit, self.base, owner, registers[register])
        emit.emit("bra", self._landing(number))
        return block.label

    def _repeat(self, number: int, head: str) -> None:
        """A task that goes round is a task again; its context is where the path left it."""
        block, emit = self.block("repeat")
        emit.emit("mov.pred", self.pending[number], ALL_LANES)
        emit.emit("bra", self._landing(number))
        path = self.plans[number].path
        start = self.run_blocks[number]
        for other in self.function.blocks:
            if other is not start and other.label not in path.blocks:
                retarget(self.function, other, head, block.label)

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
        """Lanes with an iteration run it; the others wait for them at the collection point."""
        emit = self.emitter(self.again)
        emit.branch(self.live, self.loop.loop.header, self.collect[0].label)

    def _emit_check(self) -> None:
        """In a round without tasks: is any lane alive? If none is, run what is saved, and leave."""
        emit = self.emitter(self.check)
        some = emit.define("vote.sync.any.pred", "pred", self.live, self.members)
        drain, emit_drain = self.block("drain")
        emit.branch(some, self.again.label, drain.label)
        if any(plan.path.repeats for plan in self.plans):  # from now on any task is enough
            emit_drain.emit("mov.b32", self.enough, 4)
        for top, pop in zip(self.top, self.pop, strict=True):
            left = emit_drain.define("setp.ne.b32", "pred", top, self.base)
            following, emit_following = self.block("done")
            emit_drain.branch(left, pop.label, following.label)
            emit_drain = emit_following
        self._emit_exits(emit_drain)

    def _emit_exits(self, emit: Emitter) -> None:
        """Every lane leaves by the exit that it had chosen, and sees what others wrote for it."""
        emit.emit("bar.warp.sync", self.members)
        for number, target in enumerate(self.targets[:-1]):
            chosen = emit.define("setp.eq.b32", "pred", self.exit_number, number)
            following, emit_following = self.block("exit")
            emit.branch(chosen, self._finished(target), following.label)
            emit = emit_following
        emit.emit("bra", self._finished(self.targets[-1]))

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
        for plan in self.plans:
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
    record = plan.record
    record.applied = True
    record.details = {
        "context": [{"register": r.name, "type": r.type} for r in plan.path.context]
        + [{"register": s.name, "type": s.register.type} for s in plan.path.specials],
        "compressed": [{"register": r.name, "type": r.type} for r in plan.path.compressed],
        "continuation": plan.path.continuation,
        "reductions": [f"{a.operation}.{a.type}" for a in plan.path.accumulators],
        "discipline": plan.discipline,
        "placement": "shared",
        "shared_bytes_per_thread": plan.stack.bytes // WARP_SIZE,
    }
