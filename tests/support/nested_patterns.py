"""Random nested patterns for the kernels of tests/cte/nested.cu, and what NumPy makes of them.

Only NumPy is needed, so that they run wherever kernels do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
HERE, RETURNED, ELSEWHERE, OTHER_CALL = range(4)
TYPES: dict[str, Any] = {
    "i32": np.dtype("i4"),
    "f32": np.dtype("f4"),
    "f64": np.dtype("f8"),
    "i64": np.dtype("i8"),
    "u8": np.dtype("u1"),
    "u32": np.dtype("u4"),
    "affine": np.dtype([("factor", "u4"), ("shift", "u4"), ("count", "u4")]),
    "wide": np.dtype([("first", "u4"), ("last", "u4"), ("sums", "u4", (14,))]),
}
WIDE_INDICES = (
    *("warp_stride_i64", "sub16_range_i64", "warp_range_u8", "warp_list_u32"),
    *("block64_stride_i64", "block100_scanned_u8", "block192_list_u32"),
)
SHAPES = ((32,), (64,), (96,), (256,), (7,), (100,), (33,), (16, 6), (5, 9), (8, 8, 3), (3, 5, 7))
FEW_THREADS = 105
"""Blocks of at most so many run quickly on the emulator."""
SIZES: tuple[tuple[str, Callable[[Any, int], Array]], ...] = (
    ("none", lambda _, n: np.zeros(n, int)),
    ("even", lambda rng, n: np.full(n, rng.integers(1, 9))),
    ("small", lambda rng, n: rng.integers(0, 9, n)),
    ("one long", lambda rng, n: np.where(np.arange(n) == rng.integers(n), 700, 1)),
    ("few", lambda rng, n: np.where(rng.random(n) < 0.1, rng.integers(0, 90, n), 0)),
    ("heavy", lambda rng, n: np.minimum((rng.pareto(0.9, n) * 2).astype(int), 400)),
)
WHO = ("all", "some", "last", "mixed")
"""Who is there: some have returned, or are in another branch, or in another call."""

Launch = Callable[..., Any]
"""Called with a kernel's name, a grid, a block and arguments, whose arrays it changes."""


@dataclass
class Pattern:
    """What one launch is given."""

    kernel: str
    block: tuple[int, ...]
    blocks: int
    tasks: Array
    who: Array
    places: int

    @property
    def value(self) -> str:
        """The type of the values."""
        return self.kernel.rpartition("_")[2]

    def run(self, launch: Launch) -> None:
        """Launch the kernel, and compare."""
        count = len(self.tasks)
        values, visits = expected(self)
        found, seen = np.zeros_like(values), np.zeros_like(visits)
        arguments = (np.int32(count), self.tasks, self.who, found, seen)
        launch(self.kernel, (self.blocks,), self.block, arguments)
        wrong = np.flatnonzero(found != values)
        assert not len(wrong), (self.kernel, wrong[:9], found[wrong[:3]], values[wrong[:3]])
        assert np.array_equal(seen, visits), (self.kernel, np.flatnonzero(seen != visits)[:9])


def patterns(
    kernels: Sequence[str], count: int, seed: int, *, few: bool = False
) -> Iterator[Pattern]:
    """Random ones, so that each kernel comes about as often."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        yield draw(kernels[number % len(kernels)], rng, few=few)


def draw(kernel: str, rng: Any, sizes: Array | None = None, *, few: bool = False) -> Pattern:
    """One pattern for a kernel: for lists of these ``sizes``, or of random ones."""
    told = threads_told(kernel)
    shapes = [shape for shape in SHAPES if not few or np.prod(shape) <= FEW_THREADS]
    if told:
        shapes = [(told,), *(shape for shape in SHAPES if np.prod(shape) == told)]
    block = shapes[rng.integers(len(shapes))]
    blocks = 1 if few else int(rng.integers(1, 3))
    threads = int(np.prod(block)) * blocks
    if sizes is not None:
        blocks = -(-len(sizes) // int(np.prod(block)))
    else:
        count = max(1, threads - int(rng.integers(0, 20)))
        sizes = SIZES[rng.integers(len(SIZES))][1](rng, count)
        if kernel == "nested":
            sizes = sizes % 30
        if told and rng.random() < 0.8:
            sizes[rng.integers(0, count, 2)] += rng.integers(3000, 7000)
    joined = "scanned" in kernel and rng.random() < 0.7  # else that is wrong of them
    who = np.full(len(sizes), HERE, np.int8)
    kind = "all" if joined and told else WHO[rng.integers(len(WHO))]
    if kind == "last":
        who[rng.integers(len(sizes)) :] = ELSEWHERE if joined else RETURNED
    elif kind == "some" and not joined:
        who[rng.random(len(sizes)) < 0.3] = rng.choice([RETURNED, ELSEWHERE])
    elif kind == "mixed" and not joined:
        who[:] = rng.integers(0, 4, len(sizes))
    tasks = _tasks(kernel, sizes, rng, joined)
    places = int(max(tasks[name].max(initial=0) for name in ("begin", "end"))) + 1
    return Pattern(kernel, block, blocks, tasks, who, places)


def threads_told(kernel: str) -> int:
    """How many threads a block of a kernel has that is told it, or 0."""
    told = re.match(r"block(\d+)_", kernel)
    return int(told[1]) if told else 0


def _tasks(kernel: str, sizes: Array, rng: Any, joined: bool) -> Array:
    index = np.int64 if kernel in WIDE_INDICES else np.int32
    fields = [("begin", index), ("end", index), ("stride", np.int32)]
    tasks = np.zeros(len(sizes), np.dtype(fields, align=True))
    begin = np.cumsum(sizes) - sizes
    if not joined:
        begin = np.where(rng.random(len(sizes)) < 0.5, begin, rng.permutation(begin) // 2)
    tasks["begin"], tasks["end"], tasks["stride"] = begin, begin + sizes, 1
    if "stride" in kernel:
        steps = rng.integers(1, 9, len(sizes))
        steps[rng.random(len(sizes)) < 0.3] *= -1
        down = steps < 0
        tasks["stride"] = steps
        tasks["begin"][down], tasks["end"][down] = (begin + sizes)[down], begin[down]
    return tasks


def indices(pattern: Pattern, task: int) -> Array:
    """Those of a task, in their order."""
    begin, end, stride = (int(pattern.tasks[name][task]) for name in ("begin", "end", "stride"))
    if "list" in pattern.kernel:
        return np.arange(end - 1, begin - 1, -1)
    return np.arange(begin, end, stride)


def expected(pattern: Pattern) -> tuple[Array, Array]:
    """What NumPy makes of it: the value of each task, and how often places were visited."""
    count = len(pattern.tasks)
    name = "i32" if pattern.kernel == "nested" else pattern.value
    values, visits = np.zeros(count, TYPES[name]), np.zeros(pattern.places, np.int32)
    for task in range(count):
        who = pattern.who[task]
        items = indices(pattern, task)
        offsets = items - int(pattern.tasks["begin"][task])
        if pattern.kernel == "nested":
            if who == HERE:
                values[task] = task + _inner(offsets)
        elif who != RETURNED:
            values[task] = REDUCE[name](offsets if who == HERE else items[:0], task)
            if who == OTHER_CALL:
                begin, end = int(pattern.tasks["begin"][task]), int(pattern.tasks["end"][task])
                visits[begin:end] += task
    return values, visits


def _inner(offsets: Array) -> int:
    return sum(int((np.arange(offset % 7) * offset % 11).sum()) for offset in offsets)


def _plain(reduce: Callable[[Array], Any]) -> Callable[[Array, int], Any]:
    def of(offsets: Array, task: int) -> Any:
        return reduce(np.r_[task % 5, (offsets * 7 + task * 3 + 1) % 13])

    return of


def _affine(offsets: Array, task: int) -> Any:
    factor, shift = 1, task
    for offset in map(int, offsets):
        by, more = offset * 2 + 3, (offset ^ (task * 3 + 1)) & 0xFFFFFFFF
        factor, shift = factor * by & 0xFFFFFFFF, (shift * by + more) & 0xFFFFFFFF
    return factor, shift, len(offsets)


def _wide(offsets: Array, task: int) -> Any:
    columns = np.arange(14)
    items = np.r_[task, offsets]
    state = len(offsets) * (task * 3 + 1)
    sums = (items.sum() * columns + state) & 0xFFFFFFFF
    return task, items[-1], sums


REDUCE = {
    **dict.fromkeys(("i32", "f32", "i64"), _plain(np.sum)),
    "f64": _plain(np.max),
    "u8": _plain(np.min),
    "u32": _plain(np.bitwise_xor.reduce),
    "affine": _affine,
    "wide": _wide,
}
