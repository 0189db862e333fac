"""Atomic operations of many lanes, as if one lane went after the other (PTX ISA section 9.7.13).

Lanes that meet at one address are sorted into runs. An operation that associates is a prefix scan
over each run; the others go round by round, the k-th lane of every run in round k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ccc.emulator.base.forms import Array, Form
from ccc.emulator.semantics.rounding import canonical, flush, nan_of, narrow, widen

OPERATIONS = ("add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec")

_ASSOCIATIVE: dict[str, Callable[[Any, Any], Any]] = {
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def operation_name(form: Form) -> str:
    """The operation of an ``atom`` or ``red``.

    Raises:
        EmulatorError: it is not emulated for that type.
    """
    name = form.choose(*OPERATIONS)
    if name is None:
        form.refuse("has no operation that is known here")
    half = element_type(form.type)
    if half in ("f16", "bf16") and name in ("add", "min", "max"):
        return f"{name}.{half}"
    if form.kind == "x" or (form.kind == "f" and name != "add"):
        form.refuse(f"applies {name} to {form.type}")
    return name


def element_type(type_name: str) -> str:
    """The type that an atomic computes with: of a packed pair, each half for itself."""
    return type_name[:-2] if type_name in ("f16x2", "bf16x2") else type_name


def sum_in(space: str) -> str:
    """The addition of f32 and f64 as it is done in a state space."""
    return "add.global" if space == "global" else "add.shared"


def _global_sum(old: Any, value: Any) -> Any:
    """In global memory subnormal numbers of f32 are zeros, and NaNs of f64 stay as they are."""
    if old.dtype == np.float32:
        return canonical(flush(flush(old) + flush(value)), "f32")
    total = old + value
    return np.where(np.isnan(value), value, np.where(np.isnan(old), old, total))


def _shared_sum(old: Any, value: Any) -> Any:
    """In shared memory a loop adds as the instruction does."""
    if old.dtype == np.float32:
        return canonical(old + value, "f32")
    return nan_of(old + value, old, value)


def _half(name: str, old: Array, value: Array) -> Any:
    """An operation on f16, or on bf16 as its bits."""
    operation, type_name = name.split(".")
    wide = widen(old, type_name), widen(value, type_name)
    if operation == "add":
        found = narrow(wide[0] + wide[1], type_name)
    else:
        pick, meet = (np.fmin, np.bitwise_or) if operation == "min" else (np.fmax, np.bitwise_and)
        bits = meet(old.view(np.uint16), value.view(np.uint16)).view(old.dtype)
        found = np.where(wide[0] == wide[1], bits, narrow(pick(*wide), type_name))
    return found if type_name == "bf16" else canonical(found, type_name)


def apply(name: str, cells: Array, place: Array, values: tuple[Array, ...]) -> Array:
    """Apply an operation at ``cells[place]`` in lane order.

    Args:
        name: one of OPERATIONS.
        cells: memory as an array of the operation's dtype; changed.
        place: int64, (n,), indices into it.
        values: the operands, (n,) each and of the same dtype as ``cells``; two for ``cas``.

    Returns:
        What each lane found: (n,), of the dtype of ``cells``.
    """
    order = np.argsort(place, kind="stable") if len(place) > 1 else np.zeros(1, np.intp)
    at = place[order]
    starts = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]]))
    runs = _Runs(cells, at, starts, tuple(value[order] for value in values))
    if len(starts) == len(at):
        found = runs.round(name)
    elif name == "exch":
        found = runs.exchange()
    elif name == "cas":
        found = runs.compare_and_swap()
    elif name == "add" and cells.dtype.kind != "f":
        found = runs.add()
    elif name in _ASSOCIATIVE:
        found = runs.scan(_ASSOCIATIVE[name])
    else:
        found = runs.rounds(name)
    result = np.empty_like(found)
    result[order] = found
    return result


def _step(name: str, old: Array, values: tuple[Array, ...]) -> Any:
    """What one lane leaves behind, for lanes at different addresses."""
    value = values[0]
    match name:
        case "add":
            return old + value
        case "exch":
            return value
        case "cas":
            return np.where(old == value, values[1], old)
        case "add.global":
            return _global_sum(old, value)
        case "add.shared":
            return _shared_sum(old, value)
        case "inc":
            return np.where(old >= value, old.dtype.type(0), old + old.dtype.type(1))
        case "dec":
            wraps = (old == 0) | (old > value)
            return np.where(wraps, value, old - old.dtype.type(1))
        case _ if "." in name:
            return _half(name, old, value)
        case _:
            return _ASSOCIATIVE[name](old, value)


class _Runs:
    """Lanes sorted by address: each run of equal addresses in the order of its lanes."""

    def __init__(self, cells: Array, at: Array, starts: Array, values: tuple[Array, ...]):
        self.cells = cells
        self.at = at
        self.values = values
        self.starts = starts
        self.lengths = np.diff(np.append(starts, len(at)))
        self.ends = starts + self.lengths - 1

    @property
    def base(self) -> Array:
        """What is in memory, per run."""
        found: Array = self.cells[self.at[self.starts]]
        return found

    @property
    def rank(self) -> Array:
        """Each lane's place in its run."""
        found: Array = np.arange(len(self.at)) - np.repeat(self.starts, self.lengths)
        return found

    def leave(self, per_run: Array) -> None:
        """Store what each run leaves behind."""
        self.cells[self.at[self.starts]] = per_run

    def round(self, name: str) -> Array:
        """All addresses differ."""
        old: Array = self.cells[self.at]
        self.cells[self.at] = _step(name, old, self.values)
        return old

    def rounds(self, name: str) -> Array:
        """One lane of every run after the other."""
        found = np.empty(len(self.at), self.cells.dtype)
        for k in range(int(self.lengths.max())):
            now = self.starts[self.lengths > k] + k
            old = self.cells[self.at[now]]
            found[now] = old
            self.cells[self.at[now]] = _step(name, old, tuple(v[now] for v in self.values))
        return found

    def exchange(self) -> Array:
        """Each lane finds what the one before it put."""
        (value,) = self.values
        found = np.empty_like(value)
        found[1:] = value[:-1]
        found[self.starts] = self.base
        self.leave(value[self.ends])
        return found

    def add(self) -> Array:
        """Integers: prefix sums, which wrap around as the additions do."""
        (value,) = self.values
        total = np.cumsum(value, dtype=value.dtype)
        before = total - value
        found: Array = before - np.repeat(before[self.starts] - self.base, self.lengths)
        self.leave(found[self.ends] + value[self.ends])
        return found

    def scan(self, combine: Callable[[Any, Any], Any]) -> Array:
        """Prefix scan by doubling steps."""
        value = self.values[0].copy()
        rank = self.rank
        distance = 1
        while distance < int(self.lengths.max()):
            later = np.flatnonzero(rank >= distance)
            value[later] = combine(value[later], value[later - distance])
            distance *= 2
        base = np.repeat(self.base, self.lengths)
        after = combine(base, value)
        found = np.where(rank == 0, base, np.concatenate([base[:1], after[:-1]]))
        self.leave(after[self.ends])
        return found

    def compare_and_swap(self) -> Array:
        """From success to success: lanes between two of them all find the same."""
        compare, value = self.values
        now = self.base
        found = np.repeat(now, self.lengths)
        position = np.arange(len(self.at))
        run = np.repeat(np.arange(len(self.starts)), self.lengths)
        following = self.starts.copy()
        while True:
            hit = (compare == now[run]) & (position >= following[run])
            first = np.minimum.reduceat(np.where(hit, position, len(position)), self.starts)
            won = first < len(position)
            if not won.any():
                break
            now = np.where(won, value[np.minimum(first, len(position) - 1)], now)
            following = np.where(won, first + 1, following)
            found = np.where(won[run] & (position >= following[run]), now[run], found)
        self.leave(now)
        return found
