"""Video instructions, of parts of words and of all parts at once (PTX ISA section 9.7.18).

Parts of operands are named by selectors: ``.b2`` and ``.h1`` of the scalar instructions, ``.h31``
and ``.b7610`` of the SIMD ones, which pick parts of both operands, the highest first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ccc.emulator.base.forms import Compute, Form, Operation, emulates
from ccc.ir.operands import Minus, Operand, Selected

_COMPARE: dict[str, Compute] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_SECOND: dict[str, Compute] = {"add": np.add, "min": np.minimum, "max": np.maximum}


def _selector(operand: Operand) -> str:
    """The selector of an operand, or of what is subtracted."""
    inner = operand.operand if isinstance(operand, Minus) else operand
    return inner.selector if isinstance(inner, Selected) else ""


def _wide(x: Any, signed: bool, bits: int = 32) -> Any:
    """The lowest bits of uint32 or int64 as numbers: int64."""
    value = x.astype(np.int64) & np.int64((1 << bits) - 1)
    top = np.int64(1 << (bits - 1))
    return (value ^ top) - top if signed else value


def _part(x: Any, signed: bool, selector: str) -> Any:
    """The part of a word that a scalar selector names, as a number: int64."""
    if not selector:
        return _wide(x, signed)
    bits = 8 if selector[0] == "b" else 16
    return _wide(x >> np.uint32(bits * int(selector[1])), signed, bits)


def _limits(bits: int, signed: bool) -> tuple[int, int]:
    low = -(1 << (bits - 1)) if signed else 0
    return low, low + (1 << bits) - 1


class _Scalar:
    """What is done to the result of a scalar instruction before it is written.

    ptxas makes several instructions of one, and they are what counts: with a third operand of the
    result's type it compares 64 bits, signed or not as that is, but of sums and differences only
    32, with their sign; and what is merged into the upper half is not moved there.
    """

    def __init__(self, form: Form, signed: bool):
        self.signed = signed
        self.shifts = form.instruction.name in ("vshl", "vshr")
        self.cuts = form.instruction.name in ("vadd", "vsub")
        self.selector = _selector(form.instruction.operands[0])
        self.saturates = form.has("sat")
        self.second = _SECOND.get(form.choose(*_SECOND) or "")
        if len(form.instruction.operands) == 4 and not (self.second or self.selector):
            form.refuse("neither merges its third operand nor computes with it")

    def clamped(self, result: Any) -> Any:
        """A result in the range of its type, as far as what ptxas makes of that goes.

        Of a shift it looks at 34 bits. To a part of a word nothing is too small; and what is
        unsigned is never too large.
        """
        if self.shifts:
            top = np.int64(1 << 33)
            bits = result & np.int64((1 << 34) - 1)
            return np.clip((bits ^ top) - top, *_limits(32, self.signed))
        if self.selector:
            most = _limits(8 if self.selector[0] == "b" else 16, self.signed)[1]
            return np.where(result >> 32 != 0, most, np.minimum(result, most))
        return np.clip(result, *_limits(32, True)) if self.signed else np.maximum(result, 0)

    def finish(self, result: Any, c: Any) -> Any:
        """Saturate, and compute with the third operand or merge it: uint32."""
        if self.saturates:
            result = self.clamped(result)
        if self.second is not None:
            number = _wide(result, signed=True) if self.cuts else result
            other = _wide(c, self.signed)
            if not self.signed:
                number, other = number.view(np.uint64), other.view(np.uint64)
            result = self.second(number, other)
        word = (np.asarray(result).astype(np.int64) & np.int64(0xFFFFFFFF)).astype(np.uint32)
        if not self.selector:
            return word
        if self.selector == "h1":
            return word & np.uint32(0xFFFF0000) | c & np.uint32(0xFFFF)
        bits = 8 if self.selector[0] == "b" else 16
        shift = np.uint32(bits * int(self.selector[1]))
        mask = np.uint32((1 << bits) - 1)
        return ((word & mask) << shift) | (c & ~(mask << shift))


def _scalar(form: Form, signs: list[bool], step: Compute) -> Operation:
    """A scalar instruction that computes with two numbers.

    Args:
        form: the instruction.
        signs: whether the result and the two numbers are signed.
        step: the result of the two numbers.
    """
    signed, a_signed, b_signed = signs
    operands = form.instruction.operands
    left, right = _selector(operands[1]), _selector(operands[2])
    last = _Scalar(form, signed)

    def compute(a: Any, b: Any, c: Any = None) -> Any:
        return last.finish(step(_part(a, a_signed, left), _part(b, b_signed, right)), c)

    return Operation(compute, ("u32",) * (len(operands) - 1), ("u32",))


_STEPS: dict[str, Compute] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
    "vavrg": lambda a, b: np.where(a + b >= 0, a + b + 1 >> 1, a + b >> 1),
}


def _signs(form: Form, count: int) -> list[bool]:
    types = form.types
    if len(types) != count:
        form.refuse(f"names {len(types)} types")
    return [name == "s32" for name in types]


@emulates("vadd", "vsub", "vabsdiff", "vmin", "vmax")
def scalar(form: Form) -> Operation:
    """Sums, differences and extremes of a byte, half or word each."""
    return _scalar(form, _signs(form, 3), _STEPS[form.instruction.name])


@emulates("vset")
def vset(form: Form) -> Operation:
    """1 where a comparison holds, else 0."""
    name = form.choose(*_COMPARE)
    if name is None:
        form.refuse("names no comparison")
    compare = _COMPARE[name]
    signs = _signs(form, 2)
    # The third operand is of the first one's type.
    return _scalar(form, [signs[0], *signs], lambda a, b: compare(a, b).astype(np.int64))


@emulates("vshl", "vshr")
def vshift(form: Form) -> Operation:
    """Shift by an unsigned amount."""
    signed, a_signed, _ = _signs(form, 3)
    left, wraps = form.instruction.name == "vshl", form.has("wrap")

    def step(a: Any, b: Any) -> Any:
        amount = b & 31 if wraps else np.minimum(b, 32)
        return a << amount if left else a >> amount

    return _scalar(form, [signed, a_signed, False], step)


@emulates("vmad")
def vmad(form: Form) -> Operation:
    """Multiply, add, scale and clamp.

    ptxas multiplies words as signed ones, also where they are not.
    """
    operands = form.instruction.operands
    _, a_signed, b_signed = _signs(form, 3)
    negates = (isinstance(operands[1], Minus)) != (isinstance(operands[2], Minus))
    subtracts = isinstance(operands[3], Minus)
    c_signed = a_signed or b_signed or negates
    signed = c_signed or subtracts
    shift = 7 if form.has("shr7") else 15 if form.has("shr15") else 0
    low, high = _limits(32, signed)
    plus_one, saturates = form.has("po"), form.has("sat")
    left, right = _selector(operands[1]), _selector(operands[2])

    def one(a: int, b: int, c: int) -> int:
        total = (-1 if negates else 1) * a * b + (-c if subtracts else c) + plus_one
        if not signed and shift:
            total &= (1 << 64) - 1
        total >>= shift
        return (min(max(total, low), high) if saturates else total) & 0xFFFFFFFF

    exactly = np.frompyfunc(one, 3, 1)

    def compute(a: Any, b: Any, c: Any) -> Any:
        factors = _part(a, a_signed, left), _part(b, b_signed, right)
        numbers = (_wide(x, signed=True) for x in (*factors, c))
        return np.asarray(exactly(*(np.asarray(x, object) for x in numbers))).astype(np.uint32)

    return Operation(compute, ("u32",) * 3, ("u32",))


class _Simd:
    """The parts of a SIMD instruction: two halves, or four bytes."""

    def __init__(self, form: Form, a_signed: bool, b_signed: bool):
        operands = form.instruction.operands
        self.count = int(form.instruction.name[-1])
        self.bits = 32 // self.count
        self.signs = a_signed, b_signed
        numbers = range(2 * self.count - 1, -1, -1)
        default = "".join(map(str, numbers))
        self.picks = [
            (_selector(operands[1])[1:] or default[self.count :])[::-1],
            (_selector(operands[2])[1:] or default[: self.count])[::-1],
        ]
        mask = _selector(operands[0])[1:]
        self.mask = set(map(int, mask)) if mask else set(range(self.count))
        self.adds = form.has("add")
        self.saturates = form.has("sat")

    def parts(self, a: Any, b: Any, side: int) -> list[Any]:
        """The numbers that the selector of one side picks of both words, the lowest first."""
        found = []
        for pick in map(int, self.picks[side]):
            word = a if pick < self.count else b
            shift = np.uint32(self.bits * (pick % self.count))
            found.append(_wide(word >> shift, self.signs[side], self.bits))
        return found

    def finish(self, results: list[Any], c: Any, signed: bool) -> Any:
        """Add the masked results up, or merge them into the third operand: uint32."""
        total = c.astype(np.int64)
        ones = (1 << self.bits) - 1
        for k in sorted(self.mask):
            result = results[k]
            if self.saturates:
                result = np.clip(result, *_limits(self.bits, signed))
            if self.adds:
                total = total + result
            else:
                shift = np.int64(self.bits * k)
                total = total & ~np.int64(ones << (self.bits * k)) | (result & ones) << shift
        return (total & np.int64(0xFFFFFFFF)).astype(np.uint32)


def _simd(signed: bool, simd: _Simd, step: Compute) -> Operation:
    def compute(a: Any, b: Any, c: Any) -> Any:
        pairs = zip(simd.parts(a, b, 0), simd.parts(a, b, 1), strict=True)
        return simd.finish([step(x, y) for x, y in pairs], c, signed)

    return Operation(compute, ("u32",) * 3, ("u32",))


@emulates(*(f"{name}{count}" for name in _STEPS for count in (2, 4)))
def simd_arithmetic(form: Form) -> Operation:
    """Sums, differences, averages and extremes of all halves or bytes."""
    signed, *signs = _signs(form, 3)
    return _simd(signed, _Simd(form, *signs), _STEPS[form.instruction.name[:-1]])


@emulates("vset2", "vset4")
def vset_simd(form: Form) -> Operation:
    """1 in each half or byte where a comparison holds."""
    name = form.choose(*_COMPARE)
    if name is None:
        form.refuse("names no comparison")
    compare = _COMPARE[name]
    signs = _signs(form, 2)
    return _simd(False, _Simd(form, *signs), lambda a, b: compare(a, b).astype(np.int64))


ROWS = frozenset(
    {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset", "vset2", "vset4"}
    | {f"{name}{count}" for name in _STEPS for count in (2, 4)}
)
"""The rows whose operands may be parts of registers."""
