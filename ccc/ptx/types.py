"""PTX scalar types, state spaces and special registers (PTX ISA sections 5 and 10)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A fundamental type: ``kind`` is b, u, s, f or p (predicate); ``bits`` its width."""

    name: str
    kind: str
    bits: int

    @property
    def bytes(self) -> int:
        """Bytes in memory; a predicate has none."""
        return self.bits // 8


TYPES: dict[str, ScalarType] = {
    f"{kind}{bits}": ScalarType(f"{kind}{bits}", kind, bits)
    for kind, widths in {
        "b": (8, 16, 32, 64, 128),
        "u": (8, 16, 32, 64),
        "s": (8, 16, 32, 64),
        "f": (16, 32, 64),
    }.items()
    for bits in widths
}
TYPES["pred"] = ScalarType("pred", "p", 1)
# Packed and alternate formats live in plain registers; only their width matters outside arithmetic.
for _name, _bits in {
    "f16x2": 32, "bf16": 16, "bf16x2": 32, "tf32": 32, "u16x2": 32, "s16x2": 32, "f32x2": 64,
    "e4m3x2": 16, "e5m2x2": 16, "e2m3x2": 16, "e3m2x2": 16, "e2m1x2": 8, "ue8m0x2": 16,
    "e4m3x4": 32, "e5m2x4": 32, "e2m3x4": 32, "e3m2x4": 32, "e2m1x4": 16,
}.items():  # fmt: skip
    TYPES[_name] = ScalarType(_name, "x", _bits)

INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64")
FLOATING = ("f32", "f64")
NUMBERS = (*INTEGERS, *FLOATING)
"""The types of numbers that C++ computes with in registers of their own size."""
VECTORS = {"v2": 2, "v4": 4, "v8": 8}
"""How many elements a load or store with such a modifier has (PTX ISA, ld)."""
STRONG = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"})
"""The modifiers of strong accesses (PTX ISA, memory consistency model); so are atomics."""
ANEW = STRONG | {"cv", "cg"}
"""Of loads that are done anew each time, or see in the second level cache what others wrote."""

STATE_SPACES = ("global", "shared", "local", "param", "const")
GENERIC = "generic"
"""What an access that names no state space is said to be of."""
MAY_BE_GLOBAL = ("global", GENERIC)
MAY_BE_LOCAL = ("local", GENERIC)
OWN_SPACES = ("local", "param")
"""Those of variables that each run of a function has anew."""
COMMON_SPACES = tuple(space for space in STATE_SPACES if space not in OWN_SPACES)
"""Where the threads of a block find the same at the same place."""

LANE, WARP, BLOCK, GRID, TIME = "lane", "warp", "block", "grid", "time"


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """A read-only register: its type, and what it varies with (PTX ISA section 10).

    ``varies`` is LANE, WARP, BLOCK, GRID (the same for the whole launch) or TIME.
    """

    name: str
    type: str
    varies: str


SPECIAL_REGISTERS: dict[str, SpecialRegister] = {}


def _special(varies: str, type_name: str, *names: str) -> None:
    for name in names:
        SPECIAL_REGISTERS[name] = SpecialRegister(name, type_name, varies)


def _dimensions(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}.{axis}" for name in names for axis in "xyz")


INDICES = ("%tid", "%ntid", "%ctaid", "%nctaid")
"""The numbers of threads and blocks in three directions, and how many there are."""
_CLUSTERS = ("%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid")


_special(LANE, "u32", *_dimensions("%tid"), "%laneid")
_special(LANE, "u32", *(f"%lanemask_{relation}" for relation in ("eq", "le", "lt", "ge", "gt")))
_special(WARP, "u32", "%warpid", "%nwarpid", "%smid", "%nsmid")
_special(BLOCK, "u32", *_dimensions("%ctaid", "%clusterid", "%cluster_ctaid"), "%cluster_ctarank")
_special(
    GRID, "u32", *_dimensions("%ntid", "%nctaid", "%nclusterid", "%cluster_nctaid"),
    "%cluster_nctarank", "%total_smem_size", "%dynamic_smem_size", "%aggr_smem_size",
    *(f"%reserved_smem_offset_{part}" for part in ("begin", "end", "cap", "0", "1")),
    *(f"%envreg{number}" for number in range(32)),
)  # fmt: skip
_special(GRID, "pred", "%is_explicit_cluster")
_special(GRID, "u64", "%gridid", "%current_graph_exec")
_special(TIME, "u32", "%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi")
_special(TIME, "u32", *(f"%pm{number}" for number in range(8)))
_special(GRID, "u32", *(f"{name}.w" for name in INDICES + _CLUSTERS))
"""A fourth part, which is always the same, so that they are vectors of four."""
_special(TIME, "u64", "%clock64", "%globaltimer", *(f"%pm{number}_64" for number in range(8)))

_INTEGER = re.compile(r"-?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)U?")
_LONGEST = len("-0b") + 64 + len("U")
"""An integer literal of 64 bits has no more characters."""


def parse_integer(text: str) -> int | None:
    """The value of a PTX integer literal (PTX ISA section 4.5.1); None for anything else.

    What does not fit in 64 bits is none.

    >>> [parse_integer(t) for t in ("0x1FU", "-7", "010", "0f3F800000", "18446744073709551616")]
    [31, -7, 8, None, None]
    """
    if len(text) > _LONGEST or not _INTEGER.fullmatch(text):
        return None
    digits = text.rstrip("U")
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    is_octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    number = int(digits, 8 if is_octal else 0)
    return sign * number if number >> 64 == 0 else None


def number_of_type(value: int, type_name: str) -> int:
    """What a literal means in an instruction of a type: its low bits, with or without a sign.

    >>> number_of_type(4294967295, "s32"), number_of_type(-1, "u32")
    (-1, 4294967295)
    """
    kind = TYPES[type_name]
    value %= 1 << kind.bits
    return value - (1 << kind.bits) if kind.kind == "s" and value >> kind.bits - 1 else value


_DECIMAL = re.compile(r"-?(?=[^.eE]*[.eE])(?=\.?\d)\d*\.?\d*([eE][+-]?\d+)?")


def parse_decimal(text: str) -> float | None:
    """The value of a decimal floating-point literal, a double; None for anything else.

    >>> [parse_decimal(t) for t in ("1.5", "-.5", "5.", "1e3", "1e400", "15")]
    [1.5, -0.5, 5.0, 1000.0, None, None]
    """
    value = float(text) if _DECIMAL.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


WARP_SIZE = 32
ALL_LANES = -1
"""The member mask of a whole warp, as a literal of 32 bits (PTX ISA, vote.sync)."""
MAX_BLOCK_THREADS = 1024
DEFAULT_SHARED_BYTES = 48 * 1024
"""Static shared memory ends here on every target (PTX ISA, .shared; CUDA C++ Programming Guide)."""
