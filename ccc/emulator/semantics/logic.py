"""Logic, shifts, selection and comparison (PTX ISA sections 9.7.6 and 9.7.8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.base.forms import DTYPES, Compute, Form, Operation, emulates, same
from ccc.emulator.semantics.rounding import flush, widen
from ccc.ptx.operations import UNSIGNED
from ccc.ptx.types import TYPES

_BOOLEAN: dict[str, Compute] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _bits(form: Form) -> str:
    return "pred" if "pred" in form.instruction.modifiers else f"b{form.bits}"


@emulates("and", "or", "xor")
def boolean(form: Form) -> Operation:
    """Bitwise, or on predicates."""
    return same(_BOOLEAN[form.instruction.name], _bits(form), 2)


@emulates("not")
def invert(form: Form) -> Operation:
    """All bits, or a predicate, inverted."""
    return same(np.invert, _bits(form), 1)


@emulates("cnot")
def cnot(form: Form) -> Operation:
    """1 where the operand is 0, otherwise 0."""
    dtype = DTYPES[_bits(form)]
    return same(lambda a: (a == 0).astype(dtype), _bits(form), 1)


@emulates("lop3")
def lop3(form: Form) -> Operation:
    """Any function of three bits, by its truth table; with a predicate: whether it is not 0."""
    table = getattr(form.instruction.operands[4], "integer", None)
    if table is None:
        form.refuse("has no constant truth table")
    combine = form.choose("or", "and")
    inverted = bin(table & 255).count("1") > 4
    wanted = ~table & 255 if inverted else table & 255

    def compute(a: Any, b: Any, c: Any, *rest: Any) -> Any:
        result = np.zeros_like(a & b & c)
        for row in range(8):
            if wanted >> row & 1:
                term = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
                result = result | term
        result = ~result if inverted else result
        return (result, _BOOLEAN[combine](result != 0, rest[1])) if combine else result

    if combine:
        return Operation(compute, ("b32",) * 4 + ("pred",), ("b32", "pred"))
    return same(compute, "b32", 3)


@emulates("shf")
def shf(form: Form) -> Operation:
    """Shift a pair of words and keep one of them."""
    wrap, left = form.has("wrap"), form.has("l")

    def compute(low: Any, high: Any, amount: Any) -> Any:
        amount = amount & np.uint32(31) if wrap else np.minimum(amount, np.uint32(32))
        pair = (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
        amount = amount.astype(np.uint64)
        moved = (pair << amount) >> np.uint64(32) if left else pair >> amount
        return moved.astype(np.uint32)

    return same(compute, "u32", 3)


@emulates("shl", "shr")
def shift(form: Form) -> Operation:
    """Shift by up to the width; beyond it, nothing but zeros or signs is left."""
    kind = form.type if form.kind == "s" and form.instruction.name == "shr" else _bits(form)
    dtype, bits = DTYPES[kind], form.bits
    move = np.left_shift if form.instruction.name == "shl" else np.right_shift
    last = np.uint32(bits - 1)
    constant = getattr(form.instruction.operands[2], "integer", None)
    if constant is not None and 0 <= constant < bits:
        fixed = dtype.type(constant)
        return Operation(lambda a, _: move(a, fixed), (kind, "u32"), (kind,))

    def compute(a: Any, amount: Any) -> Any:
        if dtype.kind == "i":
            return move(a, np.minimum(amount, last).astype(dtype))
        moved = move(a, np.minimum(amount, last).astype(dtype))
        return np.where(amount > last, dtype.type(0), moved)

    return Operation(compute, (kind, "u32"), (kind,))


@emulates("prmt")
def prmt(form: Form) -> Operation:
    """Pick four bytes of eight."""
    mode = form.choose("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")

    def selector(c: Any, k: int) -> Any:
        low = c & np.uint32(3)
        number = np.uint32(k)
        match mode:
            case "f4e":
                return low + number
            case "b4e":
                return (low - number) & np.uint32(7)
            case "rc8":
                return low
            case "ecl":
                return np.maximum(low, number)
            case "ecr":
                return np.minimum(low, number)
            case "rc16":
                return (low & np.uint32(1)) * np.uint32(2) + np.uint32(k & 1)
            case _:
                return (c >> np.uint32(4 * k)) & np.uint32(15)

    def compute(a: Any, b: Any, c: Any) -> Any:
        pair = (b.astype(np.uint64) << np.uint64(32)) | a.astype(np.uint64)
        result: Any = np.uint32(0)
        for k in range(4):
            which = selector(c, k)
            shift_by = ((which & np.uint32(7)) << np.uint32(3)).astype(np.uint64)
            byte = ((pair >> shift_by) & np.uint64(255)).astype(np.uint32)
            sign = (byte >> np.uint32(7)) * np.uint32(255)
            byte = np.where(which & np.uint32(8) != 0, sign, byte)
            result = result | (byte << np.uint32(8 * k))
        return result

    return same(compute, "u32", 3)


@emulates("selp")
def selp(form: Form) -> Operation:
    """``a`` where the predicate holds, else ``b``."""
    kind = _bits(form)
    return Operation(lambda a, b, p: np.where(p, a, b), (kind, kind, "pred"), (kind,))


@emulates("slct")
def slct(form: Form) -> Operation:
    """``a`` where ``c`` is not negative, else ``b``; NaN counts as negative."""
    kind = f"b{DTYPES[form.types[0]].itemsize * 8}"
    ftz = form.has("ftz")

    def compute(a: Any, b: Any, c: Any) -> Any:
        return np.where((flush(c) if ftz else c) >= 0, a, b)

    return Operation(compute, (kind, kind, form.types[1]), (kind,))


_ORDERED: dict[str, Compute] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def comparison(form: Form, type_name: str) -> Compute:
    """The comparison of a ``set`` or ``setp``; with NaN, ordered ones are false.

    It takes two arrays (n,), or scalars, of the dtype of the type, and returns bool of their shape.
    """
    words = [*_ORDERED, *UNSIGNED, *(f"{word}u" for word in _ORDERED), "num", "nan"]
    name = form.choose(*words)
    if name is None:
        form.refuse("has no comparison that is known here")
    if DTYPES[type_name].kind != "f" and type_name != "bf16":
        return _ORDERED[UNSIGNED.get(name, name)]

    def compute(a: Any, b: Any) -> Any:
        if type_name == "bf16":
            a, b = widen(a, "bf16"), widen(b, "bf16")
        if form.has("ftz"):
            a, b = flush(a), flush(b)
        unordered = np.isnan(a) | np.isnan(b)
        if name in ("num", "nan"):
            return unordered if name == "nan" else ~unordered
        if name in _ORDERED:
            return _ORDERED[name](a, b) & ~unordered
        return _ORDERED[name[:-1]](a, b) | unordered

    return compute


def _compared(form: Form) -> tuple[str, Compute]:
    """The type and the comparison, for unsigned operators on the bits."""
    type_name = form.type
    if form.choose(*UNSIGNED):
        type_name = f"u{form.bits}"
    return type_name, comparison(form, type_name)


def _by_halves(form: Form) -> Compute:
    """The comparisons of the low and of the high halves of a packed type."""
    half = form.type[:-2]
    compare = comparison(form, half)
    shift = np.uint32(16)

    def compute(a: Any, b: Any) -> tuple[Any, Any]:
        low = compare(*(x.astype(np.uint16).view(DTYPES[half]) for x in (a, b)))
        high = compare(*((x >> shift).astype(np.uint16).view(DTYPES[half]) for x in (a, b)))
        return low, high

    return compute


@emulates("setp")
def setp(form: Form) -> Operation:
    """Compare to a predicate, and its opposite; combined with a third one where there is one.

    Of two halves there are two predicates.
    """
    combine = _BOOLEAN.get(form.choose("and", "or", "xor") or "")
    if form.type.endswith("x2"):
        return _setp_halves(form, combine)
    type_name, compare = _compared(form)

    def compute(a: Any, b: Any, *c: Any) -> Any:
        holds = compare(a, b)
        if combine is None:
            return holds, ~holds
        return combine(holds, c[0]), combine(~holds, c[0])

    has_pair = hasattr(form.instruction.operands[0], "second")
    sources = (type_name, type_name) + (("pred",) if combine else ())
    if has_pair:
        return Operation(compute, sources, ("pred", "pred"))
    if combine is None:
        return Operation(compare, sources, ("pred",))
    return Operation(lambda a, b, c: combine(compare(a, b), c), sources, ("pred",))


def _setp_halves(form: Form, combine: Compute | None) -> Operation:
    compare = _by_halves(form)

    def compute(a: Any, b: Any, *c: Any) -> Any:
        low, high = compare(a, b)
        return (combine(low, c[0]), combine(high, c[0])) if combine else (low, high)

    sources = (form.type, form.type) + (("pred",) if combine else ())
    return Operation(compute, sources, ("pred", "pred"))


_ONE = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000}


@emulates("set")
def set_(form: Form) -> Operation:
    """Compare to all ones or 1.0; two halves each for itself."""
    if len(form.types) != 2:
        form.refuse("names no type of its result")
    combine = _BOOLEAN.get(form.choose("and", "or", "xor") or "")
    if form.type.endswith("x2"):
        return _set_halves(form, combine)
    type_name, compare = _compared(form)
    result = form.types[0]
    dtype = DTYPES[f"u{TYPES[result].bits}"]
    yes = dtype.type(_ONE.get(result, np.iinfo(dtype).max))

    def compute(a: Any, b: Any, *c: Any) -> Any:
        holds = compare(a, b)
        chosen = np.where(combine(holds, c[0]) if combine else holds, yes, dtype.type(0))
        return chosen.view(DTYPES[result])

    return Operation(compute, (type_name, type_name) + (("pred",) if combine else ()), (result,))


def _set_halves(form: Form, combine: Compute | None) -> Operation:
    compare = _by_halves(form)
    yes = np.uint32(_ONE.get(form.types[0][:-2], 0xFFFF))
    no = np.uint32(0)

    def compute(a: Any, b: Any, *c: Any) -> Any:
        low, high = compare(a, b)
        if combine:
            low, high = combine(low, c[0]), combine(high, c[0])
        return np.where(low, yes, no) | (np.where(high, yes, no) << np.uint32(16))

    sources = (form.type, form.type) + (("pred",) if combine else ())
    return Operation(compute, sources, ("b32",))
