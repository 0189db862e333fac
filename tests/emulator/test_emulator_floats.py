"""Floating-point instructions against exact arithmetic."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from breadth import examples
from emulating import evaluate
from hypothesis import given
from hypothesis import strategies as st

FORMATS = {"f16": ("e", 11, -14), "f32": ("f", 24, -126), "f64": ("d", 53, -1022)}
BF16 = ("", 8, -126)
MODES = ("rn", "rz", "rm", "rp")


def value(bits: int, name: str) -> float:
    letter = FORMATS[name][0]
    return float(struct.unpack(letter, bits.to_bytes(struct.calcsize(letter), "little"))[0])


def bits_of(number: float, name: str) -> int:
    return int.from_bytes(struct.pack(FORMATS[name][0], number), "little")


def rounded(exact: Fraction, name: str, mode: str) -> float:
    """An exact number in a format; 0 comes out positive."""
    _, precision, lowest = FORMATS.get(name, BF16)
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    ulp = Fraction(2) ** (max(exponent, lowest) - precision + 1)
    steps, rest = divmod(size, ulp)
    negative = exact < 0
    up = {
        "rn": rest * 2 > ulp or (rest * 2 == ulp and steps % 2 == 1),
        "rz": False,
        "rm": negative and rest > 0,
        "rp": not negative and rest > 0,
    }[mode]
    size = (steps + up) * ulp
    largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** (1 - lowest)
    if size > largest:
        toward_zero = mode in ("rz", "rp" if negative else "rm")
        size_as_float = float(largest) if toward_zero else math.inf
    else:
        size_as_float = float(size)
    return -size_as_float if negative else size_as_float


def finite(name: str) -> st.SearchStrategy[float]:
    width = {"f16": 16, "f32": 32, "f64": 64}[name]

    def number(bits: int) -> float:
        found = value(bits, name)
        return found if math.isfinite(found) else value(bits & ~(1 << width - 2), name)

    return st.integers(0, 2**width - 1).map(number)


EXACT: dict[str, tuple[int, Callable[..., Fraction]]] = {
    "add": (2, lambda a, b: a + b),
    "sub": (2, lambda a, b: a - b),
    "mul": (2, lambda a, b: a * b),
    "fma": (3, lambda a, b, c: a * b + c),
    "div": (2, lambda a, b: a / b),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("opcode", "name"),
    [(o, n) for o in EXACT for n in FORMATS if n != "f16" or o in ("add", "mul", "fma")],
)
@examples(3, 20)
@given(data=st.data())
def test_every_rounding(opcode: str, name: str, mode: str, data: st.DataObject) -> None:
    if name == "f16" and mode != "rn":
        return
    count, exact = EXACT[opcode]
    rows = data.draw(
        st.lists(st.tuples(*[finite(name)] * count), min_size=12, max_size=12), label="operands"
    )
    # Neighbouring exponents round and cancel more than random ones.
    rows += [tuple(math.ldexp(math.frexp(x)[0], k % 3) for x in row) for k, row in enumerate(rows)]
    rows = [tuple(value(bits_of(x, name), name) for x in row) for row in rows]
    sources = {
        f"{n}_{name}": [bits_of(r[k], name) for r in rows] for k, n in enumerate("abc"[:count])
    }
    operands = ", ".join(f"{{{n}}}" for n in "abc"[:count])
    (found,) = evaluate(f"{opcode}.{mode}.{name} {{d}}, {operands}", sources, {"d": name})
    for row, got in zip(rows, found, strict=True):
        if opcode == "div" and row[1] == 0:
            continue
        expected = rounded(exact(*map(Fraction, row)), name, mode)
        result = value(got, name)
        assert result == expected, f"{opcode}.{mode}.{name} of {row}"


def test_fma_rounds_once() -> None:
    """Sums that lie halfway between two floats once they are rounded to doubles."""
    rows = [
        (1 + 2**-12, 1 + 2**-12, 2.0**-60),
        (1 + 2**-23, 1 + 2**-23, -1.0),
        (2.0**-70, 2.0**-79, 2.0**-149),
        (1 + 2**-23, 2.0**-24, 1.0),
        (-(1 + 2**-12), 1 + 2**-12, -(2.0**-60)),
    ]
    sources = {f"{n}_f32": [bits_of(r[k], "f32") for r in rows] for k, n in enumerate("abc")}
    (found,) = evaluate("fma.rn.f32 {d}, {a}, {b}, {c}", sources, {"d": "f32"})
    for row, got in zip(rows, found, strict=True):
        a, b, c = map(Fraction, row)
        assert value(got, "f32") == rounded(a * b + c, "f32", "rn")


def test_double_fma_at_the_extremes() -> None:
    tiny, huge = 5e-324, 1.7976931348623157e308
    rows = [
        (tiny, 0.5, tiny), (tiny, 0.5, 0.0), (tiny, -0.5, 0.0), (huge, 2.0, -huge),
        (huge, huge, -math.inf), (1e-200, 1e-200, 1e-300), (huge, 1.0, huge), (3.0, tiny, -tiny),
        (1 + 2**-52, 1 + 2**-52, -1.0), (0.1, 10.0, -1.0), (0.0, -1.0, 0.0), (0.0, -1.0, -0.0),
    ]  # fmt: skip
    sources = {f"{n}_f64": [bits_of(r[k], "f64") for r in rows] for k, n in enumerate("abc")}
    (found,) = evaluate("fma.rn.f64 {d}, {a}, {b}, {c}", sources, {"d": "f64"})
    for row, got in zip(rows[:-2], found[:-2], strict=True):
        if math.isinf(row[2]):
            assert value(got, "f64") == row[2]
            continue
        a, b, c = map(Fraction, row)
        assert value(got, "f64") == rounded(a * b + c, "f64", "rn"), row
    assert [math.copysign(1, value(got, "f64")) for got in found[-2:]] == [1, -1]


@examples(4, 40)
@given(st.lists(st.floats(0, 2.0**100, width=32), min_size=10, max_size=10))
def test_square_roots(numbers: list[float]) -> None:
    for name in ("f32", "f64"):
        sources = {f"a_{name}": [bits_of(x, name) for x in numbers]}
        for mode in MODES:
            (found,) = evaluate(f"sqrt.{mode}.{name} {{d}}, {{a}}", sources, {"d": name})
            for x, got in zip(numbers, found, strict=True):
                root = value(got, name)
                if x and mode in ("rm", "rz"):
                    above = math.nextafter(root, math.inf) if name == "f64" else next32(root, 1)
                    assert Fraction(root) ** 2 <= Fraction(x) < Fraction(above) ** 2
                if x and mode == "rp":
                    below = math.nextafter(root, 0) if name == "f64" else next32(root, -1)
                    assert Fraction(below) ** 2 < Fraction(x) <= Fraction(root) ** 2


def next32(x: float, step: int) -> float:
    return value(bits_of(x, "f32") + step, "f32")


@examples(4, 40)
@given(st.lists(st.floats(width=64), min_size=16, max_size=16))
def test_to_integers(numbers: list[float]) -> None:
    numbers = [*numbers, math.nan, math.inf, -math.inf, 2.5, -2.5, -0.5, 2**31, 2**63, -(2.0**63)]
    rounding = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
    for source in ("f32", "f64"):
        inputs = [clip32(x) if source == "f32" else x for x in numbers]
        sources = {f"a_{source}": [bits_of(x, source) for x in inputs]}
        for target in ("s32", "u32", "s64", "u64", "s16", "u16"):
            kind, bits = target[0], int(target[1:])
            half = 2 ** (bits - 1)
            low, top = (0, 2 * half - 1) if kind == "u" else (-half, half - 1)
            nan = 0 if source == "f32" and bits < 64 else half
            for mode, function in rounding.items():
                (found,) = evaluate(
                    f"cvt.{mode}.{target}.{source} {{d}}, {{a}}", sources, {"d": target}
                )
                for x, got in zip(inputs, found, strict=True):
                    if math.isnan(x):
                        expected = nan
                    elif math.isinf(x):
                        expected = top if x > 0 else low
                    else:
                        expected = max(low, min(top, function(x)))  # type: ignore[operator]
                    assert got == expected & (2**bits - 1), (mode, target, source, x)


def clip32(x: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float32(x))


@examples(4, 40)
@given(st.lists(st.integers(-(2**63), 2**64 - 1), min_size=12, max_size=12))
def test_from_integers(numbers: list[int]) -> None:
    numbers = [*numbers, 2**24 + 1, 2**53 + 1, 2**62 + 2**38 + 1, 2**62 + 2**38, 2**63 - 1, 0]
    for source in ("u64", "s64", "u32", "s32"):
        bits = int(source[1:])
        patterns = [n & (2**bits - 1) for n in numbers]
        inputs = [n - 2**bits if source[0] == "s" and n >> (bits - 1) else n for n in patterns]
        for target in ("f32", "f64"):
            for mode in MODES:
                (found,) = evaluate(
                    f"cvt.{mode}.{target}.{source} {{d}}, {{a}}",
                    {f"a_{source}": patterns},
                    {"d": target},
                )
                for n, got in zip(inputs, found, strict=True):
                    assert value(got, target) == rounded(Fraction(n), target, mode), (source, mode)


@examples(4, 40)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=16, max_size=16))
def test_between_floats(numbers: list[float]) -> None:
    sources = {"a_f64": [bits_of(x, "f64") for x in numbers]}
    for mode in MODES:
        (found,) = evaluate(f"cvt.{mode}.f32.f64 {{d}}, {{a}}", sources, {"d": "f32"})
        assert [value(f, "f32") for f in found] == [
            rounded(Fraction(x), "f32", mode) for x in numbers
        ]
    singles = [clip32(math.fmod(x, 1e5)) for x in numbers]
    sources = {"a_f32": [bits_of(x, "f32") for x in singles]}
    for mode in ("rn", "rz"):
        (found,) = evaluate(f"cvt.{mode}.f16.f32 {{d}}, {{a}}", sources, {"d": "f16"})
        assert [value(f, "f16") for f in found] == [
            rounded(Fraction(x), "f16", mode) for x in singles
        ]
        (found,) = evaluate(f"cvt.{mode}.bf16.f32 {{d}}, {{a}}", sources, {"d": "b16"})
        assert [value(f << 16, "f32") for f in found] == [
            rounded(Fraction(x), "bf16", mode) for x in singles
        ]
    (found,) = evaluate("cvt.rni.f32.f32 {d}, {a}", sources, {"d": "f32"})
    assert [value(f, "f32") for f in found] == [float(round(x)) for x in singles]


def floats(*numbers: float) -> list[int]:
    return [bits_of(x, "f32") for x in numbers]


NAN = 0x7FFFFFFF


def test_minimum_and_maximum_of_nan_and_zeros() -> None:
    sources = {
        "a_f32": floats(math.nan, 1.0, math.nan, -0.0, 0.0, 2.0),
        "b_f32": floats(1.0, math.nan, math.nan, 0.0, -0.0, -3.0),
    }
    (low,) = evaluate("min.f32 {d}, {a}, {b}", sources, {"d": "f32"})
    assert low == [*floats(1.0, 1.0), NAN, *floats(-0.0, -0.0, -3.0)]
    (top,) = evaluate("max.f32 {d}, {a}, {b}", sources, {"d": "f32"})
    assert top == [*floats(1.0, 1.0), NAN, *floats(0.0, 0.0, 2.0)]
    (low,) = evaluate("min.NaN.f32 {d}, {a}, {b}", sources, {"d": "f32"})
    assert low[:3] == [NAN, NAN, NAN]
    (top,) = evaluate("max.xorsign.abs.f32 {d}, {a}, {b}", sources, {"d": "f32"})
    assert top[-1] == bits_of(-3.0, "f32")


def test_comparisons_with_nan() -> None:
    sources = {"a_f32": floats(1.0, math.nan, 2.0), "b_f32": floats(1.0, 1.0, 1.0)}
    expected = {
        "eq": [1, 0, 0], "ne": [0, 0, 1], "lt": [0, 0, 0], "ge": [1, 0, 1],
        "equ": [1, 1, 0], "neu": [0, 1, 1], "ltu": [0, 1, 0], "geu": [1, 1, 1],
        "leu": [1, 1, 0], "gtu": [0, 1, 1], "num": [1, 0, 1], "nan": [0, 1, 0],
    }  # fmt: skip
    for word, wanted in expected.items():
        (found,) = evaluate(f"setp.{word}.f32 {{p}}, {{a}}, {{b}}", sources, {"p": "pred"})
        assert found == wanted, word


def test_modifiers() -> None:
    tiny = 2.0**-130
    sources = {"a_f32": floats(tiny, 0.75, -3.0, math.nan), "b_f32": floats(tiny, 0.75, 1.0, 1.0)}
    (found,) = evaluate("add.ftz.f32 {d}, {a}, {b}", sources, {"d": "f32"})
    assert found == [*floats(0.0, 1.5, -2.0), NAN]
    (found,) = evaluate("add.f32 {d}, {a}, {b}", sources, {"d": "f32"})
    assert found[0] == bits_of(2 * tiny, "f32")
    (found,) = evaluate("add.sat.f32 {d}, {a}, {b}", sources, {"d": "f32"})
    assert found == floats(2 * tiny, 1.0, 0.0, 0.0)
    (found,) = evaluate("neg.f32 {d}, {a}", sources, {"d": "f32"})
    assert found[:3] == floats(-tiny, -0.75, 3.0)
    (found,) = evaluate("copysign.f32 {d}, {a}, {b}", sources, {"d": "f32"})
    assert found[2] == bits_of(-1.0, "f32")
    for test, wanted in {"finite": [1, 1, 1, 0], "subnormal": [1, 0, 0, 0]}.items():
        (p,) = evaluate(f"testp.{test}.f32 {{p}}, {{a}}", sources, {"p": "pred"})
        assert p == wanted


APPROXIMATE: list[tuple[str, Callable[[float], float], Any]] = [
    ("rcp.approx.f32", lambda x: 1 / x, [0.5, 3.0, -7.0]),
    ("rsqrt.approx.f32", lambda x: 1 / math.sqrt(x), [0.5, 3.0, 7.0]),
    ("sqrt.approx.f32", math.sqrt, [0.5, 3.0, 7.0]),
    ("lg2.approx.f32", math.log2, [0.5, 3.0, 7.0, 1.0, 0.875, 2.0**-140]),
    ("ex2.approx.ftz.f32", lambda x: 2.0**x, [0.5, 3.0, -7.0, 0.0, -125.25, 127.5]),
    ("tanh.approx.f32", math.tanh, [0.5, 3.0, -7.0]),
]


@pytest.mark.parametrize(("opcode", "function", "numbers"), APPROXIMATE)
def test_approximations_are_rounded_correctly(
    opcode: str, function: Callable[[float], float], numbers: list[float]
) -> None:
    (found,) = evaluate(f"{opcode} {{d}}, {{a}}", {"a_f32": floats(*numbers)}, {"d": "f32"})
    assert found == floats(*map(function, numbers))


@pytest.mark.parametrize("opcode", ["sin.approx.f32", "cos.approx.ftz.f32"])
def test_angles_are_reduced_as_the_hardware_does(opcode: str) -> None:
    """They are multiplied in single precision, and so lose what the ISA says that they may."""
    numbers = np.concatenate([np.linspace(-6.28, 6.28, 400), np.linspace(-314, 314, 400)])
    angles = numbers.astype(np.float32)
    (found,) = evaluate(f"{opcode} {{d}}, {{a}}", {"a_f32": floats(*angles)}, {"d": "f32"})
    got = np.array(found, np.uint32).view(np.float32).astype(float)
    function = np.sin if opcode.startswith("sin") else np.cos
    missed = np.abs(got - function(angles.astype(float)))
    assert missed[:400].max() <= 2.0**-20.5
    assert 2.0**-18 < missed[400:].max() <= 2.0**-14.7


def test_what_functions_make_of_what_is_no_usual_number() -> None:
    special = [0.0, -0.0, math.inf, -math.inf, math.nan]
    nan = bits_of(math.nan, "f32") & 0x7FFFFFFF | 0x7FFFFFFF
    wanted = {
        "sin.approx.f32": [*floats(0.0, -0.0), nan, nan, nan],
        "cos.approx.f32": [*floats(1.0, 1.0), nan, nan, nan],
        "lg2.approx.f32": [*floats(-math.inf, -math.inf, math.inf), nan, nan],
        "ex2.approx.f32": [*floats(1.0, 1.0, math.inf, 0.0), nan],
    }
    for opcode, results in wanted.items():
        sources = {"a_f32": floats(*special)}
        (found,) = evaluate(f"{opcode} {{d}}, {{a}}", sources, {"d": "f32"})
        assert found == results, opcode


def test_packed_halves() -> None:
    pair = bits_of(1.5, "f16") << 16 | bits_of(-2.0, "f16")
    other = bits_of(0.25, "f16") << 16 | bits_of(4.0, "f16")
    sources = {"a_b32": [pair], "b_b32": [other], "c_b32": [pair]}
    (found,) = evaluate("fma.rn.f16x2 {d}, {a}, {b}, {c}", sources, {"d": "b32"})
    assert found == [bits_of(1.875, "f16") << 16 | bits_of(-10.0, "f16")]
    (found,) = evaluate(
        "cvt.rn.f16x2.f32 {d}, {a}, {b}",
        {"a_f32": floats(1.5), "b_f32": floats(-2.0)},
        {"d": "b32"},
    )
    assert found == [pair]
    bf16 = {"a_b16": [0x3FC0], "b_b16": [0x4000], "c_b16": [0x3F80]}
    (found,) = evaluate("fma.rn.bf16 {d}, {a}, {b}, {c}", bf16, {"d": "b16"})
    assert found == [0x4080]


def test_literals_in_both_widths() -> None:
    (found,) = evaluate("mov.f64 {d}, 0d3FF8000000000000", {"a_b32": [0]}, {"d": "f64"})
    assert found == [bits_of(1.5, "f64")]
    (found,) = evaluate("add.f32 {d}, {a}, 0f3FC00000", {"a_f32": floats(1.0)}, {"d": "f32"})
    assert found == floats(2.5)
