"""Narrow floating-point formats, against a table of all their values; packed integers."""

from __future__ import annotations

import math
import struct
from bisect import bisect_left

import pytest
from emulating import evaluate

FORMATS = {"e4m3": (4, 3, 8), "e5m2": (5, 2, 8), "e2m3": (2, 3, 8), "e3m2": (3, 2, 8),
           "e2m1": (2, 1, 4)}  # fmt: skip


def value(name: str, code: int) -> float:
    """What the manual's table of formats says of a code without a sign."""
    exponent, mantissa, _ = FORMATS[name]
    bias = (1 << (exponent - 1)) - 1
    field, rest = code >> mantissa, code & ((1 << mantissa) - 1)
    if name == "e4m3" and code == 0x7F:
        return math.nan
    if name == "e5m2" and field == 31:
        return math.nan if rest else math.inf
    if field == 0:
        return rest * 2.0 ** (1 - bias - mantissa)
    return (1 + rest * 2.0**-mantissa) * 2.0 ** (field - bias)


def codes(name: str) -> list[int]:
    exponent, mantissa, _ = FORMATS[name]
    return [c for c in range(1 << (exponent + mantissa)) if math.isfinite(value(name, c))]


def nearest(name: str, x: float) -> int:
    """The code of the nearest number, of two the even one; the largest for what is beyond it."""
    exponent, mantissa, _ = FORMATS[name]
    if math.isnan(x):
        return 0x7F if name in ("e4m3", "e5m2") else codes(name)[-1]
    sign = 1 << (exponent + mantissa) if math.copysign(1, x) < 0 else 0
    table = [value(name, c) for c in codes(name)]
    size = abs(x)
    at = bisect_left(table, size)
    if at == len(table):
        return sign | len(table) - 1
    if at == 0:
        return sign
    below, above = size - table[at - 1], table[at] - size
    return sign | (at - 1 if below < above or (below == above and at % 2) else at)


def bits(x: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", x))[0])


NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.1, -0.3, 1e-9, 448.0, 464.0, 480.0, 1e30, -1e30, math.inf,
           math.nan, 57344.0, 61440.0, 65536.0, 7.5, 7.75, 8.0, 28.0, 30.0, 6.0, 5.0, 2.5, 3.5,
           0.25, 0.75, 0.125, 2.0**-9, 2.0**-10, 3 * 2.0**-10, 2.0**-16, 2.0**-17, 3 * 2.0**-18,
           17.0, 18.0, 19.0, 20.0, 1.0625, 1.1875]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_from_f32(name: str) -> None:
    room = FORMATS[name][2]
    kind = "b8" if room == 4 else "b16"
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS[:5]]
    sources = {"a_f32": [bits(a) for a, _ in pairs], "b_f32": [bits(b) for _, b in pairs]}
    (found,) = evaluate(f"cvt.rn.satfinite.{name}x2.f32 {{d}}, {{a}}, {{b}}", sources, {"d": kind})
    assert found == [nearest(name, a) << room | nearest(name, b) for a, b in pairs]
    (found,) = evaluate(
        f"cvt.rn.satfinite.relu.{name}x2.f32 {{d}}, {{a}}, {{b}}", sources, {"d": kind}
    )
    above = [tuple(x if x > 0 or math.isnan(x) else 0.0 for x in pair) for pair in pairs]
    assert found == [nearest(name, a) << room | nearest(name, b) for a, b in above]


@pytest.mark.parametrize("name", FORMATS)
def test_to_f16(name: str) -> None:
    exponent, mantissa, room = FORMATS[name]
    count = 1 << (exponent + mantissa)
    all_codes = range(2 * count)
    packed = [high << room | low for high in all_codes for low in (1, count - 1)]
    kind = "b8" if room == 4 else "b16"
    (found,) = evaluate(f"cvt.rn.f16x2.{name}x2 {{d}}, {{a}}", {f"a_{kind}": packed}, {"d": "b32"})

    def half(code: int) -> int:
        size = value(name, code % count)
        if math.isnan(size):
            return 0x7FFF
        return int(struct.unpack("<H", struct.pack("<e", -size if code >= count else size))[0])

    expected = [half(high) << 16 | half(low) for high in all_codes for low in (1, count - 1)]
    assert found == expected


def test_e8m0() -> None:
    numbers = [1.0, 1.5, -2.0, 2.0**-127, 1.5 * 2.0**-127, 2.0**-149, 0.0, 3e38, math.inf, math.nan]
    down = [127, 127, 128, 0, 0, 0, 0, 254, 254, 255]
    up = [127, 128, 128, 0, 1, 0, 0, 254, 254, 255]
    sources = {"a_f32": [bits(x) for x in numbers], "b_f32": [bits(1.0)] * len(numbers)}
    for mode, expected in (("rz", down), ("rp", up)):
        text = f"cvt.{mode}.satfinite.ue8m0x2.f32 {{d}}, {{a}}, {{b}}"
        assert evaluate(text, sources, {"d": "b16"}) == [[e << 8 | 127 for e in expected]]
    (back,) = evaluate(
        "cvt.rn.bf16x2.ue8m0x2 {d}, {a}", {"a_b16": [0x7F80, 0xFF00, 0x01FE]}, {"d": "b32"}
    )
    assert back == [0x3F804000, 0x7FFF0040, 0x00807F00]


def test_tf32() -> None:
    numbers = [0x3F801000, 0x3F800FFF, 0x3F803000, 0xBF801000, 0x7F7FFFFF, 0x7FC00001, 0x3F801001]
    expected = {
        "rna": [0x3F802000, 0x3F800000, 0x3F804000, 0xBF802000, 0x7F800000, 0x7FC00000, 0x3F802000],
        "rn": [0x3F800000, 0x3F800000, 0x3F804000, 0xBF800000, 0x7F800000, 0x7FFFE000, 0x3F802000],
        "rz": [0x3F800000, 0x3F800000, 0x3F802000, 0xBF800000, 0x7F7FE000, 0x7FFFE000, 0x3F800000],
    }
    for mode, wanted in expected.items():
        text = f"cvt.{mode}.tf32.f32 {{d}}, {{a}}"
        assert evaluate(text, {"a_f32": numbers}, {"d": "b32"}) == [wanted]


def packed(a: int, b: int, c: int | None, kind: str, size: int) -> int:
    low = -(1 << size - 1) if kind == "s" else 0
    x, y = (min(max(v, low), low + (1 << size) - 1) & (1 << size) - 1 for v in (a, b))
    return (((c or 0) << 2 * size) | x << size | y) & 0xFFFFFFFF


@pytest.mark.parametrize("kind", "us")
@pytest.mark.parametrize("size", [2, 4, 8, 16])
def test_packing_integers(kind: str, size: int) -> None:
    values = [0, 1, -1, 3, -3, 7, 8, -8, -9, 127, 128, 200, 255, 256, -128, -129, 40000, -40000]
    rows = [(a, b) for a in values for b in values]
    sources = {"a_s32": [a for a, _ in rows], "b_s32": [b for _, b in rows],
               "c_b32": [0x12345678] * len(rows)}  # fmt: skip
    third = "" if size == 16 else ", {c}"
    rest = "" if size == 16 else ".b32"
    (found,) = evaluate(
        f"cvt.pack.sat.{kind}{size}.s32{rest} {{d}}, {{a}}, {{b}}{third}", sources, {"d": "b32"}
    )
    c = None if size == 16 else 0x12345678
    assert found == [packed(a, b, c, kind, size) for a, b in rows]


def test_halves_that_are_compared() -> None:
    a, b = 0x3C00_4000, 0x4000_3C00  # (1.0, 2.0) and (2.0, 1.0), the higher half first
    sources = {"a_b32": [a, 0x7E00_0000], "b_b32": [b, 0x3C00_8000], "c_pred": [1, 0]}
    (found,) = evaluate("set.lt.f16x2.f16x2 {d}, {a}, {b}", sources, {"d": "b32"})
    assert found == [0x3C00_0000, 0]
    (found,) = evaluate("set.neu.u32.f16x2 {d}, {a}, {b}", sources, {"d": "b32"})
    assert found == [0xFFFF_FFFF, 0xFFFF_0000]
    (found,) = evaluate("set.eq.or.bf16x2.bf16x2 {d}, {a}, {b}, {c}", sources, {"d": "b32"})
    assert found == [0x3F80_3F80, 0x0000_3F80]
    low, high = evaluate(
        "setp.ge.and.f16x2 {p}|{q}, {a}, {b}, !{c}", sources, {"p": "pred", "q": "pred"}
    )
    assert (low, high) == ([0, 1], [0, 0])
    (found,) = evaluate("set.gt.u16.f16 {d}, {x}, {y}", {"x_b16": [0x4000], "y_b16": [0x3C00]},
                        {"d": "b16"})  # fmt: skip
    assert found == [0xFFFF]


def test_smaller_and_larger_bf16() -> None:
    sources = {"a_b32": [0x3F80_7FC0, 0x8000_C000], "b_b32": [0x4000_4040, 0x0000_3F80]}
    assert evaluate("min.bf16x2 {d}, {a}, {b}", sources, {"d": "b32"}) == [
        [0x3F80_4040, 0x8000_C000]
    ]
    assert evaluate("max.NaN.bf16x2 {d}, {a}, {b}", sources, {"d": "b32"}) == [
        [0x4000_7FFF, 0x0000_3F80]
    ]


def test_sums_of_two_precisions() -> None:
    sources = {"h_b16": [0x3C01], "b_b16": [0x3F81], "c_f32": [bits(2.0**-20)]}
    half, brain = 1 + 2.0**-10, 1 + 2.0**-7
    (found,) = evaluate("add.f32.f16 {d}, {h}, {c}", sources, {"d": "f32"})
    assert found == [bits(half + 2.0**-20)]
    (found,) = evaluate("sub.rz.f32.bf16 {d}, {b}, {c}", sources, {"d": "f32"})
    assert found == [bits(brain - 2.0**-20)]
    (found,) = evaluate("fma.rn.f32.bf16 {d}, {b}, {b}, {c}", sources, {"d": "f32"})
    assert found == [bits(brain * brain + 2.0**-20)]
