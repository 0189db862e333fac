"""Who gets which registers, and which part of a warp's share of shared memory.

No pass; context collection uses it. Loops that lanes of one warp may be in at the same time get
parts of their own, the others use the same one over again. In it the slots of reductions come
first, then the tops of the stacks where the discipline keeps them in memory, then a stack for each
path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccc.analysis.paths.model import AnnotatedLoop, Path
from ccc.ir.nodes import Function
from ccc.ir.operands import Register, Special
from ccc.passes.context_collection.context_stack import ENTRIES, Stack
from ccc.passes.context_collection.reduction import Slots, place_slots
from ccc.passes.launch_shape import ALIGNMENT, known_block_size, shared_bytes
from ccc.pipeline import Kernel, PathRecord
from ccc.ptx.types import WARP_SIZE

DISCIPLINES = ("cases", "queue", "merge")
"""From the one that is preferred on."""
MANY = 4
"""From so many paths on, ``cases`` is tried before a row. It rests on two kernels only (H200,
2026-11-20): two arms were served 1.6 times as fast as the original in a row, 1.4 times together;
the ten cases of samples/fractal_flame (its size for a GPU, ``ccc compare``) 0.8 and 1.1 times."""
DYNAMIC = (
    "the kernel has dynamic shared memory, and with the stack it might be more than a launch gets; "
    "say with --ccc-dynamic-shared=N how many bytes a launch asks for at most"
)
TOP_BYTES = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """How one path is collected: what its context is copied to, and where that is saved."""

    record: PathRecord
    discipline: str
    stack: Stack
    snapshot: Mapping[Register, Register]
    specials: Mapping[Special, Register]

    @property
    def path(self) -> Path:
        """The path."""
        return self.record.path


@dataclass(frozen=True, slots=True)
class Layout:
    """How the paths of one loop are collected.

    With ``cases`` the tops of the stacks begin at byte ``tops``, and ``overflow`` holds what is
    pushed beyond them.
    """

    discipline: str
    plans: tuple[Plan, ...]
    slots: tuple[Slots, ...]
    tops: int
    overflow: Stack | None

    @property
    def share(self) -> int:
        """The bytes of a warp; something even for tasks without a context, to have an address."""
        end = max(plan.stack.offset + plan.stack.bytes for plan in self.plans) or TOP_BYTES
        return -(-end // ALIGNMENT) * ALIGNMENT


def lay_out(
    kernel: Kernel, loop: AnnotatedLoop, records: Sequence[PathRecord], wanted: str, start: int
) -> Layout | None:
    """Choose a discipline, and give each path its room.

    All paths of a loop follow one discipline, except those that repeat: their tasks come back again
    and again, so that lanes should keep theirs.

    Args:
        kernel: the kernel; its block size and its own shared memory count.
        loop: the loop that all the paths lie in.
        records: its paths, in the order in which they are served.
        wanted: a discipline, or ``auto``: the first that can be used and fits.
        start: the first byte of a warp's share that is free for the loop.

    Returns:
        None where something does not fit: the reason is then in its record.
    """
    if kernel.dynamic_shared_bytes is None:
        for record in records:
            record.reason = DYNAMIC
        return None
    if kernel.callee_shared_bytes is None:
        for record in records:
            record.reason = (
                f"the kernel calls {kernel.unseen_callee}, whose shared memory is not seen here, "
                "and with the stack it might be more than a block gets; say with "
                "--ccc-callee-shared=N how many bytes such functions take at most"
            )
        return None
    paths = [record.path for record in records]
    possible = [d for d in DISCIPLINES if d != "cases" or exclude_one_another(paths)]
    chosen = [wanted] if wanted in possible else possible
    if wanted == "auto" and len(paths) < MANY:
        chosen = [discipline for discipline in possible if discipline != "cases"]
    layouts = [_layout(kernel.function, loop, records, kind, start) for kind in chosen]
    room = _room(kernel)
    fitting = next((layout for layout in layouts if layout.share <= room), None)
    if fitting is None:
        _refuse(kernel, layouts[-1], room)
    return fitting


def exclude_one_another(paths: Sequence[Path]) -> bool:
    """Whether an iteration comes to at most one of the paths, and each is over when it was run."""
    return len(paths) > 1 and all(
        path.parent is None
        and not path.repeats
        and not any(other.entry in path.blocks | path.rest for other in paths if other is not path)
        for path in paths
    )


def _layout(
    function: Function,
    loop: AnnotatedLoop,
    records: Sequence[PathRecord],
    discipline: str,
    start: int,
) -> Layout:
    updated = {a for record in records for a in record.path.accumulators}
    slots = place_slots(tuple(a for a in loop.accumulators if a in updated), start)
    tops = offset = start + sum(one.bytes for one in slots)
    together = discipline == "cases"
    pools = _pools(function, records, together)
    overflow = None
    if together:
        offset += -(-TOP_BYTES * len(records) // ALIGNMENT) * ALIGNMENT
        overflow = Stack(pools[0].registers, WARP_SIZE, offset)
        offset += overflow.bytes
    plans = []
    for record, pool in zip(records, pools, strict=True):
        own = "merge" if record.path.repeats else discipline
        stack = Stack(pool.registers, ENTRIES[own], offset)
        offset += stack.bytes
        snapshot, specials = pool.map(record.path)
        plans.append(Plan(record, own, stack, snapshot, specials))
    return Layout(discipline, tuple(plans), slots, tops, overflow)


class _Pool:
    """The snapshot registers of some paths, of which one at a time uses them."""

    def __init__(self, function: Function, paths: Sequence[Path]):
        self._by_type: dict[str, list[Register]] = {}
        for path in paths:
            for kind, wanted in Counter(map(_plain, _values(path))).items():
                have = self._by_type.setdefault(kind, [])
                have += [
                    function.registers.fresh(kind, "context") for _ in range(wanted - len(have))
                ]

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


def _pools(function: Function, records: Sequence[PathRecord], together: bool) -> list[_Pool]:
    paths = [record.path for record in records]
    if together:
        return [_Pool(function, paths)] * len(paths)
    return [_Pool(function, [path]) for path in paths]


def _values(path: Path) -> tuple[Register | Special, ...]:
    return (*path.context, *path.specials)


def _plain(value: Register | Special) -> str:
    """The untyped type of a value's size."""
    kind = value.register.type if isinstance(value, Special) else value.type
    return kind if kind == "pred" else f"b{kind[1:]}"


def _warps(kernel: Kernel) -> int:
    return -(-known_block_size(kernel.function, kernel.options.max_block) // WARP_SIZE)


def _used(kernel: Kernel) -> int:
    return shared_bytes(kernel) or 0


def _room(kernel: Kernel) -> int:
    """The bytes that a warp can have."""
    return (kernel.shared_limit - _used(kernel)) // _warps(kernel)


def _refuse(kernel: Kernel, layout: Layout, room: int) -> None:
    """Give up the first path that does not fit, with what to do about it."""
    plan = next(p for p in layout.plans if p.stack.offset + p.stack.bytes > room)
    block = known_block_size(kernel.function, kernel.options.max_block)
    used = _used(kernel) + plan.stack.offset * _warps(kernel)
    needed = plan.stack.offset + plan.stack.bytes
    fits = (kernel.shared_limit - _used(kernel)) // needed * WARP_SIZE
    entry = plan.stack.bytes // plan.stack.entries
    hint = f"; say how large its blocks are, by __launch_bounds__ or --ccc-max-block: {fits} fit"
    plan.record.reason = (
        f"its context of {entry} bytes a task does not fit into shared memory for "
        f"blocks of {block} threads beside the {used} bytes in use"
        + (hint if 0 < fits < block else "")
    )
