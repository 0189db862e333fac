"""The values of constant C expressions: of clauses, as pycparser has read them, and of sizes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from ccc.errors import short

Number = int | float
IN_A_MACRO = "_Pragma(STR(ccc ...)) in a macro, with #define STR(x) #x"
"""How a macro comes to be a part of an annotation."""
_FOLDED = "only numbers, + - * /, shifts and bit operations are folded"
_LARGEST = 1 << 64
_LONGEST = 100
"""No number is written with more characters."""
_BINARY: dict[str, Callable[[Any, Any], Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_UNARY: dict[str, Callable[[Any], Number]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
}


def fold(node: Any) -> Number:
    """The value of a constant C expression; ValueError where it is none."""
    from pycparser import c_ast  # noqa: PLC0415 - seldom asked for

    if isinstance(node, c_ast.Constant):
        return literal(node.value)
    if isinstance(node, c_ast.UnaryOp) and node.op in _UNARY:
        return _apply(_UNARY[node.op], fold(node.expr))
    if isinstance(node, c_ast.BinaryOp):
        return binary(node.op, fold(node.left), fold(node.right))
    if isinstance(node, c_ast.ID):
        raise ValueError(
            f'"{short(node.name)}" is no constant here, where macros are not expanded; '
            f"write the number, or {IN_A_MACRO}"
        )
    raise ValueError(_FOLDED)


def binary(sign: str, left: Number, right: Number) -> Number:
    """What C makes of two numbers; ValueError where that is not folded."""
    if sign == "/":
        return _divide(left, right)
    if sign not in _BINARY:
        raise ValueError(_FOLDED)
    return _apply(_BINARY[sign], left, right)


def _apply(operation: Callable[..., Number], *values: Number) -> Number:
    shifts = operation in (operator.lshift, operator.rshift)
    if shifts and not 0 <= values[1] < 64:
        raise ValueError("a shift is by 0 to 63")
    try:
        return _fitting(operation(*values))
    except TypeError:
        raise ValueError("bit operations need whole numbers") from None


def _fitting(value: Number) -> Number:
    """A value that C could have."""
    if isinstance(value, int) and abs(value) >= _LARGEST:
        raise ValueError("this does not fit in 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("this is no finite number")
    return value


def _divide(left: Number, right: Number) -> Number:
    """C's division; one that would silently lose its fraction is refused."""
    if isinstance(left, int) and isinstance(right, int):
        if left % right:
            raise ValueError(f"{left}/{right} is a division of integers; write {left}.0/{right}")
        return left // right
    return left / right


def literal(text: str) -> Number:
    """The number that C writes so; ValueError where it is none."""
    if not (text[0].isdigit() or text[0] == "."):  # a character, or a string
        raise ValueError(_FOLDED)
    if len(text) > _LONGEST:
        raise ValueError("this does not fit in 64 bits")
    return _fitting(_number(text))


def _number(text: str) -> Number:
    digits = text.replace("'", "").lower()
    if digits.startswith("0x"):
        return float.fromhex(digits) if "p" in digits else int(digits.rstrip("ul"), 16)
    if any(mark in digits for mark in ".e"):
        return float(digits.rstrip("fl"))
    digits = digits.rstrip("ul")
    octal = digits.startswith("0") and digits.isdigit() and len(digits) > 1
    return int(digits, 8 if octal else 0)
