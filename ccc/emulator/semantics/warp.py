"""Instructions that look at other lanes of the warp (PTX ISA section 9.7.9 shfl, 9.7.13).

Each gets the group of lanes that execute it together, and its operands as arrays (n,) or scalars;
what it returns is (n,). Member masks are uint32. In a ``.sync`` form they are the members of
complete masks, since ``simt`` has let the lanes wait for one another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.base.forms import (
    DTYPES,
    Array,
    Compute,
    Form,
    Operation,
    emulates,
    spread,
)
from ccc.emulator.lanes.groups import Group
from ccc.emulator.semantics.bits import popcount
from ccc.emulator.semantics.floating import extreme_of
from ccc.emulator.semantics.rounding import canonical

_NOBODY_HOME = 0xA5A5A5A5
"""What ``shfl`` gives for a lane that does not take part."""


def _mask(group: Group, mask: Any) -> Array:
    """The member mask of each lane."""
    return spread(mask, group.n)


def _lane(group: Group) -> Array:
    return (group.lanes & 31).astype(np.uint32)


def _everyone(form: Form) -> bool:
    """Whether it is an old form, of all lanes that happen to be there."""
    return not form.has("sync")


@emulates("activemask")
def activemask(_: Form) -> Operation:
    """The lanes that execute this together."""
    return Operation(lambda group: group.active[group.rank], (), ("b32",), group=True)


@emulates("vote")
def vote(form: Form) -> Operation:
    """``all``, ``any``, ``uni`` and ``ballot``."""
    mode = form.choose("all", "any", "uni", "ballot")
    if mode is None:
        form.refuse("names no mode")
    alone = _everyone(form)

    def compute(group: Group, p: Any, mask: Any = None) -> Any:
        members = group.active[group.rank]
        if not alone:
            members = members & _mask(group, mask)
        yes = group.bits(spread(p, group.n))[group.rank] & members
        match mode:
            case "ballot":
                return yes
            case "any":
                return yes != 0
            case "all":
                return yes == members
            case _:
                return (yes == members) | (yes == 0)

    sources = ("pred",) if alone else ("pred", "b32")
    return Operation(compute, sources, ("b32" if mode == "ballot" else "pred",), group=True)


@emulates("shfl")
def shfl(form: Form) -> Operation:
    """Take a value from another lane of a segment of the warp."""
    mode = form.choose("up", "down", "bfly", "idx")
    alone = _everyone(form)

    def compute(group: Group, a: Any, b: Any, c: Any, mask: Any = None) -> Any:
        lane = _lane(group)
        b, c = b & np.uint32(31), spread(c, group.n)
        segment, clamp = (c >> np.uint32(8)) & np.uint32(31), c & np.uint32(31)
        highest = (lane & segment) | (clamp & ~segment)
        lowest = lane & segment
        wide = lane.astype(np.int64)
        match mode:
            case "up":
                source = wide - b
                inside = source >= highest
            case "down":
                source = wide + b
                inside = source <= highest
            case "bfly":
                source = wide ^ b
                inside = source <= highest
            case _:
                source = (lowest | (b & ~segment)).astype(np.int64)
                inside = source <= highest
        source = np.where(inside, source, wide)
        values = group.by_warp(spread(a, group.n), _NOBODY_HOME)
        found = values[group.rank, source]
        members = group.active[group.rank] if alone else _mask(group, mask)
        present = members & group.active[group.rank]
        here = (present >> source.astype(np.uint32)) & np.uint32(1) == 1
        return np.where(here, found, np.uint32(_NOBODY_HOME)), inside

    sources = ("b32",) * (3 if alone else 4)
    return Operation(compute, sources, ("b32", "pred"), group=True)


@emulates("match")
def match_(form: Form) -> Operation:
    """The members that have the same value; for ``all``, whether all of them have."""
    kind = f"b{form.bits}"
    for_all = form.has("all")

    def compute(group: Group, a: Any, mask: Any) -> Any:
        a = spread(a, group.n)
        rows = group.by_warp(a, 0)
        equal = rows[group.rank] == a[:, None]
        same: Any = np.packbits(equal, axis=1, bitorder="little").view(np.uint32).ravel()
        members = _mask(group, mask) & group.active[group.rank]
        same = same & members
        if not for_all:
            return same
        agreed = same == members
        return np.where(agreed, members, np.uint32(0)), agreed

    results = ("b32", "pred") if for_all else ("b32",)
    return Operation(compute, (kind, "b32"), results, group=True)


_REDUCTIONS: dict[str, Compute] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@emulates("redux")
def redux(form: Form) -> Operation:
    """Reduce over the members."""
    name = form.choose(*_REDUCTIONS)
    if name is None or (form.kind == "f" and name not in ("min", "max")) or form.bits != 32:
        form.refuse("reduces something else than 32-bit integers")
    dtype = DTYPES[form.type]
    combine = _REDUCTIONS[name]
    if form.kind == "f":
        return _redux_float(form, name)

    def compute(group: Group, a: Any, mask: Any) -> Any:
        rows = group.by_warp(spread(a, group.n), 0)[group.rank]
        members = _mask(group, mask) & group.active[group.rank]
        bits = (members[:, None] >> np.arange(32, dtype=np.uint32)) & np.uint32(1) == 1
        neutral = _neutral(name, dtype)
        result = np.full(group.n, neutral, dtype)
        for k in range(32):
            result = np.where(bits[:, k], combine(result, rows[:, k]), result)
        return result

    return Operation(compute, (form.type, "b32"), (form.type,), group=True)


def _redux_float(form: Form, name: str) -> Operation:
    """The least or largest of the members' numbers; NaN where all of them, or with .NaN one, is."""
    combine = extreme_of(form, "f32", name == "min")
    of_sizes = form.has("abs")

    def compute(group: Group, a: Any, mask: Any) -> Any:
        own = spread(np.abs(a) if of_sizes else a, group.n)
        rows = group.by_warp(own, 0)[group.rank]
        members = _mask(group, mask) & group.active[group.rank]
        result = own
        for k in range(32):
            here = (members >> np.uint32(k)) & np.uint32(1) == 1
            result = np.where(here, combine(result, rows[:, k]), result)
        return canonical(result, "f32")

    return Operation(compute, ("f32", "b32"), ("f32",), group=True)


def _neutral(name: str, dtype: np.dtype[Any]) -> Any:
    limits = np.iinfo(dtype)
    ones = np.zeros(1, dtype).__invert__()[0]
    return {"min": limits.max, "max": limits.min, "and": ones}.get(name, 0)


@emulates("elect")
def elect(_: Form) -> Operation:
    """The lowest member, and whether this lane is it."""

    def compute(group: Group, mask: Any) -> Any:
        members = _mask(group, mask) & group.active[group.rank]
        lowest = members & (~members + np.uint32(1))
        leader = popcount(lowest - np.uint32(1))
        return leader, leader == _lane(group)

    return Operation(compute, ("b32",), ("b32", "pred"), group=True)


def _nothing(_: Group) -> None:
    """The lanes have waited already, or need not."""


@emulates("bar", "barrier")
def bar(_: Form) -> Operation:
    """A barrier: the waiting is over when it is executed."""
    return Operation(_nothing, (), (), group=True)


@emulates("bar.red", "barrier.red")
def bar_red(form: Form) -> Operation:
    """Reduce a predicate over the threads that met at a barrier."""
    mode = form.choose("popc", "and", "or")
    has_count = len(form.instruction.operands) == 4

    def compute(group: Group, _: Any, *rest: Any) -> Any:
        p = spread(rest[-1], group.n)
        yes = np.bincount(group.blocks[p], minlength=int(group.blocks[-1]) + 1)[group.blocks]
        if mode == "popc":
            return yes.astype(np.uint32)
        if mode == "or":
            return yes > 0
        return yes == np.bincount(group.blocks)[group.blocks]

    sources = ("u32",) * (1 + has_count) + ("pred",)
    return Operation(compute, sources, ("u32" if mode == "popc" else "pred",), group=True)
