"""Constant expressions (PTX ISA section 4.6), worked out as ptxas does.

Integers have 64 bits, signed or not, and wrap around; decimal floating-point numbers are doubles.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ccc.errors import short
from ccc.parse.shapes import ParseNode
from ccc.ptx.types import WARP_SIZE, parse_decimal, parse_integer

_BITS = 64
_AS_BITS = ("0f", "0F", "0d", "0D")
"""How floating-point literals begin that are written as bits."""


class NoConstant(Exception):
    """An expression has no value, and why."""


@dataclass(frozen=True, slots=True)
class _Integer:
    """A value modulo 2^64; unsigned where an operand was, which division and the like ask for."""

    value: int
    unsigned: bool = False

    @property
    def number(self) -> int:
        """The value that it stands for."""
        wrapped = self.value % (1 << _BITS)
        negative = not self.unsigned and wrapped >> (_BITS - 1)
        return wrapped - (1 << _BITS) if negative else wrapped


_Value = _Integer | float


def fold(tree: ParseNode, leaves: list[str]) -> str:
    """The literal that a constant expression comes to; a double as its bits, ``0d...``.

    However deep the expression is nested, this does not recur.

    Raises:
        NoConstant: it has no value.
    """
    values: dict[int, _Value] = {}
    for part in tree.bottom_up():
        words = [leaves[child] for child in part.children if isinstance(child, int)]
        inner = [values[id(child)] for child in part.children if isinstance(child, ParseNode)]
        values[id(part)] = _FOLDS[part.data](words, inner)
    value = values[id(tree)]
    if isinstance(value, _Integer):
        return str(value.number)
    return f"0d{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def fold_literal(tree: ParseNode, leaves: list[str]) -> str:
    """The literal that a constant comes to: itself, but for a sign, where it is none but that.

    Raises:
        NoConstant: it has no value.
    """
    sign, number = "", tree
    if tree.data == "unary" and leaves[tree.children[0]] == "-":
        sign, number = "-", tree.children[1]
    if number.data != "literal" or leaves[number.children[0]] == "WARP_SZ":
        return fold(tree, leaves)
    text: str = sign + leaves[number.children[0]]
    if parse_integer(text) is None and text[:2] not in _AS_BITS:
        fold(tree, leaves)  # a decimal number that is too large has no value
    return text


def fold_integer(tree: ParseNode, leaves: list[str]) -> int:
    """The integer that a constant expression comes to.

    Raises:
        NoConstant: it comes to none.
    """
    number = parse_integer(fold(tree, leaves))
    if number is None:
        raise NoConstant("this is no integer")
    return number


def _literal(words: list[str], _: list[_Value]) -> _Value:
    text = "".join(words[0].split())
    if text == "WARP_SZ":
        return _Integer(WARP_SIZE)
    number = parse_integer(text)
    if number is not None:
        return _Integer(number, text.endswith("U") or number >> (_BITS - 1) > 0)
    value = parse_decimal(text)
    if value is None:
        raise NoConstant(f"{short(text)} is no number of 64 bits")
    return value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise NoConstant("this is too large for a double")
    return value


def _whole(values: Iterable[_Value]) -> list[_Integer]:
    found = [value for value in values if isinstance(value, _Integer)]
    if len(found) != len(list(values)):
        raise NoConstant("this operation needs integers")
    return found


def _unary(words: list[str], inner: list[_Value]) -> _Value:
    (value,) = inner
    if isinstance(value, float):
        if words[0] not in "+-":
            raise NoConstant("this operation needs integers")
        return -value if words[0] == "-" else value
    match words[0]:
        case "-":
            return _Integer(-value.number, value.unsigned)
        case "~":
            return _Integer(~value.number, unsigned=True)
        case "!":
            return _Integer(not value.number)
        case _:
            return value


def _cast(words: list[str], inner: list[_Value]) -> _Value:
    (value,) = _whole(inner)
    if words[0] not in (".s64", ".u64"):
        raise NoConstant(f"there is no cast to {short(words[0])} here")
    return _Integer(value.number, words[0] == ".u64")


def _choose(_: list[str], inner: list[_Value]) -> _Value:
    condition, *arms = _whole(inner)
    return arms[0] if condition.number else arms[1]


def _binary(words: list[str], inner: list[_Value]) -> _Value:
    sign = words[0]
    left, right = inner
    if isinstance(left, float) and isinstance(right, float):
        if sign == "/" and not right:
            raise NoConstant("this divides by zero")
        if sign in _ARITHMETIC:
            return _finite(_ARITHMETIC[sign](left, right))
        if sign in _COMPARE:
            return _Integer(_COMPARE[sign](left, right))
    return _of_integers(sign, *_whole(inner))


def _of_integers(sign: str, left: _Integer, right: _Integer) -> _Integer:
    if sign in ("<<", ">>"):  # ptxas takes the amount as the hardware of its host does
        amount = right.value % _BITS
        shifted = left.number << amount if sign == "<<" else left.number >> amount
        return _Integer(shifted, left.unsigned)
    unsigned = left.unsigned or right.unsigned
    if sign in ("&&", "||"):
        both = (left.number != 0, right.number != 0)
        return _Integer(all(both) if sign == "&&" else any(both))
    a, b = _Integer(left.value, unsigned).number, _Integer(right.value, unsigned).number
    if sign in _COMPARE:
        return _Integer(_COMPARE[sign](a, b))
    if sign in "/%" and not b:
        raise NoConstant("this divides by zero")
    if sign == "/":
        quotient = abs(a) // abs(b)
        return _Integer(quotient if (a < 0) == (b < 0) else -quotient, unsigned)
    if sign == "%":
        return _Integer(left.value % (1 << _BITS) % (b % (1 << _BITS)), unsigned=True)
    return _Integer(_INTEGER[sign](a, b), unsigned)


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_INTEGER: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

# What each kind of node comes to: of the words in it, and of the values below it.
_FOLDS: dict[str, Callable[[list[str], list[_Value]], _Value]] = {
    "literal": _literal,
    "unary": _unary,
    "binary": _binary,
    "choose": _choose,
    "cast": _cast,
}
