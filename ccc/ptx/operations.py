"""What operations mean, beside the opcode table: facts that several analyses ask for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

EXTREMES = ("min", "max")
"""Operations that give one of what they compare."""
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
"""Relations of ``setp`` for numbers without a sign, by which of all types they are."""
ORDERED = frozenset((*UNSIGNED, *UNSIGNED.values()))
"""The relations that tell an order."""
RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    one: getattr(operator, one) for one in ("eq", "ne", "lt", "le", "gt", "ge")
}
"""What those of ``setp`` ask of whole numbers."""
OF_INTEGERS: Mapping[str, Callable[..., int]] = {
    "mov": int, "cvt": int, "cvta": int, "neg": operator.neg, "not": operator.invert,
    "add": operator.add, "sub": operator.sub, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "min": min, "max": max, "mul": operator.mul,
    "mad": lambda one, other, more: one * other + more,
    "shl": operator.lshift, "shr": operator.rshift,
    "div": lambda one, by: abs(one) // abs(by) * (1 if (one < 0) == (by < 0) else -1),
    "rem": lambda one, by: abs(one) % abs(by) * (-1 if one < 0 else 1),
    "abs": abs,
    "bfi": lambda one, into, at, bits: into ^ ((into >> at ^ one) & (1 << bits) - 1) << at,
}  # fmt: skip
"""What operations make of whole numbers, before that is cut to the width of their type."""
OF_BITS: Mapping[str, Callable[[int, int], int]] = {
    "popc": lambda one, _: one.bit_count(),
    "clz": lambda one, width: width - one.bit_length(),
    "brev": lambda one, width: int(f"{one:0{width}b}"[::-1], 2),
    "bfind": lambda one, _: max(one, ~one).bit_length() - 1,
}
"""What operations make of the bits of a number, and of how many these are."""
INVERSE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "ne": "eq", "eq": "ne"}
"""The relation that holds where another does not, of numbers that can be compared."""
OPPOSITE_OF_INTEGERS = {**INVERSE, "lo": "hs", "hs": "lo", "ls": "hi", "hi": "ls"}
"""The same of all relations of integers."""
OPPOSITE_OF_FLOATS = {
    **{one: f"{other}u" for one, other in INVERSE.items()},
    **{f"{one}u": other for one, other in INVERSE.items()},
    "num": "nan",
    "nan": "num",
}
"""Of all relations of floating-point numbers, some of which also hold of what is no number."""
SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "ne": "ne", "eq": "eq"}
"""The relation that the second has to the first."""
STEPS = {"add": (0, 1), "sub": (0,), "mad": (2,)}
"""What adds to a number, and where that may stand among what is added up."""
MAKES_ONE_OF: Mapping[str, Callable[[int], int]] = {
    "shr": lambda by: 1 << by,
    "div": abs,
    "and": lambda by: by & -by if by < 0 else 0,
}
"""Of how many numbers in a row an operation makes one, by its literal."""
SETS = {"or": 1, "and": 0}
"""What an operation sets a flag to, which is 0 or 1."""
SOUGHT = {"lt": "min", "le": "min", "gt": "max", "ge": "max"}
"""What is sought where a new value is taken since it compares so with the old one."""
COMPUTES_ADDRESSES = frozenset(
    ("add", "sub", "mad", "mul", "shl", "cvt", "cvta", "mov", "selp", "min", "max", "and", "or")
)
"""What makes an address of others, or an index for one."""
SCALES = frozenset(("mul", "mad", "shl"))
"""What multiplies; of the operands before the last one, of ``mad``, none is an address."""
OF_COUNTS = frozenset(("mov", "cvt", "add", "mul", "mad"))
"""What makes no number below zero of others that are not, if nothing wraps."""
COPIES = frozenset(("mov", "selp"))
"""What gives one of its operands as it is."""
COUNTS_ON = COPIES | {"add", "sub", "neg", "min", "max", "cvt", "and"}
"""What makes an index of indices, without multiplying them."""
SUMS = frozenset(("add", "sub", "mad"))
"""What makes an address of one and an index."""
HIGH_HALVES = {f"{name}.hi.{kind}": kind for name in ("mul", "mad") for kind in ("u32", "s32")}
"""What gives the high half of a product of two words, and the type of these."""
ADDITIONS = ("add.s32", "add.u32")
"""What adds up words."""
