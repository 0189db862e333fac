"""Who gets which registers, and which part of a warp's share of shared memory.

No pass; context collection uses it. Loops that lanes of one warp may be in at the same time get
parts of their own, the others use the same one over again. In it the slots of reductions come
first, then the tops of the stacks where the strategy keeps them in memory, then a stack for each
path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ccc.analysis.paths.induction import Induction
from ccc.analysis.paths.model import Path
from ccc.ir.nodes import Function
from ccc.ir.operands import Register, Special
from ccc.ir.registers import RegisterFile
from ccc.passes.context_collection.context_stack import Stack
from ccc.passes.context_collection.group_slots import place_slots
from ccc.passes.context_collection.reduction import Slots
from ccc.passes.strategies.strategy import (
    Choice,
    PathDecision,
    Serving,
    Sharing,
    why_not_exclusive,
)
from ccc.pipeline import PathRecord
from ccc.ptx.dynamic_stack import ALIGNMENT
from ccc.ptx.types import WARP_SIZE

TOP_BYTES = 4
POOLED = "pool"
"""The strategy whose last tasks go to a pool."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How one path is collected: what its context is copied to, and where that is saved.

    A task is pushed from the registers of the snapshot, and popped to those that ``popped`` names
    for them, or to the same.

    Where tasks give ``results`` back to the lane that they came from, these are the registers that
    the rest of the iteration reads, and their places; ``path`` ends where that begins.

    ``engage`` is what shares out its tasks, if anything does, and ``sums`` the slots for what its
    turns add up; ``unshared`` is why nothing does. A task of a loop does so many ``turns`` before
    members meet. ``last_apart`` is whether the last round may have a copy of it; ``counter``
    is what a loop ends with.
    """

    record: PathRecord
    path: Path
    strategy: str
    stack: Stack
    snapshot: Mapping[Register, Register]
    specials: Mapping[Special, Register]
    engage: Sharing | None
    turns: int
    last_apart: bool
    popped: Mapping[Register, Register]
    sums: tuple[Slots, ...] = ()
    unshared: str | None = None
    counter: Induction | None = None
    results: Stack | None = None

    @property
    def end(self) -> int:
        """The first byte of a warp's share behind what it uses."""
        stacks = [self.stack, *([self.results] if self.results else [])]
        return max(stack.offset + stack.bytes for stack in stacks)

    @property
    def task_registers(self) -> dict[Register, Register]:
        """Where a task that was fetched has the registers of its context."""
        return {r: self.popped.get(copy, copy) for r, copy in self.snapshot.items()}

    @property
    def task_specials(self) -> dict[Special, Register]:
        """Where it has the special registers."""
        return {s: self.popped.get(copy, copy) for s, copy in self.specials.items()}

    @property
    def shares_all(self) -> bool:
        """Whether all its tasks are shared out, so that none is ever saved."""
        return self.engage is not None and self.engage.shares_all

    @property
    def saves_nothing(self) -> bool:
        """Whether none of its tasks is ever saved for later."""
        return self.shares_all or not self.stack.entries


@dataclass(frozen=True, slots=True)
class Layout:
    """How the paths of one loop are collected.

    With ``cases`` the tops of the stacks begin at byte ``tops``, and ``overflow`` holds what is
    pushed beyond them; with ``pool`` these are the counts of the block, and the slots of the pool.
    """

    plans: tuple[Plan, ...]
    slots: tuple[Slots, ...]
    tops: int
    overflow: Stack | None

    @property
    def share(self) -> int:
        """The bytes of a warp; something even for tasks without a context, to have an address, but
        nothing where no task is ever saved."""
        least = 0 if all(plan.saves_nothing for plan in self.plans) else TOP_BYTES
        end = max(plan.end for plan in self.plans) or least
        return -(-end // ALIGNMENT) * ALIGNMENT


def lay_out(function: Function, choice: Choice) -> Layout:
    """Give each path its room, as the strategy that was chosen wants it, and its registers."""
    return _layout(function.registers, choice)


def on_paper(choice: Choice) -> Layout:
    """The same, with registers that no function has."""
    return _layout(RegisterFile(), choice)


def _layout(registers: RegisterFile, choice: Choice) -> Layout:
    decision, start = choice.decision, choice.start
    if choice.strategy.returns:
        return _tile(registers, choice)
    paths = [one.path for one in decision.paths]
    updated = {a for path in paths for a in path.accumulators}
    slots = place_slots(tuple(a for a in decision.loop.accumulators if a in updated), start)
    tops = offset = start + sum(one.bytes for one in slots)
    together = choice.strategy.together
    popped: dict[Register, Register] = {}
    if together:
        pools = [_Pool(registers, paths)] * len(paths)
    elif _share_snapshots(choice):
        pools = [_Pool(registers, paths)] * len(paths)
        popped = {r: registers.fresh(r.type, "task") for r in pools[0].registers}
    else:
        pools = [_Pool(registers, [path]) for path in paths]
    overflow = None
    if together or choice.strategy.name == POOLED:
        offset += -(-TOP_BYTES * len(paths) // ALIGNMENT) * ALIGNMENT
        overflow = Stack(pools[0].registers, WARP_SIZE, offset)
        offset += overflow.bytes
    plans = []
    for one, pool in zip(decision.paths, pools, strict=True):
        snapshot, specials = pool.map(one.path)
        saved = (*snapshot.values(), *specials.values()) if popped else pool.registers
        if one.path.repeats:  # computed again when a task is fetched, not in each of its turns
            snapshot |= {r: registers.fresh(_plain(r), "context") for r in one.path.compressed}
        plan = _plan(registers, one, one.served_by(choice.strategy), saved, offset)
        plan = replace(plan, snapshot=snapshot, specials=specials, popped=popped)
        offset = plan.stack.offset + plan.stack.bytes
        plans.append(plan)
    return Layout(tuple(plans), slots, tops, overflow)


def _tile(registers: RegisterFile, choice: Choice) -> Layout:
    """Room for the tasks of a tile, each of one path at most: a list of their places, and these.

    What a task gives back takes the place of what it was given.
    """
    entries = choice.strategy.entries
    offset = choice.start + TOP_BYTES * entries
    plans = []
    for one in choice.decision.paths:
        assert one.returning is not None
        path, results = one.returning.path, Stack(one.returning.results, entries, offset)
        pool = _Pool(registers, [path])
        plan = _plan(registers, replace(one, engage=None), choice.strategy, pool.registers, offset)
        snapshot, specials = pool.map(path)
        given = replace(plan.stack, offset=offset)
        plan = replace(plan, path=path, snapshot=snapshot, specials=specials, stack=given)
        plans.append(replace(plan, results=results))
    return Layout(tuple(plans), (), choice.start, None)


def _plan(
    registers: RegisterFile,
    one: PathDecision,
    own: Serving,
    pool: tuple[Register, ...],
    offset: int,
) -> Plan:
    """A path's plan, but for its snapshot; its room begins at byte ``offset``."""
    engage, entries = one.engage, own.entries
    sums: tuple[Slots, ...] = ()
    if engage is not None and engage.shares_all:
        entries = engage.entries
        sums = place_slots(engage.sums, offset)
        offset += (sum(slots.bytes for slots in sums) if entries else 0) + engage.counts
        sent = (registers.fresh(_plain(value), "sent") for value in engage.sent)
        pool = (registers.fresh("b32", "turns"), *sent)
    stack = Stack(pool, entries, offset, one.path.frame)
    return Plan(
        one.record, one.path, own.name, stack, {}, {},
        engage, one.turns, one.last_apart, {}, sums, one.unshared, one.counter,
    )  # fmt: skip


class _Pool:
    """The snapshot registers of some paths, of which one at a time uses them."""

    def __init__(self, own: RegisterFile, paths: Sequence[Path]):
        self._by_type: dict[str, list[Register]] = {}
        for path in paths:
            for kind, wanted in Counter(map(_plain, _values(path))).items():
                have = self._by_type.setdefault(kind, [])
                have += [own.fresh(kind, "context") for _ in range(wanted - len(have))]

    @property
    def registers(self) -> tuple[Register, ...]:
        """All of them."""
        return tuple(register for some in self._by_type.values() for register in some)

    def map(self, path: Path) -> tuple[dict[Register, Register], dict[Special, Register]]:
        """Which of them hold the registers, and the special registers, of a path."""
        free = {kind: iter(registers) for kind, registers in self._by_type.items()}
        return (
            {register: next(free[_plain(register)]) for register in path.context},
            {special: next(free[_plain(special)]) for special in path.specials},
        )


def _share_snapshots(choice: Choice) -> bool:
    """Whether the paths take their snapshots in the same registers.

    An iteration comes to one of them at most. All lanes push their tasks before any is popped in
    its place only in a queue, and those of one path are run while others' wait to be pushed: so
    they are popped to other registers.
    """
    paths = [one.path for one in choice.decision.paths]
    names = {one.served_by(choice.strategy).name for one in choice.decision.paths}
    queued = names in ({"queue"}, {"adaptive(1)"})
    return queued and len(paths) > 1 and why_not_exclusive(paths) is None


def _values(path: Path) -> tuple[Register | Special, ...]:
    return (*path.context, *path.specials)


def _plain(value: Register | Special) -> str:
    """The untyped type of a value's size."""
    kind = value.register.type if isinstance(value, Special) else value.type
    return kind if kind == "pred" else f"b{kind[1:]}"
