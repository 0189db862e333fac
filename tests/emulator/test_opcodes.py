"""Every row of the opcode table is emulated or says why not; integers against Python's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from emulating import evaluate, signed
from hypothesis import given, settings
from hypothesis import strategies as st

from ccc.emulator.semantics.table import ELSEWHERE, NOT_EMULATED, NOTHING, SEMANTICS
from ccc.ptx.opcodes import OPCODES


def test_every_row_is_emulated_or_says_why_not() -> None:
    homes = [set(SEMANTICS), set(ELSEWHERE), set(NOTHING), set(NOT_EMULATED)]
    assert sorted(itertools.chain(*homes)) == sorted(OPCODES)
    assert all(NOT_EMULATED.values())


def edges(bits: int) -> list[int]:
    """Numbers where integer instructions go wrong."""
    top = 1 << (bits - 1)
    return [0, 1, 2, 3, 7, 31, top - 1, top, top + 1, 2 * top - 2, 2 * top - 1, 0x5A % (2 * top)]


def values(type_name: str) -> list[int]:
    kind, bits = type_name[0], int(type_name[1:])
    return [signed(v, bits) if kind == "s" else v for v in edges(bits)]


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def div(a: int, b: int) -> int:
    return truncated(a, b) if b else -1


def rem(a: int, b: int) -> int:
    return a - truncated(a, b) * b if b else -1


def high(bits: int) -> Callable[[int, int], int]:
    return lambda a, b: a * b >> bits


def clamp(value: int, low: int, top: int) -> int:
    return max(low, min(top, value))


def shr(a: int, n: int) -> int:
    return a >> min(n, 64)


def shl(a: int, n: int) -> int:
    return a << min(n, 64)


BINARY: list[tuple[str, str, str, str, Callable[[int, int], int]]] = []
for _bits in (16, 32, 64):
    for _kind in "us":
        _t = f"{_kind}{_bits}"
        BINARY += [
            (f"add.{_t}", _t, _t, _t, lambda a, b: a + b),
            (f"sub.{_t}", _t, _t, _t, lambda a, b: a - b),
            (f"mul.lo.{_t}", _t, _t, _t, lambda a, b: a * b),
            (f"mul.hi.{_t}", _t, _t, _t, high(_bits)),
            (f"div.{_t}", _t, _t, _t, div),
            (f"rem.{_t}", _t, _t, _t, rem),
            (f"min.{_t}", _t, _t, _t, min),
            (f"max.{_t}", _t, _t, _t, max),
            (f"shr.{_t}", _t, "u32", _t, shr),
        ]
        if _bits < 64:
            BINARY.append((f"mul.wide.{_t}", _t, _t, f"{_kind}{2 * _bits}", lambda a, b: a * b))
    _b = f"b{_bits}"
    BINARY += [
        (f"and.{_b}", _b, _b, _b, lambda a, b: a & b),
        (f"or.{_b}", _b, _b, _b, lambda a, b: a | b),
        (f"xor.{_b}", _b, _b, _b, lambda a, b: a ^ b),
        (f"shl.{_b}", _b, "u32", _b, shl),
    ]
BINARY += [
    ("add.sat.s32", "s32", "s32", "s32", lambda a, b: clamp(a + b, -(1 << 31), (1 << 31) - 1)),
    ("sub.sat.s32", "s32", "s32", "s32", lambda a, b: clamp(a - b, -(1 << 31), (1 << 31) - 1)),
    ("mul24.lo.u32", "u32", "u32", "u32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    ("mul24.hi.u32", "u32", "u32", "u32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 16),
    ("mul24.lo.s32", "s32", "s32", "s32", lambda a, b: signed(a, 24) * signed(b, 24)),
    ("mul24.hi.s32", "s32", "s32", "s32", lambda a, b: signed(a, 24) * signed(b, 24) >> 16),
]


@pytest.mark.parametrize(("opcode", "left", "right", "result", "expected"), BINARY)
def test_two_operands(
    opcode: str, left: str, right: str, result: str, expected: Callable[[int, int], int]
) -> None:
    pairs = list(itertools.product(values(left), values(right)))
    (found,) = evaluate(
        opcode + " {d}, {a}, {b}",
        {f"a_{left}": [a for a, _ in pairs], f"b_{right}": [b for _, b in pairs]},
        {"d": result},
    )
    mask = (1 << int(result[1:])) - 1
    for (a, b), value in zip(pairs, found, strict=True):
        assert value == expected(a, b) & mask, f"{opcode} of {a} and {b}"


def highest_bit(a: int, is_signed: bool) -> int:
    if is_signed and a < 0:
        a = ~a
    return a.bit_length() - 1 if a else 0xFFFFFFFF


UNARY: list[tuple[str, str, str, Callable[[int], int]]] = [
    ("abs.s16", "s16", "s16", abs),
    ("abs.s32", "s32", "s32", abs),
    ("abs.s64", "s64", "s64", abs),
    ("neg.s16", "s16", "s16", lambda a: -a),
    ("neg.s32", "s32", "s32", lambda a: -a),
    ("neg.s64", "s64", "s64", lambda a: -a),
    ("not.b16", "b16", "b16", lambda a: ~a),
    ("not.b32", "b32", "b32", lambda a: ~a),
    ("not.b64", "b64", "b64", lambda a: ~a),
    ("cnot.b32", "b32", "b32", lambda a: int(a == 0)),
    ("popc.b32", "b32", "u32", lambda a: bin(a).count("1")),
    ("popc.b64", "b64", "u32", lambda a: bin(a).count("1")),
    ("clz.b32", "b32", "u32", lambda a: 32 - a.bit_length()),
    ("clz.b64", "b64", "u32", lambda a: 64 - a.bit_length()),
    ("brev.b32", "b32", "b32", lambda a: int(f"{a:032b}"[::-1], 2)),
    ("brev.b64", "b64", "b64", lambda a: int(f"{a:064b}"[::-1], 2)),
    ("bfind.u32", "u32", "u32", lambda a: highest_bit(a, False)),
    ("bfind.s32", "s32", "u32", lambda a: highest_bit(a, True)),
    ("bfind.u64", "u64", "u32", lambda a: highest_bit(a, False)),
    ("bfind.s64", "s64", "u32", lambda a: highest_bit(a, True)),
    ("bfind.shiftamt.u32", "u32", "u32", lambda a: 32 - a.bit_length() if a else 0xFFFFFFFF),
    ("cvt.u16.u32", "u32", "u16", lambda a: a),
    ("cvt.s64.s32", "s32", "s64", lambda a: a),
    ("cvt.u64.u32", "u32", "u64", lambda a: a),
    ("cvt.u32.u64", "u64", "u32", lambda a: a),
    ("cvt.s32.s16", "s16", "s32", lambda a: a),
    ("cvt.sat.s8.s32", "s32", "s32", lambda a: clamp(a, -128, 127)),
    ("cvt.sat.u8.s32", "s32", "u32", lambda a: clamp(a, 0, 255)),
    ("cvt.sat.u32.s64", "s64", "u32", lambda a: clamp(a, 0, 2**32 - 1)),
    ("cvt.sat.s32.u64", "u64", "s32", lambda a: clamp(a, 0, 2**31 - 1)),
    ("cvt.s8.s32", "s32", "s32", lambda a: signed(a, 8)),
    ("cvt.u8.s32", "s32", "u32", lambda a: a & 255),
    ("mov.b32", "b32", "b32", lambda a: a),
]


@pytest.mark.parametrize(("opcode", "source", "result", "expected"), UNARY)
def test_one_operand(opcode: str, source: str, result: str, expected: Callable[[int], int]) -> None:
    inputs = values(source)
    (found,) = evaluate(opcode + " {d}, {a}", {f"a_{source}": inputs}, {"d": result})
    mask = (1 << int(result[1:])) - 1
    for a, value in zip(inputs, found, strict=True):
        assert value == expected(a) & mask, f"{opcode} of {a}"


def bfe(a: int, position: int, length: int, bits: int, is_signed: bool) -> int:
    """The loop that the manual gives; beyond 255, which it leaves open, as an H200 does it."""
    if bits == 32:
        position, length = position & 255, length & 255
    sign = 0
    if is_signed and length:
        sign = a >> min(position + length - 1, bits - 1) & 1
    result = 0
    for i in range(bits):
        inside = i < length and position + i < bits
        result |= (a >> (position + i) & 1 if inside else sign) << i
    return result


def bfi(a: int, b: int, position: int, length: int, bits: int) -> int:
    """The loop that the manual gives; beyond 255, which it leaves open, as an H200 does it."""
    if bits == 32:
        position, length = position & 255, length & 255
    for i in range(length):
        if position + i < bits:
            b = b & ~(1 << (position + i)) | (a >> i & 1) << (position + i)
    return b


FIELDS = [0, 1, 5, 8, 31, 32, 33, 63, 64, 200, 255, 256 + 3]
u32, u64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(u64, u64), min_size=4, max_size=4))
def test_bit_fields(numbers: list[tuple[int, int]]) -> None:
    rows = [(a, b, p, n) for a, b in numbers for p in FIELDS for n in FIELDS]
    for bits, kind in itertools.product((32, 64), "us"):
        mask = (1 << bits) - 1
        sources: dict[str, list[Any]] = {
            f"a_b{bits}": [r[0] & mask for r in rows],
            f"b_b{bits}": [r[1] & mask for r in rows],
            "p_u32": [r[2] for r in rows],
            "n_u32": [r[3] for r in rows],
        }
        (found,) = evaluate(
            f"bfe.{kind}{bits} {{d}}, {{a}}, {{p}}, {{n}}", sources, {"d": f"b{bits}"}
        )
        assert found == [bfe(a & mask, p, n, bits, kind == "s") for a, _, p, n in rows]
        (found,) = evaluate(
            f"bfi.b{bits} {{d}}, {{a}}, {{b}}, {{p}}, {{n}}", sources, {"d": f"b{bits}"}
        )
        assert found == [bfi(a & mask, b & mask, p, n, bits) for a, b, p, n in rows]


def prmt(a: int, b: int, c: int, mode: str) -> int:
    """By the tables of the manual."""
    tables = {
        "f4e": [(0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)],
        "b4e": [(0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)],
        "rc8": [(0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4],
        "ecl": [(0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)],
        "ecr": [(0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)],
        "rc16": [(0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)],
    }
    source = b << 32 | a
    picks = tables[mode][c & 3] if mode else [c >> 4 * k & 15 for k in range(4)]
    result = 0
    for k, pick in enumerate(picks):
        byte = source >> 8 * (pick & 7) & 255
        if pick & 8:
            byte = 255 if byte & 128 else 0
        result |= byte << 8 * k
    return result


def lop3(a: int, b: int, c: int, table: int) -> int:
    result = 0
    for i in range(32):
        row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1
        result |= (table >> row & 1) << i
    return result


def shf(low: int, high: int, n: int, left: bool, wrap: bool) -> int:
    n = n & 31 if wrap else min(n, 32)
    pair = high << 32 | low
    return (pair << n >> 32 if left else pair >> n) & 0xFFFFFFFF


def signed_bytes(a: int, count: int, bits: int, is_signed: bool) -> list[int]:
    parts = [a >> bits * k & ((1 << bits) - 1) for k in range(count)]
    return [signed(p, bits) for p in parts] if is_signed else parts


def dp4a(a: int, b: int, c: int, left: bool, right: bool) -> int:
    xs, ys = signed_bytes(a, 4, 8, left), signed_bytes(b, 4, 8, right)
    return c + sum(x * y for x, y in zip(xs, ys, strict=True))


def dp2a(a: int, b: int, c: int, upper: bool) -> int:
    xs, ys = signed_bytes(a, 2, 16, True), signed_bytes(b, 4, 8, True)
    return c + sum(x * y for x, y in zip(xs, ys[2:] if upper else ys[:2], strict=True))


TERNARY: list[tuple[str, Callable[[int, int, int], int]]] = [
    ("mad.lo.u32", lambda a, b, c: a * b + c),
    ("mad.hi.u32", lambda a, b, c: (a * b >> 32) + c),
    ("mad.hi.s32", lambda a, b, c: (signed(a, 32) * signed(b, 32) >> 32) + c),
    ("mad24.lo.u32", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
    ("sad.u32", lambda a, b, c: c + abs(a - b)),
    ("sad.s32", lambda a, b, c: c + abs(signed(a, 32) - signed(b, 32))),
    ("prmt.b32", lambda a, b, c: prmt(a, b, c, "")),
    *((f"prmt.b32.{m}", lambda a, b, c, m=m: prmt(a, b, c, m))
      for m in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")),
    ("shf.l.wrap.b32", lambda a, b, c: shf(a, b, c, True, True)),
    ("shf.l.clamp.b32", lambda a, b, c: shf(a, b, c, True, False)),
    ("shf.r.wrap.b32", lambda a, b, c: shf(a, b, c, False, True)),
    ("shf.r.clamp.b32", lambda a, b, c: shf(a, b, c, False, False)),
    ("dp4a.u32.u32", lambda a, b, c: dp4a(a, b, c, False, False)),
    ("dp4a.s32.u32", lambda a, b, c: dp4a(a, b, c, True, False)),
    ("dp4a.s32.s32", lambda a, b, c: dp4a(a, b, c, True, True)),
    ("dp2a.lo.s32.s32", lambda a, b, c: dp2a(a, b, c, False)),
    ("dp2a.hi.s32.s32", lambda a, b, c: dp2a(a, b, c, True)),
]  # fmt: skip


@pytest.mark.parametrize(("opcode", "expected"), TERNARY)
@settings(max_examples=3, deadline=None)
@given(st.lists(st.tuples(u32, u32, u32), min_size=20, max_size=20))
def test_three_operands(
    opcode: str, expected: Callable[[int, int, int], int], numbers: list[tuple[int, int, int]]
) -> None:
    rows = [
        *numbers,
        *itertools.product(edges(32)[:6:2], repeat=3),
        *((a, a, c) for a, _, c in numbers),
    ]
    rows += [(a, b, c & 63) for a, b, c in numbers]
    sources = {f"{n}_u32": [row[k] for row in rows] for k, n in enumerate("abc")}
    (found,) = evaluate(opcode + " {d}, {a}, {b}, {c}", sources, {"d": "u32"})
    assert found == [expected(*row) & 0xFFFFFFFF for row in rows]


@pytest.mark.parametrize("table", [0, 0x80, 0xFE, 0x96, 0xE8, 0x3C, 0xCA, 0xFF, 0x01])
def test_lop3(table: int) -> None:
    rows = [(0x12345678, 0xF0F0AAAA, 0x0FF0CCCC), (0, 0, 0), (2**32 - 1, 5, 9)]
    sources = {f"{n}_b32": [row[k] for row in rows] for k, n in enumerate("abc")}
    (found,) = evaluate(f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table}", sources, {"d": "b32"})
    assert found == [lop3(*row, table) for row in rows]


def test_lop3_with_a_predicate() -> None:
    sources = {"a_b32": [0, 4, 4], "b_b32": [7, 4, 4], "c_b32": [1, 1, 1], "q_pred": [1, 0, 1]}
    value, p = evaluate(
        "lop3.and.b32 {d}|{p}, {a}, {b}, {c}, 0xc0, {q}", sources, {"d": "b32", "p": "pred"}
    )
    assert value == [0, 4, 4]
    assert p == [0, 0, 1]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(u64, u64, u64, u64), min_size=8, max_size=8))
def test_extended_precision(rows: list[tuple[int, int, int, int]]) -> None:
    """128-bit sums and differences, by carry chains of two words of 64 or 32 bits."""
    for bits in (32, 64):
        mask = (1 << bits) - 1
        sources = {
            f"{n}_u{bits}": [row[k] & mask for row in rows]
            for k, n in enumerate(["a", "b", "c", "e"])
        }
        for first, second, sign in (("add", "addc", 1), ("sub", "subc", -1)):
            low, high_ = evaluate(
                f"{first}.cc.u{bits} {{l}}, {{a}}, {{c}};\n{second}.u{bits} {{h}}, {{b}}, {{e}}",
                sources,
                {"l": f"u{bits}", "h": f"u{bits}"},
            )
            for row, x, y in zip(rows, low, high_, strict=True):
                a, b, c, e = (v & mask for v in row)
                total = (b << bits | a) + sign * (e << bits | c)
                assert (y << bits | x) == total & ((1 << 2 * bits) - 1)


def test_multiply_with_carry() -> None:
    rows = list(itertools.product(edges(32), repeat=2))
    sources = {"a_u32": [a for a, _ in rows], "b_u32": [b for _, b in rows]}
    low, top = evaluate(
        "mad.lo.cc.u32 {l}, {a}, {b}, 0xfffffff0;\nmadc.hi.u32 {h}, {a}, {b}, 7",
        sources,
        {"l": "u32", "h": "u32"},
    )
    for (a, b), x, y in zip(rows, low, top, strict=True):
        assert (y << 32 | x) == (a * b + (7 << 32 | 0xFFFFFFF0)) & (2**64 - 1)


def test_masks_and_extensions() -> None:
    rows = [(a, b) for a in (0, 1, 5, 31, 32, 40) for b in (0, 1, 8, 31, 32, 33)]
    sources = {"a_u32": [a for a, _ in rows], "b_u32": [b for _, b in rows]}
    (found,) = evaluate("bmsk.clamp.b32 {d}, {a}, {b}", sources, {"d": "u32"})
    assert found == [(1 << min(b, 32)) - 1 << min(a, 32) & 0xFFFFFFFF for a, b in rows]
    (found,) = evaluate("bmsk.wrap.b32 {d}, {a}, {b}", sources, {"d": "u32"})
    assert found == [(1 << (b & 31)) - 1 << (a & 31) & 0xFFFFFFFF for a, b in rows]
    pattern = {"a_u32": [0x89ABCDEF] * 4, "b_u32": [4, 8, 32, 0]}
    (found,) = evaluate("szext.clamp.s32 {d}, {a}, {b}", pattern, {"d": "u32"})
    assert found == [0xFFFFFFFF, 0xFFFFFFEF, 0x89ABCDEF, 0]
    (found,) = evaluate("szext.clamp.u32 {d}, {a}, {b}", pattern, {"d": "u32"})
    assert found == [0xF, 0xEF, 0x89ABCDEF, 0]


def test_find_nth_set() -> None:
    sources = {
        "m_b32": [0b10110, 0b10110, 0b10110, 0b10110, 0],
        "b_b32": [0, 1, 4, 2, 0],
        "o_s32": [1, 2, -2, 0, 1],
    }
    (found,) = evaluate("fns.b32 {d}, {m}, {b}, {o}", sources, {"d": "b32"})
    assert found == [1, 2, 2, 2, 0xFFFFFFFF]


COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@pytest.mark.parametrize("type_name", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_comparisons(type_name: str) -> None:
    pairs = list(itertools.product(values(type_name), repeat=2))
    sources = {f"{n}_{type_name}": [p[k] for p in pairs] for k, n in enumerate("ab")}
    for word, holds in COMPARISONS.items():
        p, q = evaluate(
            f"setp.{word}.{type_name} {{p}}|{{q}}, {{a}}, {{b}}",
            sources,
            {"p": "pred", "q": "pred"},
        )
        assert p == [int(holds(a, b)) for a, b in pairs]
        assert q == [1 - x for x in p]
    for word, same in {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.items():
        (p,) = evaluate(f"setp.{word}.{type_name} {{p}}, {{a}}, {{b}}", sources, {"p": "pred"})
        mask = (1 << int(type_name[1:])) - 1
        assert p == [int(COMPARISONS[same](a & mask, b & mask)) for a, b in pairs]


def test_a_combined_comparison() -> None:
    sources = {"a_s32": [1, 1, 5, 5], "b_s32": [2, 2, 2, 2], "c_pred": [0, 1, 0, 1]}
    p, q = evaluate("setp.lt.and.s32 {p}|{q}, {a}, {b}, {c}", sources, {"p": "pred", "q": "pred"})
    assert (p, q) == ([0, 1, 0, 0], [0, 0, 0, 1])
    (p,) = evaluate("setp.lt.xor.s32 {p}, {a}, {b}, !{c}", sources, {"p": "pred"})
    assert p == [0, 1, 1, 0]
    (d,) = evaluate("set.lt.or.u32.s32 {d}, {a}, {b}, {c}", sources, {"d": "u32"})
    assert d == [0xFFFFFFFF, 0xFFFFFFFF, 0, 0xFFFFFFFF]
    (d,) = evaluate("set.lt.f32.s32 {d}, {a}, {b}", sources, {"d": "f32"})
    assert d == [0x3F800000, 0x3F800000, 0, 0]


@pytest.mark.parametrize(
    ("opcode", "a", "b", "expected"),
    [
        ("setp.lt.s32", [1, 2], [2, 1], [1, 0]),
        ("setp.eq.f16x2", [0x00003C00, 0x3C000000], [0, 0], [0, 1]),
    ],
)
def test_of_two_results_in_one_predicate_the_first_stays(
    opcode: str, a: list[int], b: list[int], expected: list[int]
) -> None:
    """As on an H200, with and without optimisation."""
    sources = {"a_b32": a, "b_b32": b}
    assert evaluate(f"{opcode} {{p}}|{{p}}, {{a}}, {{b}}", sources, {"p": "pred"}) == [expected]


def test_selections() -> None:
    sources = {"a_b32": [1, 1], "b_b32": [2, 2], "p_pred": [0, 1], "c_s32": [-1, 0]}
    (found,) = evaluate("selp.b32 {d}, {a}, {b}, {p}", sources, {"d": "b32"})
    assert found == [2, 1]
    (found,) = evaluate("slct.u32.s32 {d}, {a}, {b}, {c}", sources, {"d": "b32"})
    assert found == [2, 1]


def test_packing() -> None:
    sources = {"a_b32": [0x11112222], "b_b32": [0x33334444], "w_b64": [0x123456789ABCDEF0]}
    (found,) = evaluate("mov.b64 {d}, {{{a}, {b}}}", sources, {"d": "b64"})
    assert found == [0x3333444411112222]
    low, top = evaluate("mov.b64 {{{x}, {y}}}, {w}", sources, {"x": "b32", "y": "b32"})
    assert (low, top) == ([0x9ABCDEF0], [0x12345678])
    parts = evaluate("mov.b32 {{{x}, {y}}}, {a}", sources, {"x": "b16", "y": "b16"})
    assert parts == [[0x2222], [0x1111]]
    quarters = evaluate(
        "{{ .reg .b128 %wide; mov.b128 %wide, {{{a}, {b}, {b}, {a}}};"
        "mov.b128 {{{x}, {y}, {z}, {w}}}, %wide; }} mov.b32 {v}, 0",
        {name: sources[name] for name in ("a_b32", "b_b32")},
        dict.fromkeys("xyzwv", "b32"),
    )
    assert quarters == [[0x11112222], [0x33334444], [0x33334444], [0x11112222], [0]]


def test_a_guard_keeps_the_old_value() -> None:
    sources = {"a_u32": [1, 2, 3], "p_pred": [0, 1, 0]}
    (found,) = evaluate(
        "mov.u32 {d}, 100;\n@{p} add.u32 {d}, {a}, 5;\n@!{p} popc.b32 {d}, {d}",
        sources,
        {"d": "u32"},
    )
    assert found == [3, 7, 3]


def test_packed_integers() -> None:
    sources = {"a_u32": [0x0001FFFF, 0x7FFF0005], "b_u32": [0x00020001, 0x00010006]}
    (found,) = evaluate("add.u16x2 {d}, {a}, {b}", sources, {"d": "u32"})
    assert found == [0x00030000, 0x8000000B]
    (found,) = evaluate("min.s16x2 {d}, {a}, {b}", sources, {"d": "u32"})
    assert found == [0x0001FFFF, 0x00010005]
