"""Video instructions, against the manual's loops in Python's integers."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from emulating import evaluate, signed

from ccc.emulator import EmulatorError

WORDS = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x01020304, 0x80FF7F01, 0x12FE8034, 31, 33]
ROWS = list(itertools.product(WORDS, WORDS, [0, 5, 0x80000001]))
SOURCES = {f"{name}_b32": [row[k] for row in ROWS] for k, name in enumerate("abc")}

STEPS: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda a, b: (a + b + 1) >> 1 if a + b >= 0 else (a + b) >> 1,
    "vshl": lambda a, b: a << min(b, 32),
    "vshr": lambda a, b: a >> min(b, 32),
}


def clamp(x: int, bits: int, is_signed: bool) -> int:
    low = -(1 << bits - 1) if is_signed else 0
    return min(max(x, low), low + (1 << bits) - 1)


def number(x: int, bits: int, kind: str) -> int:
    x &= (1 << bits) - 1
    return signed(x, bits) if kind == "s32" else x


def check(opcode: str, expected: Callable[[int, int, int], int], operands: str = "") -> None:
    text = f"{opcode} {operands or '{d}, {a}, {b}, {c}'}"
    (found,) = evaluate(text, SOURCES, {"d": "b32"})
    for row, value in zip(ROWS, found, strict=True):
        assert value == expected(*row) & 0xFFFFFFFF, f"{text} of {[hex(x) for x in row]}"


@pytest.mark.parametrize("types", ["u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "u32.s32.u32"])
@pytest.mark.parametrize("name", ["vadd", "vsub", "vabsdiff", "vmin", "vmax"])
def test_scalar(name: str, types: str) -> None:
    d, left, right = types.split(".")

    def result(a: int, b: int, _: int) -> int:
        return STEPS[name](number(a, 32, left), number(b, 32, right))

    two = "{d}, {a}, {b}"
    check(f"{name}.{types}", result, two)
    check(f"{name}.{types}.add", lambda *row: result(*row) + row[2])
    if d == "u32":
        return  # what ptxas makes of a .sat is not what the manual says
    check(f"{name}.{types}.sat", lambda *row: clamp(result(*row), 32, d == "s32"), two)
    check(f"{name}.{types}.sat.add", lambda *row: clamp(result(*row), 32, d == "s32") + row[2])
    check(
        f"{name}.{types}.sat.max",
        lambda *row: max(clamp(result(*row), 32, d == "s32"), number(row[2], 32, d)),
    )


@pytest.mark.parametrize("types", ["u32.u32.u32", "s32.s32.u32"])
@pytest.mark.parametrize("name", ["vshl", "vshr"])
def test_shifts(name: str, types: str) -> None:
    d, left, _ = types.split(".")
    step = STEPS[name]
    two = "{d}, {a}, {b}"
    check(f"{name}.{types}.wrap", lambda a, b, _: step(number(a, 32, left), b & 31), two)
    check(f"{name}.{types}.clamp", lambda a, b, _: step(number(a, 32, left), b), two)
    if name == "vshr":
        check(
            f"{name}.{types}.sat.clamp",
            lambda a, b, _: clamp(step(number(a, 32, left), b), 32, d == "s32"),
            two,
        )


def test_comparisons() -> None:
    check("vset.u32.u32.lt", lambda a, b, _: int(a < b), "{d}, {a}, {b}")
    check("vset.s32.u32.ge.add", lambda a, b, c: int(signed(a, 32) >= b) + c)


def test_multiply_and_add() -> None:
    check("vmad.u32.u32.u32", lambda a, b, c: a * b + c)
    check("vmad.u32.u32.u32.po", lambda a, b, c: a * b + c + 1)
    check(
        "vmad.s32.s32.s32.sat.shr7",
        lambda a, b, c: clamp(signed(a, 32) * signed(b, 32) + signed(c, 32) >> 7, 32, True),
    )


def test_extremes_of_wide_results() -> None:
    """As an H200 does it: 64 bits, signed or not as the third operand is."""
    check("vmax.s32.u32.u32.max", lambda a, b, c: max(a, b, signed(c, 32)))
    check("vmin.u32.s32.s32.max", lambda a, b, c: max(min(signed(a, 32), signed(b, 32)) % 2**64, c))
    check("vabsdiff.s32.s32.s32.min", lambda a, b, c: min(
        abs(signed(a, 32) - signed(b, 32)), signed(c, 32)))  # fmt: skip
    check("vadd.s32.u32.u32.min", lambda a, b, c: min(signed(a + b, 32), signed(c, 32)))


def test_what_is_unsigned_is_never_too_large() -> None:
    """As an H200 does it: ptxas makes other code of these than the manual says."""
    two = "{d}, {a}, {b}"
    check("vadd.u32.u32.u32.sat", lambda a, b, _: a + b, two)
    check("vadd.u32.s32.u32.sat", lambda a, b, _: max(signed(a, 32) + b, 0), two)
    check("vsub.u32.u32.s32.sat", lambda a, b, _: max(a - signed(b, 32), 0), two)
    check("vabsdiff.u32.s32.u32.sat", lambda a, b, _: abs(signed(a, 32) - b), two)


def test_unsigned_sums_are_compared_with_their_sign() -> None:
    check("vsub.u32.u32.u32.max", lambda a, b, c: max(signed(a - b & 0xFFFFFFFF, 32) % 2**64, c))
    check(
        "vadd.u32.u32.u32.sat.min",
        lambda a, b, c: min(signed(a + b & 0xFFFFFFFF, 32) % 2**64, c),
    )


@pytest.mark.parametrize("types", ["u32.u32.u32", "s32.s32.u32", "u32.s32.u32"])
def test_shifts_are_clamped_by_34_bits(types: str) -> None:
    d, left, _ = types.split(".")

    def shifted(a: int, b: int, _: int) -> int:
        return clamp(signed((number(a, 32, left) << min(b, 32)) % 2**34, 34), 32, d == "s32")

    check(f"vshl.{types}.sat.clamp", shifted, "{d}, {a}, {b}")

    def larger(a: int, b: int, c: int) -> int:
        value, other = number(a, 32, left) << min(b, 32), number(c, 32, d)
        return max(value, other) if d == "s32" else max(value % 2**64, other)

    check(f"vshl.{types}.clamp.max", larger)


def test_products_of_words_are_signed() -> None:
    def product(a: int, b: int, c: int) -> int:
        return signed(a, 32) * signed(b, 32) + signed(c, 32)

    check("vmad.u32.u32.u32.sat", lambda *row: clamp(product(*row), 32, False))
    check("vmad.u32.u32.u32.shr7", lambda *row: product(*row) % 2**64 >> 7)
    check("vmad.u32.s32.u32.sat", lambda *row: clamp(product(*row), 32, True))
    check("vmad.s32.u32.s32.sat.shr15", lambda *row: clamp(product(*row) >> 15, 32, True))


@pytest.mark.parametrize(("types", "most"), [("u32.s32.s32", 0xFF), ("s32.s32.u32", 0x7F)])
def test_nothing_is_too_small_for_a_part(types: str, most: int) -> None:
    _, left, right = types.split(".")

    def merged(a: int, b: int, c: int) -> int:
        result = number(a, 32, left) - number(b, 32, right)
        return (result if 0 <= result <= most else most) << 8 | c & 0xFFFF00FF

    check(f"vsub.{types}.sat", merged, "{d}.b1, {a}, {b}, {c}")


def test_what_is_neither_merged_nor_added_is_not_emulated() -> None:
    with pytest.raises(EmulatorError, match="is not emulated: it neither merges"):
        evaluate("vadd.u32.u32.u32 {d}, {a}, {b}, {c}", SOURCES, {"d": "b32"})


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("types", ["u32.u32.u32", "s32.s32.s32", "s32.u32.s32"])
@pytest.mark.parametrize("name", ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"])
def test_simd(name: str, types: str, count: int) -> None:
    d, left, right = types.split(".")
    bits = 32 // count

    def results(a: int, b: int) -> list[int]:
        return [
            STEPS[name](number(a >> bits * k, bits, left), number(b >> bits * k, bits, right))
            for k in range(count)
        ]

    def merged(parts: list[int]) -> int:
        return sum((part & (1 << bits) - 1) << bits * k for k, part in enumerate(parts))

    check(f"{name}{count}.{types}", lambda a, b, _: merged(results(a, b)))
    check(
        f"{name}{count}.{types}.sat",
        lambda a, b, _: merged([clamp(r, bits, d == "s32") for r in results(a, b)]),
    )
    check(f"{name}{count}.{types}.add", lambda a, b, c: c + sum(results(a, b)))


def test_simd_comparisons() -> None:
    def ones(a: int, b: int) -> list[int]:
        return [int((a >> 8 * k & 255) != (b >> 8 * k & 255)) for k in range(4)]

    check("vset4.u32.u32.ne", lambda a, b, _: sum(x << 8 * k for k, x in enumerate(ones(a, b))))
    check("vset4.u32.u32.ne.add", lambda a, b, c: sum(ones(a, b)) + c)


def test_parts_of_words() -> None:
    def part(x: int, at: int, bits: int, kind: str) -> int:
        return number(x >> bits * at, bits, kind)

    def merged(value: int, c: int, at: int, bits: int) -> int:
        mask = (1 << bits) - 1 << bits * at
        return (value << bits * at) & mask | c & ~mask

    check(
        "vadd.s32.u32.s32",
        lambda a, b, _: part(a, 2, 8, "u32") + part(b, 1, 16, "s32"),
        "{d}, {a}.b2, {b}.h1",
    )
    check(
        "vsub.s32.s32.s32",
        lambda a, b, c: merged(part(a, 0, 16, "s32") - part(b, 3, 8, "s32"), c, 1, 8),
        "{d}.b1, {a}.h0, {b}.b3, {c}",
    )
    check(
        "vshr.u32.s32.u32.wrap",
        lambda a, b, c: merged(part(a, 1, 16, "s32") >> (b & 31), c, 0, 16),
        "{d}.h0, {a}.h1, {b}, {c}",
    )
    check(  # ptxas 13.0 does not move it to the upper half
        "vadd.u32.u32.u32",
        lambda a, b, c: a + b & 0xFFFF0000 | c & 0xFFFF,
        "{d}.h1, {a}, {b}, {c}",
    )
    check(
        "vmad.s32.s32.s32.sat",
        lambda a, b, c: clamp(-part(a, 1, 16, "s32") * signed(b, 32) + signed(c, 32), 32, True),
        "{d}, -{a}.h1, {b}, {c}",
    )
    check(
        "vmad.u32.u32.u32",
        lambda a, b, c: part(a, 0, 16, "u32") * part(b, 0, 16, "u32") - c,
        "{d}, {a}.h0, {b}.h0, -{c}",
    )


def test_parts_of_both_words() -> None:
    def halves(a: int, b: int) -> list[int]:
        return [(b << 32 | a) >> 16 * k & 0xFFFF for k in range(4)]

    def bytes_(a: int, b: int) -> list[int]:
        return [(b << 32 | a) >> 8 * k & 255 for k in range(8)]

    def two(a: int, b: int, c: int) -> int:
        parts = halves(a, b)
        return ((parts[3] + parts[1]) & 0xFFFF) << 16 | c & 0xFFFF

    check("vadd2.u32.u32.u32", two, "{d}.h1, {a}.h32, {b}.h11, {c}")

    def four(a: int, b: int, c: int) -> int:
        parts = bytes_(a, b)
        pairs = [(parts[7], parts[0]), (parts[5], parts[2])]
        return c + sum(abs(signed(x, 8) - signed(y, 8)) for x, y in pairs)

    check("vabsdiff4.s32.s32.s32.add", four, "{d}.b20, {a}.b3507, {b}.b1260, {c}")
