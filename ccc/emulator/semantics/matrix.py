"""Matrices in the registers of a warp: ``mma`` and what moves its fragments.

(PTX ISA section 9.7.14.) A fragment register of 32 bits holds ``per`` neighbours along the inner
dimension K: lane ``4 * g + t`` has those at ``per * t`` of each block of ``4 * per``, in row ``g``
and, for the left matrix, in row ``g + 8``. Products and sums are taken in double precision and
rounded once; the order in which hardware adds, and what it cuts off, is not specified.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ccc.emulator.base.forms import ADDRESS, Array, Form, Operation, emulates, spread
from ccc.emulator.lanes.groups import Group
from ccc.emulator.memory.memory import Access
from ccc.emulator.semantics.narrow import SMALL
from ccc.emulator.semantics.rounding import canonical, narrow, widen

_LANE = np.arange(32)
_ROW, _PLACE = _LANE >> 2, _LANE & 3
_INTEGERS = {"u8": (8, False), "s8": (8, True), "u4": (4, False), "s4": (4, True), "b1": (1, False)}
WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "f64": 64} | {
    name: bits for name, (bits, _) in _INTEGERS.items()
}
"""Bits of the elements of the factors."""
TERMS = ("f16", "f32", "s32", "f64")
"""The types of what is added up."""
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


def shape_of(form: Form) -> tuple[int, int, int]:
    """M, N and K."""
    matches = map(_SHAPE.fullmatch, form.instruction.modifiers)
    match = next(filter(None, matches), None)
    if match is None:
        form.refuse("names no shape")
    m, n, k = map(int, match.groups())
    return m, n, k


def by_warp(machine: Any, form: Form, group: Group, values: tuple[Any, ...]) -> list[Array]:
    """Values of whole warps: (warps, 32) each."""
    if group.n != 32 * group.warp_count:
        machine.fault("lanes of the warp are missing", form.instruction, group)
    return [spread(value, group.n).reshape(-1, 32) for value in values]


def elements(word: Array, name: str) -> Any:
    """The numbers in a fragment register (..., 32): double, (..., 32, per), the lowest first."""
    if name == "f64":
        return word.view(np.float64)[..., None]
    bits = WIDTHS[name]
    if bits == 32:
        return (word & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)[..., None]
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    parts = word[..., None] >> shifts & np.uint32((1 << bits) - 1)
    if name in _INTEGERS:
        numbers = parts.astype(np.int64)
        top = 1 << (bits - 1)
        if _INTEGERS[name][1]:
            numbers = (numbers ^ top) - top
        return numbers.astype(np.float64)
    if name in SMALL:
        return SMALL[name].decode(parts.astype(np.uint8))
    half = parts.astype(np.uint16)
    return widen(half if name == "bf16" else half.view(np.float16), name)


def sums(words: list[Array], name: str) -> Array:
    """Terms in fragment registers as doubles: (..., 32, 2 or 4), in the order of the ISA."""
    if name == "f16":
        return np.concatenate([elements(word, "f16") for word in words], axis=-1)
    return np.stack([word.astype(np.float64) for word in words], axis=-1)


def rounded(total: Array, name: str, finite: bool) -> list[Array]:
    """Doubles (..., 32, count) as fragment registers of a type of :data:`TERMS`."""
    count = total.shape[-1]
    if name == "f16":
        halves = canonical(narrow(total, "f16"), "f16").view(np.uint16).astype(np.uint32)
        high = np.uint32(16)
        return [halves[..., k] | halves[..., k + 1] << high for k in range(0, count, 2)]
    if name == "s32":
        limits = np.iinfo(np.int32)
        whole = total.astype(np.int64)
        whole = np.clip(whole, limits.min, limits.max) if finite else whole
        numbers = whole.astype(np.int32)
    elif name == "f32":
        numbers = canonical(narrow(total, "f32"), "f32")
    else:
        numbers = total
    return [numbers[..., k] for k in range(count)]


def product(a: Array, b: Array, how: str | None) -> Any:
    """The product of matrices (..., M, K) and (..., K, N); of bits by ``xor`` or ``and``."""
    dot = a @ b
    if how == "xor":
        return a.sum(axis=-1)[..., None] + b.sum(axis=-2)[..., None, :] - 2 * dot
    return dot


def register_type(name: str) -> str:
    """The type of a register of a fragment of such elements."""
    return name if name in ("f64", "f32", "s32") else "b32"


def factor_types(form: Form) -> tuple[str, str, str, str]:
    """The types of the result, the factors and the term, as the opcode names them."""
    names = [w for w in form.instruction.modifiers if w in WIDTHS or w in TERMS]
    if len(names) != 4 or names[1] not in WIDTHS or names[2] not in WIDTHS:
        form.refuse(f"multiplies {' '.join(names)}")
    d, a, b, c = names
    if WIDTHS[a] != WIDTHS[b] or d not in TERMS or c not in TERMS:
        form.refuse(f"multiplies {' '.join(names)}")
    return d, a, b, c


@emulates("mma")
def mma(form: Form) -> Operation:
    """D = A * B + C for the fragments of m8n8 and m16n8."""
    rows, columns, inner = shape_of(form)
    d, a, b, c = factor_types(form)
    if form.has("block_scale", "kind") or columns != 8 or (rows, inner, a) == (8, 4, "f16"):
        form.refuse("has fragments that are not modelled")
    halves = rows // 8
    per = max(32 // WIDTHS[a], 1)
    blocks = inner // (4 * per)
    count_a, count_b = halves * blocks, blocks
    count_c = halves if c == "f16" else 2 * halves
    how, finite = form.choose("xor", "and"), form.has("satfinite")

    def compute(machine: Any, group: Group, *words: Any) -> Any:
        found = by_warp(machine, form, group, words)
        left = np.zeros((len(found[0]), rows, inner))
        right = np.zeros((len(found[0]), inner, 8))
        for block in range(blocks):
            at = (4 * per * block + per * _PLACE)[:, None] + np.arange(per)
            for half in range(halves):
                word = found[halves * block + half]
                left[:, (_ROW + 8 * half)[:, None], at] = elements(word, a)
            right[:, at, _ROW[:, None]] = elements(found[count_a + block], b)
        result = product(left, right, how)
        row = np.repeat(_ROW[:, None], 2 * halves, axis=1) + np.repeat([0, 8], 2)[: 2 * halves]
        column = (2 * _PLACE)[:, None] + np.tile([0, 1], halves)
        total = result[:, row, column] + sums(found[count_a + count_b :], c)
        return tuple(word.reshape(-1) for word in rounded(total, d, finite))

    sources = [register_type(a)] * (count_a + count_b) + [register_type(c)] * count_c
    results = [register_type(d)] * (halves if d == "f16" else 2 * halves)
    return Operation(compute, tuple(sources), tuple(results), group=True, machine=True)


# Rows of 8 elements of 16 bits ------------------------------------------------------------------


def _transposed(words: Array) -> Any:
    """An 8 by 8 matrix of halves in registers, (warps, 32), with its sides swapped."""
    halves = words[..., None] >> np.array([0, 16], np.uint32) & np.uint32(0xFFFF)
    square = halves.reshape(-1, 8, 8).transpose(0, 2, 1).reshape(-1, 32, 2)
    return square[..., 0] | square[..., 1] << np.uint32(16)


def _rows(form: Form) -> tuple[int, Access]:
    """How many matrices an ``ldmatrix`` or ``stmatrix`` moves, and how it gets at a row."""
    if not form.has("m8n8"):
        form.refuse("moves other rows than of eight halves")
    count = int((form.choose("x1", "x2", "x4") or "x1")[1:])
    method = "load" if form.instruction.name == "ldmatrix" else "store"
    return count, Access(form.instruction, form.slot, method, form.instruction.space, "b32", 4, 4)


def _who(group: Group, count: int) -> Array:
    """The lanes that name the rows."""
    named: Array = (group.lanes & 31) < 8 * count
    return named


@emulates("ldmatrix")
def ldmatrix(form: Form) -> Operation:
    """Load matrices, one row of 16 bytes for each lane that names one."""
    count, access = _rows(form)
    turns = form.has("trans")

    def compute(machine: Any, group: Group, address: Any) -> Any:
        (addresses,) = by_warp(machine, form, group, (address,))
        named = _who(group, count)
        some = group.only(named)
        assert some is not None  # of a whole warp
        words = machine.memory.load(access, some, addresses.reshape(-1)[named])
        rows = np.stack([spread(w, some.n) for w in words], axis=-1).reshape(-1, count, 8, 4)
        found = [rows[:, k].reshape(-1, 32) for k in range(count)]
        found = [_transposed(words) for words in found] if turns else found
        result = tuple(np.ascontiguousarray(words).reshape(-1) for words in found)
        return result if count > 1 else result[0]

    return Operation(compute, (ADDRESS,), ("b32",) * count, group=True, machine=True)


@emulates("stmatrix")
def stmatrix(form: Form) -> Operation:
    """Store matrices, likewise."""
    count, access = _rows(form)
    turns = form.has("trans")

    def compute(machine: Any, group: Group, address: Any, *words: Any) -> None:
        addresses, *found = by_warp(machine, form, group, (address, *words))
        named = _who(group, count)
        rows = np.stack([_transposed(w) if turns else w for w in found], axis=1)
        parts = rows.reshape(-1, 4)
        columns = (np.ascontiguousarray(parts[:, k]) for k in range(4))
        machine.memory.store(access, group.only(named), addresses.reshape(-1)[named], *columns)

    return Operation(compute, (ADDRESS, *["b32"] * count), (), group=True, machine=True)


@emulates("movmatrix")
def movmatrix(form: Form) -> Operation:
    """Swap the sides of a matrix in registers."""

    def compute(machine: Any, group: Group, word: Any) -> Any:
        (words,) = by_warp(machine, form, group, (word,))
        return _transposed(words).reshape(-1)

    return Operation(compute, ("b32",), ("b32",), group=True, machine=True)
