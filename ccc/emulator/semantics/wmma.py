"""``wmma``: matrices whose fragments nobody else knows (PTX ISA section 9.7.14.4).

Which element is where is not specified, so it is chosen simply: the left matrix and the sum row by
row, the right matrix column by column, each lane as many neighbours as there are, again from the
beginning where a fragment has room for more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.base.forms import ADDRESS, DTYPES, Array, Form, Operation, emulates, spread
from ccc.emulator.lanes.groups import Group
from ccc.emulator.memory.memory import Access
from ccc.emulator.semantics.matrix import (
    TERMS,
    WIDTHS,
    by_warp,
    elements,
    product,
    register_type,
    rounded,
    shape_of,
    sums,
)

_LANE = np.arange(32)


def _named(form: Form) -> list[str]:
    """The types of the opcode."""
    return [word for word in form.instruction.modifiers if word in WIDTHS or word in TERMS]


class _Fragment:
    """One matrix of a ``wmma``: ``which`` is a, b, c or d; ``name`` the type of its elements."""

    def __init__(self, form: Form, which: str, name: str):
        m, n, k = shape_of(form)
        # Rows and columns as they are numbered here: neighbours are in one row.
        self.rows, self.columns = {"a": (m, k), "b": (n, k)}.get(which, (m, n))
        self.name = name
        self.bits = {**WIDTHS, "f32": 32, "s32": 32}[name]
        self.register = register_type(name)
        self.per = max(32 // self.bits, 1)
        self.in_lane = self.rows * self.columns // 32
        used = self.in_lane // self.per
        self.registers = 8 if name == "f16" and which in "ab" else used

    def places(self, register: int) -> Array:
        """The numbers of a register's elements: (32, per)."""
        first = self.per * register % self.in_lane
        return (self.in_lane * _LANE + first)[:, None] + np.arange(self.per)

    def matrix(self, words: list[Array]) -> Any:
        """Registers (warps, 32) as a matrix of doubles (warps, rows, columns)."""
        flat = np.zeros((len(words[0]), self.rows * self.columns))
        for register, word in enumerate(words):
            values = elements(word, self.name) if self.name in WIDTHS else sums([word], self.name)
            flat[:, self.places(register)] = values
        return flat.reshape(-1, self.rows, self.columns)

    def words(self, matrix: Array, finite: bool) -> list[Any]:
        """A matrix of sums (warps, rows, columns) as registers (warps, 32)."""
        flat = matrix.reshape(len(matrix), -1)
        return [
            rounded(flat[:, self.places(register)], self.name, finite)[0]
            for register in range(self.registers)
        ]

    def offsets(self, register: int, turned: bool, stride: Any) -> Any:
        """Where a register's first element of each lane is, in bits: like ``stride``, (n,)."""
        first = self.places(register)[:, 0]
        row, column = first // self.columns, first % self.columns
        if turned:
            row, column = column, row
        lanes = len(stride) // 32
        across, along = np.tile(row, lanes), np.tile(column, lanes)
        return (across * stride.astype(np.int64) + along) * self.bits


def _moved(form: Form) -> tuple[_Fragment, bool, int]:
    """What a ``wmma.load`` or ``wmma.store`` moves.

    The fragment; whether its neighbours are apart in memory; and how many of them one access moves.
    """
    which = form.choose("a", "b", "c", "d")
    names = _named(form)
    if which is None or not names:
        form.refuse("names no matrix")
    fragment = _Fragment(form, which, names[0])
    turned = form.has("row" if which == "b" else "col")
    if turned and fragment.bits < 8:
        form.refuse("takes parts of bytes that are apart")
    return fragment, turned, 1 if turned else fragment.per


def _accesses(form: Form, fragment: _Fragment, turned: bool, method: str) -> Access:
    """How one register is moved: whole, or element by element."""
    bits = fragment.bits if turned else max(fragment.bits, 32)
    space = form.instruction.space
    return Access(form.instruction, form.slot, method, space, f"b{bits}", 1, 1)


def _strides(form: Form, fragment: _Fragment, turned: bool, stride: Any, n: int) -> Any:
    """The stride of each lane, or that of a matrix without gaps."""
    if stride is None:
        stride = np.uint32(fragment.rows if turned else fragment.columns)
    del form
    return spread(stride, n)


@emulates("wmma.load")
def load(form: Form) -> Operation:
    """Load a fragment of a matrix."""
    fragment, turned, together = _moved(form)
    access = _accesses(form, fragment, turned, "load")
    step = fragment.bits // 8

    def one(machine: Any, group: Group, address: Any, register: int, stride: Any) -> Any:
        start = address + (fragment.offsets(register, turned, stride) >> 3).astype(np.uint64)
        apart = stride.astype(np.uint64) * np.uint64(step)
        word: Any = np.uint64(0)
        for k in range(fragment.per // together):
            part = machine.memory.load(access, group, start + np.uint64(k) * apart)
            if together == fragment.per:
                return part
            word = word | part.astype(np.uint64) << np.uint64(k * fragment.bits)
        return word.astype(np.uint32)

    def compute(machine: Any, group: Group, address: Any, stride: Any = None) -> Any:
        by_warp(machine, form, group, (address,))
        strides = _strides(form, fragment, turned, stride, group.n)
        found = [one(machine, group, address, r, strides) for r in range(fragment.registers)]
        words = tuple(word.view(DTYPES[fragment.register]) for word in found)
        return words if len(words) > 1 else words[0]

    count = len(form.instruction.operands) - 2
    sources = (ADDRESS, *["u32"] * count)
    results = (fragment.register,) * fragment.registers
    return Operation(compute, sources, results, group=True, machine=True)


@emulates("wmma.store")
def store(form: Form) -> Operation:
    """Store a fragment of a matrix."""
    fragment, turned, together = _moved(form)
    access = _accesses(form, fragment, turned, "store")
    step = fragment.bits // 8
    part = np.dtype(f"u{fragment.bits // 8 if turned else max(fragment.bits, 32) // 8}")

    def compute(machine: Any, group: Group, address: Any, *words: Any) -> None:
        by_warp(machine, form, group, (address,))
        stride = words[fragment.registers] if len(words) > fragment.registers else None
        strides = _strides(form, fragment, turned, stride, group.n)
        apart = strides.astype(np.uint64) * np.uint64(step)
        for register in range(fragment.registers):
            offset = (fragment.offsets(register, turned, strides) >> 3).astype(np.uint64)
            word = spread(words[register], group.n)
            word = word.view(np.dtype(f"u{word.itemsize}"))
            for k in range(fragment.per // together):
                at = address + offset + np.uint64(k) * apart
                value = (word >> word.dtype.type(k * fragment.bits)).astype(part)
                machine.memory.store(access, group, at, value)

    count = len(form.instruction.operands) - 2
    sources = (ADDRESS, *[fragment.register] * fragment.registers, *["u32"] * count)
    return Operation(compute, sources, (), group=True, machine=True)


@emulates("wmma.mma")
def multiply(form: Form) -> Operation:
    """D = A * B + C."""
    names = _named(form)
    if len(names) == 2:  # of the result and of the term; the factors are halves
        names = [names[0], "f16", "f16", names[1]]
    if len(names) != 4:
        form.refuse(f"multiplies {' '.join(names)}")
    d, a, b, c = (_Fragment(form, which, name) for which, name in zip("dabc", names, strict=True))
    how, finite = form.choose("xor", "and"), form.has("satfinite")

    def compute(machine: Any, group: Group, *words: Any) -> Any:
        found = by_warp(machine, form, group, words)
        left = a.matrix(found[: a.registers])
        right = b.matrix(found[a.registers : a.registers + b.registers])
        term = c.matrix(found[a.registers + b.registers :])
        total = product(left, right.transpose(0, 2, 1), how) + term
        return tuple(np.ascontiguousarray(w).reshape(-1) for w in d.words(total, finite))

    sources = [f.register for f in (a, b, c) for _ in range(f.registers)]
    results = (d.register,) * d.registers
    return Operation(compute, tuple(sources), results, group=True, machine=True)
