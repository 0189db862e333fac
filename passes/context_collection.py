"""Context collection, the core procedure (dissertation section 4.1.1).

A lane that comes to an annotated path does not run it: it takes a copy of the context, sets a flag
and goes on with its iteration. At the end of each iteration all member lanes meet. Those with the
flag push their contexts on the warp's stack; as soon as a full warp of tasks is there, all lanes
pop one each and run the path together. When no lane has an iteration left, what is still on the
stack is run, partly filled, by the same code.

Before:

    LOOP:   ...                          // block A
            @!%p bra JOIN;
            // ccc.then 1 k.cu:7:5
            <path>
    JOIN:   ...
            @%more bra LOOP;
    AFTER:

After, with the queue discipline:

            vote.sync.ballot.b32 %members, -1, -1;
            ...                          // lane's rank, the stack's base; %top = 0
    LOOP:   ...                          // block A
            @!%p bra JOIN;
            mov.b32 %context, %value;    // snapshot
            mov.pred %pending, -1;
    JOIN:   ...
            @%more bra COLLECT;
            mov.pred %live, 0;
    COLLECT:
            vote.sync.ballot.b32 %tasks, %pending, %members;
            @%pending st.shared.b32 [...], %context;
            add.s32 %top, %top, popc(%tasks);
            bar.warp.sync %members;
            // fewer than %enough tasks? then go to CHECK
            ld.shared.b32 %context, [...];
            bar.warp.sync %members;
    RUN:    <path, on registers of its own>
    CHECK:  vote.sync.any.pred %any, %live, %members;
            @%any ...                    // live lanes go to LOOP, the others wait at COLLECT
            mov.b32 %enough, 1;          // no iteration left: run what is saved, partly filled
            // tasks left? then go to COLLECT
    AFTER:

%enough is the number of members, so that the same code serves the full and the last rounds.

The rule of the paper, ``merge``, lets lanes with a task of their own keep it and idle lanes pop; it
needs half the stack. ``queue`` runs warps that are full of equally old tasks and wins where few
lanes take the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ccc.analysis.regions import AnnotatedLoop, Path, find_paths
from ccc.ir.edit import (
    Copy,
    Emitter,
    add_block,
    jump,
    keep_blocks,
    make_explicit,
    remove_jumps_to_next,
    retarget,
)
from ccc.ir.nodes import Block, Function, Instruction, Register, Special, Symbol
from ccc.passes.context_stack import (
    ENTRIES,
    STACK_NAME,
    Stack,
    entry_address,
    known_block_size,
    reserve_stack,
    words,
)
from ccc.pipeline import Kernel, Pass, PathRecord
from ccc.ptx.types import MAX_BLOCK_THREADS, WARP_SIZE

NESTED = (
    "it lies inside another path that is collected; nested paths are not collected in this version"
)
ALL_LANES = -1


@dataclass(frozen=True)
class ContextCollection(Pass):
    """Collect the tasks of annotated paths.

    ``discipline`` is ``queue``, ``merge``, or ``auto``: ``queue`` where its stack fits, else
    ``merge``.
    """

    discipline: str = "auto"

    name: ClassVar[str] = "context-collection"

    def run(self, kernel: Kernel) -> None:
        """Collect what can be collected, outer loops first."""
        _refuse_nested(kernel)
        bases: list[Instruction] = []
        share = 0
        while True:
            _refresh(kernel)
            chosen = [r for r in kernel.records if r.path.reason is None and not r.applied]
            chosen = [r for r in chosen if r.reason is None]
            if not chosen:
                break
            loop = _outermost(chosen)
            mine = [r for r in chosen if r.path.loop is loop]
            plan = _plan_stacks(kernel, mine, self.discipline)
            if plan:
                bases.append(_Collector(kernel, loop, plan).run())
                share = max(share, _share(plan))
                kernel.changed()
        if bases:
            block = known_block_size(kernel.function, kernel.max_block)
            reserve_stack(kernel.function, share, -(-block // WARP_SIZE), bases)
            _promise_block_size(kernel.function, block, kernel.max_block)
        for record in kernel.records:
            record.reason = record.reason or record.path.reason


def _refuse_nested(kernel: Kernel) -> None:
    for inner in kernel.records:
        for outer in kernel.records:
            collectable = outer.path.reason is None and inner is not outer
            if collectable and inner.path.entry in outer.path.blocks:
                inner.reason = NESTED


def _refresh(kernel: Kernel) -> None:
    """Look at the paths again, after another loop was changed."""
    found = {(p.marker.identifier, p.marker.kind, p.entry): p for p in find_paths(kernel.facts)}
    for record in kernel.records:
        key = (record.path.marker.identifier, record.path.marker.kind, record.path.entry)
        if not record.applied and record.reason is None and key in found:
            record.path = found[key]


def _outermost(records: list[PathRecord]) -> AnnotatedLoop:
    loops = [record.path.loop for record in records if record.path.loop]
    return max(loops, key=lambda loop: len(loop.loop.blocks))


@dataclass(frozen=True, slots=True)
class _Plan:
    """How one path is collected."""

    record: PathRecord
    discipline: str
    stack: Stack
    snapshot: dict[Register, Register]
    specials: dict[Special, Register]

    @property
    def path(self) -> Path:
        return self.record.path

    @property
    def values(self) -> list[Register]:
        """The snapshot registers, in the stack's order."""
        return [*self.snapshot.values(), *self.specials.values()]


def _plan_stacks(kernel: Kernel, records: list[PathRecord], discipline: str) -> list[_Plan]:
    """Give each path its room on the stack; what does not fit is refused, with what to do.

    All paths of a loop follow one discipline: ``auto`` takes ``queue`` if that has room for all.
    """
    function = kernel.function
    block = known_block_size(function, kernel.max_block)
    warps = -(-block // WARP_SIZE)
    used = kernel.static_shared_bytes + sum(
        v.bytes or 0 for v in function.variables if v.space == "shared"
    )
    room = (kernel.shared_limit - used) // warps
    entry_bytes = sum(_words(record.path) for record in records) * 4
    if discipline == "auto":
        discipline = "queue" if entry_bytes * ENTRIES["queue"] <= room else "merge"
    plans: list[_Plan] = []
    offset = 0
    for record in records:
        needed = _words(record.path) * ENTRIES[discipline] * 4
        if offset + needed <= room:
            plans.append(_make_plan(function, record, discipline, offset))
            offset += needed
        else:
            fits = (kernel.shared_limit - used) // (offset + needed) * WARP_SIZE
            record.reason = _no_room(record.path, block, used + offset * warps, fits)
    return plans


def _share(plans: list[_Plan]) -> int:
    """The bytes of one warp; something even for tasks without a context, to have an address."""
    return max(sum(plan.stack.bytes for plan in plans), 4)


def _words(path: Path) -> int:
    return sum(map(words, path.context)) + sum(
        2 if special.register.type == "u64" else 1 for special in path.specials
    )


def _no_room(path: Path, block: int, used: int, fits: int) -> str:
    hint = f"; declare the kernel __launch_bounds__({fits}) if its blocks are no larger"
    return (
        f"its context of {4 * _words(path)} bytes a task does not fit into shared memory for "
        f"blocks of {block} threads beside the {used} bytes in use"
        + (hint if 0 < fits < block else "")
    )


def _promise_block_size(function: Function, block: int, promised: int | None) -> None:
    """Make a launch fail that is larger than what the stack was measured for."""
    if promised and block < MAX_BLOCK_THREADS and not {"maxntid", "reqntid"} & set(function.limits):
        function.limits["maxntid"] = (block, 1, 1)
        function.header = f"{function.header.rstrip()}\n.maxntid {block}, 1, 1\n"


def _make_plan(function: Function, record: PathRecord, discipline: str, offset: int) -> _Plan:
    path = record.path
    fresh = function.registers.fresh
    snapshot = {register: fresh(register.type) for register in path.context}
    specials = {special: fresh(_plain(special.register.type)) for special in path.specials}
    context = (*snapshot.values(), *specials.values())
    stack = Stack(tuple(context), ENTRIES[discipline], offset)
    return _Plan(record, discipline, stack, snapshot, specials)


def _plain(type_name: str) -> str:
    return f"b{type_name[1:]}"


class _Collector:
    """Rewrites one annotated loop."""

    def __init__(self, kernel: Kernel, loop: AnnotatedLoop, plans: list[_Plan]):
        self.kernel = kernel
        self.function = kernel.function
        self.facts = kernel.facts
        self.loop = loop
        self.plans = plans
        self.span = loop.marker.span
        fresh = self.function.registers.fresh
        self.members = fresh("b32")
        self.full = fresh("b32")
        self.enough = fresh("b32")
        self.rank = fresh("b32")
        self.below = fresh("b32")
        self.base = fresh("b32")
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
        self.run_blocks = [add_block(self.function, "run") for _ in plans]
        self.check = add_block(self.function, "check")

    def run(self) -> Instruction:
        """Do it; returns the instruction that computes the base of the warp's stack."""
        # Copies first, while the blocks still lead where they led.
        onward = [self._owner_goes_on(plan) for plan in self.plans]
        for number in range(len(self.plans)):
            self._emit_run(number)
            self._emit_collect(number)
        self._count_members()
        self._redirect_paths(onward)
        self._redirect_iterations()
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
        emit.emit("popc.b32", self.full, self.members)
        emit.emit("mov.b32", self.enough, self.full)
        emit.emit("mov.u32", self.below, Special("%lanemask_lt"))
        emit.emit("and.b32", self.rank, self.members, self.below)
        emit.emit("popc.b32", self.rank, self.rank)
        self._find_base(emit)
        emit.emit("mov.pred", self.live, ALL_LANES)
        for pending, top in zip(self.pending, self.top, strict=True):
            emit.emit("mov.pred", pending, 0)
            emit.emit("mov.b32", top, 0)
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
        emit.emit("mad.lo.s32", self.base, warp, _share(self.plans), stack)
        self.base_instruction = next(reversed(list(emit.block.instructions)))

    # -- the loop's body ------------------------------------------------------------------------

    def _redirect_paths(self, onward: list[str]) -> None:
        """Lanes that come to a path take a snapshot and go on."""
        for number, plan in enumerate(self.plans):
            block, emit = self.block("snapshot")
            for register, copy in plan.snapshot.items():
                opcode = "mov.pred" if register.type == "pred" else f"mov.b{register.bits}"
                emit.emit(opcode, copy, register)
            for special, copy in plan.specials.items():
                emit.emit(f"mov.{special.register.type}", copy, special)
            emit.emit("mov.pred", self.pending[number], ALL_LANES)
            entry = plan.path.entry
            for source in list(self.facts.graph.predecessors(entry)):
                retarget(self.function, self.facts.blocks[source], entry, block.label)
            emit.emit("bra", onward[number])

    def _owner_goes_on(self, plan: _Plan) -> str:
        """Where the lane that gave its task away continues its iteration."""
        path = plan.path
        if path.owner is None:
            assert path.join is not None
            return path.join
        needed = path.owner.instructions
        labels = self._fresh_labels(path.region, "owner")
        sinks = {s: s for label in path.region for s in self.facts.graph.successors(label)}
        copy = Copy(
            {**sinks, **labels},
            keep=needed.__contains__,
            skips=_skips(path.owner.skips, labels, sinks),
        )
        self.function.blocks += copy.blocks(self.function, path.region)
        return labels[path.entry]

    def _fresh_labels(self, labels: frozenset[str], hint: str) -> dict[str, str]:
        order = [block.label for block in self.function.blocks if block.label in labels]
        return {label: self.function.fresh_label(hint) for label in order}

    def _redirect_iterations(self) -> None:
        """What ended an iteration, or the loop, now leads to the collection point."""
        loop = self.loop.loop
        header, collect = loop.header, self.collect[0].label
        stubs = {target: self._leave(number) for number, target in enumerate(self.targets)}
        generated = {self.enter.label, self.check.label}
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
        plan = self.plans[number]
        emit = self.emitter(self.collect[number])
        pending = self.pending[number]
        tasks = emit.define("vote.sync.ballot.b32", "b32", pending, self.members)
        if plan.discipline == "queue":
            self._emit_queue(number, emit, tasks)
        else:
            self._emit_merge(number, emit, tasks)

    def _emit_queue(self, number: int, emit: Emitter, tasks: Register) -> None:
        """Everyone pushes; when enough tasks are there, all lanes pop and run them."""
        top = self.top[number]
        pushed, emit_pushed = self.block("pushed")
        self._push(number, emit, tasks, pushed.label)
        count = emit_pushed.define("popc.b32", "b32", tasks)
        emit_pushed.emit("add.s32", top, top, count)
        few = self._end_round(number, emit_pushed, top)
        pop, emit_pop = self.block("pop")
        emit_pushed.branch(few, self._after(number), pop.label)
        taken = emit_pop.define("min.u32", "b32", top, self.full)
        emit_pop.emit("sub.s32", top, top, taken)
        self._pop(number, emit_pop, self.rank, taken)

    def _push(self, number: int, emit: Emitter, tasks: Register, after: str) -> None:
        """Lanes with a task write it above the top, in the order of their lanes."""
        plan = self.plans[number]
        push, emit_push = self.block("push")
        emit.branch(self.pending[number], push.label, after)
        place = self._place(emit_push, tasks)
        index = emit_push.define("add.s32", "b32", self.top[number], place)
        plan.stack.store(emit_push, entry_address(emit_push, self.base, index), plan.values)
        emit_push.emit("bra", after)

    def _place(self, emit: Emitter, lanes: Register) -> Register:
        """How many of ``lanes`` come before this one."""
        lower = emit.define("and.b32", "b32", lanes, self.below)
        return emit.define("popc.b32", "b32", lower)

    def _end_round(self, number: int, emit: Emitter, tasks: Register) -> Register:
        """All pushes are done and seen; are there too few tasks to run the path?"""
        emit.emit("mov.pred", self.pending[number], 0)
        emit.emit("bar.warp.sync", self.members)
        return emit.define("setp.lt.u32", "pred", tasks, self.enough)

    def _pop(self, number: int, emit: Emitter, place: Register, taken: Register) -> None:
        """The lanes whose place is below ``taken`` pop a task; the others go on without."""
        plan = self.plans[number]
        take, emit_take = self.block("take")
        popped, emit_popped = self.block("popped")
        has = emit.define("setp.lt.u32", "pred", place, taken)
        emit.branch(has, take.label, popped.label)
        index = emit_take.define("add.s32", "b32", self.top[number], place)
        plan.stack.load(emit_take, entry_address(emit_take, self.base, index), plan.values)
        emit_take.emit("bra", popped.label)
        emit_popped.emit("bar.warp.sync", self.members)
        emit_popped.branch(has, self.run_blocks[number].label, self._after(number))

    def _emit_merge(self, number: int, emit: Emitter, tasks: Register) -> None:
        """Idle lanes pop if that fills the warp; otherwise the lanes with a task push."""
        top = self.top[number]
        count = emit.define("popc.b32", "b32", tasks)
        total = emit.define("add.s32", "b32", top, count)
        few = emit.define("setp.lt.u32", "pred", total, self.enough)
        save, emit_save = self.block("save")
        fill, emit_fill = self.block("fill")
        emit.branch(few, save.label, fill.label)
        saved, emit_saved = self.block("saved")
        self._push(number, emit_save, tasks, saved.label)
        emit_saved.emit("mov.b32", top, total)
        emit_saved.emit("mov.pred", self.pending[number], 0)
        emit_saved.emit("bar.warp.sync", self.members)
        emit_saved.emit("bra", self._after(number))
        self._fill(number, emit_fill, tasks, count)

    def _fill(self, number: int, emit: Emitter, tasks: Register, count: Register) -> None:
        """Lanes with a task keep it; idle ones pop, as long as there is something."""
        top, plan = self.top[number], self.plans[number]
        idle_count = emit.define("sub.s32", "b32", self.full, count)
        taken = emit.define("min.u32", "b32", top, idle_count)
        emit.emit("sub.s32", top, top, taken)
        others = emit.define("not.b32", "b32", tasks)
        emit.emit("and.b32", others, others, self.members)
        place = self._place(emit, others)
        near = emit.define("setp.lt.u32", "pred", place, taken)
        mine = emit.define("mov.pred", "pred", self.pending[number])
        pops = emit.define("not.pred", "pred", mine)
        emit.emit("and.pred", pops, pops, near)
        emit.emit("mov.pred", self.pending[number], 0)
        take, emit_take = self.block("take")
        filled, emit_filled = self.block("filled")
        emit.branch(pops, take.label, filled.label)
        index = emit_take.define("add.s32", "b32", top, place)
        plan.stack.load(emit_take, entry_address(emit_take, self.base, index), plan.values)
        emit_take.emit("bra", filled.label)
        emit_filled.emit("bar.warp.sync", self.members)
        has = emit_filled.define("or.pred", "pred", mine, pops)
        emit_filled.branch(has, self.run_blocks[number].label, self._after(number))

    def _after(self, number: int) -> str:
        """Where all members go when this path has had its turn."""
        last = number + 1 == len(self.plans)
        return self.check.label if last else self.collect[number + 1].label

    def _emit_run(self, number: int) -> None:
        """The path, on registers of its own."""
        plan = self.plans[number]
        path = plan.path
        emit = self.emitter(self.run_blocks[number])
        registers = dict(plan.snapshot)
        for register in self._defined(path):
            if register not in registers:
                registers[register] = self.function.registers.fresh(register.type)
                if register in self.facts.liveness.live_in(path.entry):
                    opcode = "mov.pred" if register.type == "pred" else f"mov.b{register.bits}"
                    emit.emit(opcode, registers[register], register)
        labels = self._fresh_labels(path.region, "task")
        sinks = {
            target: self._after(number)
            for label in path.region
            for target in self.facts.graph.successors(label)
        }
        copy = Copy({**sinks, **labels}, registers, plan.specials)
        if path.task is not None:
            copy.keep = path.task.instructions.__contains__
            copy.skips = _skips(path.task.skips, labels, sinks)
        emit.emit("bra", labels[path.entry])
        self.function.blocks += copy.blocks(self.function, path.region)

    def _defined(self, path: Path) -> list[Register]:
        needed = path.task.instructions if path.task else None
        found: dict[Register, None] = {}
        for block in self.function.blocks:
            if block.label in path.region:
                for instruction in block.instructions:
                    if needed is None or instruction in needed:
                        found.update(dict.fromkeys(instruction.defined()))
        return list(found)

    def _emit_check(self) -> None:
        """Go round again; without iterations left, until the stacks are empty."""
        emit = self.emitter(self.check)
        some = emit.define("vote.sync.any.pred", "pred", self.live, self.members)
        again, emit_again = self.block("again")
        drain, emit_drain = self.block("drain")
        emit.branch(some, again.label, drain.label)
        emit_again.branch(self.live, self.loop.loop.header, self.collect[0].label)
        emit_drain.emit("mov.b32", self.enough, 1)
        waiting = emit_drain.define("mov.b32", "b32", self.top[0])
        for top in self.top[1:]:
            emit_drain.emit("or.b32", waiting, waiting, top)
        left = emit_drain.define("setp.ne.b32", "pred", waiting, 0)
        done, emit_done = self.block("done")
        emit_drain.branch(left, self.collect[0].label, done.label)
        self._emit_exits(emit_done)

    def _emit_exits(self, emit: Emitter) -> None:
        """Every lane leaves by the exit that it had chosen, and sees what others wrote for it."""
        emit.emit("bar.warp.sync", self.members)
        for number, target in enumerate(self.targets[:-1]):
            chosen = emit.define("setp.eq.b32", "pred", self.exit_number, number)
            following, emit_following = self.block("exit")
            emit.branch(chosen, target, following.label)
            emit = emit_following
        emit.emit("bra", self.targets[-1])

    def _finish(self) -> None:
        """Drop the paths' old blocks and write down what was done."""
        remove_jumps_to_next(self.function)
        self.kernel.changed()
        keep_blocks(self.function, set(self.kernel.facts.graph))
        self.kernel.changed()
        for plan in self.plans:
            _record(plan)


def _skips(
    skips: dict[str, tuple[str, bool]], labels: dict[str, str], sinks: dict[str, str]
) -> dict[str, str]:
    """Where blocks of a copy go on whose branch is not needed."""
    return {
        label: sinks[target] if is_sink else labels[target]
        for label, (target, is_sink) in skips.items()
    }


def _record(plan: _Plan) -> None:
    record = plan.record
    record.applied = True
    record.details = {
        "context": [{"register": r.name, "type": r.type} for r in plan.path.context]
        + [{"register": s.name, "type": s.register.type} for s in plan.path.specials],
        "continuation": plan.path.continuation,
        "discipline": plan.discipline,
        "placement": "shared",
        "shared_bytes_per_thread": plan.stack.bytes // WARP_SIZE,
    }
